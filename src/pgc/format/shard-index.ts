import type { Abbreviation } from './abbreviations.js';
import type { FactsLanguage } from './facts.js';
import type { TermIndex } from './term-index.js';

/**
 * What an opened index of one shard can be asked. Ids are dense and valid for this index version only.
 *
 * Documents, the units of search: document `i < symbols` is symbol `i`; document `symbols + f` is what
 * lies outside all symbols in file `f`.
 */
export interface ShardIndex extends TermIndex {
  readonly info: ShardInfo;
  readonly symbolCount: number;
  readonly fileCount: number;

  file(file: number): FileRow;
  fileAt(path: string): number | undefined;
  /** Symbols of a file, in order of the text. */
  symbolsOf(file: number): number[];
  importsOf(file: number): ImportRow[];

  symbol(symbol: number): SymbolRow;
  /** The same without its long texts, for whoever looks at many. */
  symbolPlace(symbol: number): SymbolPlace;
  /** Where a document stands. */
  fileOf(document: number): number;
  /** What it is, without its texts: whoever looks at all symbols reads those only of some. */
  outline(symbol: number): SymbolOutline;
  /** All names, those of outlines at their numbers. */
  names(): Iterable<string>;
  nameAt(number: number): string;
  /** All symbols of exactly this name: definitions first, declarations after. */
  symbolsNamed(name: string): number[];

  /** The same for all names that have any, in their order. */
  symbolsByName(): Iterable<[name: string, symbols: number[]]>;

  /** Call sites inside a symbol, in order of the text. */
  callsFrom(symbol: number): CallRow[];
  /** Call sites outside of all symbols, of all files. */
  callsOutside(): CallRow[];
  /** Every call site of a name in this shard; complete. */
  callsTo(name: string): CallRow[];
  /** The same for all names, in their order: names are not looked up one by one. */
  callsByName(): Iterable<[name: string, calls: CallRow[]]>;
  /** Where a function of this name is put into a field of a structure: who calls through that calls it. */
  slotsOf(name: string): CallRow[];

  /** Where a long list of definitions holds this name: a symbol without anything else. */
  scannedNamed(name: string): { file: number; line: number }[];
  /** Names of all symbols, declarations and scanned ones included. */
  symbolNames(): Iterable<string>;
  /** Sorted names this shard defines for others. */
  defines(): string[];
  /** Names called here and not defined here, sorted, with the number of call sites. */
  unresolved(): { name: string; sites: number }[];
  /** All terms with document frequencies, for cards. */
  terms(): { term: string; documents: number }[];

  close(): void;
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
  /** Digest of everything that went in: miner version, paths, blobs. */
  version: string;
  /** Items per ready overlay. */
  overlays: Record<string, number>;
  /** What its texts write short and explain. */
  abbreviations: Abbreviation[];
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
  /** The number of its name in `names`. */
  name: number;
  /** It has a doc comment. */
  documented: boolean;
}

export interface ImportRow {
  target: string;
  names: string[];
  line: number;
}

export interface CallRow {
  callee: string;
  /** -1: at file level. */
  caller: number;
  file: number;
  line: number;
  kind: 'direct' | 'member' | 'construct' | 'slot';
  /** The call is a statement: what it returns is not looked at. */
  unused: boolean;
  /** Of a slot: `structure.field`. */
  receiver: string;
}
