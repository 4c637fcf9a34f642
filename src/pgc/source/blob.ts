import { createHash } from 'node:crypto';

/** The id that git gives these bytes: SHA-1 of `blob <size> NUL <bytes>`, 40 hex digits. */
export function blobId(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');
}

const newline = 0x0a;

/** Lines as an editor counts them: text after the last newline is a line. `longest`: in bytes. */
export function measureLines(bytes: Uint8Array): { lines: number; longest: number } {
  let lines = 0;
  let longest = 0;
  let start = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    if (bytes[at] !== newline) continue;
    lines += 1;
    if (at - start > longest) longest = at - start;
    start = at + 1;
  }
  if (start < bytes.length) {
    lines += 1;
    longest = Math.max(longest, bytes.length - start);
  }
  return { lines, longest };
}
