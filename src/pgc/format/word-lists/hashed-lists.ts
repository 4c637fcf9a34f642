import { ByteColumn, groupBy, VarintReader } from '../bytes.js';
import type { Section } from '../container/section.js';

/** Average number of lists in a bucket. */
const bucketLists = 8;
export const fingerprintBytes = 4;

/** A 64-bit hash: the first half selects the bucket, the second tells its keys apart. */
export interface KeyHash {
  bucket: number;
  fingerprint: number;
}

/** `cyrb53` (bryc, public domain), with all 64 bits of its state. */
export function hashOf(key: string): KeyHash {
  let one = 0xdeadbeef;
  let two = 0x41c6ce57;
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at);
    one = Math.imul(one ^ code, 2_654_435_761);
    two = Math.imul(two ^ code, 1_597_334_677);
  }
  const first = Math.imul(one ^ (one >>> 16), 2_246_822_507);
  const second = Math.imul(two ^ (two >>> 16), 2_246_822_507);
  return {
    bucket: (second ^ Math.imul(one ^ (one >>> 13), 3_266_489_909)) >>> 0,
    fingerprint: (first ^ Math.imul(two ^ (two >>> 13), 3_266_489_909)) >>> 0,
  };
}

/**
 * Lists of bytes by key. The keys themselves are not stored, only fingerprints, which take half the space. A lookup
 * reads one bucket; this matters when a long report asks a hundred shards for a thousand words. Two keys collide with
 * a chance of 2⁻³² for each list in a bucket: in about one of ten thousand reports a word is found in a file that does
 * not contain it.
 *
 * `buckets`: the start of each bucket, then the end; the number of buckets is a power of two. An entry: fingerprint (4
 * bytes), length (varint), bytes. `bucketCount`: that of the lists that these are joined with.
 */
export function packHashed(
  keys: readonly string[],
  write: (key: number, list: ByteColumn) => void,
  bucketCount = 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(keys.length, 1) / bucketLists))),
): { buckets: Uint32Array; lists: Buffer } {
  const hashes = keys.map(hashOf);
  const { starts, members } = groupBy(
    Uint32Array.from(hashes, ({ bucket }) => bucket & (bucketCount - 1)),
    bucketCount,
  );
  const buckets = new Uint32Array(bucketCount + 1);
  const lists = new ByteColumn(keys.length * 8);
  const list = new ByteColumn(1_024);
  for (let bucket = 0; bucket < bucketCount; bucket += 1) {
    buckets[bucket] = lists.length;
    for (const key of members.subarray(starts[bucket], starts[bucket + 1])) {
      list.length = 0;
      write(key, list);
      pushFixed(lists, hashes[key]?.fingerprint ?? 0);
      lists.pushVarint(list.length);
      lists.append(list.values());
    }
  }
  buckets[bucketCount] = lists.length;
  return { buckets, lists: lists.values() };
}

export function pushFixed(bytes: ByteColumn, value: number): void {
  for (let shift = 0; shift < 8 * fingerprintBytes; shift += 8)
    bytes.push((value >>> shift) & 0xff);
}

/** Reads `packHashed`. */
export class HashedLists {
  readonly #buckets: Uint32Array;
  readonly #lists: Section;

  constructor(buckets: Uint32Array, lists: Section) {
    this.#buckets = buckets;
    this.#lists = lists;
  }

  get bucketCount(): number {
    return this.#buckets.length - 1;
  }

  get bytes(): number {
    return this.#lists.length;
  }

  inBucket(bucket: number): { fingerprint: number; reader: VarintReader }[] {
    const reader = this.#reader(bucket);
    const found: { fingerprint: number; reader: VarintReader }[] = [];
    while (!reader.isAtEnd) {
      const fingerprint = this.#lists.bytes.readUInt32LE(reader.at);
      reader.at += fingerprintBytes;
      const length = reader.next();
      found.push({
        fingerprint,
        reader: new VarintReader(reader.bytes, reader.at, reader.at + length),
      });
      reader.at += length;
    }
    return found;
  }

  /** Undefined for an unknown key. */
  find({ bucket, fingerprint }: KeyHash): VarintReader | undefined {
    const reader = this.#reader(bucket & (this.#buckets.length - 2));
    while (!reader.isAtEnd) {
      const found = this.#lists.bytes.readUInt32LE(reader.at);
      reader.at += fingerprintBytes;
      const length = reader.next();
      if (found === fingerprint)
        return new VarintReader(reader.bytes, reader.at, reader.at + length);
      reader.at += length;
    }
    return undefined;
  }

  #reader(bucket: number): VarintReader {
    const end = this.#buckets[bucket + 1] ?? 0;
    const start = this.#buckets[bucket] ?? end;
    this.#lists.need(start, end);
    return new VarintReader(this.#lists.bytes, start, end);
  }
}
