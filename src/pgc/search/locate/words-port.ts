import type { Plain, sigma } from '../../../wire/codec.js';
import type { Evidence } from './evidence.js';
import type { Vocabulary } from './vocabulary.js';
import type { SoughtTerm } from './word-scores.js';

/** Asks a shard for its best files, numbered as in its vocabulary. Mirrors `proto/pgc.proto`. */
export type RankRequest = Plain<
  sigma.pgc.RankRequest,
  {
    terms: Pick<SoughtTerm, 'term' | 'names' | 'once' | 'often' | 'cover'>[];
    names: { key: string; by: 'name' | 'word'; within: number[] }[];
    roles?: string[];
  }
>;
export type RankAnswer = Plain<sigma.pgc.RankAnswer>;
export type ReadRequest = Plain<sigma.pgc.ReadRequest>;

/** Scores and evidence of the text of one file. */
export type ReadFile = Plain<sigma.pgc.ReadFile, { evidence: Evidence[] }>;
export type ReadAnswer = Plain<sigma.pgc.ReadAnswer, { files: ReadFile[] }>;

/** Questions to one shard about a report; `signal`: the caller has stopped waiting. */
export interface WordsPort {
  readonly agent: string;
  vocabulary(): Promise<Vocabulary>;
  rankFiles(request: RankRequest, signal?: AbortSignal): Promise<RankAnswer>;
  readFiles(request: ReadRequest, signal?: AbortSignal): Promise<ReadAnswer>;
}
