import { join } from 'node:path';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { placeOf, readManifest, type IndexPlace, type Manifest } from '../manifest.js';
import type { FileRow } from '../shard-index.js';
import { realRoot } from '../source-tree.js';
import { hashOf } from './hashed-lists.js';
import { PathIndex } from './path-index.js';
import { WordsFile, type BuildStep } from './words-file.js';

/**
 * BM25: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. `k1`: how slowly a word
 * that comes again counts less; `b`: how far the length counts.
 */
interface Saturation {
  k1: number;
  b: number;
}
const usual: Saturation = { k1: 1.2, b: 0.75 };
/** One word of a title stands for itself; those of a description are as many as the file has to say about it. */
const once: Saturation = { k1: 0.5, b: 0.3 };
const often: Saturation = { k1: 4, b: 0.9 };
/** What a word is worth at most, whatever its saturation. */
export const wordMax = usual.k1 + 1;

/** A refresh removes old files after its swap; a reader that was in between reads the manifest again. */
const attemptsMax = 3;

/** Where a name is defined, or a file stands. `file`: over all shards. */
export interface Place {
  file: number;
  line: number;
}

/** What the last `gather` has found, the first `length` of each, in the order of the files. */
export interface Postings {
  length: number;
  readonly files: Uint32Array;
  /** Of BM25, 0 to `wordMax`: in the names that the file defines, and in its text, by how repetition counts. */
  readonly names: Float64Array;
  readonly once: Float64Array;
  readonly often: Float64Array;
}

/**
 * The words of all files of a tree over all its shards. Files are numbered through; frequencies of
 * documents and mean lengths are those of the tree, so that a file scores the same however the tree is cut.
 */
export class WordIndex {
  readonly fileCount: number;
  readonly paths: PathIndex;
  readonly #bases: number[];
  /** Length by mean length, of text and of definitions. */
  readonly #textLengths: Float64Array;
  readonly #nameLengths: Float64Array;
  readonly #postings: Postings;

  constructor(readonly shards: readonly WordsFile[]) {
    this.#bases = shards.map(() => 0);
    let fileCount = 0;
    shards.forEach((shard, at) => {
      this.#bases[at] = fileCount;
      fileCount += shard.fileCount;
    });
    this.fileCount = fileCount;
    this.#textLengths = new Float64Array(fileCount);
    this.#nameLengths = new Float64Array(fileCount);
    this.#measure();
    this.#postings = {
      length: 0,
      files: new Uint32Array(fileCount),
      names: new Float64Array(fileCount),
      once: new Float64Array(fileCount),
      often: new Float64Array(fileCount),
    };
    this.paths = new PathIndex(pathsOf(shards));
  }

  /** Where this word stands. What it returns is overwritten by the next call. */
  gather(word: string): Postings {
    const hash = hashOf(word);
    const { files, names, once: ofOnce, often: ofOften } = this.#postings;
    let length = 0;
    this.shards.forEach((shard, at) => {
      const base = this.#bases[at] ?? 0;
      shard.postings(hash, (its, count, definitions) => {
        const file = base + its;
        const textLength = this.#textLengths[file] ?? 0;
        files[length] = file;
        names[length] = saturated(definitions, this.#nameLengths[file] ?? 0, usual);
        ofOnce[length] = saturated(count, textLength, once);
        ofOften[length] = saturated(count, textLength, often);
        length += 1;
      });
    });
    this.#postings.length = length;
    return this.#postings;
  }

  /** As `gather`, for given files of one shard. */
  standingIn(
    word: string,
    shardAt: number,
    files: ReadonlySet<number>,
    visit: (file: number, standing: { names: number; once: number; often: number }) => void,
  ): void {
    const base = this.#bases[shardAt] ?? 0;
    this.shards[shardAt]?.postings(hashOf(word), (its, count, definitions) => {
      const file = base + its;
      if (!files.has(file)) return;
      const textLength = this.#textLengths[file] ?? 0;
      visit(file, {
        names: saturated(definitions, this.#nameLengths[file] ?? 0, usual),
        once: saturated(count, textLength, once),
        often: saturated(count, textLength, often),
      });
    });
  }

  /** Definitions of exactly this name, in the order of the files. */
  definitions(name: string): Place[] {
    const hash = hashOf(name);
    return this.shards.flatMap((shard, at) =>
      shard.places(hash).map(({ file, line }) => ({ file: file + (this.#bases[at] ?? 0), line })),
    );
  }

  /** What recipes build. */
  steps(): BuildStep[] {
    return this.shards.flatMap((shard, at) =>
      shard.steps().map((step) => ({ ...step, file: step.file + (this.#bases[at] ?? 0) })),
    );
  }

  shardOf(file: number): number {
    let low = 0;
    let high = this.#bases.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#bases[middle] ?? 0) <= file) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  file(file: number): FileRow {
    const shard = this.shardOf(file);
    const its = this.shards[shard]?.file(file - (this.#bases[shard] ?? 0));
    if (its === undefined) throw new RangeError(`no file ${file}`);
    return its;
  }

  path(file: number): string {
    const shard = this.shardOf(file);
    return this.shards[shard]?.path(file - (this.#bases[shard] ?? 0)) ?? '';
  }

  aliasOf(file: number): string {
    return this.shards[this.shardOf(file)]?.info.alias ?? '';
  }

  #measure(): void {
    for (const [key, lengths] of [
      ['text', this.#textLengths],
      ['definitions', this.#nameLengths],
    ] as const) {
      let [sum, having, file] = [0, 0, 0];
      for (const shard of this.shards)
        for (let its = 0; its < shard.fileCount; its += 1, file += 1) {
          const length = shard.lengths(its)[key];
          lengths[file] = length;
          sum += length;
          if (length > 0) having += 1;
        }
      const mean = sum / Math.max(having, 1) || 1;
      lengths.forEach((length, at) => (lengths[at] = length / mean));
    }
  }
}

/** `length`: by the mean length. */
function saturated(count: number, length: number, { k1, b }: Saturation): number {
  return count === 0 ? 0 : (count * wordMax) / (count + k1 * (1 - b + b * length));
}

function* pathsOf(shards: readonly WordsFile[]): Generator<string> {
  for (const shard of shards) yield* shard.paths();
}

export interface OpenedWords {
  /** Absolute, without links. */
  root: string;
  index: WordIndex;
}

/** Of a tree as it was built last; its segments are not read. Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT. */
export async function openWords(folder: string, home: string): Promise<OpenedWords> {
  const root = await realRoot(folder);
  const place = placeOf(root, home);
  for (let attempt = 1; ; attempt += 1) {
    const manifest = await readManifest(place, root);
    try {
      return { root, index: new WordIndex(await openFiles(place, manifest)) };
    } catch (error) {
      if (asBusError(error).code !== 'INDEX_MISSING') throw error;
      if (attempt < attemptsMax) continue;
      const { path = '' } = asBusError(error).data;
      throw new BusError('INDEX_CORRUPT', { path, detail: 'absent' }, { cause: error });
    }
  }
}

async function openFiles(place: IndexPlace, { shards }: Manifest): Promise<WordsFile[]> {
  const files: WordsFile[] = [];
  for (const { words } of shards) files.push(await WordsFile.open(join(place.segments, words)));
  return files;
}
