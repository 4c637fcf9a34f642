import { crc32 } from '../../../wire/crc.js';
import { corrupt, type SectionFile } from './section-file.js';

/** A section is read and checked in blocks of this many bytes: as small as a lookup, as large as a disk reads at once. */
export const blockBits = 14;
const blockBytes = 1 << blockBits;

/** The CRC-32 of each block. */
export function checksOf(bytes: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: blocksIn(bytes.length) }, (_, block) =>
    crc32(bytes.subarray(block << blockBits, (block + 1) << blockBits)),
  );
}

export function blocksIn(length: number): number {
  return Math.ceil(length / blockBytes);
}

/** Where a section lies in its file. */
export interface SectionPlace {
  start: number;
  length: number;
  /** See `checksOf`. */
  checks: Uint32Array;
}

interface Source {
  file: SectionFile;
  place: SectionPlace;
}

/**
 * Bytes of which those blocks are there that someone needed. The buffer is as long as all of them: views of it stay valid,
 * nothing is translated, and what was never written to takes no memory.
 */
export class Section {
  readonly length: number;
  /** By block, whether it is there; for those who look at `bytes` too often to call `need`. */
  readonly there: Uint8Array;
  /** Undefined: in memory. */
  readonly #source: Source | undefined;
  #missing: number;
  #bytes: Buffer | undefined;

  private constructor(length: number, source?: Source, bytes?: Buffer) {
    this.length = length;
    this.#source = source;
    this.#bytes = bytes;
    this.#missing = source === undefined ? 0 : source.place.checks.length;
    this.there = new Uint8Array(blocksIn(length) + 1).fill(this.#missing === 0 ? 1 : 0);
  }

  static of({ buffer, byteOffset, byteLength }: Uint8Array): Section {
    return new Section(byteLength, undefined, Buffer.from(buffer, byteOffset, byteLength));
  }

  static in(file: SectionFile, place: SectionPlace): Section {
    return new Section(place.length, { file, place });
  }

  /** What was not needed before holds anything. */
  get bytes(): Buffer {
    // Of its own: views of 32-bit numbers need an aligned start.
    return (this.#bytes ??= Buffer.allocUnsafeSlow(this.length));
  }

  /** Throws INDEX_CORRUPT. */
  need(from: number, to: number): void {
    if (this.#missing === 0) return;
    const last = (Math.min(to, this.length) - 1) >> blockBits;
    for (let block = from >>> blockBits; block <= last; block += 1)
      if (this.there[block] === 0) block = this.#read(block, last);
  }

  /** All bytes. Throws INDEX_CORRUPT. */
  whole(): Buffer {
    this.need(0, this.length);
    return this.bytes;
  }

  /** All of it as 32-bit numbers. Little endian, as on every machine that Node supports. */
  numbers(): Uint32Array {
    const { buffer, byteOffset, byteLength } = this.whole();
    return new Uint32Array(buffer, byteOffset, byteLength >>> 2);
  }

  json(): unknown {
    return JSON.parse(this.whole().toString());
  }

  /** From a block that is missing as far as others are, at most to `last`. Returns the last one that it read. */
  #read(first: number, last: number): number {
    const { file, place } = this.#source as Source;
    let end = first + 1;
    while (end <= last && this.there[end] === 0) end += 1;
    const to = Math.min(end << blockBits, this.length);
    file.read(this.bytes.subarray(first << blockBits, to), place.start + (first << blockBits));
    for (let block = first; block < end; block += 1) {
      const its = this.bytes.subarray(block << blockBits, Math.min((block + 1) << blockBits, to));
      if (crc32(its) !== place.checks[block]) throw corrupt(file.path, 'checksum');
      this.there[block] = 1;
      this.#missing -= 1;
    }
    return end - 1;
  }
}
