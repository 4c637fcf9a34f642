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
/** Languages that are parsed. */
export type GrammarLanguage = (typeof grammarLanguages)[number];

/** Texts that are read by line: documents, and what says how to build, configure and run. */
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

/** What can be called stands in it. */
export function isCode(language: FactsLanguage): boolean {
  return (grammarLanguages as readonly string[]).includes(language);
}

/** What a name means is decided by linkage and includes. */
export function isCFamily(language: FactsLanguage): boolean {
  return language === 'c' || language === 'cpp';
}

/** What a name means is decided by imports. */
export function hasModules(language: FactsLanguage): boolean {
  return isCode(language) && !isCFamily(language);
}

export interface SymbolFact {
  name: string;
  /** `function`, `method`, `struct`, `macro`, `section` … */
  kind: string;
  /** From 1; of both the last is in it. */
  line_start: number;
  line_end: number;
  /** Rendered: `function:f | params:2 | returns:int | static:true`. */
  signature: string;
  /** The name of the enclosing class or function, or empty. */
  container: string;
  /** Seen by other files: by linkage or export. */
  exported: boolean;
  /** First sentences of the comment that documents it. */
  doc: string;
  /** Without a body: no call leads to it while there is a definition. */
  declaration: boolean;
}

export interface CallFact {
  callee: string;
  line: number;
  /** 1 + position in `symbols` of the innermost function around it; 0: outside of all. */
  caller: number;
  /** `direct`, `member` (`receiver.name()`), `construct`, `slot` (`.field = name`, of a structure of operations). */
  kind: string;
  /** Before the last dot of a member call; of a slot `structure.field`. */
  receiver: string;
  /** What it returns is not looked at. */
  unused: boolean;
}

/** What one overlay says of one place. */
export interface ItemFact {
  /** 2 to 7: O2 to O7. */
  overlay: number;
  /** The rule that found it, stable: `unbounded-copy`, `kconfig`. */
  rule: string;
  line_start: number;
  line_end: number;
  /** Rendered, in one line. */
  text: string;
  /** What it speaks of: a name that other overlays know; may be empty. */
  subject: string;
  /** Of O2: critical · high · medium · low · info. */
  severity: string;
  /** Of O2: `CWE-120`, or empty. */
  cwe: string;
}

export interface ImportFact {
  /** As written: `linux/dma-mapping.h`, `./frame.js`, `package.module`. */
  target: string;
  /** What it brings into scope: `x`, `x:y` for `x as y`, `*` for all; none for `#include`. */
  names: string[];
  line: number;
}

/** How often a document has each word. */
export interface WordCounts {
  /** Positions in `words` of the facts, each once. */
  word: number[];
  count: number[];
}

/** What was learned from one content. It knows no path: a content may stand in many places. */
export interface FileFacts {
  language: string;
  lines: number;
  bytes: number;
  /** Under nodes of the parse that are errors. */
  error_bytes: number;
  symbols: SymbolFact[];
  calls: CallFact[];
  imports: ImportFact[];
  /** Distinct. */
  words: string[];
  /** One per symbol, then one for what lies outside all symbols. */
  documents: WordCounts[];
  items: ItemFact[];
  /** Names of a list of definitions that is too long to be looked at one by one, with their lines. */
  scanned_names: string[];
  scanned_lines: number[];
}

/** Raised whenever a miner would say something else about the same blob, or facts are packed in another way. */
export const minerVersion = 6;
