import type { Evidence } from './evidence.js';
import type { Vocabulary } from './vocabulary.js';
import type { SoughtTerm } from './word-scores.js';

/** What a shard is asked for: its files, numbered as its vocabulary numbers them. Mirrors `proto/pgc.proto`. */
export interface RankRequest {
  /** Of the vocabulary. */
  version: string;
  terms: Pick<SoughtTerm, 'term' | 'names' | 'once' | 'often' | 'cover'>[];
  /** Names whose places are wanted. */
  names: { key: string; by: 'name' | 'word'; within: number[] }[];
  /** By file: what else speaks for it. */
  given: number[];
  /** What a source gains for which nothing else is given. */
  source: number;
  /** Of the whole tree. */
  mean_text: number;
  mean_definitions: number;
  limit: number;
}

export interface RankAnswer {
  /** Those for which most speaks, and those of the places. `words`: what their words alone are worth. */
  files: { file: number; words: number }[];
  /** `name`: which of those that were asked for. */
  places: { name: number; file: number; line: number }[];
}

export interface ReadRequest {
  version: string;
  files: number[];
  terms: SoughtTerm[];
  mean_text: number;
  mean_definitions: number;
  /** What a model judges the files by; empty: none does. */
  question: string;
  /** Empty without evidence, which only `is_brief` does without. */
  lines: string[];
  devices: { vendor: string; device: string; text: string }[];
  is_brief: boolean;
  /** Of these features nobody needs what is read. */
  without: string[];
}

/** What reading a file tells. */
export interface ReadFile {
  file: number;
  passage: number;
  string: number;
  device: number;
  /** How near a model finds it; absent where none judged it. */
  rerank?: number;
  /** What it is, for a model; empty where nobody judges. */
  about: string;
  evidence: Evidence[];
}

export interface ReadAnswer {
  files: ReadFile[];
  /** What was done without. */
  warnings: string[];
}

/** What one shard can be asked about a report; `signal`: nobody waits any more. */
export interface WordsPort {
  readonly agent: string;
  vocabulary(): Promise<Vocabulary>;
  rankFiles(request: RankRequest, signal?: AbortSignal): Promise<RankAnswer>;
  readFiles(request: ReadRequest, signal?: AbortSignal): Promise<ReadAnswer>;
}
