import crc32Package from 'crc-32';
import { crc32 as native } from 'node:zlib';

/** The owner's package, everywhere. Signed results are folded to unsigned. */
export function portableCrc32(bytes: Uint8Array, seed = 0): number {
  return crc32Package.buf(bytes, seed) >>> 0;
}

/** Below this the way into native code costs more than it saves: heads and envelopes, hundreds a batch. */
const nativeBytesMin = 512;

/** CRC-32 (ISO-HDLC, polynomial 0xEDB88320), unsigned. `seed`: the CRC of the bytes before. */
export function crc32(bytes: Uint8Array, seed = 0): number {
  return bytes.length < nativeBytesMin ? portableCrc32(bytes, seed) : native(bytes, seed);
}

/** Four tables of the package's kind: what a byte does to the sum when up to three others follow it. */
const tables = [(crc32Package as unknown as { table: Int32Array }).table];
for (let behind = 1; behind < 4; behind += 1) {
  const [first, last] = [tables[0] as Int32Array, tables[behind - 1] as Int32Array];
  tables.push(last.map((crc) => (crc >>> 8) ^ (first[crc & 0xff] as number)));
}
const [t0, t1, t2, t3] = tables as [Int32Array, Int32Array, Int32Array, Int32Array];

/**
 * The same of a few bytes among others, without a view of them: that would cost more than the sum. Four bytes at a
 * time, after M. Kounavis and F. Berry, "A Systematic Approach to Building High Performance Software-Based CRC Generators", 2005.
 */
export function crc32Within(bytes: Uint8Array, start: number, end: number): number {
  let crc = -1;
  let at = start;
  for (; at + 4 <= end; at += 4) {
    crc ^=
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24);
    crc =
      (t3[crc & 0xff] as number) ^
      (t2[(crc >>> 8) & 0xff] as number) ^
      (t1[(crc >>> 16) & 0xff] as number) ^
      (t0[crc >>> 24] as number);
  }
  for (; at < end; at += 1)
    crc = (t0[(crc ^ (bytes[at] as number)) & 0xff] as number) ^ (crc >>> 8);
  return ~crc >>> 0;
}
