import { bytesOf } from '../bytes.js';
import type { FactsLanguage } from '../facts.js';
import type { FileRow } from '../shard-index.js';
import { packSorted } from '../sorted-names.js';
import {
  packCounts,
  type CountedLists,
  type FileCounts,
  type PackedCounts,
} from '../word-lists/hashed-counts.js';
import type { KeyHash } from '../word-lists/hashed-lists.js';
import {
  lengthSumsOf,
  type BuildStep,
  type LengthSum,
  type PostingVisitor,
  type ShardWords,
  type WordsFile,
  type WordsInfo,
} from '../word-lists/words-file.js';
import { fileRuns, type Runs } from './runs.js';

/** The words of a shard that lie in several files, all with the same number of buckets. */
export class JoinedWords implements ShardWords {
  readonly bytes: number;
  readonly #parts: readonly WordsFile[];
  readonly #files: Runs;

  constructor(
    sources: readonly { words: WordsFile; hides: ReadonlySet<string> }[],
    readonly info: WordsInfo,
  ) {
    this.#parts = sources.map(({ words }) => words);
    this.bytes = this.#parts.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#files = fileRuns(
      sources.map(({ words, hides }) => ({
        ...{ count: words.fileCount, hides },
        path: (file: number) => words.path(file),
      })),
    );
  }

  get fileCount(): number {
    return this.#files.length;
  }

  file(file: number): FileRow {
    const [part, id] = this.#fileIn(file);
    return part.file(id);
  }

  path(file: number): string {
    const [part, id] = this.#fileIn(file);
    return part.path(id);
  }

  *paths(): Generator<string> {
    for (let file = 0; file < this.fileCount; file += 1) yield this.path(file);
  }

  language(file: number): FactsLanguage {
    const [part, id] = this.#fileIn(file);
    return part.language(id);
  }

  lengths(file: number): { text: number; definitions: number; lines: number } {
    const [part, id] = this.#fileIn(file);
    return part.lengths(id);
  }

  postings(word: KeyHash, visit: PostingVisitor): void {
    const found: Parameters<PostingVisitor>[] = [];
    for (const [source, part] of this.#parts.entries())
      part.postings(word, (file, ...counts) => {
        const joined = this.#files.of(source, file);
        if (joined !== undefined) found.push([joined, ...counts]);
      });
    for (const each of found.sort(([one], [other]) => one - other)) visit(...each);
  }

  lengthSums(): { text: LengthSum; definitions: LengthSum } {
    return lengthSumsOf(this);
  }

  counts(wordsMax: number, namesMax: number): { words: PackedCounts; names: PackedCounts } {
    const parts = this.#parts.map((part, source) => part.counted(this.#isWanted(source)));
    return {
      words: packCounts(joined(parts.map(({ words }) => words)), wordsMax),
      names: packCounts(joined(parts.map(({ names }) => names)), namesMax),
    };
  }

  wordCounts(word: KeyHash): FileCounts {
    return sumOf(this.#parts.map((part, at) => part.wordCounts(word, this.#isWanted(at))));
  }

  nameCounts(name: KeyHash): FileCounts {
    return sumOf(this.#parts.map((part, at) => part.nameCounts(name, this.#isWanted(at))));
  }

  get packed(): Record<'pathBlocks' | 'pathBytes' | 'steps', Uint8Array> {
    const { blocks, bytes } = packSorted([...this.paths()]);
    const steps = Buffer.from(JSON.stringify(this.steps()));
    return { pathBlocks: bytesOf(blocks), pathBytes: bytes, steps };
  }

  steps(): BuildStep[] {
    const all = this.#parts.flatMap((part, source) =>
      part.steps().flatMap((step) => {
        const file = this.#files.of(source, step.file);
        return file === undefined ? [] : [{ ...step, file }];
      }),
    );
    return all.sort((one, other) => one.file - other.file);
  }

  places(name: KeyHash): { file: number; line: number }[] {
    const all = this.#parts.flatMap((part, source) =>
      part.places(name).flatMap(({ file, line }) => {
        const joined = this.#files.of(source, file);
        return joined === undefined ? [] : [{ file: joined, line }];
      }),
    );
    return all.sort((one, other) => one.file - other.file);
  }

  #isWanted(source: number): (file: number) => boolean {
    return (file) => this.#files.of(source, file) !== undefined;
  }

  #fileIn(file: number): [part: WordsFile, file: number] {
    const { source = 0, id = 0 } = this.#files.at(file) ?? {};
    return [this.#parts[source] as WordsFile, id];
  }
}

function sumOf(counts: readonly FileCounts[]): FileCounts {
  const sum = { files: 0, definitions: 0 };
  for (const { files, definitions } of counts) {
    sum.files += files;
    sum.definitions += definitions;
  }
  return sum;
}

/** Keys of a bucket have the same hash in all of them. Throws RangeError where their buckets differ. */
function joined(lists: readonly CountedLists[]): CountedLists {
  const [{ bucketCount } = { bucketCount: 1 }] = lists;
  if (lists.some((each) => each.bucketCount !== bucketCount))
    throw new RangeError('the lists of words do not fit together');
  return {
    bucketCount,
    bytes: lists.reduce((sum, { bytes }) => sum + bytes, 0),
    *inBucket(bucket) {
      const sums = new Map<number, FileCounts>();
      for (const each of lists)
        for (const { fingerprint, ...counts } of each.inBucket(bucket))
          sums.set(fingerprint, sumOf([sums.get(fingerprint) ?? sumOf([]), counts]));
      for (const [fingerprint, counts] of sums)
        if (counts.files > 0) yield { fingerprint, ...counts };
    },
  };
}
