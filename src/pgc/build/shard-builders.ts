import { Worker } from 'node:worker_threads';
import { Scope } from '../../base/scope.js';
import { BusError, type ErrorData } from '../../errors/bus-error.js';
import { isErrorCode } from '../../errors/catalogue.js';
import type { ManifestShard } from '../plan/manifest.js';
import { ShardFiles, type MinedFile, type ShardOrder } from './shard-files.js';
import type { FileRow } from '../format/shard-index.js';

/** Less work than this is done before a thread has started. */
const linesPerThreadMin = 100_000;
/** Most of what a shard takes lives for as long as the shard: with V8's default it is copied again and again. */
const youngMegabytes = 128;

export interface ShardBuilder {
  /**
   * `batches`: the files of the shard in order of their paths. `mend`: facts for those that have none that
   * can be read. Throws what `mend` throws, STORE_UNAVAILABLE, MINER_FAILED when its thread died.
   */
  build(
    order: ShardOrder,
    batches: AsyncIterable<readonly MinedFile[]>,
    mend: (file: FileRow) => Promise<Uint8Array>,
  ): Promise<ManifestShard>;
}

export interface Builders extends AsyncDisposable {
  /** Each task once; after a failure no further one is begun, and it is thrown. */
  all<Task>(
    tasks: readonly Task[],
    work: (builder: ShardBuilder, task: Task) => Promise<void>,
  ): Promise<void>;
}

/** As many as the work is worth. `heapMegabytes`: of JavaScript, for each thread. `worker`: the compiled one; beside this module unless a test says otherwise. */
export function openBuilders(
  threadsMax: number,
  lines: number,
  heapMegabytes: number,
  worker = new URL('./shard-worker.js', import.meta.url),
): Builders {
  const scope = new Scope();
  const threads = Math.min(threadsMax, Math.floor(lines / linesPerThreadMin));
  const makers: ShardMaker[] = Array.from({ length: threads }, () =>
    scope.own(new ThreadMaker(worker, heapMegabytes)),
  );
  if (makers.length === 0) makers.push(new LocalMaker());
  const builders = makers.map(builderOn);
  return {
    async all(tasks, work) {
      const queue = tasks.values();
      let isBroken = false;
      const outcomes = await Promise.allSettled(
        builders.map(async (builder) => {
          for (const task of queue) {
            if (isBroken) return;
            await work(builder, task).catch((error: unknown) => {
              isBroken = true;
              throw error;
            });
          }
        }),
      );
      const failed = outcomes.find((outcome) => outcome.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

function builderOn(maker: ShardMaker): ShardBuilder {
  return {
    async build(order, batches, mend) {
      await maker.begin(order);
      for await (const batch of batches) {
        const broken = await maker.add(batch);
        if (broken.length === 0) continue;
        const mended = [...batch];
        for (const at of broken) {
          const file = mended[at]?.file;
          if (file !== undefined) mended[at] = { file, facts: await mend(file) };
        }
        const [still] = await maker.add(mended);
        if (still === undefined) continue;
        const path = mended[still]?.file.path ?? '';
        throw new BusError('MINER_FAILED', { path, detail: 'its facts cannot be read' });
      }
      return maker.finish();
    },
  };
}

/** `ShardFiles`, here or in a thread. */
interface ShardMaker {
  begin(order: ShardOrder): Promise<void>;
  add(batch: readonly MinedFile[]): Promise<number[]>;
  finish(): Promise<ManifestShard>;
}

/** What a maker is told, one at a time, each answered before the next. */
export type MakerRequest =
  | { what: 'begin'; order: ShardOrder }
  | { what: 'add'; batch: readonly MinedFile[] }
  | { what: 'finish' };

export type MakerAnswer =
  | { broken: number[]; shard?: ManifestShard }
  | { failure: { code: string; data: ErrorData; message: string } };

export class LocalMaker implements ShardMaker {
  #files: ShardFiles | undefined;

  begin(order: ShardOrder): Promise<void> {
    this.#files = new ShardFiles(order);
    return Promise.resolve();
  }

  add(batch: readonly MinedFile[]): Promise<number[]> {
    return Promise.resolve(this.#begun.add(batch));
  }

  async finish(): Promise<ManifestShard> {
    const files = this.#begun;
    this.#files = undefined;
    return files.finish();
  }

  get #begun(): ShardFiles {
    if (this.#files === undefined) throw new BusError('INTERNAL', { detail: 'no shard was begun' });
    return this.#files;
  }
}

interface Waiting {
  resolve: (answer: MakerAnswer) => void;
  reject: (error: unknown) => void;
}

class ThreadMaker implements ShardMaker, AsyncDisposable {
  readonly #worker: Worker;
  #waiting: Waiting | undefined;
  #death: BusError | undefined;
  readonly #heapBytes: number;

  constructor(module: URL, heapMegabytes: number) {
    this.#heapBytes = heapMegabytes * 1024 * 1024;
    this.#worker = new Worker(module, {
      resourceLimits: {
        maxOldGenerationSizeMb: heapMegabytes,
        maxYoungGenerationSizeMb: youngMegabytes,
      },
    });
    this.#worker.on('message', (answer: MakerAnswer) => this.#settle()?.resolve(answer));
    this.#worker.on('error', (error) => this.#die(error));
    this.#worker.on('exit', (code) => this.#die(`the thread ended with code ${code}`));
  }

  async begin(order: ShardOrder): Promise<void> {
    await this.#ask({ what: 'begin', order });
  }

  async add(batch: readonly MinedFile[]): Promise<number[]> {
    return (await this.#ask({ what: 'add', batch })).broken;
  }

  async finish(): Promise<ManifestShard> {
    const { shard } = await this.#ask({ what: 'finish' });
    if (shard === undefined) throw new BusError('INTERNAL', { detail: 'a thread made no shard' });
    return shard;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }

  async #ask(request: MakerRequest): Promise<{ broken: number[]; shard?: ManifestShard }> {
    if (this.#death !== undefined) throw this.#death;
    const answer = await new Promise<MakerAnswer>((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(request);
    });
    if (!('failure' in answer)) return answer;
    const { code, data, message: detail } = answer.failure;
    throw isErrorCode(code) ? new BusError(code, data) : new BusError('INTERNAL', { detail });
  }

  #settle(): Waiting | undefined {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    return waiting;
  }

  #die(why: unknown): void {
    const detail = why instanceof Error ? why.message : String(why);
    const isFull = (why as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
    const limit = this.#heapBytes;
    this.#death ??= isFull
      ? new BusError('TOO_LARGE', { what: 'a shard in the making', bytes: limit, limit })
      : new BusError('MINER_FAILED', { path: 'a shard', detail });
    this.#settle()?.reject(this.#death);
  }
}
