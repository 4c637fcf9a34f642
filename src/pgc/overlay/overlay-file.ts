import { between, bytesOf, lowerBound, NumberColumn, StringColumn } from '../format/bytes.js';
import type { ItemFact } from '../format/facts.js';
import { wordsOf } from '../format/words.js';
import { PackedRows, packRows } from '../format/packed-rows.js';
import { PostingWriter, termSections } from '../format/posting-writer.js';
import {
  openSections,
  writeSections,
  type Reading,
  type SectionLayout,
  type SectionsOf,
} from '../format/container/segment-file.js';
import type { OverlayName } from '../shapes.js';
import { fieldOf, type Field } from '../format/fields.js';
import { packStrings, StringTable } from '../format/string-table.js';
import { PackedTerms, type TermIndex } from '../format/term-index.js';

/** Raised whenever the layout or the meaning of a section changes. */
export const overlayFormat = 4;

const names = [
  'info', // JSON: OverlayInfo
  'fileRows', // u32: path; in order of the paths
  'fileBlobs', // 20 bytes each
  'fileItems', // u32: first item of each file, and the end
  'itemRows', // columns: rule, first line, lines after it, symbol, text, subject, severity, CWE; see `packRows`
  'textOffsets', // column
  'textBytes',
  ...termSections, // document i is item i; absent where items are not searched
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMAOVL',
  format: overlayFormat,
  names,
};
const itemColumns = 8;
const blobBytes = 20;

export interface OverlayInfo {
  overlay: OverlayName;
  /** Shard alias. */
  alias: string;
  /** Name and version of the generator. */
  generator: string;
  version: string;
  /** Number of items by rule. */
  rules: Record<string, number>;
}

/** An item with its location. */
export interface OverlayItem extends Omit<ItemFact, 'overlay'> {
  overlay: OverlayName;
  file_path: string;
  blob: string;
  /** The innermost symbol around it, or empty. */
  symbol: string;
}

/** An item to be written. */
export interface PlacedItem extends ItemFact {
  symbol: string;
  /** Further index terms of its lines with counts, where `text` does not contain them all. */
  body?: readonly (readonly [term: string, count: number])[];
}

/** Writes the items of one overlay of one shard, in order of paths and lines. */
export class OverlayWriter {
  readonly #postings = new PostingWriter();
  readonly #texts = new StringColumn();
  readonly #fileRows = new NumberColumn();
  readonly #blobs: Buffer[] = [];
  readonly #fileItems = new NumberColumn();
  readonly #items = Array.from({ length: itemColumns }, () => new NumberColumn());
  readonly #rules = new Map<string, number>();

  /** `isSearched`: adds an index of the items' words. */
  constructor(readonly isSearched = true) {}

  get items(): number {
    return this.#items[0]?.length ?? 0;
  }

  /** Call in order of the paths. Files without items are not stored. */
  add(path: string, blob: string, items: readonly PlacedItem[]): void {
    if (items.length === 0) return;
    this.#fileRows.push(this.#texts.id(path));
    this.#blobs.push(Buffer.from(blob, 'hex'));
    this.#fileItems.push(this.items);
    for (const item of [...items].sort((a, b) => a.line_start - b.line_start)) {
      this.#rules.set(item.rule, (this.#rules.get(item.rule) ?? 0) + 1);
      const { symbol, text, subject, severity, cwe } = item;
      const texts = [symbol, text, subject, severity, cwe].map((each) => this.#texts.id(each));
      const lines = [item.line_start, item.line_end - item.line_start];
      [this.#texts.id(item.rule), ...lines, ...texts].forEach((number, column) =>
        this.#items[column]?.push(number),
      );
      if (this.isSearched) this.#index(path, item);
    }
  }

  /** Resolves with the bytes written. Throws STORE_UNAVAILABLE. */
  async write(path: string, info: Omit<OverlayInfo, 'rules'>): Promise<number> {
    this.#fileItems.push(this.items);
    const texts = packStrings(this.#texts.all());
    const rules = Object.fromEntries([...this.#rules].sort(([a], [b]) => (a < b ? -1 : 1)));
    const complete: OverlayInfo = { ...info, rules };
    return writeSections(path, layout, {
      info: Buffer.from(JSON.stringify(complete)),
      fileRows: bytesOf(this.#fileRows.values()),
      fileBlobs: Buffer.concat(this.#blobs),
      fileItems: bytesOf(this.#fileItems.values()),
      itemRows: packRows(this.#items.map((column) => column.values())),
      textOffsets: texts.offsets,
      textBytes: texts.bytes,
      ...this.#postings.finish(),
    });
  }

  /** Names and rules use the fields of symbol names and signatures, so one search covers symbols and items. */
  #index(path: string, { symbol, subject, rule, text, body = [] }: PlacedItem): void {
    this.#count(`${subject} ${symbol}`, fieldOf.name);
    this.#count(path, fieldOf.path);
    this.#count(rule, fieldOf.signature);
    this.#count(text, fieldOf.doc);
    for (const [term, count] of body)
      this.#postings.count(this.#postings.term(term), fieldOf.body, count);
    this.#postings.endDocument();
  }

  #count(text: string, field: Field): void {
    for (const term of wordsOf(text)) this.#postings.count(this.#postings.term(term), field, 1);
  }
}

/** The items of one overlay of one shard, in order of paths and lines. */
export interface OverlayItems {
  /** Paths of the files that it is read from. */
  readonly places: readonly string[];
  readonly info: Pick<OverlayInfo, 'overlay' | 'alias' | 'rules'>;
  readonly fileCount: number;
  readonly itemCount: number;
  /** Document i is item i. */
  readonly terms: TermIndex;
  /** Texts are decoded only for wanted rules. */
  items(isWanted?: (rule: string) => boolean): Iterable<OverlayItem>;
  /** Rule and subject of each item in the same order; nothing else is decoded. */
  subjects(): Iterable<Pick<OverlayItem, 'rule' | 'subject'>>;
  /** Throws RangeError for a number that does not exist. */
  item(item: number): OverlayItem;
  ruleOf(item: number): string;
  subjectOf(item: number): string;
  /** Number of the file that holds an item. */
  fileOf(item: number): number;
  path(file: number): string;
  /** Numbers of the items of a file. */
  itemsIn(file: number): number[];
  itemsAt(path: string): OverlayItem[];
}

/** Items read from one file. */
export class OverlayFile implements OverlayItems {
  readonly places: readonly string[];
  readonly info: OverlayInfo;
  readonly fileCount: number;
  readonly itemCount: number;
  readonly terms: PackedTerms;
  readonly #paths: Uint32Array;
  readonly #blobs: Buffer;
  readonly #starts: Uint32Array;
  readonly #rows: PackedRows;
  readonly #texts: StringTable;

  private constructor(path: string, sections: SectionsOf<(typeof names)[number]>) {
    this.places = [path];
    this.info = sections.info.json() as OverlayInfo;
    this.#paths = sections.fileRows.numbers();
    this.#blobs = sections.fileBlobs.whole();
    this.#starts = sections.fileItems.numbers();
    this.#rows = new PackedRows(sections.itemRows, itemColumns);
    this.#texts = new StringTable(sections.textOffsets, sections.textBytes);
    this.terms = new PackedTerms(sections);
    this.fileCount = this.#paths.length;
    this.itemCount = this.#rows.length;
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string, reading?: Reading): Promise<OverlayFile> {
    return openSections(path, layout, (sections) => new OverlayFile(path, sections), reading);
  }

  *items(isWanted: (rule: string) => boolean = () => true): Generator<OverlayItem> {
    const wanted = new Map<number, boolean>();
    const isOf = (rule: number): boolean => {
      const is = wanted.get(rule) ?? isWanted(this.#texts.at(rule));
      wanted.set(rule, is);
      return is;
    };
    for (let file = 0; file < this.fileCount; file += 1) yield* this.#itemsOf(file, isOf);
  }

  *subjects(): Generator<Pick<OverlayItem, 'rule' | 'subject'>> {
    const read = new Map<number, string>();
    const text = (item: number, column: number): string => {
      const id = this.#rows.at(item, column);
      const known = read.get(id) ?? this.#texts.at(id);
      read.set(id, known);
      return known;
    };
    for (let item = 0; item < this.itemCount; item += 1)
      yield { rule: text(item, 0), subject: text(item, 5) };
  }

  item(item: number): OverlayItem {
    if (item < 0 || item >= this.itemCount) throw new RangeError(`no item ${item}`);
    return this.#itemIn(this.#placeOf(this.fileOf(item)), item);
  }

  ruleOf(item: number): string {
    return this.#texts.at(this.#rows.at(item, 0));
  }

  subjectOf(item: number): string {
    return this.#texts.at(this.#rows.at(item, 5));
  }

  fileOf(item: number): number {
    return lowerBound(this.fileCount, (file) => (this.#starts[file + 1] ?? 0) <= item);
  }

  itemsIn(file: number): number[] {
    return between(this.itemSpan(file, file + 1));
  }

  path(file: number): string {
    return this.#texts.at(this.#paths[file] ?? 0);
  }

  /** Of the items of files: the first one, and one behind the last. */
  itemSpan(first: number, end: number): [number, number] {
    return [this.#starts[first] ?? 0, this.#starts[end] ?? this.itemCount];
  }

  fileNamed(path: string): number | undefined {
    const file = lowerBound(this.fileCount, (each) => this.path(each) < path);
    return file < this.fileCount && this.path(file) === path ? file : undefined;
  }

  itemsAt(path: string): OverlayItem[] {
    const file = this.fileNamed(path);
    return file === undefined ? [] : [...this.#itemsOf(file)];
  }

  *#itemsOf(file: number, isWanted = (_rule: number) => true): Generator<OverlayItem> {
    let place: Place | undefined;
    for (const item of this.itemsIn(file))
      if (isWanted(this.#rows.at(item))) yield this.#itemIn((place ??= this.#placeOf(file)), item);
  }

  #placeOf(file: number): Place {
    return {
      overlay: this.info.overlay,
      file_path: this.path(file),
      blob: this.#blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
    };
  }

  #itemIn(place: Place, item: number): OverlayItem {
    const text = (column: number): string => this.#texts.at(this.#rows.at(item, column));
    const line_start = this.#rows.at(item, 1);
    return {
      ...place,
      rule: text(0),
      line_start,
      line_end: (line_start + this.#rows.at(item, 2)) >>> 0,
      symbol: text(3),
      text: text(4),
      subject: text(5),
      severity: text(6),
      cwe: text(7),
    };
  }
}

type Place = Pick<OverlayItem, 'overlay' | 'file_path' | 'blob'>;
