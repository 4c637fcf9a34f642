import type { BoundedMap } from '../../base/bounded-map.js';
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { Excerpts } from './citation.js';
import { AnswerDraft } from './draft.js';
import { analyse, queryIntent, withHints, type Question } from '../search/question/question.js';
import { isOfMeaning, type Found, type Search } from '../search/search.js';
import {
  citationsMax,
  engineName,
  overlayNames,
  type AskAnswer,
  type AskRequest,
  type Citation,
  type CodedError,
  type OverlayName,
} from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

export const topKDefault = 5;
/** Answers that are kept; the oldest unused one goes first. */
export const cachedAnswersMax = 256;
export type AnswerCache = BoundedMap<string, AskAnswer>;
/** Overlays that one request may name; the others are not looked at. */
export const overlaysMax = 16;
/** What is less likely to be relevant than this answers nothing. */
const answerMin = 0.1;
/** An answer that is probably wrong is called the nearest match. */
const clearMin = 0.5;
const unclear = 'Nothing here clearly answers the question; this is nearest.';
/** Hits that are looked at for each source: copies, declarations and what cannot be quoted fall away. */
export const hitsPerSource = 4;

/** What one shard needs to answer. */
export interface AskParts {
  index: ShardIndex;
  excerpts: Excerpts;
  search: Search;
  clock: Clock;
  cache: AnswerCache;
}

/** Answers without a model: every sentence is taken from the index and carries its sources. */
export async function ask(parts: AskParts, request: AskRequest): Promise<AskAnswer> {
  const startedMs = parts.clock.monotonicMs();
  const topK = Math.max(1, Math.min(citationsMax, Math.trunc(request.top_k) || topKDefault));
  const wanted = [...new Set(request.overlays.map((each) => each.trim().toUpperCase()))];
  const overlays = wanted.slice(0, overlaysMax).sort();
  const { version } = parts.search;
  const engine = engineOf(parts.search);
  const hints = request.query_hints ?? [];
  const asked = [request.question, overlays.join(), String(topK), version, engine, ...hints];
  const key = digest(asked);
  const known = parts.cache.use(key);
  const { answer, isWhole } =
    known === undefined
      ? await fresh(parts, request, overlays, topK)
      : { answer: known, isWhole: true };
  if (known === undefined && isWhole && answer.errors.every((each) => !each.retryable))
    // Questions may be long, and the next asker brings this one along.
    parts.cache.set(key, { ...answer, question: '' });
  const cut =
    wanted.length > overlaysMax
      ? [`Only the first ${overlaysMax} of ${wanted.length} overlays were looked at.`]
      : [];
  const elapsed_ms = round(parts.clock.monotonicMs() - startedMs);
  return {
    ...answer,
    question: request.question,
    overlay_warnings: [...answer.overlay_warnings, ...cut],
    metadata: { ...answer.metadata, elapsed_ms, cached: known !== undefined },
  };
}

interface Fresh {
  answer: AskAnswer;
  /** Whether all was read that should be: what could not may be there the next time. */
  isWhole: boolean;
}

async function fresh(
  parts: AskParts,
  { question: text, query_hints = [] }: AskRequest,
  named: string[],
  topK: number,
): Promise<Fresh> {
  const { index } = parts;
  const fail = (error: BusError): CodedError => ({ ...error.toFailure(), agent: index.info.agent });
  const base = emptyAnswer(parts, text, topK);
  let question: Question;
  try {
    question = withHints(analyse(text), query_hints);
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const answer = { ...base, answer: `${error.message}.`, errors: [fail(error)] };
    return { answer, isWhole: true };
  }
  const choice = chooseOverlays(parts.search, named);
  const { found, weighing, gaps } = await parts.search.find(
    question,
    choice.wanted,
    hitsPerSource * topK,
  );
  const errors = choice.errors.map(fail);
  const lost = gaps.filter((gap) => !isOfMeaning(gap));
  // What was not asked for by name is only missing in the warnings.
  if (named.length > 0) errors.push(...lost.map(fail));
  const warnings = [...question.warnings, ...parts.search.warnings, ...gaps.map(missed)];
  if (weighing.known === 0)
    warnings.push(`No word of the question stands anywhere in ${index.info.alias}.`);
  const draft = new AnswerDraft(index, parts.excerpts, question, weighing, topK, choice.wanted);
  const [best] = found;
  if (best !== undefined && answers(found)) draft.write(found);
  const isAsked = choice.wanted.size > lost.length;
  if (draft.sources.length === 0 && isAsked) errors.push(fail(new BusError('NOT_FOUND')));
  const answer = {
    ...base,
    answer:
      draft.sources.length === 0 ? nothing(index, isAsked) : hedged(draft.text(), draft.sources),
    query_intent: queryIntent(question),
    sources: draft.sources,
    overlay_warnings: warnings,
    errors,
  };
  return { answer, isWhole: draft.isWhole && gaps.length === 0 };
}

/** Whether what was found is worth an answer; otherwise it is NOT_FOUND. What a question names, it asks for. */
export function answers(found: readonly Found[]): boolean {
  return found.some(({ similarity, exact }) => similarity >= answerMin || exact > 0);
}

function emptyAnswer({ search }: AskParts, text: string, topK: number): AskAnswer {
  return {
    question: text,
    answer: '',
    query_intent: { intent: 'general', entities: [], scope: '', refined_query: '' },
    sources: [],
    overlay_warnings: [],
    errors: [],
    metadata: {
      question_hash: digest([text]),
      top_k: topK,
      elapsed_ms: 0,
      index_version: search.version,
      engine: engineOf(search),
      cached: false,
      agents_asked: 1,
    },
  };
}

/** `extractive`, and what reads the question besides its words. */
function engineOf({ reader }: Search): string {
  return reader === '' ? engineName : `${engineName}+${reader}`;
}

function nothing(index: ShardIndex, isAsked: boolean): string {
  return isAsked
    ? `Nothing in ${index.info.alias} answers the question.`
    : `None of the wanted overlays can be consulted in ${index.info.alias}.`;
}

/** What is merely near must not be taken for an answer. */
export function hedged(text: string, sources: readonly Citation[]): string {
  const best = Math.max(0, ...sources.map(({ similarity }) => similarity));
  return best < clearMin ? `${unclear} ${text}` : text;
}

function missed(gap: BusError): string {
  return isOfMeaning(gap)
    ? `The question was read by its words alone: ${gap.message}.`
    : `${String(gap.data.overlay ?? gap.data.path)} was not consulted: ${gap.message}.`;
}

/** Without a name: all that were ever made here. */
function chooseOverlays(
  { overlays }: Search,
  named: readonly string[],
): { wanted: ReadonlySet<OverlayName>; errors: BusError[] } {
  if (named.length === 0) {
    const made = overlayNames.filter((name) => overlays.state(name) !== 'missing');
    return { wanted: new Set(made), errors: [] };
  }
  const isKnown = (name: string): name is OverlayName =>
    (overlayNames as readonly string[]).includes(name);
  return {
    wanted: new Set(named.filter(isKnown)),
    errors: named
      .filter((name) => !isKnown(name))
      .map((overlay) => new BusError('UNKNOWN_OVERLAY', { overlay })),
  };
}

function digest(parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
