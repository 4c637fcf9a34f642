import { Worker } from 'node:worker_threads';
import { systemClock } from '../../src/base/clock.js';
import { within } from '../../src/base/within.js';
import type { Client } from '../../src/client/client.js';
import type { Incoming } from '../../src/client/responder.js';
import { asBusError, BusError, type ErrorData } from '../../src/errors/bus-error.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';
import type { AnalysisName } from '../../src/pgc/analyse/analyses.js';
import { treeMessages } from '../../src/pgc/serve/messages.js';
import { treeServiceOf } from '../../src/pgc/serve/tree-service.js';

/** Limit for unanswered analyses; one more is refused with BROKER_BUSY. */
export const jobsMax = 16;
/** How long a cancelled analysis may go on before its thread is terminated: opening a tree again takes seconds. */
const graceMsDefault = 2_000;
/** The tree is closed after this long without a request: the index of a kernel takes a gigabyte. */
export const idleMs = 60_000;

export interface TreeWorkerData {
  folder: string;
  home: string;
}

export interface TreeJob {
  id: number;
  name: AnalysisName;
  body: Uint8Array;
  /** Deadline by the system clock, which threads share; 0: none. */
  untilMs: number;
}

export type TreeReply = { id: number } & (
  | { body: Uint8Array; failure?: never }
  | {
      body?: never;
      failure: { code: ErrorCode; data: ErrorData };
    }
);

export interface TreeAnalyserParts {
  /** The tree's path as given. */
  folder: string;
  home: string;
  /** Changes when another index has been swapped in. */
  stamp: () => string;
  memory: TreeMemory;
  idleMs?: number;
  graceMs?: number;
  /** The thread's module, for tests. */
  module?: URL;
}

export interface TreeMemory {
  /** Heap limit of the thread: if it runs out, the thread ends, not the process. */
  memoryBytes: number;
  /** Called when the tree is opened; disposed of when it is closed. */
  reserve: () => Disposable;
}

/**
 * Answers analyses of a whole tree from its index. A separate thread opens all shards again on the first request, so
 * that the agents of single shards do not wait for a walk over five million calls.
 */
export class TreeAnalyser {
  readonly #parts: TreeAnalyserParts;
  #thread: TreeThread | undefined;
  #stamp = '';
  #open = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** The end of the queue. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(parts: TreeAnalyserParts) {
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
   * Runs one analysis at a time: each takes a whole processor. Throws BROKER_BUSY, AGENT_FAILED (the thread died),
   * CANCELLED when the signal aborts or this is closed, and what the analysis throws. `deadlineMs`, which includes
   * waiting in the queue: the answer is what the analysis has found by then; 0: none.
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

  /** A cancelled analysis is not started; one that does not stop is terminated with its thread. */
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

  /** The running analysis fails; waiting ones are cancelled. */
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

  /** A thread with the current index. */
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

/** One job at a time. */
class TreeThread {
  readonly #worker: Worker;
  readonly #reserved: Disposable;
  #waiting: Waiting | undefined;
  #count = 0;
  isAlive = true;

  constructor(module: URL, workerData: TreeWorkerData, { memoryBytes, reserve }: TreeMemory) {
    const maxOldGenerationSizeMb = Math.floor(memoryBytes / 1024 / 1024);
    this.#worker = new Worker(module, { workerData, resourceLimits: { maxOldGenerationSizeMb } });
    // If the system cannot start a thread, the constructor throws before memory is reserved.
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
      this.#worker.postMessage({ ...job, id } satisfies TreeJob);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle({ id, body, failure }: TreeReply): void {
    const waiting = this.#waiting;
    if (waiting?.id !== id) return;
    this.#waiting = undefined;
    if (body !== undefined) waiting.resolve(Buffer.from(body));
    else waiting.reject(new BusError(failure.code, failure.data));
  }

  #die(detail: string): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.#reserved[Symbol.dispose]();
    this.#waiting?.reject(new BusError('AGENT_FAILED', { agent: 'the tree', detail }));
    this.#waiting = undefined;
  }
}
