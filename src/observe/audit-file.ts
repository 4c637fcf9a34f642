import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

const name = 'audit';

/** `audit.jsonl` is written to; `audit.1.jsonl` is the one before it, and so on. */
export function auditFile(folder: string, age: number): string {
  return path.join(folder, age === 0 ? `${name}.jsonl` : `${name}.${age}.jsonl`);
}

/**
 * Lines in files of bounded size, of which a bounded number is kept. Blocking: it lives in a thread of its
 * own. A line is whole in one file or absent: what a full disk cut off is taken back.
 */
export class AuditFile {
  readonly #folder: string;
  readonly #bytesMax: number;
  readonly #filesMax: number;
  #fd: number | undefined;
  #bytes = 0;

  constructor(parts: { folder: string; bytesMax: number; filesMax: number }) {
    this.#folder = parts.folder;
    this.#bytesMax = parts.bytesMax;
    this.#filesMax = parts.filesMax;
  }

  /** Whole lines, each with its newline. Throws errors of the file system; then none of them was written. */
  append(lines: string): void {
    const bytes = Buffer.from(lines);
    if (this.#fd !== undefined && this.#bytes > 0 && this.#bytes + bytes.length > this.#bytesMax)
      this.#rotate();
    const fd = (this.#fd ??= this.#open());
    try {
      for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
    } catch (error) {
      ftruncateSync(fd, this.#bytes);
      throw error;
    }
    this.#bytes += bytes.length;
  }

  close(): void {
    if (this.#fd === undefined) return;
    const fd = this.#fd;
    this.#fd = undefined;
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }

  #open(): number {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const fd = openSync(auditFile(this.#folder, 0), 'a+', 0o600);
    this.#bytes = fstatSync(fd).size;
    const last = Buffer.alloc(1);
    // A crash may have left half a line; the next one must not continue it.
    if (this.#bytes > 0 && readSync(fd, last, 0, 1, this.#bytes - 1) === 1 && last[0] !== 10)
      this.#bytes += writeSync(fd, '\n');
    return fd;
  }

  #rotate(): void {
    this.close();
    for (let age = this.#filesMax - 1; age >= 0; age -= 1) {
      const file = auditFile(this.#folder, age);
      if (!existsSync(file)) continue;
      if (age === this.#filesMax - 1) rmSync(file);
      else renameSync(file, auditFile(this.#folder, age + 1));
    }
  }
}
