import { ByteColumn, bytesOf, groupBy, NumberColumn, StringColumn } from '../bytes.js';
import type { FactsLanguage, FileFacts } from '../facts.js';
import { writeSections } from '../container/segment-file.js';
import type { FileRow } from '../shard-index.js';
import { ShardTerms } from '../shard-terms.js';
import { packSorted } from '../sorted-names.js';
import { packHashed } from './hashed-lists.js';
import {
  countMax,
  headBits,
  moreBit,
  wordsLayout,
  type BuildStep,
  type WordsInfo,
  type Buckets,
} from './words-file.js';

/** Kinds that are no definition someone looks up by name: values by the hundred thousand, headings, commands. */
const unnamedKinds = new Set(['macro', 'constant', 'section', 'step', 'target', 'script', 'unit']);

/** The format in which the miner of recipes renders signatures. */
const builtBy = / \| builds:([^|]*?) \| into:(\S+)/;

/** Writes the words of whole files of one shard: code, documents and recipes alike. */
export class WordsWriter {
  readonly #terms: ShardTerms;
  readonly #names = new StringColumn();
  readonly #languages = new StringColumn();
  readonly #paths: string[] = [];
  readonly #blobs: Buffer[] = [];
  readonly #rows = new NumberColumn();
  readonly #steps: BuildStep[] = [];
  /** By posting: term, file, counts in the text and in definitions. */
  readonly #postingTerms = new NumberColumn();
  readonly #postings = new NumberColumn();
  readonly #placeNames = new NumberColumn();
  readonly #places = new NumberColumn();
  /** By term, for the current file. */
  #counts = new Uint32Array(1_024);
  #definitions = new Uint32Array(1_024);
  #touched: number[] = [];

  /** `terms`: shared with the other writers of the shard. */
  constructor(terms = new ShardTerms()) {
    this.#terms = terms;
  }

  /** Call in order of the paths. `words`: term ids of the facts' words. */
  add(file: FileRow, facts: FileFacts, words = this.#terms.ids(facts.words)): void {
    const index = this.#paths.length;
    const textLength = this.#countText(facts, words);
    const definitions = this.#countDefinitions(facts);
    for (const term of this.#touched) {
      this.#postingTerms.push(term);
      for (const number of [index, this.#counts[term] ?? 0, this.#definitions[term] ?? 0])
        this.#postings.push(number);
      this.#counts[term] = 0;
      this.#definitions[term] = 0;
    }
    this.#touched = [];
    this.#addPlaces(index, facts);
    this.#paths.push(file.path);
    this.#blobs.push(Buffer.from(file.blob, 'hex'));
    for (const number of [this.#languages.id(file.language), file.lines, textLength, definitions])
      this.#rows.push(number);
  }

  /** `buckets`: of the file that this one is joined with. Throws STORE_UNAVAILABLE. */
  async write(
    path: string,
    { alias, version, roles }: Omit<WordsInfo, 'languages'>,
    buckets?: Buckets,
  ): Promise<void> {
    const info: WordsInfo = {
      ...{ alias, version, ...(roles !== undefined && { roles }) },
      languages: this.#languages.all() as FactsLanguage[],
    };
    const paths = packSorted(this.#paths);
    const writeWord = (posting: number, last: number, list: ByteColumn): number => {
      const [file, count, more] = [0, 1, 2].map((at) => this.#postings.at(posting * 3 + at));
      const small = Math.min(count ?? 0, countMax);
      list.pushVarint(
        ((((file ?? 0) - last) << headBits) | (more === 0 ? 0 : moreBit) | small) >>> 0,
      );
      if (small === countMax) list.pushVarint((count ?? 0) - countMax);
      if (more !== 0) list.pushVarint(more ?? 0);
      return file ?? 0;
    };
    const writePlace = (place: number, last: number, list: ByteColumn): number => {
      const file = this.#places.at(place * 2);
      list.pushVarint(file - last);
      list.pushVarint(this.#places.at(place * 2 + 1));
      return file;
    };
    const words = this.#pack(this.#terms.all(), this.#postingTerms, writeWord, buckets?.words);
    const places = this.#pack(this.#names.all(), this.#placeNames, writePlace, buckets?.names);
    await writeSections(path, wordsLayout, {
      info: Buffer.from(JSON.stringify(info)),
      pathBlocks: bytesOf(paths.blocks),
      pathBytes: paths.bytes,
      fileBlobs: Buffer.concat(this.#blobs),
      fileRows: bytesOf(this.#rows.values()),
      wordBuckets: bytesOf(words.buckets),
      wordLists: words.lists,
      nameBuckets: bytesOf(places.buckets),
      nameLists: places.lists,
      steps: Buffer.from(JSON.stringify(this.#steps)),
    });
  }

  /** Counts every word of the text once for each occurrence; without known words, those of its items. */
  #countText(facts: FileFacts, words: readonly number[]): number {
    let length = 0;
    const count = (term: number, times: number): void => {
      this.#mark(term, times, 0);
      length += times;
    };
    if (words.length === 0) {
      for (const { text } of facts.items) this.#terms.eachOfProse(text, (term) => count(term, 1));
      return length;
    }
    const totals = new Uint32Array(facts.words.length);
    for (const { word, count: counts } of facts.documents)
      word.forEach((each, at) => (totals[each] = (totals[each] ?? 0) + (counts[at] ?? 0)));
    words.forEach((term, at) => count(term, totals[at] ?? 0));
    return length;
  }

  #countDefinitions(facts: FileFacts): number {
    let length = 0;
    for (const { name, declaration } of facts.symbols) {
      if (declaration) continue;
      const terms = this.#terms.ofName(name);
      for (const term of terms) this.#mark(term, 0, 1);
      length += terms.length;
    }
    return length;
  }

  #addPlaces(file: number, facts: FileFacts): void {
    const add = (name: string, line: number): void => {
      this.#placeNames.push(this.#names.id(name));
      this.#places.push(file);
      this.#places.push(line);
    };
    for (const { name: symbol, kind, declaration, line_start, signature } of facts.symbols) {
      if (!declaration && !unnamedKinds.has(kind)) add(symbol, line_start);
      const [, parts = '', into = ''] = builtBy.exec(signature) ?? [];
      if (kind === 'step' && into !== '')
        this.#steps.push({ file, option: symbol, parts: parts.split(/\s+/), into });
    }
  }

  #mark(term: number, times: number, definitions: number): void {
    if (times + definitions === 0) return;
    if (term >= this.#counts.length) this.#widenTo(term);
    const [count, defined] = [this.#counts[term] ?? 0, this.#definitions[term] ?? 0];
    if (count + defined === 0) this.#touched.push(term);
    this.#counts[term] = count + times;
    this.#definitions[term] = defined + definitions;
  }

  #widenTo(term: number): void {
    const size = Math.max(term + 1, this.#counts.length * 2);
    const [counts, more] = [new Uint32Array(size), new Uint32Array(size)];
    counts.set(this.#counts);
    more.set(this.#definitions);
    [this.#counts, this.#definitions] = [counts, more];
  }

  /** `write` adds one row to a list, after a row of file `last`, and returns the file of the new row. */
  #pack(
    keys: readonly string[],
    rowKeys: NumberColumn,
    write: (row: number, last: number, list: ByteColumn) => number,
    bucketCount?: number,
  ): ReturnType<typeof packHashed> {
    const { starts, members } = groupBy(rowKeys.values(), keys.length);
    const rowsOf = (key: number): Uint32Array => members.subarray(starts[key], starts[key + 1]);
    const usedKeys = Uint32Array.from(keys.keys()).filter((key) => rowsOf(key).length > 0);
    const names = Array.from(usedKeys, (key) => keys[key] ?? '');
    const writeList = (at: number, list: ByteColumn): void => {
      let last = 0;
      for (const row of rowsOf(usedKeys[at] ?? 0)) last = write(row, last, list);
    };
    return packHashed(names, writeList, bucketCount);
  }
}
