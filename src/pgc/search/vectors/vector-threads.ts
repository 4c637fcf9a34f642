import { Worker } from 'node:worker_threads';
import { BusError, type ErrorData } from '../../../errors/bus-error.js';
import { isErrorCode } from '../../../errors/catalogue.js';
import type { VectorOrder, Vectors } from './shard-vectors.js';

export type VectorAnswer =
  | { vectors: Vectors }
  | { failure: { code: string; data: ErrorData; message: string } };

/** Threads that make vectors with the table of a home, which each of them reads. */
export class VectorThreads implements AsyncDisposable {
  readonly #workers: Worker[] = [];

  /** `worker`: the compiled one; beside this module unless a test says otherwise. */
  constructor(
    readonly threads: number,
    readonly home: string,
    readonly worker = new URL('./vector-worker.js', import.meta.url),
  ) {}

  /**
   * Each order once; `made` hears of each. Throws what a thread has failed with or could not start for,
   * MINER_FAILED when it died, the reason of the signal.
   */
  async all(
    orders: readonly VectorOrder[],
    signal: AbortSignal,
    made: (order: VectorOrder, vectors: Vectors) => void,
  ): Promise<void> {
    const queue = orders.values();
    let isBroken = false;
    const outcomes = await Promise.allSettled(
      Array.from({ length: this.threads }, async () => {
        let worker: Worker | undefined;
        for (const order of queue) {
          if (isBroken) return;
          try {
            signal.throwIfAborted();
            worker ??= this.#start();
            made(order, await ask(worker, order));
          } catch (error) {
            isBroken = true;
            throw error;
          }
        }
      }),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  /** Throws at once where the machine has no thread left. */
  #start(): Worker {
    const worker = new Worker(this.worker, { workerData: { home: this.home } });
    this.#workers.push(worker);
    return worker;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
  }
}

async function ask(worker: Worker, order: VectorOrder): Promise<Vectors> {
  const answer = await new Promise<VectorAnswer>((resolve, reject) => {
    const die = (why: unknown): void => {
      const detail =
        why instanceof Error ? why.message : `the thread ended with code ${String(why)}`;
      reject(new BusError('MINER_FAILED', { path: 'vectors of a shard', detail }));
    };
    worker.removeAllListeners();
    worker.once('message', resolve).once('error', die).once('exit', die);
    worker.postMessage(order);
  });
  if (!('failure' in answer)) return answer.vectors;
  const { code, data, message: detail } = answer.failure;
  throw isErrorCode(code) ? new BusError(code, data) : new BusError('INTERNAL', { detail });
}
