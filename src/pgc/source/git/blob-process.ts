import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { gitEnvironment } from './run-git.js';
import { gitArguments } from './git-stream.js';

/** `missing`: git does not have the object, or it is not a blob. */
export type BlobRead = { bytes: Buffer } | { refused: 'missing' | 'too large' };

/** A requested blob. Git answers in the order of the requests. */
interface Question {
  id: string;
  resolve: (read: BlobRead) => void;
  reject: (error: Error) => void;
}

/** The header of an answer is an id, a type and a size. */
const headBytesMax = 256;
/** How long the process may take to exit after `close`. */
const closeMsMax = 2_000;
/** How long the process may be silent while an answer is outstanding. */
const silenceMsMax = 60_000;
const newline = 0x0a;
const empty = Buffer.alloc(0);

/** The answer that is being read. */
interface Body {
  /** Bytes still to come, including the newline after the blob. */
  left: number;
  /** Undefined while a blob that is too large is skipped. */
  bytes: Buffer | undefined;
  /** Bytes of `bytes` that are filled. */
  filled: number;
  isBlob: boolean;
}

/**
 * Reads blobs of one repository through one `git cat-file --batch`, which runs until `close`. When the process dies or
 * sends something unexpected, all outstanding and later reads fail with a plain Error.
 */
export class BlobProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #bytesMax: number;
  readonly #silenceMs: number;
  readonly #open: Question[] = [];
  readonly #ended: Promise<void>;
  #head = empty;
  #body: Body | undefined;
  #failure: Error | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Blobs of more than `bytesMax` are skipped. */
  constructor(folder: string, bytesMax: number, silenceMs = silenceMsMax) {
    this.#bytesMax = bytesMax;
    this.#silenceMs = silenceMs;
    const child = spawn('git', gitArguments(['cat-file', '--batch']), {
      cwd: folder,
      env: gitEnvironment(),
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    this.#child = child;
    this.#ended = new Promise((resolve) => {
      child.once('error', (error) => {
        this.#fail(`it cannot be started: ${error.message}`);
        resolve();
      });
      // `close` comes after all output has been read.
      child.once('close', (code, signal) => {
        this.#fail(`it ended with ${signal ?? code ?? 'nothing'}`);
        resolve();
      });
    });
    // A process that has exited reports that itself; errors of later writes do not matter.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => this.#take(chunk));
  }
  /** `id`: object id in hex. Rejects with a plain Error when the process is gone. */
  read(id: string): Promise<BlobRead> {
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) return reject(this.#failure);
      this.#open.push({ id, resolve, reject });
      this.#child.stdin.write(`${id}\n`);
      this.#watch();
    });
  }

  /** Resolves when the process has exited. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    const late = setTimeout(() => this.#child.kill('SIGKILL'), closeMsMax);
    await this.#ended;
    clearTimeout(late);
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    while (rest.length > 0 && this.#failure === undefined)
      rest = this.#body === undefined ? this.#takeHead(rest) : this.#takeBody(this.#body, rest);
    this.#watch();
  }

  /** Returns the bytes after the header. */
  #takeHead(chunk: Buffer): Buffer {
    const end = chunk.indexOf(newline);
    this.#head = Buffer.concat([this.#head, end < 0 ? chunk : chunk.subarray(0, end)]);
    if (this.#head.length > headBytesMax) this.#fail('unexpected output');
    if (end < 0) return empty;
    const head = this.#head.toString('latin1');
    this.#head = empty;
    this.#begin(head);
    return chunk.subarray(end + 1);
  }

  #begin(head: string): void {
    const [, id, type, digits] = /^([0-9a-f]+) ([a-z]+)(?: (\d+))?$/.exec(head) ?? [];
    if (id === undefined || id !== this.#open[0]?.id) return this.#fail('unexpected output');
    if (digits === undefined) return this.#answer({ refused: 'missing' });
    const size = Number(digits);
    const isBlob = type === 'blob';
    const isWanted = isBlob && size <= this.#bytesMax;
    const bytes = isWanted ? Buffer.allocUnsafeSlow(size) : undefined;
    this.#body = { left: size + 1, bytes, filled: 0, isBlob };
  }

  /** Returns the bytes after the body. */
  #takeBody(body: Body, chunk: Buffer): Buffer {
    const more = chunk.subarray(0, body.left);
    // The newline after the blob does not fit and is dropped.
    body.filled += body.bytes === undefined ? 0 : more.copy(body.bytes, body.filled);
    body.left -= more.length;
    if (body.left === 0) {
      this.#body = undefined;
      if (body.bytes !== undefined) this.#answer({ bytes: body.bytes });
      else this.#answer({ refused: body.isBlob ? 'too large' : 'missing' });
    }
    return chunk.subarray(more.length);
  }

  #answer(read: BlobRead): void {
    this.#open.shift()?.resolve(read);
  }

  #fail(detail: string): void {
    this.#failure ??= new Error(`git cat-file: ${detail}`);
    this.#child.kill('SIGKILL');
    for (const question of this.#open.splice(0)) question.reject(this.#failure);
    this.#watch();
  }

  /** Restarts the silence timer while a request is outstanding. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#open.length === 0) return;
    const tooLate = (): void => this.#fail(`no output for ${this.#silenceMs} ms`);
    this.#timer = setTimeout(tooLate, this.#silenceMs);
  }
}
