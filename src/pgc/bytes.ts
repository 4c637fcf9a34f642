/** Growing columns for building a segment: packed, because object graphs do not scale to a kernel. */

export class NumberColumn {
  #values = new Uint32Array(256);
  length = 0;

  push(value: number): void {
    if (this.length === this.#values.length) {
      const wider = new Uint32Array(this.length * 2);
      wider.set(this.#values);
      this.#values = wider;
    }
    this.#values[this.length] = value;
    this.length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  /** A view, not a copy. */
  values(): Uint32Array {
    return this.#values.subarray(0, this.length);
  }
}

export class ByteColumn {
  #bytes: Buffer;
  length = 0;

  constructor(capacity = 16) {
    this.#bytes = Buffer.allocUnsafeSlow(capacity);
  }

  push(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.length] = byte;
    this.length += 1;
  }

  append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  /** LEB128: seven bits a byte, low bits first. Below 2^32. */
  pushVarint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.push((rest & 0x7f) | 0x80);
      rest >>>= 7;
    }
    this.push(rest);
  }

  /** A view, not a copy. */
  values(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(wider, 0, 0, this.length);
    this.#bytes = wider;
  }
}

/** Reads what `pushVarint` wrote. A class, so that a reader of many numbers allocates once. */
export class VarintReader {
  constructor(
    readonly bytes: Uint8Array,
    public at: number,
    readonly end: number,
  ) {}

  get isAtEnd(): boolean {
    return this.at >= this.end;
  }

  next(): number {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.bytes[this.at] ?? 0;
      this.at += 1;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    return value >>> 0;
  }
}

/** Distinct strings, numbered in the order they came. */
export class StringColumn {
  readonly #ids = new Map<string, number>();

  id(text: string): number {
    let id = this.#ids.get(text);
    if (id === undefined) {
      id = this.#ids.size;
      this.#ids.set(text, id);
    }
    return id;
  }

  get size(): number {
    return this.#ids.size;
  }

  all(): string[] {
    return [...this.#ids.keys()];
  }
}

/** Strings as offsets and UTF-8 bytes. */
export function packStrings(strings: readonly string[]): { offsets: Uint32Array; bytes: Buffer } {
  const offsets = new Uint32Array(strings.length + 1);
  const bytes = new ByteColumn(4_096);
  strings.forEach((text, index) => {
    bytes.append(Buffer.from(text, 'utf8'));
    offsets[index + 1] = bytes.length;
  });
  return { offsets, bytes: bytes.values() };
}

/** Reads `packStrings`, each string when it is asked for. */
export class StringTable {
  readonly #bytes: Buffer;
  readonly #offsets: Uint32Array;

  constructor(offsets: Uint32Array, bytes: Buffer) {
    this.#offsets = offsets;
    this.#bytes = bytes;
  }

  get size(): number {
    return this.#offsets.length - 1;
  }

  at(id: number): string {
    return this.#bytes.toString('utf8', this.#offsets[id] ?? 0, this.#offsets[id + 1] ?? 0);
  }

  isEmpty(id: number): boolean {
    return this.#offsets[id] === this.#offsets[id + 1];
  }
}

/** Names of one block; only the first of each is written whole. */
const blockNames = 16;

/**
 * Names in the order of `sortByBytes`, each as what it does not share with the one before it (front coding; I. Witten, A. Moffat,
 * T. Bell, "Managing Gigabytes", 1999, 4.1). Names of programs become less than half their size, lists of
 * registers a fifth. `blocks`: where each block begins, and last the number of names.
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
    bytes.pushVarint(shared);
    bytes.pushVarint(encoded.length - shared);
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
        const order = orderOf(this.#name, 0, this.#read(reader), wanted);
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
      reader.next();
      const length = reader.next();
      if (orderOf(this.#bytes, reader.at, length, wanted) < 0) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #reader(block: number): VarintReader {
    const end = this.#blocks[block + 1] ?? this.#bytes.length;
    return new VarintReader(this.#bytes, this.#blocks[block] ?? end, end);
  }

  /** The next name, into `#name`; returns its length in bytes. */
  #read(reader: VarintReader): number {
    const shared = reader.next();
    const rest = reader.next();
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

/** The first of so many positions whose key is not below this one; keys ascend. */
export function lowerBound(
  count: number,
  keyAt: (position: number) => number,
  key: number,
): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keyAt(middle) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Compressed rows: the members of group `g` are `members[starts[g]] … members[starts[g + 1] - 1]`. */
export interface Grouped {
  starts: Uint32Array;
  members: Uint32Array;
}

/** Members keep their order within a group (counting sort). */
export function groupBy(groups: Uint32Array, groupCount: number): Grouped {
  const starts = new Uint32Array(groupCount + 1);
  for (const group of groups) starts[group + 1] = (starts[group + 1] ?? 0) + 1;
  for (let g = 0; g < groupCount; g += 1) starts[g + 1] = (starts[g + 1] ?? 0) + (starts[g] ?? 0);
  const next = starts.slice(0, groupCount);
  const members = new Uint32Array(groups.length);
  groups.forEach((group, member) => {
    const at = next[group] ?? 0;
    members[at] = member;
    next[group] = at + 1;
  });
  return { starts, members };
}

/** Views of a section. Little endian, like every machine that Node runs on today. */
export function numbersOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

export function shortsOf(bytes: Uint8Array): Uint16Array {
  return new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2);
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** What a view shows, to be written. */
export function bytesOf(numbers: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
