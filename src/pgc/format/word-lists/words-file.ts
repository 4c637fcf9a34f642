import type { VarintReader } from '../bytes.js';
import type { FactsLanguage, KnownRoles } from '../facts.js';
import type { Section } from '../container/section.js';
import {
  openSections,
  type Reading,
  type SectionLayout,
  type SectionsOf,
} from '../container/segment-file.js';
import type { FileRow } from '../shard-index.js';
import { SortedNames } from '../sorted-names.js';
import {
  packCounts,
  type CountedLists,
  type FileCounts,
  type PackedCounts,
} from './hashed-counts.js';
import { HashedLists, type KeyHash } from './hashed-lists.js';

/** Raised whenever the layout or the meaning of a section changes. */
export const wordsFormat = 3;

const names = [
  'info', // JSON: WordsInfo
  'pathBlocks', // u32: paths, in the order of the files; see `packSorted`
  'pathBytes',
  'fileBlobs', // 20 bytes each
  'fileRows', // u32: language, lines, length of the text and of the definitions in words
  'wordBuckets', // u32; see `packHashed`
  'wordLists', // varints, per posting: gap << 4 | has more << 3 | count in the text, 7: a varint of what is above; more: a varint of the definitions
  'nameBuckets',
  'nameLists', // varints, per place: gap of the files, line
  'steps', // JSON: BuildStep[]
] as const;
export const wordsLayout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMAWRD',
  format: wordsFormat,
  names,
};
const rowWidth = 4;
const blobBytes = 20;
export const headBits = 4;
export const moreBit = 8;
export const countMax = 7;

export interface WordsInfo {
  /** Shard alias. */
  alias: string;
  version: string;
  languages: FactsLanguage[];
  /** Absent: none. */
  roles?: KnownRoles;
}

/** What a build option adds: `obj-$(CONFIG_IWLWIFI) += iwlwifi.o`. */
export interface BuildStep {
  /** File id of the recipe. */
  file: number;
  option: string;
  /** `iwlwifi.o`, `mvm/`. */
  parts: string[];
  /** What the parts are linked into: `obj`, or the name of a module. */
  into: string;
}

/** Sums over the files of a shard: words, and files that have any. */
export interface LengthSum {
  words: number;
  files: number;
}

/**
 * `count`: how often the text of a file has the word. `definitions`: how often the names that the file defines have
 * it.
 */
export type PostingVisitor = (file: number, count: number, definitions: number) => void;

/** How many buckets the lists of words and of names have. */
export interface Buckets {
  words: number;
  names: number;
}

/** The words of the files of one shard. */
export interface ShardWords {
  readonly info: WordsInfo;
  readonly fileCount: number;
  /** In memory. */
  readonly bytes: number;
  /** As stored: front-coded paths, recipes as JSON. */
  readonly packed: Record<'pathBlocks' | 'pathBytes' | 'steps', Uint8Array>;
  file(file: number): FileRow;
  path(file: number): string;
  /** In the order of the files. */
  paths(): Iterable<string>;
  language(file: number): FactsLanguage;
  /** `text` and `definitions` in words: of the whole text, and of the names that it defines. */
  lengths(file: number): { text: number; definitions: number; lines: number };
  /** In the order of the files. */
  postings(word: KeyHash, visit: PostingVisitor): void;
  lengthSums(): { text: LengthSum; definitions: LengthSum };
  /** For each word, the number of files that contain it; for each name, the number of files that define it. */
  counts(wordsMax: number, namesMax: number): { words: PackedCounts; names: PackedCounts };
  wordCounts(word: KeyHash): FileCounts;
  nameCounts(name: KeyHash): FileCounts;
  /** In the order of the recipes. */
  steps(): BuildStep[];
  /** Where symbols of exactly this name are defined. */
  places(name: KeyHash): { file: number; line: number }[];
}

/** The words of files, read from one file; nothing is decoded in advance. */
export class WordsFile implements ShardWords {
  readonly info: WordsInfo;
  readonly fileCount: number;
  readonly bytes: number;
  readonly #paths: SortedNames;
  readonly #packed: Record<'pathBlocks' | 'pathBytes' | 'steps', Section>;
  readonly #blobs: Buffer;
  readonly #rows: Uint32Array;
  readonly #words: HashedLists;
  readonly #names: HashedLists;

  private constructor(sections: SectionsOf<(typeof names)[number]>) {
    const { pathBlocks, pathBytes, steps } = sections;
    this.info = sections.info.json() as WordsInfo;
    this.#paths = new SortedNames(pathBlocks.numbers(), pathBytes);
    this.#packed = { pathBlocks, pathBytes, steps };
    this.#blobs = sections.fileBlobs.whole();
    this.#rows = sections.fileRows.numbers();
    this.#words = listsOf(sections.wordBuckets, sections.wordLists);
    this.#names = listsOf(sections.nameBuckets, sections.nameLists);
    this.fileCount = this.#rows.length / rowWidth;
    this.bytes = Object.values(sections).reduce((sum, { length }) => sum + length, 0);
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string, reading?: Reading): Promise<WordsFile> {
    return openSections(path, wordsLayout, (sections) => new WordsFile(sections), reading);
  }

  file(file: number): FileRow {
    return {
      path: this.#paths.at(file),
      blob: this.#blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
      language: this.language(file),
      lines: this.#rows[file * rowWidth + 1] ?? 0,
    };
  }

  path(file: number): string {
    return this.#paths.at(file);
  }

  paths(): Iterable<string> {
    return this.#paths.all();
  }

  language(file: number): FactsLanguage {
    return this.info.languages[this.#rows[file * rowWidth] ?? 0] ?? 'text';
  }

  lengths(file: number): { text: number; definitions: number; lines: number } {
    const row = file * rowWidth;
    const [lines = 0, text = 0, definitions = 0] = this.#rows.subarray(row + 1, row + rowWidth);
    return { text, definitions, lines };
  }

  postings(word: KeyHash, visit: PostingVisitor): void {
    const reader = this.#words.find(word);
    if (reader === undefined) return;
    const posting = { file: 0, count: 0, definitions: 0 };
    while (!reader.isAtEnd) {
      readPosting(reader, posting);
      visit(posting.file, posting.count, posting.definitions);
    }
  }

  lengthSums(): { text: LengthSum; definitions: LengthSum } {
    return lengthSumsOf(this);
  }

  counts(wordsMax: number, namesMax: number): { words: PackedCounts; names: PackedCounts } {
    const { words, names } = this.counted();
    return { words: packCounts(words, wordsMax), names: packCounts(names, namesMax) };
  }

  /** `isWanted`: of these files alone. */
  counted(isWanted?: (file: number) => boolean): Record<'words' | 'names', CountedLists> {
    const of = (lists: HashedLists, countsIn: typeof countsOfWord): CountedLists => ({
      ...{ bucketCount: lists.bucketCount, bytes: lists.bytes },
      *inBucket(bucket) {
        for (const { fingerprint, reader } of lists.inBucket(bucket))
          yield { fingerprint, ...countsIn(reader, isWanted) };
      },
    });
    return { words: of(this.#words, countsOfWord), names: of(this.#names, countsOfName) };
  }

  wordCounts(word: KeyHash, isWanted?: (file: number) => boolean): FileCounts {
    const list = this.#words.find(word);
    return list === undefined ? none : countsOfWord(list, isWanted);
  }

  nameCounts(name: KeyHash, isWanted?: (file: number) => boolean): FileCounts {
    const list = this.#names.find(name);
    return list === undefined ? none : countsOfName(list, isWanted);
  }

  get buckets(): Buckets {
    return { words: this.#words.bucketCount, names: this.#names.bucketCount };
  }

  get packed(): Record<'pathBlocks' | 'pathBytes' | 'steps', Uint8Array> {
    const { pathBlocks, pathBytes, steps } = this.#packed;
    return { pathBlocks: pathBlocks.whole(), pathBytes: pathBytes.whole(), steps: steps.whole() };
  }

  steps(): BuildStep[] {
    return this.#packed.steps.json() as BuildStep[];
  }

  places(name: KeyHash): { file: number; line: number }[] {
    const reader = this.#names.find(name);
    const places: { file: number; line: number }[] = [];
    let file = 0;
    while (reader?.isAtEnd === false) {
      file += reader.next();
      places.push({ file, line: reader.next() });
    }
    return places;
  }
}

/** Over all files; see `ShardWords.lengthSums`. */
export function lengthSumsOf(
  words: Pick<ShardWords, 'fileCount' | 'lengths'>,
): Record<'text' | 'definitions', LengthSum> {
  const sums = { text: { words: 0, files: 0 }, definitions: { words: 0, files: 0 } };
  for (let file = 0; file < words.fileCount; file += 1) {
    const lengths = words.lengths(file);
    for (const part of ['text', 'definitions'] as const) {
      sums[part].words += lengths[part];
      if (lengths[part] > 0) sums[part].files += 1;
    }
  }
  return sums;
}

const none: FileCounts = { files: 0, definitions: 0 };

function countsOfWord(list: VarintReader, isWanted?: (file: number) => boolean): FileCounts {
  const posting = { file: 0, count: 0, definitions: 0 };
  const counts = { files: 0, definitions: 0 };
  while (!list.isAtEnd) {
    readPosting(list, posting);
    if (isWanted?.(posting.file) === false) continue;
    counts.files += 1;
    if (posting.definitions > 0) counts.definitions += 1;
  }
  return counts;
}

/** A file may define a name in several places. */
function countsOfName(list: VarintReader, isWanted?: (file: number) => boolean): FileCounts {
  let files = 0;
  let file = 0;
  for (let isFirst = true; !list.isAtEnd; isFirst = false) {
    const gap = list.next();
    file += gap;
    if ((gap > 0 || isFirst) && isWanted?.(file) !== false) files += 1;
    list.next();
  }
  return { files, definitions: 0 };
}

/** `posting`: the previous one, which is overwritten. */
function readPosting(
  reader: VarintReader,
  posting: { file: number; count: number; definitions: number },
): void {
  const head = reader.next();
  posting.file += head >>> headBits;
  posting.count = head & countMax;
  if (posting.count === countMax) posting.count += reader.next();
  posting.definitions = (head & moreBit) === 0 ? 0 : reader.next();
}

function listsOf(buckets: Section, lists: Section): HashedLists {
  return new HashedLists(buckets.numbers(), lists);
}
