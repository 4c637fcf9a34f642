import { Worker } from 'node:worker_threads';
import { systemClock } from '../../base/clock.js';
import { within } from '../../base/within.js';
import type { Client } from '../../client/client.js';
import type { Incoming } from '../../client/responder.js';
import { asBusError, BusError, type ErrorData } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import type { AnalysisName } from '../analyse/analyses.js';
import { treeMessages } from './messages.js';
import { treeServiceOf } from './tree-service.js';

/** Analyses that are asked for and not answered; one more is refused BROKER_BUSY. */
export const jobsMax = 16;
/** An analysis whose caller has gone gets this long before its thread is ended: opening a tree anew takes seconds. */
const graceMsDefault = 2_000;
/** An idle tree is closed after this: an index of a kernel takes a gigabyte. */
export const idleMs = 60_000;

export interface TreeWorkerData {
  folder: string;
  home: string;
}

export interface TreeJob {
  id: number;
  name: AnalysisName;
  body: Uint8Array;
  /** Of its answer, by the clock of the system, which threads share; 0: no deadline. */
  untilMs: number;
}

export type TreeReply = { id: number } & (
  | { body: Uint8Array; failure?: never }
  | {
      body?: never;
      failure: { code: ErrorCode; data: ErrorData };
    }
);

export interface TreeAnalystParts {
  /** Of the tree, as it was named. */
  folder: string;
  home: string;
  /** Changes when another index is in force. */
  stamp: () => string;
  memory: TreeMemory;
  idleMs?: number;
  graceMs?: number;
  /** Of the thread. */
  module?: URL;
}

export interface TreeMemory {
  /** The heap of the thread is not larger: it ends, and not the process. */
  memoryBytes: number;
  /** Called when a tree is opened; disposed of when it is closed. */
  reserve: () => Disposable;
}

/**
 * Answers the analyses of a whole tree from its index. In a thread of its own, which opens all shards once more
 * when it is first asked: the shards that answer questions beside it do not wait for a walk over five million calls.
 */
export class TreeAnalyst {
  readonly #parts: TreeAnalystParts;
  #thread: TreeThread | undefined;
  #stamp = '';
  #open = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Ends with the last analysis that came. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: TreeAnalystParts) {
    this.#parts = parts;
  }

  /** `root`: absolute, without links. Several hosts of one tree share the requests. */
  async serveOn(client: Client, root: string): Promise<void> {
    for (const [name, { type }] of Object.entries(treeMessages)) {
      client.serve({
        [type]: ({ body, signal, deadlineMs }: Incoming) =>
          this.answer(name as AnalysisName, body, signal, deadlineMs),
      });
    }
    await client.offer([treeServiceOf(root)]);
  }

  /**
   * One after the other: each takes a whole processor. Throws BROKER_BUSY, AGENT_FAILED (the thread died), CANCELLED when
   * the signal is given or this is closed, and what the analysis throws. `deadlineMs`: what the analysis knows by then is
   * its answer, its turn included; 0: there is none.
   */
  async answer(
    name: AnalysisName,
    body: Buffer,
    signal: AbortSignal,
    deadlineMs = 0,
  ): Promise<Buffer> {
    if (this.#open >= jobsMax) throw new BusError('BROKER_BUSY', { limit: `${jobsMax} analyses` });
    clearTimeout(this.#idle);
    this.#open += 1;
    const untilMs = deadlineMs > 0 ? systemClock.nowMs() + deadlineMs : 0;
    const turn = this.#last.then(() => this.#run({ name, body, untilMs }, signal));
    this.#last = turn.catch(() => undefined);
    try {
      return await turn;
    } finally {
      this.#open -= 1;
      if (this.#open === 0) this.#rest();
    }
  }

  /** An analysis whose caller has gone is not begun; one that does not end is ended with its thread. */
  async #run(job: Omit<TreeJob, 'id'>, signal: AbortSignal): Promise<Buffer> {
    if (signal.aborted || this.#isClosed) throw new BusError('CANCELLED');
    const thread = this.#threadInForce();
    const answered = thread.ask(job);
    const ended = answered.then(
      () => true,
      () => true,
    );
    const aborted = new Promise<boolean>((resolve) => {
      signal.addEventListener('abort', () => resolve(false), { once: true });
    });
    if (await Promise.race([ended, aborted])) return answered;
    const { graceMs = graceMsDefault } = this.#parts;
    if (!(await within(systemClock, graceMs, ended))) await this.#endThread();
    throw new BusError('CANCELLED');
  }

  /** What is under way fails with its thread, and what waits behind it is not begun. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    await this.#endThread();
  }

  async #endThread(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    await thread?.end();
  }

  /** Of the index that is in force now. */
  #threadInForce(): TreeThread {
    const stamp = this.#parts.stamp();
    if (this.#thread?.isAlive === true && stamp === this.#stamp) return this.#thread;
    void this.#endThread();
    this.#stamp = stamp;
    const { folder, home, memory, module } = this.#parts;
    const of = module ?? new URL('./tree-worker.js', import.meta.url);
    return (this.#thread = new TreeThread(of, { folder, home }, memory));
  }

  #rest(): void {
    this.#idle = setTimeout(() => void this.#endThread(), this.#parts.idleMs ?? idleMs);
    this.#idle.unref();
  }
}

interface Waiting {
  id: number;
  resolve: (body: Buffer) => void;
  reject: (error: BusError) => void;
}

/** How often it is looked at what memory a thread has that works. */
const lookMs = 100;

interface Heap {
  used_heap_size: number;
}

/** Has one job at a time. */
class TreeThread {
  /** Node tells of the memory of a thread from 22.16 on. */
  readonly #worker: Worker & { getHeapStatistics?(): Promise<Heap> };
  readonly #memoryBytes: number;
  #look: NodeJS.Timeout | undefined;
  readonly #reserved: Disposable;
  #waiting: Waiting | undefined;
  #count = 0;
  isAlive = true;

  constructor(module: URL, workerData: TreeWorkerData, { memoryBytes, reserve }: TreeMemory) {
    this.#memoryBytes = memoryBytes;
    // In Node 24 V8 may end the process, not the thread, at its limit: where we can look ourselves, that is the second one.
    const canLook = 'getHeapStatistics' in Worker.prototype;
    const maxOldGenerationSizeMb = Math.floor(memoryBytes / 1024 / 1024) * (canLook ? 2 : 1);
    this.#worker = new Worker(module, { workerData, resourceLimits: { maxOldGenerationSizeMb } });
    // After the thread: without one (the system has no room for it) nothing would give the memory back.
    this.#reserved = reserve();
    this.#worker.unref();
    this.#worker.on('message', (reply: TreeReply) => this.#settle(reply));
    this.#worker.on('error', (error) => this.#die(asBusError(error).message));
    this.#worker.on('exit', (code) => this.#die(`its thread ended with code ${code}`));
  }

  ask(job: Omit<TreeJob, 'id'>): Promise<Buffer> {
    const id = (this.#count += 1);
    return new Promise((resolve, reject) => {
      this.#waiting = { id, resolve, reject };
      this.#look = setInterval(() => void this.#endIfLarge(), lookMs).unref();
      this.#worker.postMessage({ ...job, id } satisfies TreeJob);
    });
  }

  async #endIfLarge(): Promise<void> {
    // A thread that is not yet there, or not any more, does not tell.
    const heap = await this.#worker.getHeapStatistics?.().catch(() => undefined);
    if (heap === undefined || heap.used_heap_size <= this.#memoryBytes) return;
    this.#die('its thread needs more than the memory');
    await this.end();
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle({ id, body, failure }: TreeReply): void {
    const waiting = this.#waiting;
    if (waiting?.id !== id) return;
    this.#waiting = undefined;
    clearInterval(this.#look);
    if (body !== undefined) waiting.resolve(Buffer.from(body));
    else waiting.reject(new BusError(failure.code, failure.data));
  }

  #die(detail: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    clearInterval(this.#look);
    this.#reserved[Symbol.dispose]();
    this.#waiting?.reject(new BusError('AGENT_FAILED', { agent: 'the tree', detail }));
    this.#waiting = undefined;
  }
}
