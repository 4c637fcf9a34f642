/** What an artifact states of the code, and what came of looking there. */

import type { Evidence } from '../shapes.js';

/** Ours. What is beyond is left out, and said to be. */
export const claimLimits = {
  claims: 2_000,
  /** Of a passage that is read as sentences; the rest of it is not. */
  passageChars: 8_000,
  /** Of one reference. */
  referenceChars: 200,
  /** Of the sentence of a claim, as it is told. */
  textChars: 240,
  /** Files of code whose words are known; in a tree with more, a word that was not met proves nothing. */
  treeFiles: 6_000,
  treeBytes: 96 * 1024 * 1024,
  fileBytes: 2 * 1024 * 1024,
  /** Symbols of the tree that names are compared with. */
  names: 10_000,
  /** Searches of the index for names with a beginning. */
  nameSearches: 12,
  /** Places of one constant that are compared. */
  valueSites: 12,
  evidence: 3,
  /** One question to the index. */
  questionMs: 10_000,
} as const;

/**
 * How a sentence speaks of something. Only what is `asserted` can be contradicted; `negated`: it is said not to be so,
 * which only some kinds can be asked about.
 */
export type Stance =
  | 'asserted'
  | 'negated'
  | 'future'
  | 'past'
  | 'conditional'
  /** For example, a placeholder, something that the reader is to make. */
  | 'example';

/** A number that is stated, exactly or as a bound. */
export interface Amount {
  value: number;
  /** `about` bears a tenth. */
  bound: 'exactly' | 'at least' | 'at most' | 'about';
}

export interface SymbolName {
  /** Without what it belongs to. */
  name: string;
  /** Class, object or module before the last dot; empty: none was named. */
  container: string;
  /** `foo()`: said to be something that is called. */
  isCall: boolean;
  /** In a code span, or with brackets: not a word of the sentence. */
  isMarked: boolean;
}

export interface PathName {
  /** As it is written, without place and anchor. */
  path: string;
  /** 1-based; 0: none named. */
  line_start: number;
  line_end: number;
  /** Of a heading, without `#`; empty: none. */
  anchor: string;
  isLink: boolean;
  /** Only the name of a file without its ending, or of a folder. */
  isStem: boolean;
}

/** What is stated, by kind, with its parts. */
export type Statement =
  | { kind: 'symbol'; symbol: SymbolName }
  | { kind: 'path'; path: PathName }
  /** A place in a file; `symbol` is said to be there. */
  | { kind: 'line'; path: PathName; symbol?: SymbolName }
  /** A heading of a document; empty path: of this one. */
  | { kind: 'anchor'; path: PathName }
  /** `how`: `defined` in F, only `in` it, or `exported` by it. */
  | { kind: 'definition'; symbol: SymbolName; path: PathName; how: 'defined' | 'in' | 'exported' }
  | { kind: 'call'; from: SymbolName | PathName; to: SymbolName }
  /** From so many functions or places; without an amount: from anywhere at all. */
  | { kind: 'caller_count'; symbol: SymbolName; amount: Amount }
  | { kind: 'symbol_count'; path: PathName; what: string; amount: Amount }
  | { kind: 'file_count'; path: PathName; what: string; amount: Amount }
  | { kind: 'line_count'; path: PathName; amount: Amount }
  | { kind: 'parameter_count'; symbol: SymbolName; amount: Amount }
  | { kind: 'parameter'; symbol: SymbolName; parameter: string }
  /** A class, and what it is said to be made from. */
  | { kind: 'extends'; symbol: SymbolName; base: SymbolName }
  /** As a document writes it; `isWhole`: a declaration, with every parameter and what is returned. */
  | {
      kind: 'signature';
      symbol: SymbolName;
      parameters: string[];
      returns: string;
      isWhole: boolean;
    }
  /** Of a class or structure. */
  | { kind: 'member'; symbol: SymbolName; member: SymbolName }
  | { kind: 'member_count'; symbol: SymbolName; amount: Amount }
  /** Something that is emitted. */
  | { kind: 'event'; name: string }
  /** A function sets, throws, or gives back something that it must name. */
  | { kind: 'mention'; from: SymbolName; to: SymbolName }
  /** So many things, which are then named one by one. */
  | { kind: 'list_count'; amount: Amount; listed: number }
  /** A code of an error that one of these functions is said to return. */
  | { kind: 'error_code'; name: string; symbols: SymbolName[] }
  /** A word in quotes: `'change'`. */
  | { kind: 'text'; text: string }
  /** Of a data base. */
  | { kind: 'table'; name: string }
  /** Words that a program prints; `near`: the constant that they belong to; `isError`: a sentence says that it is thrown. */
  | { kind: 'wording'; text: string; near: string; isError?: boolean }
  /** What an example loads, and by which names. */
  | { kind: 'module'; specifier: string; names: string[] }
  | { kind: 'returns'; symbol: SymbolName; type: string }
  /** `unit` as written: `seconds`, `MiB`; empty: none. */
  | { kind: 'constant'; symbol: SymbolName; value: string; unit: string }
  /** `command`: the program that it was written with; empty: none. */
  /** `isListed`: the usage of a command lists it. */
  | { kind: 'option'; flag: string; command: string; isListed?: boolean }
  | { kind: 'environment'; name: string }
  | { kind: 'script'; name: string }
  /** `isOwn`: the package itself is said to have the dependency. */
  | {
      kind: 'package';
      what: 'version' | 'engine' | 'dependency';
      name: string;
      value: string;
      isOwn?: boolean;
    }
  | { kind: 'test'; symbol: SymbolName; path?: PathName };

export type ClaimKind = Statement['kind'];

/** Something that the artifact says of the code. */
export interface Claim {
  /** The sentence, cut at `textChars`. */
  text: string;
  /** In the artifact, 1-based, inclusive. */
  line_start: number;
  line_end: number;
  stance: Stance;
  /** The sentence says MUST, MUST NOT, SHALL, never to be otherwise. */
  is_hard: boolean;
  statement: Statement;
}

export const claimStatuses = ['verified', 'contradicted', 'unverified'] as const;
export type ClaimStatus = (typeof claimStatuses)[number];

/** What the tree says of a claim. */
export interface Verified {
  claim: Claim;
  status: ClaimStatus;
  /** In plain words: what was found, or why nothing can be said. */
  reason: string;
  /** `high`: the index, or the file itself, says so; `medium`: a word of the code does. */
  confidence: 'high' | 'medium' | 'low';
  evidence: Evidence[];
  /** What it should say instead, where the tree tells. */
  remedy: string;
}
