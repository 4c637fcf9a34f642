/** What a document says of the code, and what a look-up says of it. */

import type { ClaimCounts, Evidence } from '../shapes.js';

/** What exceeds a limit is left out, and the report says so. */
export const claimLimits = {
  claims: 2_000,
  /** Characters of one code span. */
  quoteChars: 200,
  /** Characters of the sentence that a finding repeats. */
  textChars: 240,
  /** Files of code that are read for their words. In a larger tree a missing word proves nothing. */
  treeFiles: 6_000,
  treeBytes: 96 * 1024 * 1024,
  /** Places of one constant that are compared. */
  valueSites: 12,
  evidence: 3,
  /** Milliseconds for one question to the index. */
  questionMs: 10_000,
} as const;

export interface SymbolName {
  name: string;
  /** Class, object or module before the last dot; empty: none. */
  container: string;
  /** Written with brackets: `foo()`. */
  isCall: boolean;
}

export interface PathName {
  /** As written, without line and anchor. */
  path: string;
  /** 1-based; 0: none. */
  line_start: number;
  line_end: number;
  /** Of a heading, without `#`; empty: none. */
  anchor: string;
  isLink: boolean;
}

/** What can be looked up. */
export type Statement =
  | { kind: 'symbol'; symbol: SymbolName }
  | { kind: 'parameter_count'; symbol: SymbolName; value: number }
  | { kind: 'path'; path: PathName }
  /** That a function throws, or never does. */
  | { kind: 'throws'; symbol: SymbolName; isNever: boolean }
  /** Who calls a symbol; without a caller: that no function does. `isOnly`: no other one. */
  | { kind: 'calls'; symbol: SymbolName; caller?: SymbolName; isOnly: boolean }
  /** At how many places, or by how many functions, a symbol is called. */
  | { kind: 'call_count'; symbol: SymbolName; value: number; of: 'places' | 'functions' }
  /** A line, or lines, of a file, and the symbol that is quoted beside them. */
  | { kind: 'line'; path: PathName; symbol?: SymbolName }
  /** A heading of a document; empty path: of this one. */
  | { kind: 'anchor'; path: PathName }
  /** A symbol that the document places in a file; `isDefined`: as defined there. */
  | { kind: 'definition'; symbol: SymbolName; path: PathName; isDefined: boolean }
  /** `unit` as written: `seconds`, `MiB`; empty: none. */
  | { kind: 'constant'; symbol: SymbolName; value: string; unit: string }
  /** `command`: the program before the flag; empty: none. */
  | { kind: 'option'; flag: string; command: string }
  /** `runner`: `npm run`, `make`, or a program. */
  | { kind: 'command'; runner: string; name: string }
  /** Of a package, or of the engine that it needs: `node`. */
  | { kind: 'version'; name: string; value: string };

export type ClaimKind = Statement['kind'];

export interface Claim {
  /** The sentence, cut at `textChars`. */
  text: string;
  /** In the artifact, 1-based, inclusive. */
  line_start: number;
  line_end: number;
  /** The sentence states a requirement with MUST or SHALL. */
  is_hard: boolean;
  statement: Statement;
}

/**
 * `wrong`: the tree holds something else. `not found`: the tree does not hold it, which proves nothing: a document may speak
 * of what is gone, planned, or of another program. `not checked`: it cannot be looked up.
 */
export type ClaimStatus = 'holds' | 'wrong' | 'not found' | 'not checked';

/** What a look-up says. */
export interface Verdict {
  status: ClaimStatus;
  reason: string;
  /** `high`: the index, a manifest or the file itself decides; `medium`: a word of the code does. */
  confidence: 'high' | 'medium' | 'low';
  /** The places that decide. */
  evidence: Evidence[];
  /** What the document should say instead; empty: nothing to change. */
  remedy: string;
}

export interface Checked extends Verdict {
  claim: Claim;
}

type Confidence = Verdict['confidence'];

export function holds(
  reason: string,
  evidence: Evidence[] = [],
  confidence: Confidence = 'high',
): Verdict {
  return { status: 'holds', reason, confidence, evidence: cut(evidence), remedy: '' };
}

export function wrong(
  reason: string,
  remedy: string,
  evidence: Evidence[] = [],
  confidence: Confidence = 'high',
): Verdict {
  return { status: 'wrong', reason, confidence, evidence: cut(evidence), remedy };
}

export function notFound(reason: string, evidence: Evidence[] = []): Verdict {
  return { status: 'not found', reason, confidence: 'low', evidence: cut(evidence), remedy: '' };
}

export function notChecked(reason: string, evidence: Evidence[] = []): Verdict {
  return { status: 'not checked', reason, confidence: 'low', evidence: cut(evidence), remedy: '' };
}

function cut(evidence: Evidence[]): Evidence[] {
  return evidence.slice(0, claimLimits.evidence);
}

/** It only names something: that this exists says nothing of the sentence it stands in. */
export function isName({ statement }: Claim): boolean {
  return statement.kind === 'symbol' || (statement.kind === 'path' && !statement.path.isLink);
}

/** By the names that reports have for them. */
export function countsOf(checked: readonly Checked[]): Required<ClaimCounts> {
  const counts = { verified: 0, contradicted: 0, unverified: 0, named: 0 };
  for (const { status, claim } of checked) {
    if (status === 'holds' && isName(claim)) counts.named += 1;
    else if (status === 'holds') counts.verified += 1;
    else if (status === 'wrong') counts.contradicted += 1;
    else counts.unverified += 1;
  }
  return counts;
}
