import { lowerBound } from '../../format/bytes.js';

/** A name that is looked for, as text and as UTF-8. */
export class Wanted {
  readonly bytes: Buffer;

  constructor(readonly text: string) {
    this.bytes = Buffer.from(text, 'utf8');
  }
}

/** Many names, to be found in one pass over a list. */
export class WantedNames implements Iterable<Wanted> {
  readonly #byText = new Map<string, Wanted>();
  readonly #byHash = new Map<number, Wanted[]>();

  constructor(names: Iterable<string>) {
    for (const name of names) {
      if (this.#byText.has(name)) continue;
      const wanted = new Wanted(name);
      this.#byText.set(name, wanted);
      const hash = hashOf(wanted.bytes, 0, wanted.bytes.length);
      const same = this.#byHash.get(hash);
      if (same === undefined) this.#byHash.set(hash, [wanted]);
      else same.push(wanted);
    }
  }

  get size(): number {
    return this.#byText.size;
  }

  named(text: string): Wanted | undefined {
    return this.#byText.get(text);
  }

  /** By the bytes of a name, of which most are not wanted. */
  spelled(bytes: Uint8Array, from: number, length: number): Wanted | undefined {
    return this.#byHash
      .get(hashOf(bytes, from, length))
      ?.find((each) => orderOf(bytes, from, length, each.bytes, 0, each.bytes.length) === 0);
  }

  [Symbol.iterator](): Iterator<Wanted> {
    return this.#byText.values();
  }
}

/** FNV-1a: G. Fowler, L. C. Noll, K.-P. Vo, 1991. */
function hashOf(bytes: Uint8Array, from: number, length: number): number {
  let hash = 0x811c9dc5;
  for (let at = from; at < from + length; at += 1)
    hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  return hash | 0;
}

/** Names to be looked up, each with a number of its own; 0 where there is none. */
export interface NameList {
  readonly size: number;
  has(name: Wanted): boolean;
  /** Of the name; 0 when it is not among them. */
  numberOf(name: Wanted): number;
  /** Those of the wanted names that are here, in one pass. */
  among(wanted: WantedNames): Iterable<Wanted>;
}

/** Sorted names in a message of protobuf: none becomes a string before it is read. */
export class PackedNames implements NameList {
  readonly #bytes: Uint8Array;
  /** Of the length of each name, in the order of their bytes. */
  readonly #starts: Uint32Array;
  readonly #numbers: Uint32Array | undefined;

  /** `starts`: where the length of each name begins, a varint, and after it the name. `numbers`: of each, if they have any. */
  constructor(bytes: Uint8Array, starts: readonly number[], numbers?: readonly number[]) {
    this.#bytes = bytes;
    const order = isAscending(bytes, starts) ? undefined : ascending(bytes, starts);
    const inOrder = (list: readonly number[]): Uint32Array =>
      Uint32Array.from(order?.map((at) => list[at] ?? 0) ?? list);
    this.#starts = inOrder(starts);
    this.#numbers = numbers && inOrder(numbers);
  }

  get size(): number {
    return this.#starts.length;
  }

  has(name: Wanted): boolean {
    return this.#positionOf(name) >= 0;
  }

  numberOf(name: Wanted): number {
    const at = this.#positionOf(name);
    return at < 0 ? 0 : (this.#numbers?.[at] ?? 0);
  }

  *among(wanted: WantedNames): Generator<Wanted> {
    const bytes = this.#bytes;
    for (const start of this.#starts) {
      const found = wanted.spelled(bytes, textOf(bytes, start), lengthOf(bytes, start));
      if (found !== undefined) yield found;
    }
  }

  /** Of the first that equals it; -1: there is none. */
  #positionOf({ bytes: wanted }: Wanted): number {
    const bytes = this.#bytes;
    const compared = (start: number): number => order(bytes, start, wanted, 0, wanted.length);
    const at = lowerBound(this.size, (position) => compared(this.#starts[position] ?? 0) < 0);
    const start = this.#starts[at];
    return start !== undefined && compared(start) === 0 ? at : -1;
  }
}

/** Names of other senders may not be sorted. */
function isAscending(bytes: Uint8Array, starts: readonly number[]): boolean {
  for (let at = 1; at < starts.length; at += 1)
    if (compare(bytes, starts[at - 1] ?? 0, starts[at] ?? 0) > 0) return false;
  return true;
}

/** Positions in the order of the names; equal ones stay in theirs. */
function ascending(bytes: Uint8Array, starts: readonly number[]): number[] {
  return starts
    .map((_, at) => at)
    .sort((a, b) => compare(bytes, starts[a] ?? 0, starts[b] ?? 0) || a - b);
}

function compare(bytes: Uint8Array, one: number, other: number): number {
  return order(bytes, one, bytes, textOf(bytes, other), lengthOf(bytes, other));
}

/** Of the name at `start`, and those `length` bytes. */
function order(
  bytes: Uint8Array,
  start: number,
  other: Uint8Array,
  from: number,
  length: number,
): number {
  return orderOf(bytes, textOf(bytes, start), lengthOf(bytes, start), other, from, length);
}

/** Below, at or above zero, as the one comes before, equals or comes after the other. */
function orderOf(
  one: Uint8Array,
  oneFrom: number,
  oneLength: number,
  other: Uint8Array,
  otherFrom: number,
  otherLength: number,
): number {
  const shorter = Math.min(oneLength, otherLength);
  for (let at = 0; at < shorter; at += 1) {
    const difference = (one[oneFrom + at] ?? 0) - (other[otherFrom + at] ?? 0);
    if (difference !== 0) return difference;
  }
  return oneLength - otherLength;
}

function lengthOf(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let at = start, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

function textOf(bytes: Uint8Array, start: number): number {
  let at = start;
  while ((bytes[at] ?? 0) >= 0x80) at += 1;
  return at + 1;
}
