import { blockBits, type Section } from './container/section.js';

const wordBits = 32;
/** Of a block of a section, in words. */
const wordBlockBits = blockBits - 2;

/**
 * A table of numbers below 2^32, in which each column is as many bits wide as its largest number needs. Takes half of
 * what whole words take, and any cell is read in one step.
 *
 *     u32: rows · u8 for each column: its width; padded to a whole word · rows without gaps
 */
export function packRows(columns: readonly ArrayLike<number>[]): Uint8Array {
  const rows = columns[0]?.length ?? 0;
  const widths = columns.map(widthOf);
  const head = headWords(columns.length);
  const rowBits = sum(widths);
  const words = new Uint32Array(head + Math.ceil((rows * rowBits) / wordBits));
  words[0] = rows;
  const bytes = new Uint8Array(words.buffer);
  bytes.set(widths, 4);
  let before = head * wordBits;
  columns.forEach((column, at) => {
    write(words, column, before, rowBits, rows);
    before += widths[at] ?? 0;
  });
  return bytes;
}

function write(
  words: Uint32Array,
  column: ArrayLike<number>,
  from: number,
  rowBits: number,
  rows: number,
): void {
  for (let row = 0, bit = from; row < rows; row += 1, bit += rowBits) {
    const value = column[row] ?? 0;
    if (value === 0) continue;
    const word = Math.floor(bit / wordBits);
    const shift = bit % wordBits;
    words[word] = (words[word] ?? 0) | (value << shift);
    // The part beyond this word. A shift by 32 would do nothing.
    if (shift > 0 && value >>> (wordBits - shift) > 0)
      words[word + 1] = (words[word + 1] ?? 0) | (value >>> (wordBits - shift));
  }
}

function widthOf(column: ArrayLike<number>): number {
  let bits = 0;
  for (let row = 0; row < column.length; row += 1) bits |= column[row] ?? 0;
  return wordBits - Math.clz32(bits);
}

function headWords(columns: number): number {
  return 1 + Math.ceil(columns / 4);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

/** Reads `packRows`. */
export class PackedRows {
  readonly length: number;
  readonly #section: Section;
  readonly #words: Uint32Array;
  /** By block of the section, whether its words are there. */
  readonly #there: Uint8Array;
  readonly #rowBits: number;
  /** By column: first bit in the first row; width in bits; mask. */
  readonly #starts: number[] = [];
  readonly #widths: number[];
  readonly #masks: number[];

  /** `columns`: as many as were packed. */
  constructor(section: Section, columns: number) {
    const { bytes, there } = section;
    section.need(0, headWords(columns) * 4);
    this.#section = section;
    this.#there = there;
    this.#words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >>> 2);
    this.length = this.#words[0] ?? 0;
    this.#widths = Array.from(bytes.subarray(4, 4 + columns));
    this.#masks = this.#widths.map((width) => (width === wordBits ? -1 : (1 << width) - 1));
    this.#rowBits = sum(this.#widths);
    let start = headWords(columns) * wordBits;
    for (const width of this.#widths) {
      this.#starts.push(start);
      start += width;
    }
  }

  /** Zero beyond the last row, like a missing element of a typed array. */
  at(row: number, column = 0): number {
    if (row >= this.length) return 0;
    const bit = row * this.#rowBits + (this.#starts[column] as number);
    // Use 32-bit integers where possible: most of a search's time is spent here.
    const word = bit < 2 ** 32 ? bit >>> 5 : Math.floor(bit / wordBits);
    const shift = bit & (wordBits - 1);
    if (this.#there[word >>> wordBlockBits] === 0) this.#need(word);
    let value = (this.#words[word] ?? 0) >>> shift;
    if (shift + (this.#widths[column] as number) > wordBits) {
      if (this.#there[(word + 1) >>> wordBlockBits] === 0) this.#need(word + 1);
      value |= (this.#words[word + 1] ?? 0) << (wordBits - shift);
    }
    return (value & (this.#masks[column] as number)) >>> 0;
  }

  #need(word: number): void {
    this.#section.need(word * 4, word * 4 + 4);
  }
}
