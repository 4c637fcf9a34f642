import type { BoundedMap } from '../../base/bounded-map.js';
import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import { isAnyRole } from '../source/role.js';
import type { Excerpts } from './citation.js';
import { AnswerDraft } from './draft.js';
import {
  analyse,
  conceptsIn,
  queryIntent,
  withHints,
  type Question,
} from '../search/question/question.js';
import { clearFrom, confidenceAt, foundFrom } from '../search/likelihood.js';
import type { Found, Search } from '../search/search.js';
import {
  citationsMax,
  engineName,
  overlayNames,
  type Answer,
  type AskRequest,
  type Clause,
  type CodedError,
  type Evidence,
  type OverlayName,
  type Unsure,
} from '../shapes.js';
import type { ShardIndex } from '../format/shard-index.js';

export const topKDefault = 10;
/** Answers that are kept; the oldest unused one goes first. */
export const cachedAnswersMax = 256;
export type AnswerCache = BoundedMap<string, Answer>;
/** Overlays that one request may name; the others are not looked at. */
export const overlaysMax = 16;
/** Of several sentences: evidence that is less similar answers its sentence in part. */
const similarMin = 0.2;
/** Follow-ups of one answer. */
export const nextMax = 3;
/** Clauses of one question. */
export const clausesMax = 8;
const sentencesOf = new Intl.Segmenter('en', { granularity: 'sentence' });
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

/** Answers without a model: all evidence is taken from the index. */
export async function ask(parts: AskParts, request: AskRequest): Promise<Answer> {
  const startedMs = parts.clock.monotonicMs();
  const topK = Math.max(1, Math.min(citationsMax, Math.trunc(request.top_k) || topKDefault));
  const wanted = [...new Set(request.overlays.map((each) => each.trim().toUpperCase()))];
  const overlays = wanted.slice(0, overlaysMax).sort();
  const { version } = parts.search;
  const { query_hints: hints = [], roles = [] } = request;
  const asked = [request.question, overlays.join(), String(topK), version];
  const key = digest([...asked, roles.toSorted().join(), ...hints]);
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
  answer: Answer;
  /** Whether all was read that should be: what could not may be there the next time. */
  isWhole: boolean;
}

async function fresh(
  parts: AskParts,
  { question: text, query_hints = [], roles = [] }: AskRequest,
  named: string[],
  topK: number,
): Promise<Fresh> {
  const { index } = parts;
  const fail = (error: BusError): CodedError => ({ ...error.toFailure(), agent: index.info.agent });
  const base = emptyAnswer(parts, text, topK);
  const nothing = clausesOf(text, [], 0);
  let question: Question;
  try {
    question = withHints(analyse(text), query_hints);
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const answer = { ...base, clauses: nothing, errors: [fail(error)] };
    return { answer, isWhole: true };
  }
  const choice = chooseOverlays(parts.search, named);
  const isWanted = (path: string): boolean => isAnyRole(index.info, path, roles);
  const { found, weighing, likelihood, gaps } = await parts.search.find(
    question,
    choice.wanted,
    hitsPerSource * topK,
    roles.length === 0 ? undefined : isWanted,
  );
  const errors = choice.errors.map(fail);
  // What was not asked for by name is only missing in the warnings.
  if (named.length > 0) errors.push(...gaps.map(fail));
  const left_out = gaps.flatMap(({ data: { overlay }, message }) =>
    typeof overlay === 'string' ? [{ overlay, why: message }] : [],
  );
  const others = gaps.filter(({ data }) => typeof data.overlay !== 'string').map(missed);
  const warnings = [...question.warnings, ...others];
  if (weighing.known === 0)
    warnings.push(`No word of the question stands anywhere in ${index.info.alias}.`);
  const draft = new AnswerDraft(
    ...([index, parts.excerpts, question, weighing, topK, choice.wanted, isWanted] as const),
  );
  // What another shard defines may be called here, and bear no word of the question.
  draft.write(found, answers(found, likelihood));
  const isAsked = choice.wanted.size > gaps.length;
  if (draft.evidence.length === 0 && isAsked) errors.push(fail(new BusError('NOT_FOUND')));
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
    overlay_warnings: warnings,
    errors,
  };
  return { answer, isWhole: draft.isWhole && gaps.length === 0 };
}

/** Whether what was found is worth an answer; otherwise it is NOT_FOUND. What a question names, it asks for. */
export function answers(found: readonly Found[], likelihood = 1): boolean {
  return likelihood >= foundFrom || found.some(({ exact }) => exact > 0);
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
  found = 0,
): Pick<Answer, 'clauses' | 'confidence' | 'likelihood'> {
  // What the graph proves, or a printed message, does not depend on the words.
  const best = Math.max(found, ...evidence.map(({ similarity }) => similarity));
  const likelihood = evidence.length === 0 ? 0 : round4(best);
  return {
    clauses: clausesOf(question, evidence, likelihood),
    confidence: confidenceAt(likelihood),
    likelihood,
  };
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

function missed(gap: BusError): string {
  return `${String(gap.data.path)} was not consulted: ${gap.message}.`;
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

export function questionHash(text: string): string {
  return digest([text]);
}

function digest(parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

function round4(share: number): number {
  return Math.round(share * 1e4) / 1e4;
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
