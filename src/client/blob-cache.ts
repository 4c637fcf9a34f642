import { createHash } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError } from '../errors/bus-error.js';

const namePattern = /^[0-9a-f]{64}$/;
/** Bytes read and hashed at once; other work runs in between. */
const chunkBytes = 1024 * 1024;
/** Share of the limit after which the folder, which other processes use too, is measured again. */
const remeasureShare = 1 / 16;
/** A write that was not finished within this time never will be. */
const partMsMax = 60 * 60 * 1_000;

export interface BlobCacheParts {
  folder: string;
  /** Bytes of all blobs together. A larger blob is not kept. */
  bytesMax: number;
  clock: Clock;
  trace: Trace;
}

/** The name of a blob: SHA-256 of its content, in hex. */
export function isBlobName(text: string): boolean {
  return namePattern.test(text);
}

/**
 * Blobs in a folder, named by their content. A cache that may fail: an unreadable or damaged file counts as
 * missing. Beyond the limit the least recently used go first.
 */
export class BlobCache {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #clock: Clock;
  readonly #trace: Trace;
  /** As far as known; other processes may have added entries. */
  #bytes = 0;
  #addedSince = 0;
  #temporary = 0;
  #measuring: Promise<void> | undefined;

  private constructor(parts: BlobCacheParts) {
    this.#folder = parts.folder;
    this.#bytesMax = parts.bytesMax;
    this.#clock = parts.clock;
    this.#trace = parts.trace;
  }

  /** Creates the folder with mode 0700; removes the rest of an interrupted write. */
  static async open(parts: BlobCacheParts): Promise<BlobCache> {
    const cache = new BlobCache(parts);
    try {
      await mkdir(parts.folder, { recursive: true, mode: 0o700 });
      await cache.#measure();
    } catch (error) {
      cache.#report('opened', error);
    }
    return cache;
  }

  /** Undefined when it is not here. A damaged file is removed. Throws nothing. */
  async get(sha256: string): Promise<Buffer | undefined> {
    if (!isBlobName(sha256)) return undefined;
    const file = path.join(this.#folder, sha256);
    try {
      const content = await readVerified(file, sha256);
      if (content === undefined) {
        this.#trace('warn', 'a cached blob is damaged and was removed', { sha256 });
        await rm(file, { force: true });
        return undefined;
      }
      // What was read last is dropped last.
      const now = this.#clock.nowMs() / 1_000;
      await utimes(file, now, now).catch(() => undefined);
      return content;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#report('read', error);
      return undefined;
    }
  }

  /** False when it could not be kept. `content` must match `sha256`. Throws nothing. */
  async put(sha256: string, content: Buffer): Promise<boolean> {
    if (!isBlobName(sha256) || content.length > this.#bytesMax) return false;
    this.#temporary += 1;
    const temporary = path.join(this.#folder, `${sha256}.${process.pid}.${this.#temporary}.part`);
    try {
      await writeFile(temporary, content, { mode: 0o600, flag: 'wx' });
      const now = this.#clock.nowMs() / 1_000;
      await utimes(temporary, now, now);
      // Atomic for readers.
      await rename(temporary, path.join(this.#folder, sha256));
      this.#bytes += content.length;
      this.#addedSince += content.length;
      if (this.#bytes > this.#bytesMax || this.#addedSince > this.#bytesMax * remeasureShare) {
        this.#measuring ??= this.#measure().finally(() => (this.#measuring = undefined));
        await this.#measuring;
      }
      return true;
    } catch (error) {
      this.#report('written', error);
      await rm(temporary, { force: true }).catch(() => undefined);
      return false;
    }
  }

  /** Measures the folder and removes the least recently used blobs until the rest fits. */
  async #measure(): Promise<void> {
    const files: { file: string; bytes: number; usedMs: number }[] = [];
    const staleMs = this.#clock.nowMs() - partMsMax;
    for (const name of await readdir(this.#folder)) {
      const file = path.join(this.#folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found?.isFile() !== true) continue;
      if (isBlobName(name)) files.push({ file, bytes: found.size, usedMs: found.mtimeMs });
      // Left by a process that ended during a write; a recent one may still be written.
      else if (name.endsWith('.part') && found.mtimeMs < staleMs) await rm(file, { force: true });
    }
    files.sort((a, b) => a.usedMs - b.usedMs);
    let bytes = files.reduce((sum, each) => sum + each.bytes, 0);
    for (const each of files) {
      if (bytes <= this.#bytesMax) break;
      await rm(each.file, { force: true });
      bytes -= each.bytes;
    }
    this.#bytes = bytes;
    this.#addedSince = 0;
  }

  #report(what: string, error: unknown): void {
    this.#trace('warn', `the blob cache could not be ${what}`, {
      detail: asBusError(error).message,
    });
  }
}

/** Undefined when the content does not match the name. Throws errors of the file system. */
async function readVerified(file: string, sha256: string): Promise<Buffer | undefined> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const content = Buffer.allocUnsafeSlow(size);
    const hash = createHash('sha256');
    for (let at = 0; at < size;) {
      const { bytesRead } = await handle.read(content, at, Math.min(chunkBytes, size - at), at);
      if (bytesRead === 0) return undefined;
      hash.update(content.subarray(at, at + bytesRead));
      at += bytesRead;
    }
    return hash.digest('hex') === sha256 ? content : undefined;
  } finally {
    await handle.close();
  }
}
