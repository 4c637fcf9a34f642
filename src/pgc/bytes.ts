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

  /** Position in a table that was sorted by JavaScript's order of strings. */
  find(text: string): number | undefined {
    let low = 0;
    let high = this.size - 1;
    while (low <= high) {
      const middle = (low + high) >>> 1;
      const found = this.at(middle);
      if (found === text) return middle;
      if (found < text) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }
}

/** Names of one block; only the first of each is written whole. */
const blockNames = 32;

/**
 * Sorted names, each as what it does not share with the one before it (front coding; I. Witten, A. Moffat,
 * T. Bell, "Managing Gigabytes", 1999, 4.1). Lists of registers become a fifth of their size.
 */
export function packSorted(names: readonly string[]): { blocks: Uint32Array; bytes: Buffer } {
  const blocks = new Uint32Array(Math.ceil(names.length / blockNames));
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

/** Reads `packSorted`. */
export class SortedNames {
  readonly #blocks: Uint32Array;
  readonly #bytes: Buffer;

  constructor(blocks: Uint32Array, bytes: Buffer) {
    this.#blocks = blocks;
    this.#bytes = bytes;
  }

  /** Positions of all that equal this name, ascending. */
  find(name: string): number[] {
    let low = 0;
    let high = this.#blocks.length - 1;
    // The last block that begins before the name; equal ones may go on in the next.
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#first(middle) ?? '') < name) low = middle;
      else high = middle - 1;
    }
    const found: number[] = [];
    for (let block = low; block < this.#blocks.length; block += 1) {
      for (const [at, each] of this.#namesOf(block)) {
        if (each > name) return found;
        if (each === name) found.push(at);
      }
    }
    return found;
  }

  *all(): Generator<string> {
    for (let block = 0; block < this.#blocks.length; block += 1)
      for (const [, name] of this.#namesOf(block)) yield name;
  }

  #first(block: number): string | undefined {
    for (const [, name] of this.#namesOf(block)) return name;
    return undefined;
  }

  *#namesOf(block: number): Generator<[at: number, name: string]> {
    const end = this.#blocks[block + 1] ?? this.#bytes.length;
    const reader = new VarintReader(this.#bytes, this.#blocks[block] ?? 0, end);
    let before = Buffer.alloc(0);
    for (let at = block * blockNames; !reader.isAtEnd; at += 1) {
      const shared = reader.next();
      const length = reader.next();
      const rest = this.#bytes.subarray(reader.at, reader.at + length);
      reader.at += length;
      before = Buffer.concat([before.subarray(0, shared), rest]);
      yield [at, before.toString('utf8')];
    }
  }
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
