import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { AskedBy, questionMessages } from '../pgc/serve/messages.js';
import type { LocateAnswer, LocateRequest } from '../pgc/search/locate/locate.js';
import type {
  Answer,
  AskRequest,
  CalleesAnswer,
  CallersAnswer,
  ImplementationsAnswer,
  Card,
  LatticeQuery,
  QueryProgress,
  SourcesAnswer,
  TopologyAnswer,
  TraceAnswer,
  Verdict,
} from '../pgc/shapes.js';
import { verify, type Judged, type Reading } from '../pgc/answer/verify.js';
import { ask } from './ask.js';
import { calleesOf, callersOf, implementationsOf, sourcesOf } from './trace/call-sites.js';
import type { Journal } from './query/journal.js';
import { locate } from './route/locate.js';
import type { Lattice } from './lattice.js';
import { topKDefault } from '../pgc/answer/searched.js';
import { withFound } from './query/with-found.js';
import { query } from './query/query.js';
import { adjacencyOf, pathBetween } from './topology/topology.js';
import { trace } from './trace/trace.js';

/** Citations in one request; one more is refused TOO_LARGE. */
export const citationsPerVerifyMax = 1_000;

export interface AskingOptions {
  /** For the whole answer. A query answers with what it knows by then. */
  deadlineMs: number;
  signal?: AbortSignal;
  /** Called after every step of a query. */
  onProgress?: (progress: QueryProgress) => void;
}

/** All questions about a code base, whether indexes in this process or agents on the bus answer. */
export type Questions = AskedBy<typeof questionMessages, AskingOptions>;

type Rows = Parameters<Questions['callees']>[0];
type Trace = Parameters<Questions['trace']>[0];

/** A shard and the root of its tree. */
export type ShardTree = Pick<Card, 'agent' | 'alias' | 'root'>;

/** Answers from a lattice. Citations are verified in this process, from the files. */
export class LatticeQuestions implements Questions {
  /** `trees`: the roots of the shards, when they are known without cards. */
  constructor(
    readonly lattice: Lattice,
    readonly clock: Clock,
    readonly trees?: readonly ShardTree[],
  ) {}

  async query(
    request: LatticeQuery,
    options: AskingOptions & { journal?: Journal },
  ): Promise<Answer> {
    const told = query(this.lattice, request, { clock: this.clock, ...options });
    // Who names where to enter asks for the way from there.
    if (request.from !== '') return told;
    const { question, query_hints = [], top_k } = request;
    const asked = {
      question,
      query_hints,
      overlays: ['O1', 'O3'],
      top_k: Math.max(topKDefault, top_k),
    };
    // What fails here has failed there, and is told there.
    const found = ask(this.lattice, asked, until(options)).catch(() => undefined);
    const [way, beside] = await Promise.all([told, found]);
    return beside === undefined ? way : withFound(way, beside);
  }

  async ask(request: AskRequest, options: AskingOptions): Promise<Answer> {
    const answer = await ask(this.lattice, request, until(options));
    return { ...answer, root: this.lattice.root };
  }

  locate(request: LocateRequest, options: AskingOptions): Promise<LocateAnswer> {
    return locate(this.lattice, request, { clock: this.clock, ...options });
  }

  sources({ symbols }: { symbols: string[] }, options: AskingOptions): Promise<SourcesAnswer> {
    return sourcesOf(this.lattice, symbols, until(options));
  }

  callers(
    {
      symbol,
      cite = 0,
      calls_alone: isOfCallsAlone = false,
      ...rows
    }: Rows & { cite?: number; calls_alone?: boolean },
    options: AskingOptions,
  ): Promise<CallersAnswer> {
    return callersOf(this.lattice, symbol, { ...rowsOf(rows, options), cite, isOfCallsAlone });
  }

  references({ symbol, ...rows }: Rows, options: AskingOptions): Promise<CallersAnswer> {
    return callersOf(this.lattice, symbol, { ...rowsOf(rows, options), withUses: true });
  }

  callees({ symbol, ...rows }: Rows, options: AskingOptions): Promise<CalleesAnswer> {
    return calleesOf(this.lattice, symbol, rowsOf(rows, options));
  }

  implementations(
    { symbol, ...rows }: Rows,
    options: AskingOptions,
  ): Promise<ImplementationsAnswer> {
    return implementationsOf(this.lattice, symbol, rowsOf(rows, options));
  }

  trace({ from, to, ...rows }: Trace, options: AskingOptions): Promise<TraceAnswer> {
    return trace(this.lattice, from, to, { clock: this.clock, ...rowsOf(rows, options) });
  }

  topology(): Promise<TopologyAnswer> {
    return Promise.resolve(this.#topology());
  }

  path({ from, to, max_hops }: Parameters<Questions['path']>[0]): Promise<{ path: string[] }> {
    const path = pathBetween(adjacencyOf(this.#topology()), from, to, max_hops);
    return Promise.resolve({ path });
  }

  async verify(
    { citations }: { citations: object[] },
    options: AskingOptions,
  ): Promise<{ results: Verdict[] }> {
    const trees = this.trees ?? [...this.lattice.cards.values()];
    const judged = await verifyAll(trees, citations, options);
    return { results: judged.map(({ status, reason, now_at }) => ({ status, reason, now_at })) };
  }

  #topology(): TopologyAnswer {
    const { kept, cards } = this.lattice;
    return kept.topologies.of([...cards.values()], () => this.lattice.directory);
  }
}

interface VerifyOptions extends Reading {
  own?: string;
}

/**
 * Verifies each citation in the tree of the agent that it names, else in every tree until one confirms it. `own`: a file that is in this
 * tree is judged there alone. Throws TOO_LARGE, NO_SHARDS, DEADLINE_EXCEEDED.
 */
export async function verifyAll(
  trees: readonly ShardTree[],
  citations: object[],
  options: AskingOptions & VerifyOptions,
): Promise<Judged[]> {
  const limit = citationsPerVerifyMax;
  if (citations.length > limit) {
    throw new BusError('TOO_LARGE', {
      ...{ what: 'a list', bytes: citations.length, unit: 'citations', limit },
    });
  }
  const signal = until(options);
  const verdicts: Judged[] = [];
  for (const citation of citations) {
    if (signal.aborted) throw new BusError('DEADLINE_EXCEEDED', { ms: options.deadlineMs });
    verdicts.push(await verifyOne(trees, citation, options));
  }
  return verdicts;
}

async function verifyOne(
  trees: readonly ShardTree[],
  citation: object,
  { own = '', ...reading }: VerifyOptions,
): Promise<Judged> {
  // Any tree may have a file of that path: what the task is about must not be judged by another one.
  if (own !== '' && isFileIn(own, citation)) return verify(citation, own, reading);
  const agent = 'agent' in citation ? citation.agent : undefined;
  const named = trees.filter((tree) => tree.agent === agent || tree.alias === agent);
  let best: Judged | undefined;
  // The named tree first, then the others: the shard may belong to another tree by now.
  for (const root of new Set([...named, ...trees].map((tree) => tree.root))) {
    const verdict = await verify(citation, root, reading);
    if (verdict.status === 'valid') return verdict;
    if (best === undefined || (best.status === 'false' && verdict.status === 'stale')) {
      best = verdict;
    }
  }
  if (best === undefined) throw new BusError('NO_SHARDS');
  return best;
}

function isFileIn(root: string, citation: object): boolean {
  const file = 'file_path' in citation ? citation.file_path : undefined;
  if (typeof file !== 'string' || file === '') return false;
  const whole = path.resolve(root, file);
  return whole.startsWith(`${root}${path.sep}`) && existsSync(whole);
}

function rowsOf(
  { roles = [] }: Pick<Rows, 'roles'>,
  options: AskingOptions,
): { signal: AbortSignal; roles: readonly string[] } {
  return { signal: until(options), roles };
}

function until({ deadlineMs, signal }: AskingOptions): AbortSignal {
  const late = new AbortController();
  const ms = Math.max(1, Math.round(deadlineMs));
  setTimeout(() => late.abort(new BusError('DEADLINE_EXCEEDED', { ms })), ms).unref();
  return signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
}

/** A question without a deadline gets this long; the answer then holds what is known. */
const deadlineMsDefault = 30_000;
const answerMarginMs = 250;

/** `deadlineMs`: of the request; 0 means none. A partial answer must still reach the caller before it stops waiting. */
export function optionsOf({
  deadlineMs,
  signal,
}: {
  deadlineMs: number;
  signal: AbortSignal;
}): AskingOptions {
  const leftMs = deadlineMs > 0 ? deadlineMs : deadlineMsDefault;
  return { deadlineMs: Math.max(leftMs - answerMarginMs, leftMs * 0.8), signal };
}
