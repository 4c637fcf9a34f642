import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type {
  AlgebraRequest,
  Analyses,
  BlastRequest,
  PatternsRequest,
  SecurityRequest,
} from '../pgc/analyse/analyses.js';
import type { BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
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
  TopologyAnswer,
  TraceAnswer,
  Verdict,
} from '../pgc/shapes.js';
import { verify } from '../pgc/answer/verify.js';
import { ask } from './ask.js';
import { calleesOf, callersOf, implementationsOf } from './trace/call-sites.js';
import type { Journal } from './query/journal.js';
import { locate } from './route/locate.js';
import type { Lattice } from './lattice.js';
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

export interface RowOptions extends AskingOptions {
  /** Only rows in files of these; empty: any. */
  roles?: readonly string[] | undefined;
}

/** All questions about a code base, whether indexes in this process or agents on the bus answer. */
export interface Questions extends Analyses {
  query(request: LatticeQuery, options: AskingOptions): Promise<Answer>;
  ask(request: AskRequest, options: AskingOptions): Promise<Answer>;
  /** Ranks the files that a report concerns. */
  locate(request: LocateRequest, options: AskingOptions): Promise<LocateAnswer>;
  /** `cite`: number of call sites that are cited, at most 10. */
  callers(symbol: string, options: RowOptions, cite?: number): Promise<CallersAnswer>;
  /** Its callers, and where it is used without being called. */
  references(symbol: string, options: RowOptions): Promise<CallersAnswer>;
  callees(symbol: string, options: RowOptions): Promise<CalleesAnswer>;
  implementations(symbol: string, options: RowOptions): Promise<ImplementationsAnswer>;
  /** `roles`: only through functions in files of these. */
  trace(from: string, to: string, options: RowOptions): Promise<TraceAnswer>;
  topology(options: AskingOptions): Promise<TopologyAnswer>;
  path(from: string, to: string, maxHops: number, options: AskingOptions): Promise<string[]>;
  verify(citations: object[], options: AskingOptions): Promise<Verdict[]>;
}

/** A shard and the root of its tree. */
export type ShardTree = Pick<Card, 'agent' | 'alias' | 'root'>;

/** Answers from a lattice. Citations are verified in this process, from the files. */
export class LatticeQuestions implements Questions {
  /** `trees`: the roots of the shards, when they are known without cards. */
  constructor(
    readonly lattice: Lattice,
    readonly clock: Clock,
    readonly trees?: readonly ShardTree[],
    /** Analyses need a host of the whole tree; absent: NO_SHARDS. */
    readonly analyses?: Analyses,
  ) {}

  query(request: LatticeQuery, options: AskingOptions & { journal?: Journal }): Promise<Answer> {
    return query(this.lattice, request, { clock: this.clock, ...options });
  }

  ask(request: AskRequest, options: AskingOptions): Promise<Answer> {
    return ask(this.lattice, request, until(options));
  }

  locate(request: LocateRequest, options: AskingOptions): Promise<LocateAnswer> {
    return locate(this.lattice, request, { clock: this.clock, ...options });
  }

  callers(symbol: string, options: RowOptions, cite = 0): Promise<CallersAnswer> {
    return callersOf(this.lattice, symbol, { ...rowsOf(options), cite });
  }

  references(symbol: string, options: RowOptions): Promise<CallersAnswer> {
    return callersOf(this.lattice, symbol, { ...rowsOf(options), withUses: true });
  }

  callees(symbol: string, options: RowOptions): Promise<CalleesAnswer> {
    return calleesOf(this.lattice, symbol, rowsOf(options));
  }

  implementations(symbol: string, options: RowOptions): Promise<ImplementationsAnswer> {
    return implementationsOf(this.lattice, symbol, rowsOf(options));
  }

  trace(from: string, to: string, options: RowOptions): Promise<TraceAnswer> {
    return trace(this.lattice, from, to, { clock: this.clock, ...rowsOf(options) });
  }

  topology(): Promise<TopologyAnswer> {
    return Promise.resolve(this.#topology());
  }

  path(from: string, to: string, maxHops: number): Promise<string[]> {
    return Promise.resolve(pathBetween(adjacencyOf(this.#topology()), from, to, maxHops));
  }

  verify(citations: object[], options: AskingOptions): Promise<Verdict[]> {
    return verifyAll(this.trees ?? [...this.lattice.cards.values()], citations, options);
  }

  async blastRadius(request: BlastRequest, options: AskingOptions): Promise<BlastRadius> {
    return this.#analyses().blastRadius(request, options);
  }

  async securityBlastRadius(
    request: SecurityRequest,
    options: AskingOptions,
  ): Promise<SecurityBlastRadius> {
    return this.#analyses().securityBlastRadius(request, options);
  }

  async patterns(request: PatternsRequest, options: AskingOptions): Promise<DependencyPatterns> {
    return this.#analyses().patterns(request, options);
  }

  async algebra(request: AlgebraRequest, options: AskingOptions): Promise<AlgebraAnswer> {
    return this.#analyses().algebra(request, options);
  }

  #topology(): TopologyAnswer {
    const { kept, cards } = this.lattice;
    return kept.topologies.of([...cards.values()], () => this.lattice.directory);
  }

  #analyses(): Analyses {
    if (this.analyses === undefined) throw new BusError('NO_SHARDS');
    return this.analyses;
  }
}

/**
 * Verifies each citation in the tree of the agent that it names, else in every tree until one confirms it. Throws TOO_LARGE, CITATION_MALFORMED, NO_SHARDS, DEADLINE_EXCEEDED.
 */
export async function verifyAll(
  trees: readonly ShardTree[],
  citations: object[],
  options: AskingOptions,
): Promise<Verdict[]> {
  const limit = citationsPerVerifyMax;
  if (citations.length > limit) {
    throw new BusError('TOO_LARGE', {
      what: 'a list of citations',
      bytes: citations.length,
      limit,
    });
  }
  const signal = until(options);
  const verdicts: Verdict[] = [];
  for (const citation of citations) {
    if (signal.aborted) throw new BusError('DEADLINE_EXCEEDED', { ms: options.deadlineMs });
    verdicts.push(await verifyOne(trees, citation));
  }
  return verdicts;
}

async function verifyOne(trees: readonly ShardTree[], citation: object): Promise<Verdict> {
  const agent = 'agent' in citation ? citation.agent : undefined;
  const named = trees.filter((tree) => tree.agent === agent || tree.alias === agent);
  let best: Verdict | undefined;
  // The named tree first, then the others: the shard may belong to another tree by now.
  for (const root of new Set([...named, ...trees].map((tree) => tree.root))) {
    const verdict = await verify(citation, root);
    if (verdict.status === 'valid') return verdict;
    if (best === undefined || (best.status === 'false' && verdict.status === 'stale')) {
      best = verdict;
    }
  }
  if (best === undefined) throw new BusError('NO_SHARDS');
  return best;
}

function rowsOf({ roles = [], ...options }: RowOptions): {
  signal: AbortSignal;
  roles: readonly string[];
} {
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
