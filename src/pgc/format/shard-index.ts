import type { Abbreviation } from './abbreviations.js';
import type { BoundCalls } from './bound-calls.js';
import type { FactsLanguage, KnownRoles, TypeFact } from './facts.js';
import type { TermIndex } from './term-index.js';
import type { VectorTable } from './vectors/vector-table.js';

/**
 * Lookups in the opened index of one shard. Ids are dense and valid for this index version only.
 *
 * Documents, the units of search: document `i < symbolCount` is symbol `i`; document `symbolCount + f` is the text
 * outside all symbols of file `f`.
 */
export interface ShardIndex extends TermIndex {
  readonly info: ShardInfo;
  readonly symbolCount: number;
  readonly fileCount: number;
  /** O1: symbols, scanned names and imports. O3: call sites and functions in structures of operations. */
  readonly items: { O1: number; O3: number };

  file(file: number): FileRow;
  fileAt(path: string): number | undefined;
  /** In order of the text. */
  symbolsOf(file: number): number[];
  importsOf(file: number): ImportRow[];

  /** What the file says about types. */
  /** In order of what they speak of: first the text itself. */
  typesOf(file: number): TypeRow[];
  /** What it says of one symbol. */
  typesOfSymbol(symbol: number): TypeRow[];
  /** Of them those of the text itself. */
  ownTypesOf(file: number): Iterable<TypeRow>;
  /** Whether an expression, a type or a path may have a word with one of these hashes (`nameHash`). */
  speaksOf(hashes: ReadonlySet<number>): boolean;
  /** What is called or used, as `expression.ts` writes it; empty where the miner does not tell. */
  expressionOf(site: number): string;
  /** A call or a use by its id: those of the uses follow those of the calls. */
  site(id: number): CallRow;
  readonly siteCount: number;
  readonly callCount: number;
  /** The sites of a file, from the first to before the second: calls inside symbols and outside, then uses. */
  siteSpans(file: number): readonly (readonly [number, number])[];
  /** What the calls and uses are bound to; undefined: they are not bound. */
  readonly bound: BoundCalls | undefined;
  /** All call sites, in order of their ids. */
  calls(): Iterable<CallRow>;
  /** Names that are used, not called, in order of their ids. */
  uses(): Iterable<CallRow>;
  usesOf(name: string): CallRow[];

  /** What functions are about. */
  readonly vectors: VectorTable;

  symbol(symbol: number): SymbolRow;
  /** As `symbol` without its long texts: faster for many symbols. */
  symbolPlace(symbol: number): SymbolPlace;
  /** The file of a document. */
  fileOf(document: number): number;
  /** As `symbol` without any text: for scans of all symbols. */
  outline(symbol: number): SymbolOutline;
  /** Compiled for tests alone, wherever it stands. */
  isTest(symbol: number): boolean;
  isDocumented(symbol: number): boolean;
  /** All names in order; the name of an outline is an index into it. */
  names(): Iterable<string>;
  /** `nameHash` of each of them. */
  nameHashes(): Int32Array;
  nameAt(number: number): string;
  /** Symbols of exactly this name: definitions first, then declarations. */
  symbolsNamed(name: string): number[];

  /** All names of symbols in order, each with its symbols. */
  symbolsByName(): Iterable<[name: string, symbols: number[]]>;

  /** Call sites inside a symbol, in order of the text. */
  callsFrom(symbol: number): CallRow[];
  /** Call sites outside all symbols, in all files. */
  callsOutside(): CallRow[];
  /** Every call site of a name in this shard. */
  callsTo(name: string): CallRow[];
  /** All call sites by name, in order of the names. */
  callsByName(): Iterable<[name: string, calls: CallRow[]]>;
  /** Where a function of this name is stored in a field of a structure: calls through that field call it. */
  slotsOf(name: string): SlotRow[];
  /** Those in one file, in order of the names. */
  slotsIn(file: number): SlotRow[];
  /** In order of the names; `isWanted`: of a name; absent: all. */
  slots(isWanted?: (name: string) => boolean): Iterable<SlotRow>;

  /** Where a long list of definitions contains this name; nothing else is known about it. */
  scannedNamed(name: string): { file: number; line: number }[];
  /** Names of all symbols, declarations and scanned ones included. */
  symbolNames(): Iterable<string>;
  /** Names that this shard defines for others, sorted. */
  defines(): string[];
  /** Names called but not defined here, sorted, with the number of call sites. */
  unresolved(): { name: string; sites: number }[];
  /** All terms with document frequencies, sorted. */
  terms(): { term: string; documents: number }[];
}

export interface ShardInfo {
  agent: string;
  alias: string;
  project: string;
  /** Absolute path of the tree that was indexed. */
  root: string;
  scope: string[];
  languages: string[];
  files: number;
  lines: number;
  /** Digest of everything that the segment depends on. */
  version: string;
  /** Items per ready overlay. */
  overlays: Record<string, number>;
  /** Abbreviations that its texts explain. */
  abbreviations: Abbreviation[];
  /** Absent: none. */
  roles?: KnownRoles;
}

export interface FileRow {
  path: string;
  /** Git blob id, 40 hex digits. */
  blob: string;
  language: FactsLanguage;
  lines: number;
}

export interface SymbolRow {
  name: string;
  kind: string;
  file: number;
  line_start: number;
  line_end: number;
  signature: string;
  container: string;
  exported: boolean;
  declaration: boolean;
  doc: string;
}

export type SymbolPlace = Omit<SymbolRow, 'signature' | 'doc'>;

export interface SymbolOutline extends Pick<SymbolRow, 'kind' | 'exported' | 'declaration'> {
  /** Index in `names`. */
  name: number;
}

export interface ImportRow {
  target: string;
  names: string[];
  line: number;
}

export interface TypeRow extends Omit<TypeFact, 'owner'> {
  /** Of this shard; -1: the file. */
  symbol: number;
}

/** A function that is put into a member of a structure, a variable or a parameter. */
export interface SlotRow extends CallRow {
  /** What it is put into, as `expression.ts` writes it; empty where the miner does not tell. */
  expression: string;
}

/** A call, or a use of a name that is not called. */
export interface CallRow {
  /** Of the shard; -1: a slot. */
  id: number;
  callee: string;
  /** -1: at file level. */
  caller: number;
  file: number;
  line: number;
  kind: 'direct' | 'member' | 'construct' | 'slot' | 'value' | 'type';
  /** The result is discarded. */
  unused: boolean;
  /** Of a slot: `structure.field`. */
  receiver: string;
}
