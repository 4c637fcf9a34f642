import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { usage } from './output.js';

/** Of a file, or of standard input for `-`. Throws USAGE for one that cannot be read. */
export async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const stream: Readable = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usage(`${file} cannot be read${code === undefined ? '' : ` (${code})`}`);
  }
}

/** Its beginning, as far as `bytesMax` bytes go. Throws USAGE. */
export async function beginningOf(
  file: string,
  bytesMax: number,
): Promise<{ text: string; isCut: boolean }> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bytesOf(file)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) break;
  }
  const all = Buffer.concat(chunks);
  return { text: all.subarray(0, bytesMax).toString('utf8'), isCut: all.length > bytesMax };
}
