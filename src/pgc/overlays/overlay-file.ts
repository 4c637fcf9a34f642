import { NumberColumn, packStrings, StringColumn, StringTable } from '../bytes.js';
import type { ItemFact } from '../facts.js';
import { readSections, writeSections, type SectionLayout } from '../segment-file.js';
import type { OverlayName } from '../shapes.js';

/** Raised whenever the layout or the meaning of a section changes. */
export const overlayFormat = 1;

const names = [
  'info', // JSON: OverlayInfo
  'fileRows', // u32: path; in order of the paths
  'fileBlobs', // 20 bytes each
  'fileItems', // u32: first item of each file, and the end
  'itemRows', // u32: rule, first line, last line, symbol, text, subject, severity, CWE
  'textOffsets', // u32
  'textBytes',
] as const;
const layout: SectionLayout<(typeof names)[number]> = {
  magic: 'SIGMAOVL',
  format: overlayFormat,
  names,
};
const itemWidth = 8;
const blobBytes = 20;

export interface OverlayInfo {
  overlay: OverlayName;
  /** Of the shard. */
  alias: string;
  /** What made it, and of which version. */
  generator: string;
  version: string;
  /** Items of each rule. */
  rules: Record<string, number>;
}

/** One item with where it stands. */
export interface OverlayItem extends Omit<ItemFact, 'overlay'> {
  overlay: OverlayName;
  file_path: string;
  blob: string;
  /** The innermost symbol around it, or empty. */
  symbol: string;
}

/** The items of one overlay of one shard, in order of paths and lines. */
export class OverlayWriter {
  readonly #texts = new StringColumn();
  readonly #fileRows = new NumberColumn();
  readonly #blobs: Buffer[] = [];
  readonly #fileItems = new NumberColumn();
  readonly #itemRows = new NumberColumn();
  readonly #rules = new Map<string, number>();

  get items(): number {
    return this.#itemRows.length / itemWidth;
  }

  /** Files come in order of their paths; those without an item are not kept. */
  add(path: string, blob: string, items: readonly (ItemFact & { symbol: string })[]): void {
    if (items.length === 0) return;
    this.#fileRows.push(this.#texts.id(path));
    this.#blobs.push(Buffer.from(blob, 'hex'));
    this.#fileItems.push(this.items);
    for (const item of [...items].sort((a, b) => a.line_start - b.line_start)) {
      this.#rules.set(item.rule, (this.#rules.get(item.rule) ?? 0) + 1);
      this.#itemRows.push(this.#texts.id(item.rule));
      this.#itemRows.push(item.line_start);
      this.#itemRows.push(item.line_end);
      for (const text of [item.symbol, item.text, item.subject, item.severity, item.cwe])
        this.#itemRows.push(this.#texts.id(text));
    }
  }

  /** Resolves with the bytes written. Throws STORE_UNAVAILABLE. */
  async write(path: string, info: Omit<OverlayInfo, 'rules'>): Promise<number> {
    this.#fileItems.push(this.items);
    const texts = packStrings(this.#texts.all());
    const rules = Object.fromEntries([...this.#rules].sort(([a], [b]) => (a < b ? -1 : 1)));
    const whole: OverlayInfo = { ...info, rules };
    return writeSections(path, layout, {
      info: Buffer.from(JSON.stringify(whole)),
      fileRows: bytesOf(this.#fileRows),
      fileBlobs: Buffer.concat(this.#blobs),
      fileItems: bytesOf(this.#fileItems),
      itemRows: bytesOf(this.#itemRows),
      textOffsets: new Uint8Array(texts.offsets.buffer),
      textBytes: texts.bytes,
    });
  }
}

/** One overlay of one shard, read from one file. */
export class OverlayFile {
  readonly info: OverlayInfo;
  readonly fileCount: number;
  readonly itemCount: number;
  readonly #paths: Uint32Array;
  readonly #blobs: Buffer;
  readonly #starts: Uint32Array;
  readonly #rows: Uint32Array;
  readonly #texts: StringTable;

  private constructor(sections: Record<(typeof names)[number], Uint8Array>) {
    this.info = JSON.parse(Buffer.from(sections.info).toString()) as OverlayInfo;
    this.#paths = numbersOf(sections.fileRows);
    this.#blobs = Buffer.from(sections.fileBlobs);
    this.#starts = numbersOf(sections.fileItems);
    this.#rows = numbersOf(sections.itemRows);
    const bytes = sections.textBytes;
    this.#texts = new StringTable(
      numbersOf(sections.textOffsets),
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    );
    this.fileCount = this.#paths.length;
    this.itemCount = this.#rows.length / itemWidth;
  }

  /** Throws INDEX_CORRUPT, or INDEX_MISSING when there is no such file. */
  static async open(path: string): Promise<OverlayFile> {
    return new OverlayFile(await readSections(path, layout));
  }

  /** In order of paths and lines; texts are read of those whose rule is wanted. */
  *items(isWanted: (rule: string) => boolean = () => true): Generator<OverlayItem> {
    const wanted = new Map<number, boolean>();
    const isOf = (rule: number): boolean => {
      const is = wanted.get(rule) ?? isWanted(this.#texts.at(rule));
      wanted.set(rule, is);
      return is;
    };
    for (let file = 0; file < this.fileCount; file += 1) yield* this.#itemsOf(file, isOf);
  }

  itemsAt(path: string): OverlayItem[] {
    let low = 0;
    let high = this.fileCount - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.#texts.at(this.#paths[middle] ?? 0);
      if (found === path) return [...this.#itemsOf(middle)];
      if (found < path) low = middle + 1;
      else high = middle - 1;
    }
    return [];
  }

  *#itemsOf(file: number, isWanted = (_rule: number) => true): Generator<OverlayItem> {
    const { overlay } = this.info;
    let place: Pick<OverlayItem, 'overlay' | 'file_path' | 'blob'> | undefined;
    for (let item = this.#starts[file] ?? 0; item < (this.#starts[file + 1] ?? 0); item += 1) {
      if (!isWanted(this.#rows[item * itemWidth] ?? 0)) continue;
      place ??= {
        ...{ overlay, file_path: this.#texts.at(this.#paths[file] ?? 0) },
        blob: this.#blobs.toString('hex', file * blobBytes, (file + 1) * blobBytes),
      };
      const row = this.#rows.subarray(item * itemWidth, (item + 1) * itemWidth);
      const text = (column: number): string => this.#texts.at(row[column] ?? 0);
      yield {
        ...place,
        rule: text(0),
        line_start: row[1] ?? 0,
        line_end: row[2] ?? 0,
        symbol: text(3),
        text: text(4),
        subject: text(5),
        severity: text(6),
        cwe: text(7),
      };
    }
  }
}

function bytesOf(column: NumberColumn): Uint8Array {
  const values = column.values();
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

function numbersOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
