import { hashPrime, hashStart } from './name-hash.js';
import { ByteColumn, lowerBound, VarintReader } from './bytes.js';
import type { Section } from './container/section.js';

/** Names per block; the first name of a block is written in full. */
const blockNames = 16;
/** From this length on, a varint follows. */
const nibbleMax = 15;

/**
 * Names in the order of `sortByBytes`, each without the prefix that it shares with the one before (front coding; I.
 * Witten, A. Moffat, T. Bell, "Managing Gigabytes", 1999, 4.1). Names of programs shrink to less than half, lists of
 * registers to a fifth. `blocks`: the start of each block, then the number of names. A name: one byte with the lengths
 * of the shared prefix and of the rest, four bits each (15: a varint of the remainder follows), then the rest.
 */
export function packSorted(names: readonly string[]): { blocks: Uint32Array; bytes: Buffer } {
  const blockCount = Math.ceil(names.length / blockNames);
  const blocks = new Uint32Array(blockCount + 1);
  blocks[blockCount] = names.length;
  const bytes = new ByteColumn(4_096);
  let before = Buffer.alloc(0);
  names.forEach((name, at) => {
    const encoded = Buffer.from(name, 'utf8');
    let shared = 0;
    if (at % blockNames === 0) blocks[at / blockNames] = bytes.length;
    else while (shared < encoded.length && encoded[shared] === before[shared]) shared += 1;
    const rest = encoded.length - shared;
    bytes.push((Math.min(shared, nibbleMax) << 4) | Math.min(rest, nibbleMax));
    if (shared >= nibbleMax) bytes.pushVarint(shared - nibbleMax);
    if (rest >= nibbleMax) bytes.pushVarint(rest - nibbleMax);
    bytes.append(encoded.subarray(shared));
    before = encoded;
  });
  return { blocks, bytes: bytes.values() };
}

/** Reads `packSorted`: a name by its position, positions by a name. Either reads one block. */
export class SortedNames {
  readonly size: number;
  readonly #blocks: Uint32Array;
  readonly #section: Section;
  readonly #bytes: Buffer;
  /** The last decoded name; the prefix shared by the next one stays in place. */
  #name = Buffer.allocUnsafeSlow(256);
  /** Lengths of the name being read: shared prefix and rest. */
  #shared = 0;
  #rest = 0;

  constructor(blocks: Uint32Array, bytes: Section) {
    this.#blocks = blocks.subarray(0, -1);
    this.#section = bytes;
    this.#bytes = bytes.bytes;
    this.size = blocks.at(-1) ?? 0;
  }

  /** Empty beyond the last. */
  at(position: number): string {
    if (position >= this.size) return '';
    const block = Math.floor(position / blockNames);
    const reader = this.#reader(block);
    let length = 0;
    for (let at = block * blockNames; at <= position; at += 1) length = this.#read(reader);
    return this.#name.toString('utf8', 0, length);
  }

  /** Position of the first equal name. */
  position(name: string): number | undefined {
    const wanted = Buffer.from(name, 'utf8');
    for (let block = this.#blockBefore(wanted); block < this.#blocks.length; block += 1) {
      const reader = this.#reader(block);
      for (let at = block * blockNames; !reader.isAtEnd; at += 1) {
        // Read first: `#read` may replace the buffer `#name`.
        const length = this.#read(reader);
        const order = orderOf(this.#name, 0, length, wanted);
        if (order === 0) return at;
        if (order > 0) return undefined;
      }
    }
    return undefined;
  }

  /** Positions of all equal names, ascending. */
  find(name: string): number[] {
    const found: number[] = [];
    const first = this.position(name);
    for (let at = first ?? this.size; at < this.size && this.at(at) === name; at += 1)
      found.push(at);
    return found;
  }

  *all(): Generator<string> {
    for (let block = 0; block < this.#blocks.length; block += 1) {
      const reader = this.#reader(block);
      // Decode a whole block at once: the caller may read other names between two yields.
      const names: string[] = [];
      while (!reader.isAtEnd) {
        const length = this.#read(reader);
        names.push(this.#name.toString('utf8', 0, length));
      }
      yield* names;
    }
  }

  /** All names in order, as bytes: valid until the next one. Nothing else may be read meanwhile. */
  *spelled(): Generator<[bytes: Uint8Array, length: number]> {
    for (let block = 0; block < this.#blocks.length; block += 1) {
      const reader = this.#reader(block);
      while (!reader.isAtEnd) {
        const length = this.#read(reader);
        yield [this.#name, length];
      }
    }
  }

  /** The hash of each name, in their order. */
  hashes(): Int32Array {
    const found = new Int32Array(this.size);
    for (let block = 0, at = 0; block < this.#blocks.length; block += 1) {
      const reader = this.#reader(block);
      for (; !reader.isAtEnd; at += 1) {
        const length = this.#read(reader);
        let hash = hashStart;
        for (let byte = 0; byte < length; byte += 1)
          hash = Math.imul(hash ^ (this.#name[byte] ?? 0), hashPrime);
        found[at] = hash;
      }
    }
    return found;
  }

  /** The last block whose first name is below the wanted one; equal names may continue in the next block. */
  #blockBefore(wanted: Buffer): number {
    const next = lowerBound(this.#blocks.length, (block) => {
      const reader = this.#reader(block);
      this.#lengths(reader);
      return orderOf(this.#bytes, reader.at, this.#rest, wanted) < 0;
    });
    return Math.max(next - 1, 0);
  }

  #reader(block: number): VarintReader {
    const end = this.#blocks[block + 1] ?? this.#bytes.length;
    const start = this.#blocks[block] ?? end;
    this.#section.need(start, end);
    return new VarintReader(this.#bytes, start, end);
  }

  #lengths(reader: VarintReader): void {
    const both = this.#bytes[reader.at] ?? 0;
    reader.at += 1;
    this.#shared = both >>> 4;
    this.#rest = both & nibbleMax;
    if (this.#shared === nibbleMax) this.#shared += reader.next();
    if (this.#rest === nibbleMax) this.#rest += reader.next();
  }

  /** Decodes the next name into `#name`; returns its length in bytes. */
  #read(reader: VarintReader): number {
    this.#lengths(reader);
    const shared = this.#shared;
    const rest = this.#rest;
    const length = shared + rest;
    if (length > this.#name.length) {
      const wider = Buffer.allocUnsafeSlow(length * 2);
      this.#name.copy(wider, 0, 0, shared);
      this.#name = wider;
    }
    // A loop, because most rests are too short for a call of `copy` to pay.
    for (let at = 0; at < rest; at += 1) this.#name[shared + at] = this.#bytes[reader.at + at] ?? 0;
    reader.at += rest;
    return length;
  }
}

/** Negative, zero or positive, as the bytes `[from, from + length)` are below, equal to or above `wanted`. */
function orderOf(bytes: Buffer, from: number, length: number, wanted: Buffer): number {
  const shorter = Math.min(length, wanted.length);
  for (let at = 0; at < shorter; at += 1) {
    const difference = (bytes[from + at] ?? 0) - (wanted[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return length - wanted.length;
}

/** In order of their UTF-8 bytes: JavaScript's own order, except for characters outside the basic plane. */
export function sortByBytes(strings: string[]): string[] {
  if (strings.every((text) => !/[\ud800-\uffff]/.test(text))) return strings.sort();
  return strings.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
