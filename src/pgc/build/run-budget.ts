import { statfsSync, statSync, type StatsFs } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { asBusError, BusError } from '../../errors/bus-error.js';

const mebibyte = 1024 * 1024;
/** With less, the writing thread has no room beside one miner: 4.5 M lines of drivers need about 450 MiB. */
export const memoryBytesMin = 512 * mebibyte;
export const diskBytesMin = 16 * mebibyte;
/** The main thread with one shard in memory. */
const ownBytes = 320 * mebibyte;
/** A miner that has loaded its grammars and parsed a large file. */
const minerBytes = 96 * mebibyte;
/** A writer thread with one shard in memory. */
const writerBytes = 448 * mebibyte;
/** From this share of the limit on, memory is freed where possible. */
const softShare = 0.8;
/** Freeing memory costs a restart of all miners, or half a second. */
const reliefMsMin = 2_000;
const heapMegabytes = { min: 192, max: 1_024 };
const watchMs = 200;
/** This many checks in a row above the limit end the run: freed memory takes a moment to be returned. */
const aboveMax = 5;
/** Free space always left to LevelDB and one overlay file. */
const freeBytesMin = 2 * mebibyte;

export interface BudgetRequest {
  /** Resident bytes of the whole process; absent: half of what the machine or the control group has. */
  memoryBytes?: number;
  /** Bytes of the index on disk, including the old one until the swap; absent: the free space. */
  diskBytes?: number;
}

/** Frees memory by a restart: WebAssembly memory never shrinks. */
interface Recyclable {
  recycle(): Promise<void>;
}

/** The memory and disk budget of one run, watched throughout. `signal` aborts waiting work when it is spent. */
export class RunBudget implements Disposable {
  readonly memoryBytes: number;
  readonly #diskBytes: number | undefined;
  readonly #folder: string;
  readonly #rss: () => number;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #relievedMs = -Infinity;
  #above = 0;
  #relieving: Promise<void> | undefined;
  #isMeasuring = false;

  /**
   * `folder`: of the index. `rss`: resident bytes of the process. Throws USAGE for a budget that is too small, and
   * STORE_UNAVAILABLE.
   */
  constructor(
    folder: string,
    { memoryBytes, diskBytes }: BudgetRequest,
    rss = (): number => process.memoryUsage.rss(),
  ) {
    if (memoryBytes !== undefined && memoryBytes < memoryBytesMin)
      throw tooSmall('--memory', memoryBytes, memoryBytesMin);
    if (diskBytes !== undefined && diskBytes < diskBytesMin)
      throw tooSmall('--disk', diskBytes, diskBytesMin);
    this.memoryBytes = memoryBytes ?? defaultMemoryBytes();
    this.#diskBytes = diskBytes;
    this.#folder = folder;
    this.#rss = rss;
    this.#checkFree(freeBytesMin);
    this.#timer = setInterval(() => this.#watch(), watchMs);
    this.#timer.unref();
  }

  /** Aborted with the error that names the spent budget. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** How many of the wanted miner threads fit: at least one, unless none is wanted. */
  jobs(wanted: number): number {
    const fitting = Math.floor((this.memoryBytes - ownBytes) / minerBytes);
    return Math.min(wanted, Math.max(1, fitting));
  }

  /** How many of the wanted writer threads fit; 0: the main thread writes. */
  writers(wanted: number): number {
    const fitting = Math.floor((this.memoryBytes - ownBytes) / writerBytes);
    const writers = Math.min(wanted, fitting);
    return writers < 2 ? 0 : writers;
  }

  /** JavaScript heap for each of `writers` threads. */
  writerHeapMegabytes(writers: number): number {
    return Math.round((this.memoryBytes - ownBytes) / mebibyte / Math.max(1, writers));
  }

  /** JavaScript heap for each of `jobs` threads. */
  heapMegabytes(jobs: number): number {
    const share = (this.memoryBytes - ownBytes) / mebibyte / Math.max(1, jobs);
    return Math.round(Math.min(heapMegabytes.max, Math.max(heapMegabytes.min, share)));
  }

  /** Resolves when another file may be read; near the limit, after a restart of the miners. */
  async admit(miners: Recyclable): Promise<void> {
    if (!this.#isReliefDue()) return;
    this.#relieving ??= this.#relieve(miners).finally(() => (this.#relieving = undefined));
    await this.#relieving;
  }

  /** Throws STORE_UNAVAILABLE when this many more bytes do not fit. */
  async expectDisk(bytes: number): Promise<void> {
    this.#checkFree(bytes);
    if (this.#diskBytes === undefined) return;
    const needed = (await bytesBelow(this.#folder)) + bytes;
    if (needed > this.#diskBytes)
      throw this.#noDisk(
        `the index takes ${megabytes(needed)}, --disk allows ${megabytes(this.#diskBytes)}`,
      );
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #isReliefDue(): boolean {
    const rss = this.#rss();
    if (rss > this.memoryBytes) return true;
    const isDue = performance.now() - this.#relievedMs >= reliefMsMin;
    return isDue && rss > softShare * this.memoryBytes;
  }

  async #relieve(miners?: Recyclable): Promise<void> {
    await miners?.recycle();
    collectGarbage();
    this.#relievedMs = performance.now();
  }

  #watch(): void {
    if (this.#relieving === undefined && this.#isReliefDue()) void this.#relieve();
    const bytes = this.#rss();
    this.#above = bytes > this.memoryBytes ? this.#above + 1 : 0;
    if (this.#above >= aboveMax) {
      const limit = this.memoryBytes;
      this.#stop.abort(new BusError('TOO_LARGE', { what: 'the memory of this run', bytes, limit }));
    }
    if (this.#isMeasuring) return;
    this.#isMeasuring = true;
    void this.expectDisk(0)
      .catch((error: unknown) => this.#stop.abort(asBusError(error)))
      .finally(() => (this.#isMeasuring = false));
  }

  #checkFree(bytes: number): void {
    const { blocks, bavail, bsize } = this.#fileSystem();
    const free = bavail * bsize;
    // Some network file systems do not report their size.
    if (blocks === 0 || (free >= bytes && free > 0)) return;
    throw this.#noDisk(
      `${megabytes(free)} are free there, at least ${megabytes(Math.max(bytes, freeBytesMin))} are needed`,
    );
  }

  #fileSystem(): StatsFs {
    try {
      return statfsSync(this.#folder);
    } catch (error) {
      throw this.#noDisk(error instanceof Error ? error.message : String(error));
    }
  }

  #noDisk(detail: string): BusError {
    return new BusError('STORE_UNAVAILABLE', { path: this.#folder, detail });
  }
}

function tooSmall(option: string, bytes: number, least: number): BusError {
  const detail = `${option} of ${megabytes(bytes)} is too little; the least useful is ${megabytes(least)}`;
  return new BusError('USAGE', { detail });
}

/** Half of the memory, because other programs use the machine too. A control group's limit counts as the machine's. */
function defaultMemoryBytes(): number {
  const constrained = process.constrainedMemory();
  const all = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.max(memoryBytesMin, Math.floor(all / 2));
}

let collector: (() => void) | undefined;

/** Node exposes the collector only this way; V8 would keep memory that it may need again. */
function collectGarbage(): void {
  if (collector === undefined) {
    setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as () => void;
  }
  collector();
}

/**
 * Work that holds more than all else in a run. Before it looks for garbage, V8 lets a large heap grow to twice and more of
 * what lives in it; here to half more. What is left of it is gone before threads are started.
 */
export function withinLessMemory<T>(work: () => T): T {
  collectGarbage();
  setFlagsFromString('--heap-growing-percent=50');
  try {
    return work();
  } finally {
    setFlagsFromString('--heap-growing-percent=0');
    collectGarbage();
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / mebibyte)} MB`;
}

/** Bytes of all files below a folder. */
export async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true });
  const sizes = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return bytesBelow(path);
    // LevelDB removes files at any time while it compacts.
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  });
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
