import { Worker } from 'node:worker_threads';
import { BoundedQueue } from '../../base/bounded-queue.js';
import { type Clock, systemClock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { FactsLanguage } from '../format/facts.js';
import { encodeFacts } from '../format/packed-facts.js';
import type { RulesInForce } from './items/rules-in-force.js';
import { Miner } from './mine.js';
import type { MineRequest } from './worker.js';

/** A file that takes longer has hit a defect of the parser; the largest ones take about a second. */
export const fileMsMax = 30_000;
/**
 * On a busy machine, or where the process was stopped, time passes without work: a file is given up when the process has worked
 * for this share of the time, or at the latest after so many times of it.
 */
const workedShare = 1 / 2;
const timesMax = 20;
/** Files that wait for a worker, per worker: enough that none is ever idle. */
export const queuedPerJob = 2;
/**
 * A thread begins with its grammar to load and code that is not compiled, for which it takes as long as for so much text later on:
 * for less, another one pays only in time of the processor.
 */
const bytesPerJob = 1024 * 1024;
/** Of JavaScript's own, per worker. */
const workerHeapMegabytes = 1_024;

interface MinerPoolOptions {
  fileMsMax?: number;
  clock?: Clock;
  /** The compiled worker; beside this module unless a test says otherwise. */
  worker?: URL;
  /** Of O2; absent: those that are shipped. */
  rules?: RulesInForce;
  /** Node ends a worker that needs more heap than this; its file fails with MINER_FAILED. */
  heapMegabytes?: number;
}

interface Job extends MineRequest {
  resolve: (facts: Uint8Array) => void;
  reject: (error: BusError) => void;
}

interface Slot {
  worker: Worker;
  job: Job | undefined;
  limit: Disposable | undefined;
  /** To be ended after its file. */
  isSpent: boolean;
}

/**
 * Mines on up to `jobs` threads; 0 means in this one. A worker that dies or takes too long is replaced, and only
 * the file it was reading is lost.
 */
export class MinerPool implements AsyncDisposable {
  readonly #jobs: number;
  readonly #fileMsMax: number;
  readonly #clock: Clock;
  readonly #workerUrl: URL;
  readonly #rules: RulesInForce | undefined;
  readonly #heapMegabytes: number;
  readonly #queue: BoundedQueue<Job>;
  readonly #slots = new Set<Slot>();
  readonly #inThread: Miner | undefined;
  #waiting: (() => void)[] = [];
  /** Of all texts that were to be mined so far. */
  #bytes = 0;
  #isClosed = false;

  constructor(jobs: number, options: MinerPoolOptions = {}) {
    this.#jobs = jobs;
    this.#fileMsMax = options.fileMsMax ?? fileMsMax;
    this.#clock = options.clock ?? systemClock;
    this.#workerUrl = options.worker ?? new URL('./worker.js', import.meta.url);
    this.#queue = new BoundedQueue(Math.max(1, jobs) * queuedPerJob);
    this.#rules = options.rules;
    this.#heapMegabytes = options.heapMegabytes ?? workerHeapMegabytes;
    this.#inThread = jobs === 0 ? new Miner(options.rules) : undefined;
  }

  /** Resolves when the queue has room. A caller should wait for it before it reads a file. */
  async room(): Promise<void> {
    while (!this.#isClosed && this.#queue.size >= this.#queue.limit) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  /**
   * The encoded `FileFacts` of a source, which is copied when its turn in the queue comes. Throws
   * MINER_FAILED when its worker died or took too long, CANCELLED when the pool was closed before.
   */
  async mine(language: FactsLanguage, source: Uint8Array): Promise<Uint8Array> {
    if (this.#inThread !== undefined)
      return encodeFacts(await this.#inThread.mine(language, source));
    // Of several that waited for the same room one comes first; the others wait again.
    while (!this.#isClosed && this.#queue.size >= this.#queue.limit) await this.room();
    return new Promise((resolve, reject) => {
      // A copy that the worker can own: the caller's bytes may share their memory with others.
      const job = { language, source: new Uint8Array(source), resolve, reject };
      this.#bytes += source.byteLength;
      if (this.#isClosed || !this.#queue.offer(job)) reject(new BusError('CANCELLED'));
      else this.#assign();
    });
  }

  /** Ends all workers; what was not mined fails with CANCELLED. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const job of this.#queue.takeAll()) job.reject(new BusError('CANCELLED'));
    this.#admit();
    const slots = [...this.#slots];
    for (const slot of slots) this.#drop(slot)?.reject(new BusError('CANCELLED'));
    await Promise.all(slots.map((slot) => slot.worker.terminate()));
    await this.#inThread?.[Symbol.asyncDispose]();
  }

  /**
   * Gives the memory of all workers back: of those that are idle before this resolves, of the others after
   * their file. New ones are started when they are needed.
   */
  async recycle(): Promise<void> {
    for (const slot of this.#slots) slot.isSpent = true;
    const idle = [...this.#slots].filter((slot) => slot.job === undefined);
    await Promise.all(idle.map((slot) => this.#end(slot)));
    this.#assign();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #assign(): void {
    while (!this.#isClosed && this.#queue.size > 0) {
      const slot =
        [...this.#slots].find((each) => each.job === undefined && !each.isSpent) ?? this.#start();
      if (slot === undefined) return;
      const job = this.#queue.take();
      if (job === undefined) return;
      this.#admit();
      slot.job = job;
      this.#limit(slot, workedMs(), 1);
      const { language, source } = job;
      slot.worker.postMessage({ language, source } satisfies MineRequest, [
        source.buffer as ArrayBuffer,
      ]);
    }
  }

  #limit(slot: Slot, begunMs: number, times: number): void {
    slot.limit = this.#clock.after(this.#fileMsMax, () => {
      const isSpent = workedMs() - begunMs >= this.#fileMsMax * workedShare;
      if (isSpent || times === timesMax)
        this.#fail(slot, `it took longer than ${this.#fileMsMax} ms`);
      else this.#limit(slot, begunMs, times + 1);
    });
  }

  #start(): Slot | undefined {
    const worth = 1 + Math.floor(this.#bytes / bytesPerJob);
    if (this.#slots.size >= Math.min(this.#jobs, worth)) return undefined;
    const worker = new Worker(this.#workerUrl, {
      workerData: { rules: this.#rules },
      resourceLimits: { maxOldGenerationSizeMb: this.#heapMegabytes },
    });
    const slot: Slot = { worker, job: undefined, limit: undefined, isSpent: false };
    this.#slots.add(slot);
    worker.on('message', (facts: Uint8Array) => {
      const { job } = slot;
      slot.job = undefined;
      slot.limit?.[Symbol.dispose]();
      job?.resolve(facts);
      if (slot.isSpent) void this.#end(slot);
      this.#assign();
    });
    worker.on('error', (error) =>
      this.#fail(slot, error instanceof Error ? error.message : String(error)),
    );
    worker.on('exit', (code) => this.#fail(slot, `the worker ended with code ${code}`));
    return slot;
  }

  #fail(slot: Slot, detail: string): void {
    if (!this.#slots.has(slot)) return;
    const job = this.#drop(slot);
    const path = job === undefined ? 'nothing' : `a ${job.language} file`;
    job?.reject(new BusError('MINER_FAILED', { path, detail }));
    void slot.worker.terminate();
    this.#assign();
  }

  async #end(slot: Slot): Promise<void> {
    this.#drop(slot);
    await slot.worker.terminate();
  }

  #drop(slot: Slot): Job | undefined {
    this.#slots.delete(slot);
    slot.limit?.[Symbol.dispose]();
    return slot.job;
  }

  /** Wakes all callers that wait for room: those that come too late wait again. */
  #admit(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }
}

/** Processor time of all threads. */
function workedMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
