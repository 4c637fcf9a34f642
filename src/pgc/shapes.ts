/**
 * The shapes that PGC agents and the manager exchange. Their fields are explained in `proto/pgc.proto`, and are the JSON
 * that scripts rely on, hence snake case: a field is added, never renamed.
 */

import type { Confidence } from '../base/confidence.js';
import type { Plain, sigma } from '../wire/codec.js';

export type OverlayName = 'O1' | 'O2' | 'O3' | 'O4' | 'O5' | 'O6' | 'O7';
export const overlayNames: readonly OverlayName[] = ['O1', 'O2', 'O3', 'O4', 'O5', 'O6', 'O7'];

/** Of answers that are made without a language model; a request that names it wants no other. */
export const engineName = 'extractive';

/** Limits of the delegation protocol. */
export const citationsMax = 20;
export const contentMax = 500;

export type Citation = Plain<sigma.pgc.Citation, { role?: string }>;
export type CodedError = Plain<sigma.pgc.CodedError>;
export type AskRequest = Plain<
  sigma.pgc.AskRequest,
  {
    query_hints?: string[];
    engine?: string;
    roles?: string[];
    counts?: WordCounts | null;
    shown?: number;
  }
>;
/** What the words of a question are weighed by: of one shard, or of all that are searched together. */
export type WordCounts = Plain<sigma.pgc.WordCounts>;
/** What a shard has for a question, before its answer is written. */
export type SeekAnswer = Plain<sigma.pgc.SeekAnswer>;
export type QueryIntent = Plain<sigma.pgc.QueryIntent>;
export type ModelMetadata = Plain<sigma.pgc.ModelMetadata>;
export type ExcerptLine = Plain<sigma.pgc.ExcerptLine>;
/** A citation with what its reader needs to see. */
export type Evidence = Plain<sigma.pgc.Evidence, { role?: string }>;
export type Clause = Plain<sigma.pgc.Clause, { status: 'found' | 'partly' | 'not_found' }>;
/** How surely a call leads where it is said to; `outside`: to a library or the language. */
export type Certainty = 'exact' | 'dispatch' | 'outside' | 'possible';
export type FlowEdge = Plain<
  sigma.pgc.FlowEdge,
  { kind: 'call' | 'slot' | 'implements'; certainty: Certainty }
>;
export type Unsure = Plain<sigma.pgc.Unsure, { kind: 'weak' | 'sites' }>;
/** An overlay that could not be consulted, at least in one shard. */
export type LeftOut = Plain<sigma.pgc.LeftOut>;
export type NextStep = Plain<sigma.pgc.NextStep, { arguments: Record<string, string> }>;

/** What a question comes to: of one shard, or of many. */
export type Answer = Plain<
  sigma.pgc.Answer,
  {
    clauses: Clause[];
    evidence: Evidence[];
    flow: FlowEdge[];
    unsure: Unsure[];
    next: NextStep[];
    confidence: Confidence;
    hops: Hop[];
    safety: Plain<sigma.pgc.Safety> | null;
    metadata: Plain<sigma.pgc.AnswerMetadata, { model: ModelMetadata | null }>;
  }
>;

export type HopRequest = Plain<sigma.pgc.HopRequest, { query_hints?: string[] }>;

/**
 * One symbol on a path; `call_site` (`path:line`) is where the one before it calls it, and `certainty` how surely; both are
 * empty for the first.
 */
export interface Step {
  symbol: string;
  file_path: string;
  line: number;
  agent: string;
  call_site: string;
  certainty: Certainty | '';
}

/** A call of a name that the shard does not define. */
export type Reference = Plain<
  sigma.pgc.Reference,
  { lookup: Lookup | null; certainty: Certainty | ''; chain: Step[] }
>;

/** What a call looks for outside its shard, as the calling file sees it. */
export type Lookup = Plain<sigma.pgc.Lookup>;
export type HopAnswer = Plain<
  sigma.pgc.HopAnswer,
  { references: Reference[]; evidence: Evidence[]; flow: FlowEdge[] }
>;
export type Definition = Plain<sigma.pgc.Definition, { role?: string; language?: string }>;
/** A definition with its lines; none where the indexed content is gone. */
export type SourceText = Plain<
  sigma.pgc.SourceText,
  { definition: Definition; lines: ExcerptLine[] }
>;
export type SourcesAnswer = Plain<sigma.pgc.SourcesAnswer, { sources: SourceText[] }>;
export type CallSite = Plain<
  sigma.pgc.CallSite,
  { lookup: Lookup | null; role?: string; certainty: Certainty | '' }
>;
export type Expansion = Plain<sigma.pgc.Expansion, { calls: CallSite[] }>;
export type CardTerm = Plain<sigma.pgc.CardTerm>;

/** A name that is called here and may be defined in another shard. */
export type CardReference = Plain<sigma.pgc.CardReference>;

export type Card = Plain<sigma.pgc.Card, { truncated?: string[]; places?: string[] }>;

/**
 * What one shard can be asked. Local shards answer at once, remote ones over the bus: `signal` cancels
 * a remote request.
 */
export interface ShardPort {
  readonly agent: string;
  card(): Promise<Card>;
  ask(request: AskRequest, signal?: AbortSignal): Promise<Answer>;
  /** How often the words of the question stand here, each as often as any: what `seek` and `ask` of several are weighed by. */
  weigh(request: AskRequest, signal?: AbortSignal): Promise<WordCounts>;
  /** What `ask` would show, without reading it. */
  seek(request: AskRequest, signal?: AbortSignal): Promise<SeekAnswer>;
  hop(request: HopRequest, signal?: AbortSignal): Promise<HopAnswer>;
  /** `symbols`: `name`, `path#name`, `path:name` or `path:line`. */
  definitions(symbols: string[], signal?: AbortSignal): Promise<Definition[]>;
  /** What these define, with its lines; at most `sourcesMax`. */
  sources(symbols: string[], signal?: AbortSignal): Promise<SourceText[]>;
  /** All call sites of these names, complete. */
  callers(symbols: string[], signal?: AbortSignal): Promise<CallSite[]>;
  /** Also where they are used without being called. */
  references(symbols: string[], signal?: AbortSignal): Promise<CallSite[]>;
  /** What this shard defines that may run, or stand, in place of these. */
  implementations(symbols: string[], signal?: AbortSignal): Promise<Definition[]>;
  /** The lines of these sites, as far as they hold the called name; at most `citationsMax`. */
  citeCalls(callee: string, sites: CallSite[], signal?: AbortSignal): Promise<Citation[]>;
  /** Outgoing calls of each anchor (`path#name` or `path:line`), in order of the text. */
  expand(anchors: string[], signal?: AbortSignal): Promise<Expansion[]>;
}

/** The call that leads from one shard into another one. */
export type Via = Plain<sigma.pgc.Via>;
export type Hop = Plain<sigma.pgc.Hop, { via: Via | null }>;
export type LatticeQuery = Plain<
  sigma.pgc.LatticeQuery,
  { engine?: string; query_hints?: string[] }
>;

/** How far a query has come. */
export type QueryProgress = Plain<sigma.pgc.QueryProgress>;
export type TraceAnswer = Plain<sigma.pgc.TraceAnswer, { path: Step[] }>;
export type CallersAnswer = Plain<
  sigma.pgc.CallersAnswer,
  { definitions: Definition[]; callers: CallSite[]; possible: CallSite[]; citations: Citation[] }
>;
export type ImplementationsAnswer = Plain<
  sigma.pgc.ImplementationsAnswer,
  { definitions: Definition[]; implementations: Definition[] }
>;
export type CalleesAnswer = Plain<
  sigma.pgc.CalleesAnswer,
  { definitions: Definition[]; callees: CallSite[] }
>;
export type TopologyAnswer = Plain<sigma.pgc.TopologyAnswer>;
export type Verdict = Plain<
  sigma.pgc.Verdict,
  { status: 'valid' | 'stale' | 'false' | 'malformed' }
>;
