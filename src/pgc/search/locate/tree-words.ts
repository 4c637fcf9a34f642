import { lowerBound } from '../../format/bytes.js';
import { hashOf, type KeyHash } from '../../format/word-lists/hashed-lists.js';
import { saidRole } from '../../source/role.js';
import { PathIndex } from './path-index.js';
import type { KnownWords } from './vocabulary.js';
import type { BuildStep } from '../../format/word-lists/words-file.js';

/** Where a name is defined, or a file stands. `file`: over all shards. */
export interface Place {
  file: number;
  line: number;
}

/** One shard and its vocabulary. */
export interface Member {
  agent: string;
  words: KnownWords;
}

/**
 * The words of a tree, without the places where they stand. Files are numbered through over all shards;
 * frequencies of documents and mean lengths are those of the tree, so that a file scores the same however the tree is cut.
 */
export class TreeWords {
  readonly fileCount: number;
  readonly paths: PathIndex;
  /** By file, as in `Vocabulary`. */
  readonly standings: Uint8Array;
  /** In words, of those that have any. */
  readonly meanText: number;
  readonly meanDefinitions: number;
  readonly #bases: number[] = [];

  constructor(readonly shards: readonly Member[]) {
    let fileCount = 0;
    for (const { words } of shards) {
      this.#bases.push(fileCount);
      fileCount += words.fileCount;
    }
    this.fileCount = fileCount;
    this.standings = new Uint8Array(fileCount);
    shards.forEach(({ words }, at) => this.standings.set(words.standings, this.baseOf(at)));
    this.meanText = meanOf(shards.map(({ words }) => words.text));
    this.meanDefinitions = meanOf(shards.map(({ words }) => words.definitions));
    this.paths = new PathIndex(pathsOf(shards));
  }

  /** In how many files a word stands, in how many of them as part of a name that they define; and by shard. */
  word(term: string): { files: number; definitions: number; byShard: Uint32Array } {
    const hash = hashOf(term);
    const byShard = new Uint32Array(this.shards.length);
    let [files, definitions] = [0, 0];
    this.shards.forEach(({ words }, at) => {
      const counts = words.word(hash);
      byShard[at] = counts.files;
      files += counts.files;
      definitions += counts.definitions;
    });
    return { files, definitions, byShard };
  }

  /** By shard: files that define a symbol of exactly this name. */
  definers(name: string): number[] {
    return this.#counted(name, (words, hash) => words.definers(hash));
  }

  /** By shard: files that define a name with this word in it. */
  definersWith(term: string): number[] {
    return this.#counted(term, (words, hash) => words.word(hash).definitions);
  }

  /** What recipes build. */
  steps(): BuildStep[] {
    return this.shards.flatMap(({ words }, at) =>
      words.steps.map((step) => ({ ...step, file: step.file + this.baseOf(at) })),
    );
  }

  /** The number of a shard's first file. */
  baseOf(shard: number): number {
    return this.#bases[shard] ?? 0;
  }

  shardOf(file: number): number {
    return Math.max(0, lowerBound(this.#bases.length, (shard) => this.baseOf(shard) <= file) - 1);
  }

  path(file: number): string {
    const shard = this.shardOf(file);
    return this.shards[shard]?.words.path(file - this.baseOf(shard)) ?? '';
  }

  /** As answers have it. */
  roleOf(file: number): string {
    const shard = this.shards[this.shardOf(file)];
    return shard === undefined ? '' : saidRole(shard.words, this.path(file));
  }

  agentOf(file: number): string {
    return this.shards[this.shardOf(file)]?.agent ?? '';
  }

  #counted(key: string, count: (words: KnownWords, hash: KeyHash) => number): number[] {
    const hash = hashOf(key);
    return this.shards.map(({ words }) => count(words, hash));
  }
}

function meanOf(sums: readonly { words: number; files: number }[]): number {
  const total = (part: 'words' | 'files'): number =>
    sums.reduce((sum, each) => sum + each[part], 0);
  return total('words') / Math.max(total('files'), 1) || 1;
}

function* pathsOf(shards: readonly Member[]): Generator<string> {
  for (const { words } of shards) yield* words.paths();
}
