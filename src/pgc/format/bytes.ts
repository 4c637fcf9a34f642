/**
 * Growing columns of numbers, bytes and strings. Typed arrays, because an object per value does not scale to a kernel.
 */

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

const shortText = 32;

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

  /** As UTF-8. */
  appendText(text: string): void {
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(text.length * 3);
    this.length += this.#writeText(text, this.length);
  }

  /** As UTF-8 after its length in bytes (a varint). */
  pushText(text: string): void {
    const { length } = text;
    const start = this.length;
    // Reserve the width for the largest possible length; a varint may have leading zero groups.
    const width = length * 3 < 0x80 ? 1 : length * 3 < 0x4000 ? 2 : 5;
    this.#reserve(width + length * 3);
    const bytes = this.#writeText(text, start + width);
    for (let at = 0; at < width; at += 1)
      this.#bytes[start + at] = ((bytes >>> (7 * at)) & 0x7f) | (at + 1 < width ? 0x80 : 0);
    this.length = start + width + bytes;
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

  /** Returns the number of bytes written. */
  #writeText(text: string, start: number): number {
    // Most texts are short and ASCII: a loop is faster than a native call.
    if (text.length > shortText) return this.#bytes.write(text, start);
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (code > 0x7f) return this.#bytes.write(text, start);
      this.#bytes[start + at] = code;
    }
    return text.length;
  }

  #reserve(more: number): void {
    const needed = this.length + more;
    if (needed <= this.#bytes.length) return;
    const wider = Buffer.allocUnsafeSlow(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(wider, 0, 0, this.length);
    this.#bytes = wider;
  }
}

/** Reads `pushVarint`. Reused for many numbers, so that reading does not allocate. */
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

/** Distinct strings, numbered in order of arrival. */
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

/** The first of `count` positions for which `isBelow` is false; it is true for all positions before. */
export function lowerBound(count: number, isBelow: (position: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The range of positions with this key; keys ascend. */
export function boundsOf(
  key: number,
  count: number,
  keyAt: (position: number) => number,
): [first: number, end: number] {
  const first = lowerBound(count, (at) => keyAt(at) < key);
  return [first, lowerBound(count, (at) => keyAt(at) <= key)];
}

/** The numbers from `first` up to, not including, `end`. */
export function between([first, end]: readonly [first: number, end: number]): number[] {
  return Array.from({ length: Math.max(end - first, 0) }, (_, at) => first + at);
}

/** Members by group: those of group `g` are `members[starts[g]] … members[starts[g + 1] - 1]`. */
export interface Grouped {
  starts: Uint32Array;
  members: Uint32Array;
}

/** Sorts the members within each group. */
export function sortGroups(
  { starts, members }: Grouped,
  compare: (a: number, b: number) => number,
): void {
  for (let group = 0; group + 1 < starts.length; group += 1) {
    const own = members.subarray(starts[group], starts[group + 1]);
    if (own.length > 1) own.sort(compare);
  }
}

/** Counting sort; members keep their order within a group. */
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

/** View of a section. Little endian, as on every machine that Node supports. */
export function numbersOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}

export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The bytes behind a view. */
export function bytesOf(numbers: Uint32Array | Uint16Array | Float64Array): Uint8Array {
  return new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
}
