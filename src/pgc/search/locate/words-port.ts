import type { Evidence } from './evidence.js';
import type { Vocabulary } from './vocabulary.js';
import type { SoughtTerm } from './word-scores.js';

/** Asks a shard for its best files, numbered as in its vocabulary. Mirrors `proto/pgc.proto`. */
export interface RankRequest {
  /** Of the vocabulary. */
  version: string;
  terms: Pick<SoughtTerm, 'term' | 'names' | 'once' | 'often' | 'cover'>[];
  /** Names whose places are wanted. */
  names: { key: string; by: 'name' | 'word'; within: number[] }[];
  /** By file: its score without its words. */
  given: number[];
  /** Score of a source file that has none in `given`. */
  source: number;
  /** Of the whole tree. */
  mean_text: number;
  mean_definitions: number;
  limit: number;
}

export interface RankAnswer {
  /** The best files, and the files of the places. `words`: the score of their words alone. */
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
  /** The text that a model compares the files with; empty: no model judges. */
  question: string;
  /** Empty without evidence, which only `is_brief` does without. */
  lines: string[];
  devices: { vendor: string; device: string; text: string }[];
  is_brief: boolean;
  /** Features that do not count. */
  without: string[];
}

/** Scores and evidence of the text of one file. */
export interface ReadFile {
  file: number;
  passage: number;
  string: number;
  device: number;
  /** How near a model finds it; absent where none judged it. */
  rerank?: number;
  /** A description for the model; empty where none judges. */
  about: string;
  evidence: Evidence[];
}

export interface ReadAnswer {
  files: ReadFile[];
  /** Parts that failed and were left out, in sentences. */
  warnings: string[];
}

/** Questions to one shard about a report; `signal`: the caller has stopped waiting. */
export interface WordsPort {
  readonly agent: string;
  vocabulary(): Promise<Vocabulary>;
  rankFiles(request: RankRequest, signal?: AbortSignal): Promise<RankAnswer>;
  readFiles(request: ReadRequest, signal?: AbortSignal): Promise<ReadAnswer>;
}
