import crc32Package from 'crc-32';
import * as zlib from 'node:zlib';

type Crc32 = (bytes: Uint8Array, seed?: number) => number;

/** The owner's package, everywhere. Signed results are folded to unsigned. */
export const portableCrc32: Crc32 = (bytes, seed = 0) => crc32Package.buf(bytes, seed) >>> 0;

// Node 20.15 and later have the same polynomial in native code, some three times faster per byte.
const native = (zlib as { crc32?: Crc32 }).crc32;

/** Below this the way into native code costs more than it saves: heads and envelopes, hundreds a batch. */
const nativeBytesMin = 512;

/** CRC-32 (ISO-HDLC, polynomial 0xEDB88320), unsigned. `seed`: the CRC of the bytes before. */
export const crc32: Crc32 =
  native === undefined
    ? portableCrc32
    : (bytes, seed = 0) =>
        bytes.length < nativeBytesMin ? portableCrc32(bytes, seed) : native(bytes, seed);
