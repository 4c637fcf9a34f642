import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { BusError } from '../../../errors/bus-error.js';

/** Descriptors that one thread keeps for files of indexes, and their share of those that the system grants the process. */
const descriptorsMax = 1_024;
const grantedShareMax = 1 / 4;

/**
 * The files of indexes that are open in this thread: at most so many at once. What was not read for longest is closed, and opened
 * again when it is read, so that an index of any number of shards is served within the bound.
 */
export class Descriptors {
  /** Least recently read first. */
  readonly #open = new Map<SectionFile, number>();

  constructor(
    readonly max = Math.min(descriptorsMax, Math.floor(granted() * grantedShareMax)),
    private readonly openFile: typeof openSync = openSync,
  ) {}

  get count(): number {
    return this.#open.size;
  }

  /** Of the open file; undefined: it is closed. */
  of(file: SectionFile): number | undefined {
    const descriptor = this.#open.get(file);
    if (descriptor === undefined) return undefined;
    this.#open.delete(file);
    this.#open.set(file, descriptor);
    return descriptor;
  }

  /** Throws INDEX_MISSING, INDEX_CORRUPT; STORE_UNAVAILABLE when the system grants no more. */
  open(file: SectionFile): number {
    this.#closeDownTo(this.max - 1);
    let descriptor: number;
    try {
      descriptor = this.#opened(file.path);
    } catch (error) {
      throw unreadable(file.path, error);
    }
    this.#open.set(file, descriptor);
    return descriptor;
  }

  close(file: SectionFile): void {
    const descriptor = this.#open.get(file);
    if (descriptor === undefined) return;
    this.#open.delete(file);
    closeSync(descriptor);
  }

  /** Where others have taken what there is, half of ours is given back: they need some, too. */
  #opened(path: string): number {
    try {
      return this.openFile(path, 'r');
    } catch (error) {
      if (!areAllTaken(error) || this.#open.size === 0) throw error;
      this.#closeDownTo(this.#open.size >>> 1);
      return this.openFile(path, 'r');
    }
  }

  #closeDownTo(count: number): void {
    for (const file of this.#open.keys()) {
      if (this.#open.size <= count) return;
      this.close(file);
    }
  }
}

/** Unlimited where the system does not say: then `Descriptors` learns it from what fails. */
function granted(): number {
  try {
    const [, soft = ''] =
      /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === '' ? Infinity : Number(soft);
  } catch {
    return Infinity;
  }
}

const descriptors = new Descriptors();

/** A file that is read in places. */
export class SectionFile implements Disposable {
  readonly size: number;

  /** Throws INDEX_MISSING, INDEX_CORRUPT, STORE_UNAVAILABLE. */
  constructor(
    readonly path: string,
    private readonly among = descriptors,
  ) {
    this.size = fstatSync(among.open(this)).size;
  }

  /** For those who will hardly need more; what is read nevertheless opens it again. */
  [Symbol.dispose](): void {
    this.among.close(this);
  }

  /**
   * Fills `bytes` with those from `start` on. It may have been removed meanwhile, for as long as it is open. Throws
   * INDEX_CORRUPT, STORE_UNAVAILABLE; INDEX_MISSING when it was closed and is gone.
   */
  read(bytes: Uint8Array, start: number): void {
    const descriptor = this.among.of(this) ?? this.#again();
    for (let at = 0; at < bytes.length;) {
      let count: number;
      try {
        count = readSync(descriptor, bytes, at, bytes.length - at, start + at);
      } catch (error) {
        throw unreadable(this.path, error);
      }
      if (count === 0) throw corrupt(this.path, 'too short');
      at += count;
    }
  }

  /** A file that was written anew under its name says the same: the name has its version in it, and each block is checked. */
  #again(): number {
    const descriptor = this.among.open(this);
    if (fstatSync(descriptor).size === this.size) return descriptor;
    this.among.close(this);
    throw new BusError('INDEX_MISSING', { path: this.path });
  }
}

/** Files that are closed together, by the one who opens them to answer from. */
export class OpenFiles implements Disposable {
  readonly #files: SectionFile[] = [];

  /** Throws as `SectionFile`. */
  open(path: string): SectionFile {
    const file = new SectionFile(path);
    this.#files.push(file);
    return file;
  }

  /** Answers that are still being made read on, unless a run removes the files. */
  [Symbol.dispose](): void {
    for (const file of this.#files) file[Symbol.dispose]();
    this.#files.length = 0;
  }
}

export function unreadable(path: string, error: unknown): BusError {
  const { code, message: detail } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT') return new BusError('INDEX_MISSING', { path }, { cause: error });
  if (areAllTaken(error))
    return new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
  return corrupt(path, detail, error);
}

/** By this process, or by all. */
function areAllTaken(error: unknown): boolean {
  return /^E[MN]FILE$/.test((error as NodeJS.ErrnoException).code ?? '');
}

export function corrupt(path: string, detail: string, cause?: unknown): BusError {
  return new BusError('INDEX_CORRUPT', { path, detail }, { cause });
}
