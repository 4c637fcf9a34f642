import type { Hit } from './retrieve.js';
import type { Weighing } from './rank/weighing.js';
import { featureNames } from './rank/features.js';
import type { Confidence } from '../../base/confidence.js';

/** What tells a question about this code base from one about something else. */
export interface Signs {
  /** How many concepts of the question stand together in one of the best hits, log. */
  held: number;
  /** What of the question those say that call the best hits. */
  called: number;
  /** How near the question what calls the best hits, or is called by them, is by its meaning. */
  near: number;
  /** Share of the question's concepts that stand anywhere. */
  known: number;
  /**
   * Whether too little is known to say that there is nothing: a few words say little, one hit may hold nearly all of them, and in a small
   * code base little calls, and stands beside, what is asked for. Of 170 short questions that have an answer, 12 would get none.
   */
  isOpen: boolean;
  /** One plain word names a subject and asks nothing: the shares above are all or nothing then. */
  isOneWord: boolean;
}

/** Fitted by `test/bench/comprehension/likelihood.mjs`; a third of the questions had no answer. */
const weights = {
  intercept: -6.95,
  held: 3.57,
  called: 5.86,
  near: 0.4,
  known: 1.18,
};
export const signNames = ['held', 'called', 'near', 'known'] as const;

/** Hits that speak for an answer: where the first ones are about something else, so are the others. */
const bestHits = 3;
/** Share of the concepts of a question that is nearly all of it. */
const wholeShare = 0.75;
/** Symbols of a smaller code base than any that was fitted on. */
const smallSymbols = 300;
/** Share of the concepts of a question that must stand in what is searched, where nothing else tells. */
export const knownMin = 0.6;
const calledAt = featureNames.indexOf('called');
const nearAt = featureNames.indexOf('meaning_near');

/** `hits`: symbols, best first; `concepts`: how many the question has; `symbols`: how many all that is searched. */
export function signsOf(
  hits: readonly Pick<Hit, 'held' | 'row'>[],
  { known }: Pick<Weighing, 'known'>,
  { concepts, symbols, isBrief }: { concepts: number; symbols: number; isBrief: boolean },
): Signs {
  const best = hits.slice(0, bestHits);
  const mean = (of: (hit: Pick<Hit, 'held' | 'row'>) => number): number =>
    best.reduce((sum, hit) => sum + of(hit), 0) / Math.max(1, best.length);
  return {
    held: Math.log1p(mean((hit) => hit.held)),
    called: mean(({ row }) => row?.[calledAt] ?? 0),
    near: mean(({ row }) => row?.[nearAt] ?? 0),
    known,
    isOpen:
      best.some((hit) => hit.held >= wholeShare * concepts) ||
      ((isBrief || symbols < smallSymbols) && known >= knownMin),
    isOneWord: concepts === 1,
  };
}

/** What is less likely is no answer. */
export const foundFrom = 0.2;
/** What is less likely is shown as merely near: it is rather wrong than right. */
export const clearFrom = 0.5;
/** Of answers from here on, at least five in six hold what was asked for. */
const highFrom = 0.8;

/** Of 162 such words of questions, on nine code bases, a quarter got what was asked for; of the six said to be sure, one. */
const oneWordMost = 0.3;

/** How likely the first ten sources of an answer hold a function that a right answer must name. */
export function likelihoodOf(signs: Signs): number {
  const logit = signNames.reduce(
    (sum, name) => sum + weights[name] * signs[name],
    weights.intercept,
  );
  const most = signs.isOneWord ? oneWordMost : 1;
  const likelihood = Math.min(most, 1 / (1 + Math.exp(-logit)));
  return signs.isOpen ? Math.max(foundFrom, likelihood) : likelihood;
}

export function confidenceAt(likelihood: number): Confidence {
  if (likelihood >= highFrom) return 'high';
  return likelihood >= clearFrom ? 'medium' : 'low';
}
