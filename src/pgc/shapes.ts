/**
 * The shapes that PGC agents and the manager exchange. They mirror `proto/pgc.proto` and are the JSON
 * that scripts rely on, hence snake case: a field is added, never renamed.
 */

import type { Confidence } from '../base/confidence.js';

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

/** A citation with what its reader needs to see. */
export interface Evidence extends Citation {
  /** 1 for the first of an answer. */
  id: number;
  /** function · class · … · call · message · section · … */
  kind: string;
  /** What it is about: the symbol, also where its name is not in the cited lines; the callee; the title of a section. */
  name: string;
  /** The class or the like that the symbol belongs to; of a call and a message the function that holds it; may be empty. */
  container: string;
  /** One sentence about it that stands in the source; may be empty. */
  said: string;
  /** The line that names it, and those that decide. */
  excerpt: ExcerptLine[];
  /** Why it is here: words of the question, a name, an edge. */
  why: string[];
}

export interface ExcerptLine {
  line: number;
  text: string;
  decides: boolean;
}

/** A part of the question, and the ids of the evidence for it. */
export interface Clause {
  text: string;
  status: 'found' | 'partly' | 'not_found';
  evidence: number[];
}

/** One symbol leads to another. */
export interface FlowEdge {
  from: string;
  to: string;
  /** `path:line` */
  site: string;
  kind: 'call';
  certainty: 'exact' | 'possible';
  agent: string;
  /** The evidence that shows the site; 0: none. */
  evidence: number;
  /** `path:line` where `to` is defined, as far as it is known. */
  definition: string;
}

/** What the answer does not prove. */
export interface Unsure {
  /** weak: it may be about something else · sites: not all are shown */
  kind: 'weak' | 'sites';
  text: string;
}

/** An overlay that could not be consulted, at least in one shard. */
export interface LeftOut {
  overlay: string;
  why: string;
}

/** What to ask next: an operation with its arguments. */
export interface NextStep {
  operation: string;
  arguments: Record<string, string>;
  why: string;
}

/** What a question comes to: of one shard, or of many. */
export interface Answer {
  question: string;
  clauses: Clause[];
  evidence: Evidence[];
  flow: FlowEdge[];
  unsure: Unsure[];
  next: NextStep[];
  /** The answer as a language model words it, where there is one; `[n]` is the evidence with that id. */
  prose: string;
  confidence: Confidence;
  query_intent: QueryIntent;
  left_out: LeftOut[];
  overlay_warnings: string[];
  errors: CodedError[];
  /** A shard could not be asked, or not to the end. */
  partial: boolean;
  metadata: {
    question_hash: string;
    top_k: number;
    elapsed_ms: number;
    index_version: string;
    engine: string;
    cached: boolean;
    /** Shards that were asked. */
    agents_asked: number;
    /** null: no language model was asked. */
    model: ModelMetadata | null;
  };
  /** Of a question that went from shard to shard: the shards in order, and how it came there. */
  query_path: string[];
  hops: Hop[];
  safety: { max_hops: number; actual_hops: number; visited_agents: string[] } | null;
  /** Of the tree, absolute, on the machine that hosts it; empty in the answer of one shard. */
  root: string;
}

/** What a language model had to do with an answer. */
export interface ModelMetadata {
  name: string;
  /** Sentences of it that cite no evidence that it was given. */
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
  evidence: Evidence[];
  flow: FlowEdge[];
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
  ask(request: AskRequest, signal?: AbortSignal): Promise<Answer>;
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
  /** Ids of the evidence that was found there. */
  evidence: number[];
  /** How the question came here; null: by search. */
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
