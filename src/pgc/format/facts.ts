export const grammarLanguages = [
  'c',
  'cpp',
  'typescript',
  'tsx',
  'javascript',
  'python',
  'go',
  'rust',
  'java',
] as const;
/** Languages parsed with a grammar. */
export type GrammarLanguage = (typeof grammarLanguages)[number];

/** Texts read line by line: documents, and files for building, configuring and running. */
export const textLanguages = [
  'markdown',
  'rst',
  'text',
  'kconfig',
  'make',
  'maintainers',
  'settings',
  'shell',
] as const;
export type TextLanguage = (typeof textLanguages)[number];

export type FactsLanguage = GrammarLanguage | TextLanguage;

/** What a file is for; see `roleOf`. */
export const fileRoles = [
  ...(['source', 'test', 'mock', 'generated'] as const),
  ...(['vendored', 'example', 'benchmark', 'document'] as const),
] as const;
export type FileRole = (typeof fileRoles)[number];
/** By path, of files whose path does not tell it. */
export type KnownRoles = Readonly<Record<string, FileRole>>;

/** Whether it contains calls. */
export function isCode(language: FactsLanguage): boolean {
  return (grammarLanguages as readonly string[]).includes(language);
}

/** Whether a symbol of this kind has statements. */
export function isFunction(kind: string): boolean {
  return kind === 'function' || kind === 'method';
}

/** Names are resolved by linkage and includes: a text of either language may use what a header of the other one defines. */
export function isCFamily(language: FactsLanguage): boolean {
  return language === 'c' || language === 'cpp';
}

/** Of which it is known where a name is used without being called: the miners tell, or in C the texts are read. */
const languagesWithUses: ReadonlySet<FactsLanguage | undefined> = new Set([
  ...(['go', 'rust', 'java', 'python', 'typescript', 'tsx', 'javascript', 'c'] as const),
]);

export function knowsUses(language: FactsLanguage | undefined): boolean {
  return languagesWithUses.has(language);
}

/** Names are resolved by imports. */
export function hasModules(language: FactsLanguage): boolean {
  return isCode(language) && !isCFamily(language);
}

export interface SymbolFact {
  name: string;
  /** `function`, `method`, `struct`, `macro`, `section` … */
  kind: string;
  /** Both are 1-based; the last line is included. */
  line_start: number;
  line_end: number;
  /** Rendered: `function:f | params:2 | returns:int | static:true`. */
  signature: string;
  /** The name of the enclosing class or function, or empty. */
  container: string;
  /** Visible to other files, by linkage or export. */
  exported: boolean;
  /** First sentences of its doc comment. */
  doc: string;
  /** Has no body: calls lead to the definition while there is one. */
  declaration: boolean;
  /** Compiled for tests alone, though it stands in a source file. */
  test?: boolean;
}

export interface CallFact {
  callee: string;
  line: number;
  /** 1 + index in `symbols` of the innermost function around it; 0: outside all functions. */
  caller: number;
  /**
   * Of a call: `direct`, `member` (`receiver.name()`), `construct`, or `slot` (`.field = name` in a structure of
   * operations). Of a use: `value`, or `type` where a type is written.
   */
  kind: string;
  /** The expression before the last dot of a member call; of a slot `structure.field`. */
  receiver: string;
  /** What is called, as `expression.ts` writes it; empty where the miner does not tell. */
  expression: string;
  /** The result is discarded. */
  unused: boolean;
}

/**
 * `package`: its name · `field`, `base` (also embedded), `alias`, `is` (another type's contents) of a type · `parameter`,
 * `result` of a function, in order · `bound`: a type parameter and what it must satisfy · `value` of a variable. Where no
 * type is written: `assigned`: what a member is set to (of a text: what the one expression holds is put into the other) · `returned`: what a function returns. `local`: the name by which a
 * definition inside a function is meant, because others of the file may be called the same; of a method that of its type ·
 * `exported`: what a module passes on, by the name that others see · `within`: the type around a definition, with those
 * around that one (`Outer.Inner`) · `unnamed`: a type without a name, by one that it is given, and what it is based on ·
 * `using`: a namespace whose names are visible in another one, or in a text · `mark`: what else is said of a definition, by
 * its name: `virtual`, `pure`, `const`, `explicit`, `hidden` (of its text alone), `deleted`, `special` (for some arguments of a template) ·
 * `private`: a function that is called from its own text alone.
 */
export const typeRoles = [
  'package',
  'field',
  'base',
  'alias',
  'is',
  'parameter',
  'result',
  'bound',
  'value',
  'assigned',
  'returned',
  'local',
  'exported',
  'within',
  'unnamed',
  'using',
  'mark',
  'private',
] as const;
export type TypeRole = (typeof typeRoles)[number];

/** What a text says about the type of something. */
export interface TypeFact {
  /** 1 + index in `symbols`; 0: the text itself. */
  owner: number;
  role: TypeRole;
  /** May be empty. */
  name: string;
  /** A type; of `value`, `assigned` and `returned` an expression. As `expression.ts` writes them. */
  type: string;
}

/** An overlay's statement about one place. */
export interface ItemFact {
  /** 2 to 7: O2 to O7. */
  overlay: number;
  /** Stable name of the rule that found it: `unbounded-copy`, `kconfig`. */
  rule: string;
  line_start: number;
  line_end: number;
  /** Rendered as one line. */
  text: string;
  /** The name that it is about, as other overlays know it; may be empty. */
  subject: string;
  /** O2 only: critical · high · medium · low · info. */
  severity: string;
  /** O2 only: `CWE-120`, or empty. */
  cwe: string;
}

export interface ImportFact {
  /** As written: `linux/dma-mapping.h`, `./frame.js`, `package.module`. */
  target: string;
  /** Names brought into scope: `x`, `x:y` for `x as y`, `*` for all; none for `#include`. */
  names: string[];
  line: number;
}

/** The words of one document. */
export interface WordCounts {
  /** Indices in `words` of the facts, each once. */
  word: number[];
  count: number[];
}

/** What is mined from one content. It has no path, because the same content may be in several places. */
export interface FileFacts {
  language: string;
  lines: number;
  bytes: number;
  /** Bytes in parse errors. */
  error_bytes: number;
  /** It says that a program wrote it. */
  generated: boolean;
  symbols: SymbolFact[];
  calls: CallFact[];
  /** Names used, but not called: values, and types where they are written. */
  uses: CallFact[];
  imports: ImportFact[];
  types: TypeFact[];
  /** Distinct. */
  words: string[];
  /** One for each symbol, then one for the text outside all symbols. */
  documents: WordCounts[];
  items: ItemFact[];
  /** Names and lines of definitions in a list that is too long to parse one by one. */
  scanned_names: string[];
  scanned_lines: number[];
}

/** Raised whenever a miner would find something else in the same blob, or the encoding of facts changes. */
export const minerVersion = 20;
