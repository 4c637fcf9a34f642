import type { Clock } from '../base/clock.js';
import { confidenceOf } from '../base/confidence.js';
import { BusError } from '../errors/bus-error.js';
import type { AlgebraAnswer } from '../pgc/analyse/algebra/evaluate.js';
import type { BlastRadius } from '../pgc/analyse/blast-radius.js';
import type { BlastRequest } from '../pgc/analyse/analyses.js';
import type { DependencyPatterns } from '../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../pgc/analyse/security-blast-radius.js';
import type { AskAnswer, CallersAnswer, Citation } from '../pgc/shapes.js';
import {
  evidenceLimits,
  responseLimits,
  type EvidenceCitation,
  type GroundingEvidence,
  type TaskFailure,
} from './shapes.js';

/** What a worker can ask of the PGC. Each throws what whoever answers says; `bytes` of all answers are counted. */
export interface Pgc {
  ask(question: string, overlays: readonly string[]): Promise<AskAnswer>;
  /** With its definitions; so many of its call sites are cited. */
  callers(symbol: string, cite: number): Promise<CallersAnswer>;
  blastRadius(request: BlastRequest): Promise<BlastRadius>;
  securityBlastRadius(symbol: string): Promise<SecurityBlastRadius>;
  /** `target`: what it is about, a symbol or a path; empty: the whole tree. */
  patterns(limit: number, target: string): Promise<DependencyPatterns>;
  algebra(expression: string, limit: number): Promise<AlgebraAnswer>;
  /**
   * Has overlays made where they lack, and waits until `isThere` says so, as long as is sensible; it is asked a few times
   * when they have been made. Says what hindered it.
   */
  generate(lack: Lack, isThere: () => Promise<boolean>): Promise<string[]>;
  /** Of all answers so far. */
  readonly bytes: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Overlays that could not be consulted, and the agents that said so. */
export interface Lack {
  overlays: string[];
  agents: string[];
}

/** One thing that the PGC says, short enough for whoever does the work. */
export interface Insight {
  overlay: string;
  /** `path:line`, or empty. */
  place: string;
  text: string;
}

/** What was asked of the PGC for a task, and what came of it. */
export interface Gathered {
  queries: string[];
  overlays: string[];
  insights: Insight[];
  /** In the order of their finding. */
  citations: EvidenceCitation[];
  /** What was answered, in words. */
  answers: string[];
  warnings: string[];
  errors: TaskFailure[];
  bytes: number;
  ms: number;
}

export const nothingGathered: Gathered = {
  queries: [],
  overlays: [],
  insights: [],
  citations: [],
  answers: [],
  warnings: [],
  errors: [],
  bytes: 0,
  ms: 0,
};

export function merged(...all: readonly Gathered[]): Gathered {
  return {
    queries: unique(all.flatMap(({ queries }) => queries)),
    overlays: unique(all.flatMap(({ overlays }) => overlays)).sort(),
    insights: all.flatMap(({ insights }) => insights),
    citations: distinct(all.flatMap(({ citations }) => citations)),
    answers: all.flatMap(({ answers }) => answers),
    warnings: unique(all.flatMap(({ warnings }) => warnings)),
    errors: distinctFailures(all.flatMap(({ errors }) => errors)),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    ms: all.reduce((sum, { ms }) => sum + ms, 0),
  };
}

/** The best of the citations, as many as the protocol allows; the confidence is that of what is cited. */
export function evidenceOf(gathered: Gathered): GroundingEvidence {
  const citations = distinct(gathered.citations)
    .sort((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0))
    .slice(0, evidenceLimits.citations);
  return {
    queries_executed: gathered.queries,
    overlays_consulted: gathered.overlays,
    citations,
    grounding_confidence: confidenceOf(citations.map(({ similarity }) => similarity ?? 0)),
    overlay_warnings: gathered.warnings.slice(0, responseLimits.warnings),
  };
}

export function evidenceCitation(citation: Citation, relevance: string): EvidenceCitation {
  const { overlay, content, file_path, line_start, line_end, symbol, blob, agent, similarity } =
    citation;
  return {
    ...{ overlay, content, relevance, file_path, line_start, line_end, symbol, blob, agent },
    similarity,
  };
}

/** Where one was found several times, as what it is most like. */
function distinct(citations: readonly EvidenceCitation[]): EvidenceCitation[] {
  const keyOf = (each: EvidenceCitation): string =>
    `${each.overlay} ${each.file_path}:${each.line_start}-${each.line_end} ${each.blob}`;
  const found = new Map<string, EvidenceCitation>();
  for (const each of citations) {
    const known = found.get(keyOf(each))?.similarity ?? -1;
    if (!found.has(keyOf(each)) || (each.similarity ?? 0) > known) found.set(keyOf(each), each);
  }
  return [...found.values()];
}

/** What several questions met with is told once. */
function distinctFailures(failures: readonly TaskFailure[]): TaskFailure[] {
  return [...new Map(failures.map((each) => [`${each.code} ${each.text}`, each])).values()];
}

export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** What could not be asked of one shard would be missing without a word. Throws PGC_FAILED. */
export function assertAllAsked({ errors }: CallersAnswer): void {
  const failed = errors.find(({ code }) => code !== 'NO_SUCH_SYMBOL');
  if (failed !== undefined)
    throw new BusError('PGC_FAILED', { detail: `${failed.agent}: ${failed.text}` });
}

/** A name that nobody knows who was asked. */
export function isNowhere({ definitions, callers }: CallersAnswer): boolean {
  return definitions.length + callers.length === 0;
}
