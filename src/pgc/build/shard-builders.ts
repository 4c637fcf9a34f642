import { Worker } from 'node:worker_threads';
import { Scope } from '../../base/scope.js';
import { BusError, type ErrorData } from '../../errors/bus-error.js';
import { isErrorCode } from '../../errors/catalogue.js';
import type { IndexPlace, ManifestShard } from '../plan/manifest.js';
import { renewCard } from '../search/card/card-file.js';
import { ShardFiles, type MinedFile, type ShardOrder } from './shard-files.js';
import type { FileRow } from '../format/shard-index.js';

/** With less work, starting a thread does not pay. */
const linesPerThreadMin = 100_000;
/**
 * Most objects live as long as the shard: with V8's default, young-generation collections would copy them again and
 * again.
 */
const youngMegabytes = 128;

export interface ShardBuilder {
  /**
   * `batches`: the files of the shard in order of their paths. `mend`: gets the facts of a file whose stored facts are
   * lost. Throws what `mend` throws, STORE_UNAVAILABLE, MINER_FAILED when its thread died.
   */
  build(
    order: ShardOrder,
    batches: AsyncIterable<readonly MinedFile[]>,
    mend: (file: FileRow) => Promise<Uint8Array>,
  ): Promise<ManifestShard>;
  /** Writes the card of a shard that is bound, `before`: see `renewCard`. Throws INDEX_*, STORE_UNAVAILABLE. */
  card(order: CardOrder): Promise<void>;
}

export interface CardOrder {
  place: IndexPlace;
  shard: ManifestShard;
  before: ManifestShard | undefined;
}

interface Builders extends AsyncDisposable {
  /** Runs each task once. After a failure no further task starts, and the failure is thrown. */
  all<Task>(
    tasks: readonly Task[],
    work: (builder: ShardBuilder, task: Task) => Promise<void>,
  ): Promise<void>;
}

/**
 * As many builders as the work is worth. `heapMegabytes`: JavaScript heap per thread. `worker`: the compiled worker
 * module; only tests give another one.
 */
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
    card: (order) => maker.card(order),
  };
}

/** The calls of `ShardFiles`, in this thread or another. */
interface ShardMaker {
  begin(order: ShardOrder): Promise<void>;
  add(batch: readonly MinedFile[]): Promise<number[]>;
  finish(): Promise<ManifestShard>;
  card(order: CardOrder): Promise<void>;
}

/** Requests to a worker thread, one at a time. */
export type MakerRequest =
  | { what: 'begin'; order: ShardOrder }
  | { what: 'add'; batch: readonly MinedFile[] }
  | { what: 'finish' }
  | { what: 'card'; order: CardOrder };

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

  async card({ place, shard, before }: CardOrder): Promise<void> {
    await renewCard(place, shard, before);
  }

  get #begun(): ShardFiles {
    if (this.#files === undefined)
      throw new BusError('INTERNAL', { detail: 'no shard was started' });
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
    if (shard === undefined)
      throw new BusError('INTERNAL', { detail: 'a thread returned no shard' });
    return shard;
  }

  async card(order: CardOrder): Promise<void> {
    await this.#ask({ what: 'card', order });
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
      ? new BusError('TOO_LARGE', { what: 'the memory for a shard', bytes: limit, limit })
      : new BusError('MINER_FAILED', { path: 'a shard', detail });
    this.#settle()?.reject(this.#death);
  }
}
