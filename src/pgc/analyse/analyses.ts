import type { Plain, sigma } from '../../wire/codec.js';
import { systemClock, type Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import { evaluate, shownMax, type AlgebraAnswer } from './algebra/evaluate.js';
import { parseExpression } from './algebra/expression.js';
import type { OpenedTree } from '../search/open-index.js';
import {
  blastRadius,
  depthDefault,
  depthLimit,
  directions,
  type BlastRadius,
  type Direction,
} from './blast-radius.js';
import {
  dependencyPatterns,
  violationsDefault,
  violationsLimit,
  type DependencyPatterns,
} from './dependency-patterns.js';
import { depthMax, measures, type Measures, type MeasuresRequest } from './measures.js';
import { securityBlastRadius, type SecurityBlastRadius } from './security-blast-radius.js';

/** `max_depth` 0: the default. */
export type BlastRequest = Plain<
  sigma.pgc.BlastRequest,
  { direction: Direction; roles?: readonly string[] }
>;

export interface SecurityRequest {
  /** Or the path of a file. */
  symbol: string;
  /** Only what lies in files of these; empty: any. */
  roles?: readonly string[];
}

/**
 * `filter` is `dependencies`, there is no other; at most so many violations, 0: the default. `target`: only violations that
 * touch this path or symbol are listed, and its part of the tree is looked at first.
 */
export type PatternsRequest = Plain<sigma.pgc.PatternsRequest, { target?: string }>;

/** `limit`: of the anchors that are listed; all are counted. */
export type AlgebraRequest = Plain<sigma.pgc.AlgebraRequest>;

export interface AnalysisOptions {
  /** What is known by then is the answer, where that makes sense; 0: there is none. */
  deadlineMs: number;
  signal?: AbortSignal;
}

/** Questions about a whole tree. An implementation needs all its shards. */
export interface Analyses {
  blastRadius(request: BlastRequest, options: AnalysisOptions): Promise<BlastRadius>;
  securityBlastRadius(
    request: SecurityRequest,
    options: AnalysisOptions,
  ): Promise<SecurityBlastRadius>;
  patterns(request: PatternsRequest, options: AnalysisOptions): Promise<DependencyPatterns>;
  algebra(request: AlgebraRequest, options: AnalysisOptions): Promise<AlgebraAnswer>;
  measures(request: MeasuresRequest, options: AnalysisOptions): Promise<Measures>;
}

export type AnalysisName = keyof Analyses;

/** Of the time for an analysis: what was found is still sorted, described and sent. */
const walkShare = 0.75;

/**
 * Out of a built index. Requests may come from another process, so what they ask for is checked: USAGE. Throws
 * what the analyses throw, ALGEBRA_SYNTAX and the like, and what `open` throws.
 */
export class TreeAnalyses implements Analyses {
  constructor(
    readonly open: () => Promise<OpenedTree>,
    readonly clock: Pick<Clock, 'monotonicMs'> = systemClock,
  ) {}

  async blastRadius(
    { symbol, max_depth, direction, roles }: BlastRequest,
    options?: AnalysisOptions,
  ): Promise<BlastRadius> {
    const isOver = this.#end(options);
    const maxDepth = within('the depth', max_depth || depthDefault, depthLimit);
    if (!directions.includes(direction)) throw usage(`${direction} is no direction`);
    return blastRadius(await this.open(), symbol, { maxDepth, direction, roles, isOver });
  }

  async securityBlastRadius(
    { symbol, roles = [] }: SecurityRequest,
    options?: AnalysisOptions,
  ): Promise<SecurityBlastRadius> {
    const isOver = this.#end(options);
    return securityBlastRadius(await this.open(), symbol, { roles, isOver });
  }

  async patterns(
    { filter, limit, target = '' }: PatternsRequest,
    options?: AnalysisOptions,
  ): Promise<DependencyPatterns> {
    const isOver = this.#end(options);
    if (filter !== 'dependencies') throw usage('patterns need a filter: --filter dependencies');
    const most = within('the limit', limit || violationsDefault, violationsLimit);
    return dependencyPatterns(await this.open(), { limit: most, target, isOver });
  }

  async algebra({ expression, limit }: AlgebraRequest): Promise<AlgebraAnswer> {
    const parsed = parseExpression(expression);
    const shown = limit === 0 ? 0 : within('the limit', limit, shownMax);
    return evaluate(parsed, await this.open(), { limit: shown });
  }

  async measures({ path, depth }: MeasuresRequest): Promise<Measures> {
    return measures(await this.open(), path, within('the depth', depth, depthMax));
  }

  /** Whether no time is left to look further. */
  #end(options: AnalysisOptions | undefined): () => boolean {
    const deadlineMs = options?.deadlineMs ?? 0;
    if (deadlineMs === 0) return () => false;
    const endMs = this.clock.monotonicMs() + deadlineMs * walkShare;
    return () => this.clock.monotonicMs() >= endMs;
  }
}

function within(what: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw usage(`${what} must be a whole number from 1 to ${max}`);
}

function usage(detail: string): BusError {
  return new BusError('USAGE', { detail });
}
