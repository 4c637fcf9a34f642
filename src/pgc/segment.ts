import { bufferOf, lowerBound, numbersOf, SortedNames, StringTable } from './bytes.js';
import {
  corrupt,
  readSections,
  segmentLayout,
  type SectionName,
  type Sections,
} from './segment-file.js';
import { callKinds, declarationFlag, exportedFlag, unusedFlag } from './segment-writer.js';
import type { FactsLanguage } from './facts.js';
import {
  type CallRow,
  type Field,
  type FileRow,
  type ImportRow,
  type ShardIndex,
  type ShardInfo,
  type SymbolOutline,
  type SymbolRow,
} from './shard-index.js';
import { PackedTerms } from './term-index.js';

const blobBytes = 20;
const symbolWidth = 8;
const callWidth = 5;
/** Names that stay decoded. */
const recentNames = 4_096;

/** One shard, read from one file: typed views over one buffer, strings decoded when asked for. */
export class Segment implements ShardIndex {
  readonly info: ShardInfo;
  readonly symbolCount: number;
  readonly fileCount: number;
  readonly documentCount: number;
  readonly bytes: number;

  readonly #blobs: Buffer;
  readonly #symbolFlags: Uint8Array;
  readonly #callKinds: Uint8Array;
  readonly #numbers: Record<NumberSection, Uint32Array>;
  readonly #scanned: SortedNames;
  readonly #names: SortedNames;
  readonly #terms: PackedTerms;
  readonly #texts: StringTable;
  /** Names that were called last, by the end of their numbers. */
  readonly #recent: string[] = [];
  readonly #recentIds = new Int32Array(recentNames).fill(-1);
  /** There are some twenty. */
  readonly #kinds = new Map<number, string>();

  /** `place`: what the manifest knows better than the file: where the tree stands, how the shard is named. */
  private constructor(sections: Sections, place: Partial<ShardInfo>) {
    const info = JSON.parse(Buffer.from(sections.info).toString()) as ShardInfo;
    this.info = { ...info, ...place };
    this.#numbers = Object.fromEntries(
      numberSections.map((name) => [name, numbersOf(sections[name])]),
    ) as Record<NumberSection, Uint32Array>;
    this.#scanned = new SortedNames(this.#numbers.scannedBlocks, bufferOf(sections.scannedNames));
    this.#blobs = bufferOf(sections.fileBlobs);
    this.#symbolFlags = sections.symbolFlags;
    this.#callKinds = sections.callKinds;
    this.#names = new SortedNames(this.#numbers.nameBlocks, bufferOf(sections.nameBytes));
    this.#terms = new PackedTerms(sections);
    this.#texts = new StringTable(this.#numbers.textOffsets, bufferOf(sections.textBytes));
    this.fileCount = sections.fileBlobs.length / blobBytes;
    this.symbolCount = sections.symbolFlags.length;
    this.documentCount = this.fileCount + this.symbolCount;
    this.bytes = sections.info.buffer.byteLength;
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string, place: Partial<ShardInfo> = {}): Promise<Segment> {
    const sections = await readSections(path, segmentLayout);
    try {
      return new Segment(sections, place);
    } catch (error) {
      throw corrupt(path, error instanceof Error ? error.message : 'unreadable', error);
    }
  }

  file(file: number): FileRow {
    const rows = this.#numbers.fileRows;
    return {
      path: this.#texts.at(rows[file * 3] ?? 0),
      blob: this.#blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
      language: this.#texts.at(rows[file * 3 + 1] ?? 0) as FactsLanguage,
      lines: rows[file * 3 + 2] ?? 0,
    };
  }

  fileAt(path: string): number | undefined {
    const { filesByPath, fileRows } = this.#numbers;
    let low = 0;
    let high = filesByPath.length - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const file = filesByPath[middle] ?? 0;
      const found = this.#texts.at(fileRows[file * 3] ?? 0);
      if (found === path) return file;
      if (found < path) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  symbolsOf(file: number): number[] {
    return range(this.#numbers.fileSymbols, file);
  }

  importsOf(file: number): ImportRow[] {
    const { importStarts, importRows, importNames } = this.#numbers;
    return range(importStarts, file).map((row) => {
      const names = importNames.subarray(importRows[row * 4 + 2], importRows[row * 4 + 3]);
      return {
        target: this.#texts.at(importRows[row * 4] ?? 0),
        names: Array.from(names, (name) => this.#texts.at(name)),
        line: importRows[row * 4 + 1] ?? 0,
      };
    });
  }

  symbol(symbol: number): SymbolRow {
    const rows = this.#numbers.symbolRows;
    const at = symbol * symbolWidth;
    const flags = this.#symbolFlags[symbol] ?? 0;
    return {
      name: this.#names.at(rows[at] ?? 0),
      kind: this.#texts.at(rows[at + 1] ?? 0),
      file: rows[at + 2] ?? 0,
      line_start: rows[at + 3] ?? 0,
      line_end: rows[at + 4] ?? 0,
      signature: this.#texts.at(rows[at + 5] ?? 0),
      container: this.#texts.at(rows[at + 6] ?? 0),
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
      doc: this.#texts.at(rows[at + 7] ?? 0),
    };
  }

  fileOf(document: number): number {
    return document < this.symbolCount
      ? (this.#numbers.symbolRows[document * symbolWidth + 2] ?? 0)
      : document - this.symbolCount;
  }

  outline(symbol: number): SymbolOutline {
    const rows = this.#numbers.symbolRows;
    const at = symbol * symbolWidth;
    const flags = this.#symbolFlags[symbol] ?? 0;
    return {
      name: rows[at] ?? 0,
      kind: this.#kind(rows[at + 1] ?? 0),
      exported: (flags & exportedFlag) !== 0,
      declaration: (flags & declarationFlag) !== 0,
      documented: !this.#texts.isEmpty(rows[at + 7] ?? 0),
    };
  }

  names(): Iterable<string> {
    return this.#names.all();
  }

  nameAt(number: number): string {
    return this.#names.at(number);
  }

  symbolsNamed(name: string): number[] {
    const id = this.#names.position(name);
    return id === undefined ? [] : Array.from(this.#symbolsOf(id));
  }

  callsFrom(symbol: number): CallRow[] {
    return range(this.#numbers.callStarts, symbol).map((call) => this.#call(call));
  }

  /** They come last. */
  callsOutside(): CallRow[] {
    const first = this.#numbers.callStarts[this.symbolCount] ?? 0;
    const count = this.#callKinds.length - first;
    return Array.from({ length: count }, (_, at) => this.#call(first + at));
  }

  callsTo(name: string): CallRow[] {
    const id = this.#names.position(name);
    if (id === undefined) return [];
    const { nameCalls, callRows } = this.#numbers;
    const nameAt = (at: number): number => callRows[(nameCalls[at] ?? 0) * callWidth] ?? 0;
    const calls = nameCalls.subarray(...boundsOf(id, nameCalls.length, nameAt));
    return Array.from(calls, (call) => this.#call(call, name));
  }

  slotsOf(name: string): CallRow[] {
    const id = this.#names.position(name);
    if (id === undefined) return [];
    const { slotRows } = this.#numbers;
    const nameAt = (at: number): number => slotRows[at * callWidth] ?? 0;
    const [first, end] = boundsOf(id, slotRows.length / callWidth, nameAt);
    return Array.from({ length: end - first }, (_, slot) => {
      const at = (first + slot) * callWidth;
      return {
        callee: name,
        caller: (slotRows[at + 1] ?? 0) - 1,
        file: slotRows[at + 2] ?? 0,
        line: slotRows[at + 3] ?? 0,
        kind: 'slot',
        unused: false,
        receiver: this.#texts.at(slotRows[at + 4] ?? 0),
      };
    });
  }

  scannedNamed(name: string): { file: number; line: number }[] {
    const { scannedPlaces } = this.#numbers;
    return this.#scanned.find(name).map((at) => ({
      file: scannedPlaces[at * 2] ?? 0,
      line: scannedPlaces[at * 2 + 1] ?? 0,
    }));
  }

  *symbolNames(): Generator<string> {
    yield* this.#scanned.all();
    for (const [id] of this.#symbolGroups()) yield this.#names.at(id);
  }

  defines(): string[] {
    const names: string[] = [];
    for (const [id, symbols] of this.#symbolGroups())
      if (symbols.some((symbol) => this.#symbolFlags[symbol] === exportedFlag))
        names.push(this.#names.at(id));
    return names;
  }

  unresolved(): { name: string; sites: number }[] {
    const { nameCalls, callRows } = this.#numbers;
    const found: { name: string; sites: number }[] = [];
    for (let at = 0; at < nameCalls.length;) {
      const first = at;
      const idAt = (): number => callRows[(nameCalls[at] ?? 0) * callWidth] ?? 0;
      const id = idAt();
      while (at < nameCalls.length && idAt() === id) at += 1;
      const isDefined = this.#symbolsOf(id).some(
        (symbol) => ((this.#symbolFlags[symbol] ?? 0) & declarationFlag) === 0,
      );
      if (!isDefined) found.push({ name: this.#names.at(id), sites: at - first });
    }
    return found;
  }

  terms(): { term: string; documents: number }[] {
    return this.#terms.terms();
  }

  documentFrequency(term: string): number {
    return this.#terms.documentFrequency(term);
  }

  postings(term: string, visit: (document: number, field: Field, count: number) => void): void {
    this.#terms.postings(term, visit);
  }

  length(document: number, field: Field): number {
    return this.#terms.length(document, field);
  }

  averageLength(field: Field): number {
    return this.#terms.averageLength(field);
  }

  /** The memory goes with the last reference; nothing else is held open. */
  close(): void {
    return;
  }

  /** `callee`: where it is known already. */
  #call(call: number, callee?: string): CallRow {
    const rows = this.#numbers.callRows;
    const at = call * callWidth;
    return {
      callee: callee ?? this.#callee(rows[at] ?? 0),
      caller: (rows[at + 1] ?? 0) - 1,
      file: rows[at + 2] ?? 0,
      line: rows[at + 3] ?? 0,
      kind: callKinds[(this.#callKinds[call] ?? 0) & ~unusedFlag] ?? 'direct',
      unused: ((this.#callKinds[call] ?? 0) & unusedFlag) !== 0,
      receiver: this.#texts.at(rows[at + 4] ?? 0),
    };
  }

  /** What is called is called again soon; to read a name takes those before it in its block. */
  #callee(id: number): string {
    const place = id % recentNames;
    if (this.#recentIds[place] !== id) {
      this.#recentIds[place] = id;
      this.#recent[place] = this.#names.at(id);
    }
    return this.#recent[place] ?? '';
  }

  /** Definitions first. */
  #symbolsOf(id: number): Uint32Array {
    const { nameSymbols } = this.#numbers;
    return nameSymbols.subarray(...boundsOf(id, nameSymbols.length, (at) => this.#nameAt(at)));
  }

  #kind(text: number): string {
    const kind = this.#kinds.get(text) ?? this.#texts.at(text);
    this.#kinds.set(text, kind);
    return kind;
  }

  *#symbolGroups(): Generator<[name: number, symbols: Uint32Array]> {
    const { nameSymbols } = this.#numbers;
    for (let at = 0; at < nameSymbols.length;) {
      const first = at;
      const id = this.#nameAt(at);
      while (at < nameSymbols.length && this.#nameAt(at) === id) at += 1;
      yield [id, nameSymbols.subarray(first, at)];
    }
  }

  #nameAt(at: number): number {
    const { nameSymbols, symbolRows } = this.#numbers;
    return symbolRows[(nameSymbols[at] ?? 0) * symbolWidth] ?? 0;
  }
}

const numberSections = [
  'fileRows',
  'fileSymbols',
  'filesByPath',
  'importStarts',
  'importRows',
  'importNames',
  'symbolRows',
  'callRows',
  'callStarts',
  'nameBlocks',
  'nameSymbols',
  'nameCalls',
  'slotRows',
  'scannedBlocks',
  'scannedPlaces',
  'textOffsets',
] as const satisfies readonly SectionName[];
type NumberSection = (typeof numberSections)[number];

/** The positions that have this key, where keys ascend. */
function boundsOf(
  key: number,
  count: number,
  keyAt: (position: number) => number,
): [first: number, end: number] {
  return [lowerBound(count, keyAt, key), lowerBound(count, keyAt, key + 1)];
}

function range(starts: Uint32Array, group: number): number[] {
  const first = starts[group] ?? 0;
  const end = starts[group + 1] ?? first;
  return Array.from({ length: Math.max(end - first, 0) }, (_, at) => first + at);
}
