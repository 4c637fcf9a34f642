import type { Plain, sigma } from '../../../wire/codec.js';
import { z } from 'zod';
import { BusError } from '../../../errors/bus-error.js';
import { bufferOf, bytesOf, numbersOf } from '../../format/bytes.js';
import { Section } from '../../format/container/section.js';
import { isCode, type KnownRoles } from '../../format/facts.js';
import { roleIn } from '../../source/role.js';
import { isAside } from '../prior.js';
import { SortedNames } from '../../format/sorted-names.js';
import { HashedCounts, type FileCounts } from '../../format/word-lists/hashed-counts.js';
import type { KeyHash } from '../../format/word-lists/hashed-lists.js';
import type { BuildStep, LengthSum, ShardWords } from '../../format/word-lists/words-file.js';

/** Words and names of one shard that are counted: 2 MB, half of what a message may hold. */
const wordsMax = 300_000;
const namesMax = 100_000;

/**
 * The words of one shard, for the routing of reports: which files there are, and in how many of them each word stands,
 * but not in which. A tenth of what the shard itself reads. Mirrors `proto/pgc.proto`.
 */
export type Vocabulary = Plain<sigma.pgc.Vocabulary, { roles?: KnownRoles }>;

const header = /\.(?:h\w*|d\.[cm]?ts)$/;

/** What a file is worth by what it is for, as a number of `Vocabulary.standings`. */
export const standing = { other: 0, source: 1, header: 2, aside: 3 } as const;

/** By file. */
export function standingsOf(file: ShardWords): Uint8Array {
  const standings = new Uint8Array(file.fileCount);
  let at = 0;
  for (const path of file.paths()) {
    if (isCode(file.language(at))) standings[at] = standingOf(file, path);
    at += 1;
  }
  return standings;
}

function standingOf({ info }: ShardWords, path: string): number {
  if (isAside(roleIn(info, path))) return standing.aside;
  return header.test(path) ? standing.header : standing.source;
}

/** Costs a pass over all its postings: callers keep it. */
export function vocabularyOf(file: ShardWords): Vocabulary {
  const { words, names } = file.counts(wordsMax, namesMax);
  const { pathBlocks, pathBytes, steps } = file.packed;
  return {
    version: file.info.version,
    path_blocks: pathBlocks,
    path_bytes: pathBytes,
    standings: standingsOf(file),
    steps,
    ...file.lengthSums(),
    word_buckets: bytesOf(words.buckets),
    word_counts: words.counts,
    name_buckets: bytesOf(names.buckets),
    name_counts: names.counts,
    words_left_out: words.leftOut,
    names_left_out: names.leftOut,
    roles: file.info.roles ?? {},
  };
}

const stepsSchema = z.array(
  z.object({
    file: z.number().int().nonnegative(),
    option: z.string(),
    parts: z.array(z.string()),
    into: z.string(),
  }),
);

/** The counts of the words of a shard. */
export interface KnownWords {
  readonly version: string;
  readonly fileCount: number;
  readonly standings: Uint8Array;
  readonly steps: readonly BuildStep[];
  readonly text: LengthSum;
  readonly definitions: LengthSum;
  /** Whether some of its words are not in it. */
  readonly isCut: boolean;
  readonly roles: KnownRoles;
  path(file: number): string;
  /** In the order of the files. */
  paths(): Iterable<string>;
  word(hash: KeyHash): FileCounts;
  /** Files that define a symbol of exactly this name. */
  definers(hash: KeyHash): number;
}

/** From the words themselves, where they are at hand: the same counts, made when they are asked for. */
export function knownFrom(file: ShardWords): KnownWords {
  return {
    version: file.info.version,
    fileCount: file.fileCount,
    standings: standingsOf(file),
    steps: file.steps(),
    ...file.lengthSums(),
    isCut: false,
    roles: file.info.roles ?? {},
    path: (its) => file.path(its),
    paths: () => file.paths(),
    word: (hash) => file.wordCounts(hash),
    definers: (hash) => file.nameCounts(hash).files,
  };
}

/** From a vocabulary. */
export class VocabularyWords implements KnownWords {
  readonly version: string;
  readonly fileCount: number;
  readonly standings: Uint8Array;
  readonly steps: readonly BuildStep[];
  readonly text: LengthSum;
  readonly definitions: LengthSum;
  readonly isCut: boolean;
  readonly roles: KnownRoles;
  readonly #paths: SortedNames;
  readonly #words: HashedCounts;
  readonly #names: HashedCounts;

  /** Throws MALFORMED_PAYLOAD: it may come from another process. */
  constructor(vocabulary: Vocabulary) {
    try {
      this.version = vocabulary.version;
      this.standings = vocabulary.standings;
      this.text = vocabulary.text;
      this.definitions = vocabulary.definitions;
      this.roles = vocabulary.roles ?? {};
      this.isCut = vocabulary.words_left_out + vocabulary.names_left_out > 0;
      this.#paths = new SortedNames(
        aligned(vocabulary.path_blocks),
        Section.of(vocabulary.path_bytes),
      );
      this.fileCount = this.#paths.size;
      this.#words = countsOf(vocabulary.word_buckets, vocabulary.word_counts);
      this.#names = countsOf(vocabulary.name_buckets, vocabulary.name_counts);
      this.steps = stepsSchema.parse(JSON.parse(Buffer.from(vocabulary.steps).toString()));
    } catch (error) {
      throw malformed(error instanceof Error ? error.message.slice(0, 200) : 'unreadable', error);
    }
    const isWhole = this.steps.every(({ file }) => file < this.fileCount);
    if (!isWhole || this.standings.length !== this.fileCount)
      throw malformed('its files are not those of its paths');
  }

  path(file: number): string {
    return this.#paths.at(file);
  }

  paths(): Iterable<string> {
    return this.#paths.all();
  }

  word(hash: KeyHash): FileCounts {
    return this.#words.find(hash);
  }

  definers(hash: KeyHash): number {
    return this.#names.find(hash).files;
  }
}

function countsOf(buckets: Uint8Array, counts: Uint8Array): HashedCounts {
  return new HashedCounts(aligned(buckets), bufferOf(counts));
}

/** A part of a message begins anywhere; a view of numbers must not. */
function aligned(bytes: Uint8Array): Uint32Array {
  return numbersOf(bytes.byteOffset % 4 === 0 ? bytes : Uint8Array.from(bytes));
}

function malformed(detail: string, cause?: unknown): BusError {
  return new BusError('MALFORMED_PAYLOAD', { detail: `a vocabulary: ${detail}` }, { cause });
}
