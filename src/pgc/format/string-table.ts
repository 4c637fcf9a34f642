import { ByteColumn } from './bytes.js';
import { hashPrime, hashStart } from './name-hash.js';
import { PackedRows, packRows } from './packed-rows.js';
import type { Section } from './container/section.js';

/** By byte: letters, digits, `_`, and all that is not ASCII. */
const isOfWord = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte > 0x7f || /\w/.test(String.fromCharCode(byte)) ? 1 : 0,
);

/** Strings as UTF-8 bytes, with offsets in a table of one column. */
export function packStrings(strings: readonly string[]): { offsets: Uint8Array; bytes: Buffer } {
  const offsets = new Uint32Array(strings.length + 1);
  const bytes = new ByteColumn(4_096);
  strings.forEach((text, index) => {
    bytes.appendText(text);
    offsets[index + 1] = bytes.length;
  });
  return { offsets: packRows([offsets]), bytes: bytes.values() };
}

/** Reads `packStrings`; each string is decoded on demand. */
export class StringTable {
  readonly #section: Section;
  readonly #bytes: Buffer;
  readonly #offsets: PackedRows;

  constructor(offsets: Section, bytes: Section) {
    this.#offsets = new PackedRows(offsets, 1);
    this.#section = bytes;
    this.#bytes = bytes.bytes;
  }

  get size(): number {
    return this.#offsets.length - 1;
  }

  at(id: number): string {
    const [start, end] = [this.#offsets.at(id), this.#offsets.at(id + 1)];
    this.#section.need(start, end);
    return this.#bytes.toString('utf8', start, end);
  }

  /** Whether any of them contains a word with one of these hashes (`nameHash`). */
  hasWord(hashes: ReadonlySet<number>): boolean {
    const bytes = this.#section.whole();
    for (let id = 0, at = 0; id < this.size; id += 1) {
      const end = this.#offsets.at(id + 1);
      while (at < end) {
        let hash = hashStart;
        const start = at;
        for (; at < end && isOfWord[bytes[at] ?? 0] === 1; at += 1)
          hash = Math.imul(hash ^ (bytes[at] ?? 0), hashPrime);
        if (at > start && hashes.has(hash)) return true;
        if (at < end) at += 1;
      }
    }
    return false;
  }

  isEmpty(id: number): boolean {
    return this.#offsets.at(id) === this.#offsets.at(id + 1);
  }
}
