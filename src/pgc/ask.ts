import { createHash } from 'node:crypto';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { siteCount } from './index-memory.js';
import { targetsOfCall } from './call-graph.js';
import { citeCall, citeDocument, type Excerpts } from './citation.js';
import { describe, enumerate, sentence } from './compose.js';
import { analyse, conceptsIn, queryIntent, type Question } from './question.js';
import { isRelevant, tellingShare, weigh, type Hit, type Retriever } from './retrieve.js';
import {
  citationsMax,
  overlayNames,
  type AskAnswer,
  type AskRequest,
  type Citation,
  type CodedError,
} from './shapes.js';
import type { CallRow, ShardIndex } from './shard-index.js';

export const engineName = 'extractive';
export const topKDefault = 5;
/** Answers that are kept; the oldest unused one goes first. */
export const cachedAnswersMax = 256;
/** Overlays that one request may name; the others are not looked at. */
export const overlaysMax = 16;
/** Call sites of one symbol that a question about its users lists. */
const callersListed = 4;
const callsPerSymbol = 3;

/** What one shard needs to answer. */
export interface AskParts {
  index: ShardIndex;
  excerpts: Excerpts;
  retriever: Retriever;
  clock: Clock;
  cache: AnswerCache;
}

/** Answers from O1 and O3 without a model: every sentence is taken from the index and carries its sources. */
export function ask(parts: AskParts, request: AskRequest): AskAnswer {
  const startedMs = parts.clock.monotonicMs();
  const topK = Math.max(1, Math.min(citationsMax, Math.trunc(request.top_k) || topKDefault));
  const wanted = [...new Set(request.overlays.map((each) => each.trim().toUpperCase()))];
  const overlays = wanted.slice(0, overlaysMax).sort();
  const key = digest([
    request.question,
    overlays.join(),
    String(topK),
    parts.index.info.version,
    engineName,
  ]);
  const known = parts.cache.get(key);
  const { answer, isWhole } =
    known === undefined
      ? fresh(parts, request.question, overlays, topK)
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
  /** Whether every excerpt could be read: what could not may be there the next time. */
  isWhole: boolean;
}

function fresh(parts: AskParts, text: string, overlays: string[], topK: number): Fresh {
  const { index } = parts;
  const fail = (error: BusError): CodedError => ({ ...error.toFailure(), agent: index.info.agent });
  const base: AskAnswer = {
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
      index_version: index.info.version,
      engine: engineName,
      cached: false,
    },
  };
  let question: Question;
  try {
    question = analyse(text);
  } catch (error) {
    if (!(error instanceof BusError)) throw error;
    const answer = { ...base, answer: 'The question is empty.', errors: [fail(error)] };
    return { answer, isWhole: true };
  }
  const choice = chooseOverlays(index, overlays);
  const errors = choice.errors.map(fail);
  const warnings = [...question.warnings, ...choice.warnings];
  const draft = new Draft(parts, question, topK, choice.ready);
  draft.write(parts.retriever.search(question, { limit: 4 * topK }));
  if (draft.sources.length === 0 && choice.ready.size > 0)
    errors.push(fail(new BusError('NOT_FOUND')));
  const answer = {
    ...base,
    answer: draft.sources.length === 0 ? nothing(index, choice.ready) : draft.text(),
    query_intent: queryIntent(question),
    sources: draft.sources,
    overlay_warnings: warnings,
    errors,
  };
  return { answer, isWhole: draft.isWhole };
}

function nothing(index: ShardIndex, ready: Set<string>): string {
  return ready.size === 0
    ? `None of the wanted overlays is built for ${index.info.alias}.`
    : `Nothing in ${index.info.alias} answers the question.`;
}

interface OverlayChoice {
  ready: Set<string>;
  errors: BusError[];
  warnings: string[];
}

function chooseOverlays(index: ShardIndex, wanted: string[]): OverlayChoice {
  const built = new Set(['O1', 'O3'].filter((each) => each in index.info.overlays));
  if (built.size === 0) for (const each of ['O1', 'O3']) built.add(each);
  if (wanted.length === 0) return { ready: built, errors: [], warnings: [] };
  const choice: OverlayChoice = { ready: new Set(), errors: [], warnings: [] };
  for (const overlay of wanted) {
    if (built.has(overlay)) {
      choice.ready.add(overlay);
    } else if ((overlayNames as readonly string[]).includes(overlay)) {
      choice.warnings.push(
        `Overlay ${overlay} is not built for ${index.info.alias}; it was not consulted.`,
      );
      choice.errors.push(new BusError('OVERLAY_MISSING', { overlay, agent: index.info.agent }));
    } else {
      choice.errors.push(new BusError('UNKNOWN_OVERLAY', { overlay }));
    }
  }
  return choice;
}

/** One answer in the making: sentences, and the sources in the order in which sentences need them. */
class Draft {
  readonly sources: Citation[] = [];
  /** Whether no source is missing because its text could not be read. */
  isWhole = true;
  readonly #sentences: string[] = [];
  readonly #masses: number[];
  readonly #total: number;

  constructor(
    readonly parts: AskParts,
    readonly question: Question,
    readonly topK: number,
    readonly overlays: Set<string>,
  ) {
    const { masses, total } = weigh(parts.index, question);
    this.#masses = masses;
    this.#total = total;
  }

  write(hits: Hit[]): void {
    const best = hits[0];
    if (best === undefined || !isRelevant(best)) return;
    const telling = hits.filter((hit) => hit.similarity >= tellingShare * best.similarity);
    const chosen = this.#distinct(telling).slice(0, this.topK);
    const wantsCalls = this.overlays.has('O3') && this.topK > 1;
    const symbols = this.overlays.has('O1') ? Math.ceil(this.topK * (wantsCalls ? 0.6 : 1)) : 0;
    for (const hit of chosen.slice(0, symbols)) this.#symbol(hit);
    if (!this.overlays.has('O3')) return;
    for (const hit of chosen) {
      if (this.#isFull) break;
      if (hit.symbol === undefined) continue;
      if (this.question.intent === 'usage' && hit.exact > 0) this.#callers(hit, hit.symbol);
      else this.#callees(hit, hit.symbol);
    }
    // What the call edges left over goes to further symbols.
    if (this.overlays.has('O1')) for (const hit of chosen.slice(symbols)) this.#symbol(hit);
  }

  text(): string {
    return this.#sentences.join(' ');
  }

  get #isFull(): boolean {
    return this.sources.length >= this.topK;
  }

  /** Declarations, stand-ins and copies of one name in one file add nothing after the first. */
  #distinct(hits: Hit[]): Hit[] {
    const seen = new Set<string>();
    return hits.filter((hit) => {
      const row = hit.symbol === undefined ? undefined : this.parts.index.symbol(hit.symbol);
      const key =
        row === undefined
          ? `file ${hit.file}`
          : row.declaration
            ? row.name
            : `${row.name} ${hit.file}`;
      if (seen.has(key) || (row?.declaration === true && seen.has(`any ${row.name}`))) return false;
      seen.add(key);
      if (row !== undefined) seen.add(`any ${row.name}`);
      return true;
    });
  }

  #symbol(hit: Hit): void {
    if (this.#isFull) return;
    const { index, excerpts } = this.parts;
    const citation = citeDocument(index, excerpts, hit.document, hit.similarity);
    if (citation === undefined) this.isWhole = false;
    const number = this.#cite(citation);
    if (number === 0) return;
    const path = index.file(hit.file).path;
    const clause =
      hit.symbol === undefined
        ? `\`${path}\` speaks of it outside all symbols`
        : describe(index.symbol(hit.symbol), path);
    this.#sentences.push(sentence(clause, number));
  }

  /** The calls of a function whose names the question speaks of, the most telling first. */
  #callees(hit: Hit, symbol: number): void {
    const best = new Map<string, { call: CallRow; worth: number }>();
    for (const call of this.parts.index.callsFrom(symbol)) {
      const { inside, lookup } = targetsOfCall(this.parts.index, call);
      // What leads nowhere in the code base (a method of some array) explains nothing.
      if (inside.length === 0 && lookup === undefined) continue;
      const worth =
        this.#worth(call.callee) /
        (1 + 0.2 * Math.log2(1 + siteCount(this.parts.index, call.callee) / 4));
      if (worth > (best.get(call.callee)?.worth ?? 0)) best.set(call.callee, { call, worth });
    }
    const calls = [...best.values()]
      .sort((one, other) => other.worth - one.worth)
      .slice(0, callsPerSymbol);
    const name = this.parts.index.symbol(symbol).name;
    const told = calls.flatMap(({ call, worth }) => {
      const number = this.#call(hit, name, call, worth);
      return number === 0 ? [] : [`\`${call.callee}\` [${number}]`];
    });
    if (told.length > 0) this.#sentences.push(`\`${name}\` calls ${enumerate(told)}.`);
  }

  #callers(hit: Hit, symbol: number): void {
    const { index } = this.parts;
    const name = index.symbol(symbol).name;
    const sites = this.#sitesOf(symbol);
    const told = sites.slice(0, callersListed).flatMap((call) => {
      const caller = call.caller < 0 ? index.file(call.file).path : index.symbol(call.caller).name;
      const number = this.#call(hit, caller, call, 1);
      return number === 0
        ? []
        : [`\`${caller}\` (${index.file(call.file).path}:${call.line}) [${number}]`];
    });
    if (told.length === 0) return;
    const rest = sites.length - told.length;
    this.#sentences.push(
      `\`${name}\` is called by ${enumerate(told)}${rest > 0 ? `, at ${rest} further sites` : ''}.`,
    );
  }

  /** Calls that mean this symbol; when none does, those that leave the shard and may mean it elsewhere. */
  #sitesOf(symbol: number): CallRow[] {
    const { index } = this.parts;
    const row = index.symbol(symbol);
    const isPublic = (id: number): boolean =>
      !index.symbol(id).declaration && index.symbol(id).exported;
    // No call means a declaration: it stands for what is declared.
    const meant = new Set(
      row.declaration ? index.symbolsNamed(row.name).filter(isPublic) : [symbol],
    );
    const sites = index
      .callsTo(row.name)
      .map((call) => ({ call, targets: targetsOfCall(index, call) }));
    const sure = sites.filter(({ targets }) => targets.inside.some((id) => meant.has(id)));
    // A private definition is known in its own file only.
    const mayBeElsewhere = row.exported || row.declaration;
    const open = mayBeElsewhere ? sites.filter(({ targets }) => targets.lookup !== undefined) : [];
    return (sure.length > 0 ? sure : open).map(({ call }) => call);
  }

  #call(hit: Hit, caller: string, call: CallRow, worth: number): number {
    if (this.#isFull) return 0;
    const { index, excerpts } = this.parts;
    // An edge is at most as relevant as the function it belongs to.
    const similarity = hit.similarity * (0.5 + 0.5 * Math.min(1, worth));
    const edge = { caller, callee: call.callee, file: call.file, line: call.line };
    const citation = citeCall(index, excerpts, edge, similarity);
    if (citation === undefined) {
      const lines = excerpts.lines(index.file(call.file), call.line, call.line);
      if (lines?.[0] === undefined) this.isWhole = false;
    }
    return this.#cite(citation);
  }

  #worth(name: string): number {
    let covered = 0;
    for (const [at, trust] of conceptsIn(this.question, name))
      covered += trust * (this.#masses[at] ?? 0);
    return this.#total === 0 ? 0 : covered / this.#total;
  }

  #cite(citation: Citation | undefined): number {
    if (citation === undefined || this.#isFull) return 0;
    this.sources.push(citation);
    return this.sources.length;
  }
}

/** Least recently used answers go first; a Map keeps the order of insertion. */
export class AnswerCache {
  readonly #answers = new Map<string, AskAnswer>();

  constructor(readonly limit = cachedAnswersMax) {}

  get(key: string): AskAnswer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) return undefined;
    this.#answers.delete(key);
    this.#answers.set(key, answer);
    return answer;
  }

  set(key: string, answer: AskAnswer): void {
    this.#answers.set(key, answer);
    const oldest = this.#answers.keys().next();
    if (this.#answers.size > this.limit && oldest.done !== true) this.#answers.delete(oldest.value);
  }
}

function digest(parts: string[]): string {
  return createHash('sha256').update(parts.join('\0')).digest('hex');
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
