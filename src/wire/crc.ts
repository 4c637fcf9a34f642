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
