import { pgc } from '../wire/codec.js';

/** What one blob holds, as mined. Mirrors `FileFacts` in `proto/pgc.proto`, which explains the fields. */
export type FactsLanguage = 'c' | 'typescript' | 'tsx' | 'javascript' | 'python';

export interface SymbolFact {
  name: string;
  kind: string;
  line_start: number;
  line_end: number;
  signature: string;
  container: string;
  exported: boolean;
  doc: string;
  declaration: boolean;
}

export interface CallFact {
  callee: string;
  line: number;
  caller: number;
  kind: string;
  receiver: string;
}

export interface ImportFact {
  target: string;
  names: string[];
  line: number;
}

export interface WordCounts {
  word: number[];
  count: number[];
}

export interface FileFacts {
  language: string;
  lines: number;
  bytes: number;
  error_bytes: number;
  symbols: SymbolFact[];
  calls: CallFact[];
  imports: ImportFact[];
  words: string[];
  /** One per symbol, then one for what lies outside all symbols. */
  documents: WordCounts[];
}

/** Raised whenever a miner would say something else about the same blob. */
export const minerVersion = 2;

export function encodeFacts(facts: FileFacts): Buffer {
  const bytes = pgc.FileFacts.encode(facts).finish();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Absent scalars read as their defaults through the prototype of the generated classes. */
export function decodeFacts(bytes: Uint8Array): FileFacts {
  return pgc.FileFacts.decode(bytes) as unknown as FileFacts;
}
