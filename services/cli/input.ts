import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { BusError } from '../../src/errors/bus-error.js';
import { usage } from './output.js';

/** What sets colours in a terminal: left in, it becomes part of the word behind it. */
// oxlint-disable-next-line no-control-regex
const colours = /(?:\u001b\[|\u009b)[0-9;?]{0,40}[A-Za-z]/g;

/** Why a file cannot be read, by the code of the system. */
const unreadable: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `there is no file ${file}`,
  EISDIR: (file) => `${file} is a folder, and a file is wanted`,
  EACCES: (file) => `${file} may not be read by this user`,
};

/** Of a file, or of standard input for `-`. Throws USAGE for one that cannot be read. */
export async function* bytesOf(file: string): AsyncGenerator<Buffer> {
  const stream: Readable = file === '-' ? process.stdin : createReadStream(file);
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw usage(unreadable[code ?? '']?.(file) ?? `${file} cannot be read (${code ?? 'unknown'})`);
  }
}

/** All of it. Throws USAGE, and TOO_LARGE for more than `bytesMax`; `what` it is. */
export async function wholeOf(file: string, bytesMax: number, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of bytesOf(file)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesMax) throw new BusError('TOO_LARGE', { what, bytes, limit: bytesMax });
  }
  return Buffer.concat(chunks);
}

/** Throws USAGE for bytes that are not UTF-8. */
export function textIn(bytes: Uint8Array, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw usage(`${name} is not UTF-8 text`);
  }
}

export function isFileAt(path: string): Promise<boolean> {
  return stat(path).then(
    (its) => its.isFile(),
    () => false,
  );
}

/** Its beginning as far as `bytesMax` bytes go, without colours. Throws USAGE. */
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
  const text = all.subarray(0, bytesMax).toString('utf8').replace(colours, '');
  return { text, isCut: all.length > bytesMax };
}

/** One by one, without the mark of the encoding that some editors write; undefined: longer than a line may be. */
export async function* linesIn(
  stream: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<string | undefined> {
  let rest: Buffer[] = [];
  let bytes = 0;
  const taken = (): string | undefined => {
    const whole = bytes > lineBytesMax ? undefined : Buffer.concat(rest).toString('utf8');
    rest = [];
    bytes = 0;
    return whole?.replace(/^\ufeff/, '');
  };
  const add = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes <= lineBytesMax) rest.push(piece);
    else rest = [];
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      add(chunk.subarray(from, at));
      from = at + 1;
      yield taken();
    }
    add(chunk.subarray(from));
  }
  if (bytes > 0) yield taken();
}
