/**
 * The shapes that PGC agents and the manager exchange. They mirror `proto/pgc.proto` and are the JSON
 * that scripts rely on, hence snake case: a field is added, never renamed.
 */

export type OverlayName = 'O1' | 'O2' | 'O3' | 'O4' | 'O5' | 'O6' | 'O7';
export const overlayNames: readonly OverlayName[] = ['O1', 'O2', 'O3', 'O4', 'O5', 'O6', 'O7'];

/** Of answers that are made without a language model; a request that names it wants no other. */
export const engineName = 'extractive';

/** Limits of the delegation protocol. */
export const citationsMax = 10;
export const contentMax = 500;

export interface Citation {
  overlay: string;
  section: string;
  /** The rendered item. */
  text: string;
  /** Verbatim excerpt of the cited lines, at most 500 characters. */
  content: string;
  /** 0 to 1, calibrated: see similarity.ts. */
  similarity: number;
  weight: number;
  file_path: string;
  /** 1-based, inclusive. */
  line_start: number;
  line_end: number;
  symbol: string;
  /** Git blob id of the file that was read. */
  blob: string;
  agent: string;
}

export interface CodedError {
  code: string;
  text: string;
  retryable: boolean;
  agent: string;
}

export interface AskRequest {
  question: string;
  /** Empty: all that are ready. */
  overlays: string[];
  top_k: number;
  /** Words, names and paths that say where to look; they are no part of the question. */
  query_hints?: string[];
  /** Empty: with a language model, where the answerer has one. Anything else: sentences of the index alone. */
  engine?: string;
}

export interface QueryIntent {
  intent: string;
  entities: string[];
  scope: string;
  refined_query: string;
}

export interface AskAnswer {
  question: string;
  answer: string;
  query_intent: QueryIntent;
  sources: Citation[];
  overlay_warnings: string[];
  errors: CodedError[];
  metadata: {
    question_hash: string;
    top_k: number;
    elapsed_ms: number;
    index_version: string;
    engine: string;
    cached: boolean;
    /** Shards that were asked. */
    agents_asked: number;
  } & Partial<Omit<ModelMetadata, 'engine'>>;
}

/** What a language model had to do with an answer. */
export interface ModelMetadata {
  engine: string;
  /** Sentences of it that cite no source that it was given. */
  dropped: number;
  tokens: number;
  /** What it was told, as `name.vN`. */
  texts: string[];
}

export interface HopRequest {
  question: string;
  /** Empty: enter by search. Otherwise at these definitions (`name` or `path#name`). */
  symbols: string[];
  top_k: number;
  references_max: number;
  /** As in AskRequest. */
  query_hints?: string[];
}

/** One symbol on a path; `call_site` (`path:line`) is where the one before it calls it, empty for the first. */
export interface Step {
  symbol: string;
  file_path: string;
  line: number;
  agent: string;
  call_site: string;
}

/** A call of a name that the shard does not define. */
export interface Reference {
  symbol: string;
  from_symbol: string;
  from_path: string;
  from_line: number;
  /** 0 to 1: how much the question still needs it. */
  relevance: number;
  /** 0 to 1: how surely the question is still about the calling function. */
  strength: number;
  /** Calls inside the shard from the entry to the function that holds the call site (inclusive). */
  chain: Step[];
  includes: string[];
  lookup: Lookup | null;
}

/** What a call looks for outside its shard, as the calling file sees it. */
export interface Lookup {
  /** The name under which the definition stands: imports may rename. */
  name: string;
  /** direct · member · construct */
  kind: string;
  /** Class that a method must belong to, apart from case; empty: any. */
  container: string;
  /**
   * Files that may hold it, without extension and `/index`; a module that begins with two stars and a slash
   * is any file that ends so. Empty in C, where the includes decide.
   */
  modules: string[];
}

export interface HopAnswer {
  answer: string;
  citations: Citation[];
  references: Reference[];
  errors: CodedError[];
  index_version: string;
  elapsed_ms: number;
}

export interface Definition {
  symbol: string;
  kind: string;
  file_path: string;
  line: number;
  line_end: number;
  signature: string;
  exported: boolean;
  agent: string;
  declaration: boolean;
  /** The class or function around it, if any. */
  container: string;
  /** First sentences of its documentation. */
  doc: string;
}

export interface CallSite {
  /** Callers: the function that contains the call. Callees: the function that is called. */
  symbol: string;
  file_path: string;
  /** Line of the call site. */
  line: number;
  agent: string;
  /** direct · member · construct · slot: `symbol` is `structure.field`, or the function that sets the field. */
  kind: string;
  /** Where `symbol` is defined, `path:line`; empty when not in this shard. */
  definition: string;
  /** What another shard may define; null when nothing can be meant there. */
  lookup: Lookup | null;
  /** The class or function around `symbol`, if any. */
  container: string;
  /** The call is a statement: what it returns is not looked at. */
  ignored: boolean;
}

export interface Expansion {
  /** `path#name` or `path:line` */
  anchor: string;
  calls: CallSite[];
  includes: string[];
}

export interface CardTerm {
  term: string;
  documents: number;
}

/** A name that is called here and may be defined in another shard. */
export interface CardReference {
  term: string;
  /** Call sites. */
  documents: number;
  /** Modules that the calling files import it from; empty in C. */
  modules: string[];
  /** Class that a method must belong to, apart from case; empty: any. */
  container: string;
}

/** One file of a language with modules. */
export interface CardModule {
  /** Without extension and `/index`. */
  path: string;
  /** Names it defines for others. */
  defines: string[];
  /** What it only passes on. */
  forwards: CardForward[];
}

export interface CardForward {
  /** Empty: everything. */
  name: string;
  /** The name in the module it comes from. */
  original: string;
  modules: string[];
}

export interface Card {
  agent: string;
  alias: string;
  project: string;
  root: string;
  scope: string[];
  languages: string[];
  files: number;
  lines: number;
  documents: number;
  index_version: string;
  /** Most informative terms with document counts, at most 20 000. */
  terms: CardTerm[];
  /** Names this shard defines for others, sorted. */
  defines: string[];
  /** Those of `defines` that are not the real thing: what a header holds for configurations that lack it. */
  stand_ins: string[];
  /** Names this shard calls and another one may define, sorted. */
  unresolved: CardReference[];
  /** Files of languages with modules, sorted by path, at most 20 000. */
  modules: CardModule[];
  /** Names of the lists above that had to be cut at their limits; see card.ts. */
  truncated?: string[];
  /** What folders and files are called here, in lower case, without endings, sorted. */
  places?: string[];
}

/**
 * What one shard can be asked. Local shards answer at once, remote ones over the bus: those are told when
 * `signal` says that nobody waits any more.
 */
export interface ShardPort {
  readonly agent: string;
  card(): Promise<Card>;
  ask(request: AskRequest, signal?: AbortSignal): Promise<AskAnswer>;
  hop(request: HopRequest, signal?: AbortSignal): Promise<HopAnswer>;
  /** `symbols`: `name`, `path#name`, `path:name` or `path:line`. */
  definitions(symbols: string[], signal?: AbortSignal): Promise<Definition[]>;
  /** All call sites of these names, complete. */
  callers(symbols: string[], signal?: AbortSignal): Promise<CallSite[]>;
  /** The lines of these sites, as far as they hold the called name; at most `citationsMax`. */
  citeCalls(callee: string, sites: CallSite[], signal?: AbortSignal): Promise<Citation[]>;
  /** Outgoing calls of each anchor (`path#name` or `path:line`), in order of the text. */
  expand(anchors: string[], signal?: AbortSignal): Promise<Expansion[]>;
}

/** The call that leads from one shard into another one. */
export interface Via {
  symbol: string;
  /** Call site, `path:line`. */
  from: string;
  /** Definition, `path:line`. */
  to: string;
  from_agent: string;
  chain: Step[];
  /** 0 to 1: how much the question needs it, with what it inherits from the links before it. */
  relevance: number;
}

export interface Hop {
  agent: string;
  scope: string[];
  question: string;
  answer: string;
  citations: Citation[];
  /** How the query came here; null for the entry. */
  via: Via | null;
  elapsed_ms: number;
}

export interface LatticeQuery {
  question: string;
  /** Agent or alias to enter at; empty: routed. */
  from: string;
  max_hops: number;
  top_k: number;
  /** As in AskRequest. */
  engine?: string;
  query_hints?: string[];
}

/** How far a query has come. */
export interface QueryProgress {
  /** In the order in which they were asked; those still asked included. */
  visited: string[];
  agents_asked: number;
}

export interface LatticeAnswer {
  question: string;
  answer: string;
  confidence: string;
  query_path: string[];
  hops: Hop[];
  safety: { max_hops: number; actual_hops: number; visited_agents: string[] };
  agents_asked: number;
  partial: boolean;
  errors: CodedError[];
  elapsed_ms: number;
  /** Of the tree, absolute, on the machine that hosts it. */
  root: string;
  /** As a language model read the question; absent: none did. */
  query_intent?: QueryIntent;
  metadata?: ModelMetadata;
}

export interface TraceAnswer {
  found: boolean;
  path: Step[];
  errors: CodedError[];
  agents_asked: number;
  elapsed_ms: number;
}

export interface CallersAnswer {
  symbol: string;
  definitions: Definition[];
  callers: CallSite[];
  errors: CodedError[];
  /** Of as many call sites as were wanted cited, those first whose result is ignored. */
  citations: Citation[];
}

export interface CalleesAnswer {
  symbol: string;
  definitions: Definition[];
  callees: CallSite[];
  errors: CodedError[];
}

export interface TopologyAnswer {
  version: string;
  shards: string[];
  /** `from` depends on `to` with this many references; a few example symbols. */
  edges: { from: string; to: string; references: number; symbols: string[] }[];
  /** Each shard with its size. */
  nodes: { agent: string; files: number; lines: number }[];
  /** There are more edges than an answer lists; those are the strongest. */
  truncated: boolean;
}

export interface Verdict {
  status: 'valid' | 'stale' | 'false';
  reason: string;
  /** Where the text is now, `path:line`; empty when nowhere. */
  now_at: string;
}
