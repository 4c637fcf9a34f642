import { atLeast, difference, exceeds, unitsOf } from '../score/decimals.js';
import { leniencyFlags, unique } from '../score/leniency.js';
import {
  criticLimits,
  qualityGate,
  severities,
  type Critique,
  type CritiqueRequest,
  type Finding,
  type Flag,
  type TrackedIteration,
} from '../shapes.js';

export const trackingLimits = {
  /** Ids of one iteration, the worst. */
  findings: 200,
  areas: 8,
  areaChars: 300,
  noteChars: 300,
  /** Versions that are looked back for one that was there before. */
  periodMax: 8,
} as const;

/** Below this an iteration improved nothing; twice in a row is a plateau. Source: the circuit breaker of the cycle. */
export const improvementMin = { adversarial: 0.05, standard: 0.1 } as const;
export const plateauLength = 2;

/** Of an artifact, also within a comment of its language. */
const disputedLine = /^[\s>*#/<!-]{0,12}disputed: *([^\s,]{1,200})/gim;

/** Findings, of those that are known, that its creator calls wrong: lines such as `disputed: ID, because …`. */
export function disputedIn(text: string, known: readonly string[]): string[] {
  const named = new Set([...text.matchAll(disputedLine)].map(([, id]) => id));
  return known.filter((id) => named.has(id));
}

/** Of all modes, worst first; those of one severity as they were found. */
export function findingsOf({ reports }: Pick<Critique, 'reports'>): Finding[] {
  const all = reports.flatMap(({ findings }) => findings);
  const sorted = severities.flatMap((each) => all.filter(({ severity }) => severity === each));
  const byId = new Map<string, Finding>();
  for (const each of sorted) if (!byId.has(each.id)) byId.set(each.id, each);
  return [...byId.values()];
}

/** The same, what several modes say of one line told once; `modes`: those that say it. */
export function distinctFindings(
  critique: Pick<Critique, 'reports'>,
): (Finding & { modes: Finding['mode'][] })[] {
  const told = new Map<string, Finding & { modes: Finding['mode'][] }>();
  for (const each of findingsOf(critique)) {
    const key = `${each.rule} ${each.line_start} ${each.text}`;
    const known = told.get(key);
    if (known === undefined) told.set(key, { ...each, modes: [each.mode] });
    else known.modes.push(each.mode);
  }
  return [...told.values()];
}

/** Creation is the first iteration, so the first critique is the second at least. */
export function countedIteration(before: number, asked: number): number {
  return Math.max(before + 1, asked, qualityGate.iterationsMin - 1);
}

/**
 * What is known before the critique that was asked for as iteration `asked`. `told`: the score of the one before it, as the
 * caller gives it. Where that one is not known here, it is an iteration as any other: what was judged elsewhere counts.
 */
export function withTold<T extends TrackedIteration>(
  before: readonly T[],
  { iteration: asked, previous_score: told }: Pick<CritiqueRequest, 'iteration' | 'previous_score'>,
  atMs = 0,
): (T | TrackedIteration)[] {
  if (told === undefined || before.some(({ score }) => score === told)) return [...before];
  const last = before.at(-1)?.iteration ?? 1;
  const iteration = countedIteration(last, asked - 1);
  return [
    ...before,
    {
      ...{ iteration, score: told, improvement_delta: deltaAfter(before, told) },
      ...{
        modes_applied: [],
        improvement_areas: [],
        threshold_met: false,
        findings: [],
        flags: [],
      },
      ...{ notes: toldNote, digest: '', critique: '', at_ms: atMs },
    },
  ];
}

const toldNote = 'judged elsewhere: the score was named by --previous-score, or in the context';

/** What the scores up to this one show of the judge, and of the artifact. */
export function trendFlags(
  before: readonly TrackedIteration[],
  {
    score,
    digest,
    threshold,
    selection,
  }: Pick<Critique, 'score' | 'digest' | 'threshold' | 'selection'>,
  isAdversarial = true,
): Flag[] {
  const rounds = [...before, { score, digest }];
  const scores = rounds.flatMap((each) => (each.score === null ? [] : [each.score]));
  const improvement = isAdversarial ? improvementMin.adversarial : improvementMin.standard;
  const isFlat = score !== null && isPlateau(scores, improvement);
  const isMet = score !== null && atLeast(score, threshold);
  const plateau: Flag = {
    code: 'PLATEAU',
    level: isMet ? 'note' : 'mandatory',
    text: `the last two iterations improved the score by less than ${improvement.toFixed(2)} each${isMet ? '' : ': a person decides whether another one is worth it'}`,
  };
  // A score that was only told may hide a jump.
  const told = before.at(-1)?.critique === '' && before.length > 1 ? before : [];
  return [
    ...leniencyFlags(told, selection.criticality),
    ...leniencyFlags(rounds, selection.criticality),
    ...(isFlat ? [plateau] : []),
  ];
}

function deltaAfter(before: readonly TrackedIteration[], score: number | null): number | null {
  const previous = before.findLast((each) => each.score !== null)?.score ?? null;
  return score === null || previous === null ? null : difference(score, previous);
}

/** One more iteration, as the document's `quality_tracking` has it. Its number is what the cycle counts. */
export function trackedAfter(
  before: readonly TrackedIteration[],
  critique: Critique,
  isAdversarial = true,
): TrackedIteration {
  const { score, threshold, digest, iteration, id, why } = critique;
  return {
    iteration: countedIteration(before.at(-1)?.iteration ?? 1, iteration),
    score,
    modes_applied: critique.reports
      .filter(({ status }) => status === 'complete' || status === 'partial')
      .map(({ mode }) => mode),
    improvement_areas: areasOf(critique),
    improvement_delta: deltaAfter(before, score),
    threshold_met: score !== null && atLeast(score, threshold),
    notes: why.slice(0, trackingLimits.noteChars),
    digest,
    critique: id,
    findings: findingsOf(critique)
      .filter(({ severity }) => severity !== 'note')
      .slice(0, trackingLimits.findings)
      .map((each) => each.id),
    flags: unique([...critique.flags, ...trendFlags(before, critique, isAdversarial)]),
    at_ms: critique.begun_ms + critique.elapsed_ms,
  };
}

/** What was scored low, lowest first; where nothing was scored, the worst findings. */
function areasOf(critique: Critique): string[] {
  const low = critique.reports
    .flatMap(({ score }) => score?.dimensions ?? [])
    .flatMap(({ name, score, why }) => (score === null ? [] : [{ name, score, why }]))
    .filter(({ score }) => !atLeast(score, critique.threshold))
    .sort((a, b) => a.score - b.score)
    .map(({ name, score, why }) => `${name} ${score.toFixed(2)}: ${why}`);
  const said = low.length > 0 ? low : findingsOf(critique).map(({ text }) => text);
  return said.slice(0, trackingLimits.areas).map((each) => each.slice(0, trackingLimits.areaChars));
}

export interface Trend {
  /** How many iterations have a score; rates are over these alone, for a creation has none. */
  scored: number;
  score: number | null;
  delta: number | null;
  /** Mean improvement from one scored iteration to the next; null: fewer than two. */
  rate: number | null;
  /** Further iterations up to the threshold at that rate; null: `projection` says why there is no figure. */
  projected: number | null;
  projection: string;
  is_plateau: boolean;
  /** The last version was there so many versions ago, with others in between; 0: it was not. */
  oscillation: number;
  /** For each iteration, how many of its findings were not open in the one before. */
  new_findings: number[];
  /** Open in the last one and in the one before, ids. */
  lasting: string[];
}

interface Traced {
  score: number | null;
  digest: string;
  findings: readonly string[];
}

/** What the iterations say together, oldest first. `improvement`: below it nothing improved. */
export function trendOf(
  rounds: readonly Traced[],
  threshold: number,
  improvement: number = improvementMin.adversarial,
): Trend {
  const scores = rounds.flatMap(({ score }) => (score === null ? [] : [score]));
  const [first] = scores;
  const score = scores.at(-1) ?? null;
  const before = scores.at(-2);
  const rate =
    first === undefined || score === null || scores.length < 2
      ? null
      : difference(score, first) / (scores.length - 1);
  return {
    scored: scores.length,
    score,
    delta: score === null || before === undefined ? null : difference(score, before),
    rate,
    ...projectionOf(score, rate, threshold),
    is_plateau: isPlateau(scores, improvement),
    oscillation: periodOf(rounds.map(({ digest }) => digest)),
    new_findings: rounds.map(({ findings }, at) => {
      const known = new Set(rounds[at - 1]?.findings);
      return findings.filter((id) => !known.has(id)).length;
    }),
    lasting: lastingOf(rounds),
  };
}

function projectionOf(
  score: number | null,
  rate: number | null,
  threshold: number,
): Pick<Trend, 'projected' | 'projection'> {
  if (score === null) return { projected: null, projection: 'nothing was scored' };
  if (atLeast(score, threshold)) return { projected: 0, projection: 'the threshold is met' };
  if (rate === null) return { projected: null, projection: 'one score shows no rate' };
  const perIteration = unitsOf(rate);
  if (perIteration <= 0) return { projected: null, projection: 'the score does not rise' };
  const needed = Math.ceil(unitsOf(difference(threshold, score)) / perIteration);
  const most = criticLimits.iterations;
  return needed > most
    ? { projected: null, projection: `at this rate more than ${most} iterations` }
    : { projected: needed, projection: `at ${rate.toFixed(3)} an iteration` };
}

/** So many improvements one after the other, the last ones, were none. */
export function isPlateau(scores: readonly number[], improvement: number): boolean {
  const last = scores.slice(-(plateauLength + 1));
  if (last.length <= plateauLength) return false;
  return last.slice(1).every((score, at) => exceeds(improvement, difference(score, last[at] ?? 0)));
}

/** How many versions ago the last one was there already, with another one in between; 0: it was not. */
export function periodOf(digests: readonly string[]): number {
  const last = digests.at(-1);
  if (last === undefined || digests.at(-2) === last) return 0;
  const most = Math.min(trackingLimits.periodMax, digests.length - 1);
  for (let period = 2; period <= most; period += 1)
    if (digests.at(-1 - period) === last) return period;
  return 0;
}

function lastingOf(rounds: readonly Traced[]): string[] {
  const before = new Set(rounds.at(-2)?.findings);
  return (rounds.at(-1)?.findings ?? []).filter((id) => before.has(id));
}
