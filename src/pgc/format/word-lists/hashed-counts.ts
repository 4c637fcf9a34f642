import { ByteColumn, VarintReader } from '../bytes.js';
import { fingerprintBytes, pushFixed, type KeyHash } from './hashed-lists.js';

/** The files that contain a key, and those of them that define it. */
export interface FileCounts {
  files: number;
  definitions: number;
}

const none: FileCounts = { files: 0, definitions: 0 };

export interface PackedCounts {
  buckets: Uint32Array;
  counts: Buffer;
  /** Number of keys beyond the limit. */
  leftOut: number;
}

/** Keys by the buckets of their lists. */
export interface CountedLists {
  bucketCount: number;
  /** Of the lists: each key takes more than its fingerprint. */
  bytes: number;
  inBucket(bucket: number): Iterable<FileCounts & { fingerprint: number }>;
}

/**
 * Counts of files under the same hashes as the lists, so counts and lists agree for every key, even if two keys
 * collide. `buckets`: the start of each bucket, then the end. An entry: fingerprint (4 bytes), a varint files << 1 |
 * some define it, and in that case a varint of how many do. At most `keysMax` keys are kept; those in the fewest files
 * are left out first.
 */
export function packCounts(lists: CountedLists, keysMax: number): PackedCounts {
  const filesMin = rarestKept(lists, keysMax);
  const buckets = new Uint32Array(lists.bucketCount + 1);
  const counts = new ByteColumn(16 * lists.bucketCount);
  let leftOut = 0;
  for (let bucket = 0; bucket < lists.bucketCount; bucket += 1) {
    buckets[bucket] = counts.length;
    for (const { fingerprint, files, definitions } of lists.inBucket(bucket)) {
      if (files < filesMin) {
        leftOut += 1;
        continue;
      }
      pushFixed(counts, fingerprint);
      counts.pushVarint(files * 2 + (definitions > 0 ? 1 : 0));
      if (definitions > 0) counts.pushVarint(definitions);
    }
  }
  buckets[lists.bucketCount] = counts.length;
  return { buckets, counts: counts.values(), leftOut };
}

/** The least number of files a key must be in, so that at most `keysMax` keys are kept. */
function rarestKept(lists: CountedLists, keysMax: number): number {
  if (lists.bytes <= keysMax * fingerprintBytes) return 0;
  const having: number[] = [];
  let keys = 0;
  for (let bucket = 0; bucket < lists.bucketCount; bucket += 1)
    for (const { files } of lists.inBucket(bucket)) {
      having[files] = (having[files] ?? 0) + 1;
      keys += 1;
    }
  let filesMin = 0;
  for (; keys > keysMax; filesMin += 1) keys -= having[filesMin] ?? 0;
  return filesMin;
}

/** Reads `packCounts`. */
export class HashedCounts {
  readonly #buckets: Uint32Array;
  readonly #counts: Buffer;

  /** Throws RangeError for inconsistent sections, which may come from another process. */
  constructor(buckets: Uint32Array, counts: Buffer) {
    const size = buckets.length - 1;
    const isPower = size > 0 && (size & (size - 1)) === 0;
    const isAscending = buckets.every((at, bucket) => at >= (buckets[bucket - 1] ?? 0));
    if (!isPower || !isAscending || buckets[size] !== counts.length)
      throw new RangeError('the buckets do not fit the counts');
    this.#buckets = buckets;
    this.#counts = counts;
  }

  find({ bucket, fingerprint }: KeyHash): FileCounts {
    const at = bucket & (this.#buckets.length - 2);
    const end = this.#buckets[at + 1] ?? 0;
    const reader = new VarintReader(this.#counts, this.#buckets[at] ?? end, end);
    while (reader.at + fingerprintBytes < end) {
      const found = this.#counts.readUInt32LE(reader.at);
      reader.at += fingerprintBytes;
      const files = reader.next();
      const definitions = (files & 1) === 1 ? reader.next() : 0;
      if (found === fingerprint) return { files: files >>> 1, definitions };
    }
    return none;
  }
}
