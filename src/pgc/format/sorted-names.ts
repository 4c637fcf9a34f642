import { ByteColumn, VarintReader } from './bytes.js';

/** Names of one block; only the first of each is written whole. */
const blockNames = 16;
/** Lengths from here on take bytes of their own. */
const nibbleMax = 15;

/**
 * Names in the order of `sortByBytes`, each as what it does not share with the one before it (front coding; I. Witten, A. Moffat,
 * T. Bell, "Managing Gigabytes", 1999, 4.1). Names of programs become less than half their size, lists of
 * registers a fifth. `blocks`: where each block begins, and last the number of names. A name: one byte, how much
 * it shares and how much follows, four bits each (15: a varint of what is above), and what follows.
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

/** Reads `packSorted`: a name by its position, positions by a name; both read one block. */
export class SortedNames {
  readonly size: number;
  readonly #blocks: Uint32Array;
  readonly #bytes: Buffer;
  /** The name that was read last; what the next one shares stays where it is. */
  #name = Buffer.allocUnsafeSlow(256);
  /** Of the name whose lengths were read last: how much it shares, how much follows. */
  #shared = 0;
  #rest = 0;

  constructor(blocks: Uint32Array, bytes: Buffer) {
    this.#blocks = blocks.subarray(0, -1);
    this.#bytes = bytes;
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

  /** Position of the first that equals this name. */
  position(name: string): number | undefined {
    const wanted = Buffer.from(name, 'utf8');
    for (let block = this.#blockBefore(wanted); block < this.#blocks.length; block += 1) {
      const reader = this.#reader(block);
      for (let at = block * blockNames; !reader.isAtEnd; at += 1) {
        // First: a longer name than ever takes another buffer.
        const length = this.#read(reader);
        const order = orderOf(this.#name, 0, length, wanted);
        if (order === 0) return at;
        if (order > 0) return undefined;
      }
    }
    return undefined;
  }

  /** Positions of all that equal this name, ascending. */
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
      // Whoever asks may read other names between two of these: each block is read at once.
      const names: string[] = [];
      while (!reader.isAtEnd) {
        const length = this.#read(reader);
        names.push(this.#name.toString('utf8', 0, length));
      }
      yield* names;
    }
  }

  /** The last block that begins before the name: equal ones may go on in the next. */
  #blockBefore(wanted: Buffer): number {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      const reader = this.#reader(middle);
      this.#lengths(reader);
      if (orderOf(this.#bytes, reader.at, this.#rest, wanted) < 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #reader(block: number): VarintReader {
    const end = this.#blocks[block + 1] ?? this.#bytes.length;
    return new VarintReader(this.#bytes, this.#blocks[block] ?? end, end);
  }

  #lengths(reader: VarintReader): void {
    const both = this.#bytes[reader.at] ?? 0;
    reader.at += 1;
    this.#shared = both >>> 4;
    this.#rest = both & nibbleMax;
    if (this.#shared === nibbleMax) this.#shared += reader.next();
    if (this.#rest === nibbleMax) this.#rest += reader.next();
  }

  /** The next name, into `#name`; returns its length in bytes. */
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
    // A loop: most rests are so short that a call of `copy` would cost more.
    for (let at = 0; at < rest; at += 1) this.#name[shared + at] = this.#bytes[reader.at + at] ?? 0;
    reader.at += rest;
    return length;
  }
}

/** Below, at or above zero, as the bytes `[from, from + length)` come before, equal or come after `wanted`. */
function orderOf(bytes: Buffer, from: number, length: number, wanted: Buffer): number {
  const shorter = Math.min(length, wanted.length);
  for (let at = 0; at < shorter; at += 1) {
    const difference = (bytes[from + at] ?? 0) - (wanted[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return length - wanted.length;
}

/** In the order of their UTF-8 bytes: JavaScript's own, but where a string leaves the basic plane. */
export function sortByBytes(strings: string[]): string[] {
  if (strings.every((text) => !/[\ud800-\uffff]/.test(text))) return strings.sort();
  return strings.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
