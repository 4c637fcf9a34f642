import type { BoundedMap } from '../../base/bounded-map.js';
import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { Excerpts } from './citation.js';
import { AnswerDraft } from './draft.js';
import { isSentence } from '../search/question/asked-symbol.js';
import { analyse, conceptsIn, queryIntent, writtenNames } from '../search/question/question.js';
import { clearFrom, confidenceAt, foundFrom } from '../search/likelihood.js';
import type { Found, Search } from '../search/search.js';
import {
  engineName,
  type Answer,
  type AskRequest,
  type Clause,
  type CodedError,
  type Evidence,
  type SeekAnswer,
  type Unsure,
  type WordCounts,
} from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';
import {
  askedBy,
  countsOf,
  digest,
  searched,
  type Asked,
  type KeptSearches,
  type Searched,
} from './searched.js';

/** Answers that are kept; the oldest unused one goes first. */
export const cachedAnswersMax = 256;
export type AnswerCache = BoundedMap<string, Answer>;
/** Of several sentences: evidence that is less similar answers its sentence in part. */
const similarMin = 0.2;
/** Follow-ups of one answer. */
export const nextMax = 3;
/** Clauses of one question. */
export const clausesMax = 8;
const sentencesOf = new Intl.Segmenter('en', { granularity: 'sentence' });

/** What one shard needs to answer. */
export interface AskParts {
  index: ShardIndex;
  excerpts: Excerpts;
  search: Search;
  clock: Clock;
  cache: AnswerCache;
  searches: KeptSearches;
}

/** Answers without a model: all evidence is taken from the index. */
export async function ask(parts: AskParts, request: AskRequest): Promise<Answer> {
  const startedMs = parts.clock.monotonicMs();
  const asked = askedBy(request, parts.search.version);
  const { shown = 0 } = request;
  const key = digest([asked.key, String(shown)]);
  const known = parts.cache.use(key);
  const { answer, isWhole } =
    known === undefined ? await fresh(parts, request, asked) : { answer: known, isWhole: true };
  if (known === undefined && isWhole && answer.errors.every((each) => !each.retryable))
    // Questions may be long, and the next asker brings this one along.
    parts.cache.set(key, { ...answer, question: '' });
  const elapsed_ms = round(parts.clock.monotonicMs() - startedMs);
  return {
    ...answer,
    question: request.question,
    overlay_warnings: [...answer.overlay_warnings, ...asked.warnings],
    metadata: { ...answer.metadata, elapsed_ms, cached: known !== undefined },
  };
}

/** What the words of the question are weighed by in this shard. Throws as `analyse`. */
export function counts({ search }: AskParts, request: AskRequest): Promise<WordCounts> {
  return countsOf(search, request, askedBy(request, search.version));
}

/** What `ask` would show, as far as the search decides it. Throws as `analyse`. */
export async function seek(parts: AskParts, request: AskRequest): Promise<SeekAnswer> {
  const asked = askedBy(request, parts.search.version);
  const its = await searched(parts, request, asked);
  return {
    similarities: draftOf(parts, its, asked.topK)
      .chosen(its.found)
      .map(({ similarity }) => similarity),
    is_known: answers(its.found, its.likelihood),
    left_out: its.left_out,
    overlay_warnings: [...its.warnings, ...asked.warnings],
    errors: its.errors.map((error) => failure(parts, error)),
  };
}

/** Of files whose evidence is left out. */
const pathsNamed = 5;

interface Fresh {
  answer: Answer;
  /** Whether all was read that should be: what could not may be there the next time. */
  isWhole: boolean;
}

async function fresh(parts: AskParts, request: AskRequest, asked: Asked): Promise<Fresh> {
  const { question: text, shown = 0 } = request;
  const { topK } = asked;
  const base = emptyAnswer(parts, text, topK);
  let its: Searched;
  try {
    its = await searched(parts, request, asked);
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const answer = { ...base, clauses: clausesOf(text, [], 0), errors: [failure(parts, error)] };
    return { answer, isWhole: true };
  }
  const { question, found, likelihood, gaps, wanted, weighing, left_out, warnings } = its;
  const draft = draftOf(parts, its, shown > 0 ? Math.min(shown, topK) : topK);
  // What another shard defines may be called here, and bear no word of the question.
  draft.write(found, answers(found, likelihood));
  const errors = its.errors.map((error) => failure(parts, error));
  const isAsked = wanted.size > gaps.length;
  const changed = [...draft.changed].sort();
  if (draft.evidence.length === 0 && changed.length > 0)
    errors.push(failure(parts, new BusError('INDEX_BEHIND', { paths: pathsText(changed) })));
  else if (draft.evidence.length === 0 && isAsked)
    errors.push(failure(parts, new BusError('NOT_FOUND')));
  const { evidence, flow, unsure, next } = draft;
  const judgement = judged(text, evidence, likelihood);
  const answer: Answer = {
    ...base,
    ...judgement,
    ...{ evidence, flow, next: next.slice(0, nextMax) },
    // Of items no likelihood is known.
    unsure: likelihood === undefined ? unsure : [...doubts(evidence, judgement), ...unsure],
    query_intent: queryIntent(question),
    left_out,
    overlay_warnings: [
      ...warnings,
      ...(weighing.known > 0
        ? []
        : [`No word of the question stands anywhere in ${parts.index.info.alias}.`]),
      ...(changed.length === 0
        ? []
        : [`Left out, because it has changed since it was indexed: ${pathsText(changed)}.`]),
    ],
    errors,
  };
  return { answer, isWhole: changed.length === 0 && gaps.length === 0 };
}

function pathsText(paths: readonly string[]): string {
  const more = paths.length - pathsNamed;
  return `${paths.slice(0, pathsNamed).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function draftOf(
  { index, excerpts }: AskParts,
  { question, weighing, wanted, roles }: Searched,
  topK: number,
): AnswerDraft {
  return new AnswerDraft(index, excerpts, question, weighing, topK, wanted, roles);
}

function failure({ index }: AskParts, error: BusError): CodedError {
  return { ...error.toFailure(), agent: index.info.agent };
}

/** Whether what was found is worth an answer; otherwise it is NOT_FOUND. What a question names, it asks for. */
export function answers(found: readonly Found[], likelihood = 1): boolean {
  const isLikely = found.length > 0 && likelihood >= foundFrom;
  return isLikely || found.some(({ exact }) => exact > 0);
}

function emptyAnswer({ search }: AskParts, text: string, topK: number): Answer {
  return {
    question: text,
    ...{ clauses: [], evidence: [], flow: [], unsure: [], next: [], prose: '' },
    ...{ confidence: 'low', likelihood: 0 },
    query_intent: { intent: 'general', entities: [], scope: '', refined_query: '' },
    ...{ left_out: [], overlay_warnings: [], errors: [] },
    partial: false,
    ...{ query_path: [], hops: [], safety: null, root: '' },
    metadata: {
      question_hash: questionHash(text),
      top_k: topK,
      elapsed_ms: 0,
      index_version: search.version,
      engine: engineName,
      cached: false,
      agents_asked: 1,
      model: null,
    },
  };
}

/** What of the question is answered by this evidence, and how surely. `found`: how likely what was searched for is in it. */
export function judged(
  question: string,
  evidence: readonly Evidence[],
  found?: number,
): Pick<Answer, 'clauses' | 'confidence' | 'likelihood'> {
  // What the graph proves, or a printed message, does not depend on the words. That something bears a word of the question is
  // no such proof: nothing says that it was asked for.
  const isSure = found === undefined ? () => true : sureOf(question);
  const sure = evidence.filter(isSure).map(({ similarity }) => similarity);
  const best = Math.max(found ?? 0, ...sure);
  const likelihood = evidence.length === 0 ? 0 : round4(best);
  return {
    clauses: clausesOf(question, evidence, likelihood),
    confidence: confidenceAt(likelihood),
    likelihood,
  };
}

/** Whether a piece of evidence answers by itself: what is asked of a symbol, a place of a call or a message, and what is named as code is. */
function sureOf(text: string): (evidence: Evidence) => boolean {
  const question = analyse(text);
  const names = new Set(writtenNames(question));
  const isOfSymbol = question.asks !== undefined && isSentence(text);
  return ({ kind, name }) =>
    isOfSymbol || kind === 'call' || kind === 'slot' || kind === 'message' || names.has(name);
}

/** An answer that may be about something else says so. */
export function doubts(
  evidence: readonly Evidence[],
  { likelihood }: Pick<Answer, 'likelihood'>,
): Unsure[] {
  return evidence.length === 0 || likelihood >= clearFrom
    ? []
    : [{ kind: 'weak', text: 'nothing here clearly answers the question; this is nearest' }];
}

/**
 * The sentences of a question. Where there are several, a sentence is answered by the evidence that holds words of it; of one
 * sentence by all evidence.
 */
function clausesOf(question: string, evidence: readonly Evidence[], likelihood: number): Clause[] {
  // Several lines are a log or a report: one thing.
  const sentences = question.trim().includes('\n')
    ? [question.trim()]
    : Array.from(sentencesOf.segment(question), ({ segment }) => segment.trim());
  const texts = sentences.filter((each) => /[\p{L}\p{N}]/u.test(each)).slice(0, clausesMax);
  return texts.map((text): Clause => {
    const isWhole = texts.length === 1;
    const its = isWhole ? evidence : evidence.filter((each) => holds(each, text));
    const isSimilar = isWhole || its.some(({ similarity }) => similarity >= similarMin);
    const isFound = likelihood >= clearFrom && isSimilar;
    const status = its.length === 0 ? 'not_found' : isFound ? 'found' : 'partly';
    return { text, status, evidence: its.map(({ id }) => id) };
  });
}

function holds({ symbol, file_path, said, excerpt, why }: Evidence, clause: string): boolean {
  const shown = [symbol, file_path, said, ...why, ...excerpt.map(({ text }) => text)].join('\n');
  return conceptsIn(analyse(clause), shown).size > 0;
}

export function questionHash(text: string): string {
  return digest([text]);
}

function round4(share: number): number {
  return Math.round(share * 1e4) / 1e4;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
