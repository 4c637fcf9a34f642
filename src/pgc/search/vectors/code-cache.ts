import { createHash } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { BusError } from '../../../errors/bus-error.js';
import { crc32 } from '../../../wire/crc.js';
import { writeAtomically } from '../../format/segment-file.js';
import { codeBytes } from './sign-codes.js';

const magic = 'SIGMACOD';
/** Magic, dimensions (u32), bytes of a code (u32). */
const headBytes = 16;
const digestBytes = 16;
const crcBytes = 4;

/**
 * Codes that an endpoint has made, by the digest of their texts. They cost money or time, so none is asked for twice,
 * not even after a run that was killed. The file grows by whole batches; a broken row and all rows behind it are
 * dropped.
 *
 *     head · rows of (digest of the text 16 · code · CRC-32 of both 4)
 */
export class CodeCache {
  readonly #path: string;
  readonly #codes: Map<string, Uint8Array>;
  readonly #used = new Set<string>();
  /** Of the vectors; 0: nothing is kept yet. */
  dims: number;

  private constructor(path: string, dims: number, codes: Map<string, Uint8Array>) {
    this.#path = path;
    this.dims = dims;
    this.#codes = codes;
  }

  /** An empty one when there is none that can be read. */
  static async open(path: string): Promise<CodeCache> {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0));
    const codes = new Map<string, Uint8Array>();
    const isOurs = bytes.length >= headBytes && bytes.toString('latin1', 0, magic.length) === magic;
    const dims = isOurs ? bytes.readUInt32LE(8) : 0;
    const width = codeBytes(dims);
    if (dims === 0 || bytes.readUInt32LE(12) !== width) return new CodeCache(path, 0, codes);
    const step = digestBytes + width + crcBytes;
    let end = headBytes;
    for (; end + step <= bytes.length; end += step) {
      const row = bytes.subarray(end, end + step - crcBytes);
      if (crc32(row) !== bytes.readUInt32LE(end + step - crcBytes)) break;
      codes.set(row.toString('latin1', 0, digestBytes), row.subarray(digestBytes));
    }
    const cache = new CodeCache(path, dims, codes);
    // Rows that are appended behind a broken one would never be read.
    if (end !== bytes.length) await cache.#write([...codes.keys()]);
    return cache;
  }

  get size(): number {
    return this.#codes.size;
  }

  get(text: string): Uint8Array | undefined {
    const key = keyOf(text);
    const code = this.#codes.get(key);
    if (code !== undefined) this.#used.add(key);
    return code;
  }

  /** Adds codes of one embedder, all of `dims`. Drops those of other dimensions. Throws STORE_UNAVAILABLE. */
  async add(entries: readonly { text: string; code: Uint8Array }[], dims: number): Promise<void> {
    if (entries.length === 0) return;
    if (dims !== this.dims) {
      this.#codes.clear();
      this.dims = dims;
      await this.#write([]);
    }
    const keys = entries.map(({ text, code }) => {
      const key = keyOf(text);
      this.#codes.set(key, code);
      this.#used.add(key);
      return key;
    });
    await appendFile(this.#path, this.#rows(keys), { mode: 0o600 }).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error);
      throw new BusError('STORE_UNAVAILABLE', { path: this.#path, detail }, { cause: error });
    });
  }

  /** Keeps at most so many: those that this run has used, then the latest. Throws STORE_UNAVAILABLE. */
  async trim(limit: number): Promise<void> {
    if (this.#codes.size <= limit) return;
    // The latest are at the end.
    const others = [...this.#codes.keys()].filter((key) => !this.#used.has(key));
    const room = Math.max(0, limit - this.#used.size);
    await this.#write([...others.slice(others.length - room), ...this.#used]);
  }

  async #write(keys: readonly string[]): Promise<void> {
    const head = Buffer.alloc(headBytes);
    head.write(magic, 'latin1');
    head.writeUInt32LE(this.dims, 8);
    head.writeUInt32LE(codeBytes(this.dims), 12);
    await writeAtomically(this.#path, [head, this.#rows(keys)]);
  }

  #rows(keys: readonly string[]): Buffer {
    const rows = keys.flatMap((key) => {
      const row = Buffer.concat([
        Buffer.from(key, 'latin1'),
        this.#codes.get(key) ?? Buffer.alloc(0),
      ]);
      const crc = Buffer.alloc(crcBytes);
      crc.writeUInt32LE(crc32(row));
      return [row, crc];
    });
    return Buffer.concat(rows);
  }
}

function keyOf(text: string): string {
  return createHash('sha256').update(text).digest().toString('latin1', 0, digestBytes);
}
