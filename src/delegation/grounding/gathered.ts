import type { Clock } from '../../base/clock.js';
import { confidenceOf } from '../../base/confidence.js';
import { BusError } from '../../errors/bus-error.js';
import type { AlgebraAnswer } from '../../pgc/analyse/algebra/evaluate.js';
import type { BlastRadius } from '../../pgc/analyse/blast-radius.js';
import type { BlastRequest } from '../../pgc/analyse/analyses.js';
import type { DependencyPatterns } from '../../pgc/analyse/dependency-patterns.js';
import type { SecurityBlastRadius } from '../../pgc/analyse/security-blast-radius.js';
import type { Answer, CallersAnswer, Citation } from '../../pgc/shapes.js';
import {
  evidenceLimits,
  responseLimits,
  type EvidenceCitation,
  type GroundingEvidence,
  type TaskFailure,
} from '../task/shapes.js';

/** The queries that a worker can send to the PGC. Each throws the error of the answering agent. */
export interface Pgc {
  ask(question: string, overlays: readonly string[]): Promise<Answer>;
  /** Definitions and call sites of a symbol; `cite` of the call sites are cited. */
  callers(symbol: string, cite: number): Promise<CallersAnswer>;
  blastRadius(request: BlastRequest): Promise<BlastRadius>;
  securityBlastRadius(symbol: string): Promise<SecurityBlastRadius>;
  /** `target`: a symbol or a path; empty: the whole tree. */
  patterns(limit: number, target: string): Promise<DependencyPatterns>;
  algebra(expression: string, limit: number): Promise<AlgebraAnswer>;
  /**
   * Has missing overlays built, and waits within limits until `isThere` is true, which is called a few times after the build. Returns the obstacles.
   */
  generate(lack: MissingOverlays, isThere: () => Promise<boolean>): Promise<string[]>;
  /** Size of all answers so far. */
  readonly bytes: number;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/** Overlays that could not be consulted, and the agents that lack them. */
export interface MissingOverlays {
  overlays: string[];
  agents: string[];
}

/** One short statement of the PGC for the context of a runner. */
export interface Insight {
  overlay: string;
  /** `path:line`, or empty. */
  place: string;
  text: string;
}

/** The queries of a task to the PGC, and their results. */
export interface Gathered {
  queries: string[];
  overlays: string[];
  insights: Insight[];
  /** In the order in which they were found. */
  citations: EvidenceCitation[];
  /** The answers in words. */
  answers: string[];
  warnings: string[];
  /** That what was found may be about something else. */
  doubts: string[];
  errors: TaskFailure[];
  /** At least one answer says that it answers its question. */
  isClear: boolean;
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
  doubts: [],
  errors: [],
  isClear: false,
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
    // Absent in a record of an earlier release.
    doubts: unique(all.flatMap(({ doubts = [] }: Partial<Gathered>) => doubts)),
    errors: distinctFailures(all.flatMap(({ errors }) => errors)),
    isClear: all.some(({ isClear }) => isClear),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    ms: all.reduce((sum, { ms }) => sum + ms, 0),
  };
}

/**
 * What a response rests on. `cited` by the runner itself stands as it is; else the most similar citations, as many as the protocol allows.
 */
export function evidenceOf(
  gathered: Gathered,
  cited: readonly EvidenceCitation[] = [],
): GroundingEvidence {
  const citations =
    cited.length > 0
      ? cited.map((each) => asKnown(each, gathered.citations))
      : distinct(gathered.citations)
          .sort((one, other) => (other.similarity ?? 0) - (one.similarity ?? 0))
          .slice(0, evidenceLimits.citations);
  return {
    queries_executed: gathered.queries,
    overlays_consulted: gathered.overlays,
    citations,
    grounding_confidence: confidenceOf(citations.map(({ similarity }) => similarity ?? 0)),
    overlay_warnings: [...gathered.warnings, ...(cited.length > 0 ? [] : gathered.doubts)].slice(
      0,
      responseLimits.warnings,
    ),
  };
}

/** How near a citation is to the question, the PGC says: one that it did not give has no similarity. */
function asKnown(citation: EvidenceCitation, known: readonly EvidenceCitation[]): EvidenceCitation {
  const { file_path, line_start, line_end, content } = citation;
  const same = known.find(
    (each) =>
      each.file_path === file_path &&
      each.line_start === line_start &&
      each.line_end === line_end &&
      each.content === content,
  );
  return same === undefined ? citation : { ...same, relevance: citation.relevance };
}

export function evidenceCitation(citation: Citation, relevance: string): EvidenceCitation {
  const { overlay, content, file_path, line_start, line_end, symbol, blob, agent, similarity } =
    citation;
  return {
    ...{ overlay, content, relevance, file_path, line_start, line_end, symbol, blob, agent },
    similarity,
  };
}

/** Each place once, with its highest similarity. */
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

/** Each failure once. */
function distinctFailures(failures: readonly TaskFailure[]): TaskFailure[] {
  return [...new Map(failures.map((each) => [`${each.code} ${each.text}`, each])).values()];
}

export function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** An answer without one of the shards would be incomplete without notice. Throws PGC_FAILED. */
export function assertAllAsked({ errors }: CallersAnswer): void {
  const failed = errors.find(({ code }) => code !== 'NO_SUCH_SYMBOL');
  if (failed !== undefined)
    throw new BusError('PGC_FAILED', { detail: `${failed.agent}: ${failed.text}` });
}

/** Whether no shard defines or calls the symbol. */
export function isUnknown({ definitions, callers }: CallersAnswer): boolean {
  return definitions.length + callers.length === 0;
}
