import { fork, type ChildProcess } from 'node:child_process';
import { systemClock, type Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import { bundledModel, readVerified, type ModelFiles } from './bundled-model.js';
import type { Embedder } from './embedder.js';
import type { ModelAnswer, ModelRequest } from './model-process.js';
import type { TableRows } from './token-table.js';
import { WordPiece } from './word-piece.js';

/** Texts in one request to the process; a cancelled run ends after one request. */
const textsPerRequest = 64;
/** Requests that wait for an answer. */
const waitingMax = 32;
/** A request that takes longer is not answered any more: the process is ended, and the next one starts another. */
const requestMsMax = 120_000;
/** Processes in a row that end without an answer: then it is not tried again. */
const startsMax = 3;
/**
 * Of the runtime. Two read ten short texts in 10 ms instead of 18 on an idle machine; on a busy one they wait for one
 * another, and half of all questions take longer than with one.
 */
const threadsDefault = 1;

export interface MinilmOptions {
  /** Of the runtime. */
  threads?: number;
  /** The compiled process; beside this module unless a test says otherwise. */
  module?: URL;
  clock?: Clock;
}

interface Running {
  child: ChildProcess;
  waiting: Waiting[];
  /** Rejected when the model cannot be loaded. */
  loaded: Promise<unknown>;
}

interface Waiting {
  resolve: (answer: ModelAnswer) => void;
  reject: (error: BusError) => void;
  limit: Disposable;
}

/**
 * The bundled model, in a process of its own that starts when the first text comes: a run blocks its
 * thread, and a failure of the native code ends that process only. The vector of a text differs slightly
 * with the texts beside it (cosine above .99): the runtime scales its 8 bits by the run.
 */
export class Minilm implements Embedder {
  readonly dims = bundledModel.dims;
  readonly fingerprint = fingerprintOf('full');
  readonly #files: ModelFiles;
  readonly #threads: number;
  readonly #module: URL;
  readonly #clock: Clock;
  #tokenizer: Promise<WordPiece> | undefined;
  #process: Running | undefined;
  #failedStarts = 0;
  #isClosed = false;

  constructor(files: ModelFiles, options: MinilmOptions = {}) {
    this.#files = files;
    this.#threads = options.threads ?? threadsDefault;
    this.#module = options.module ?? new URL('./model-process.js', import.meta.url);
    this.#clock = options.clock ?? systemClock;
  }

  /** Loads ahead of use; a failure surfaces at the first request. */
  start(): void {
    if (!this.#isClosed) this.#process ??= this.#start();
  }

  /** A tokenizer that was read before: reading it takes thirty milliseconds. Must be of this model. */
  tokenizeWith(tokenizer: WordPiece): void {
    if (tokenizer.vocabulary.length === bundledModel.pieces)
      this.#tokenizer ??= Promise.resolve(tokenizer);
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    if (texts.length === 0) return [];
    const tokenizer = await this.#ready(signal);
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += textsPerRequest) {
      const ids = texts
        .slice(from, from + textsPerRequest)
        .map((text) => tokenizer.encode(text, bundledModel.tokensMax));
      const answer = await this.#ask({ what: 'embed', ids }, signal);
      if (!('vectors' in answer) || answer.vectors.length !== ids.length * this.dims)
        throw new BusError('EMBEDDING_INVALID', { engine: this.fingerprint, detail: 'its shape' });
      for (let at = 0; at < ids.length; at += 1)
        vectors.push(answer.vectors.slice(at * this.dims, (at + 1) * this.dims));
    }
    return vectors;
  }

  /** What a table of single pieces is made of. Some seven seconds. Throws as `embed`. */
  async derive(
    signal?: AbortSignal,
  ): Promise<{ table: TableRows; vocabulary: readonly string[]; fingerprint: string }> {
    const { start, end, vocabulary } = await this.#ready(signal);
    const marks = { start, end, count: vocabulary.length };
    const answer = await this.#ask({ what: 'derive', marks }, signal);
    if (!('table' in answer))
      throw new BusError('EMBEDDING_INVALID', { engine: this.fingerprint, detail: 'no table' });
    return { table: answer.table, vocabulary, fingerprint: this.fingerprint };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await this.#end('it was closed');
  }

  /** The process starts while the tokenizer is read. */
  async #ready(signal: AbortSignal | undefined): Promise<WordPiece> {
    this.#begin(signal);
    this.#tokenizer ??= this.#readTokenizer();
    return orAborted(this.#tokenizer, signal);
  }

  async #readTokenizer(): Promise<WordPiece> {
    try {
      const json = await readVerified(this.#files.tokenizer, bundledModel.tokenizerSha256);
      return WordPiece.fromJson(json.toString());
    } catch (error) {
      this.#tokenizer = undefined;
      throw this.#unavailable(error instanceof Error ? error.message : String(error));
    }
  }

  #begin(signal: AbortSignal | undefined): Running {
    signal?.throwIfAborted();
    if (this.#isClosed) throw this.#unavailable('it was closed');
    if (this.#failedStarts >= startsMax)
      throw this.#unavailable(`its process has failed ${startsMax} times`);
    return (this.#process ??= this.#start());
  }

  async #ask(request: ModelRequest, signal?: AbortSignal): Promise<ModelAnswer> {
    const started = this.#begin(signal);
    await orAborted(started.loaded, signal);
    const answer = await orAborted(this.#send(request), signal);
    if ('failure' in answer) throw this.#unavailable(answer.failure);
    this.#failedStarts = 0;
    return answer;
  }

  #start(): Running {
    const child = fork(this.#module, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      // Flags of this process (an inspector, a loader) are not meant for it.
      execArgv: [],
    });
    const started: Running = { child, waiting: [], loaded: Promise.resolve() };
    this.#process = started;
    child.on('message', (answer: ModelAnswer) => {
      const waiting = started.waiting.shift();
      waiting?.limit[Symbol.dispose]();
      if (started.waiting.length === 0) child.channel?.unref();
      waiting?.resolve(answer);
    });
    child.once('error', (error) => this.#lost(child, error.message));
    child.once('exit', (code, sign) =>
      this.#lost(child, `its process ended with ${sign ?? code ?? 0}`),
    );
    // It ends when this process does: it does not keep it.
    child.unref();
    const load: ModelRequest = { what: 'load', files: this.#files, threads: this.#threads };
    started.loaded = this.#send(load).then(async (answer) => {
      if (!('failure' in answer)) return;
      this.#failedStarts += 1;
      await this.#end(answer.failure);
      throw this.#unavailable(answer.failure);
    });
    started.loaded.catch(() => undefined);
    return started;
  }

  #send(request: ModelRequest): Promise<ModelAnswer> {
    const started = this.#process;
    if (started === undefined) return Promise.reject(this.#unavailable('its process ended'));
    if (started.waiting.length >= waitingMax)
      return Promise.reject(this.#unavailable(`${waitingMax} requests wait for it`));
    return new Promise((resolve, reject) => {
      const limit = this.#clock.after(requestMsMax, () => void this.#end('it does not answer'));
      started.waiting.push({ resolve, reject, limit });
      started.child.channel?.ref();
      started.child.send(request, (error) => {
        if (error !== null) this.#lost(started.child, error.message);
      });
    });
  }

  #lost(child: ChildProcess, detail: string): void {
    const started = this.#process;
    if (started?.child !== child) return;
    this.#process = undefined;
    if (started.waiting.length > 0) this.#failedStarts += 1;
    for (const waiting of started.waiting) {
      waiting.limit[Symbol.dispose]();
      waiting.reject(this.#unavailable(detail));
    }
  }

  async #end(why: string): Promise<void> {
    const child = this.#process?.child;
    if (child === undefined) return;
    const isOver = child.exitCode !== null || child.signalCode !== null;
    const over = new Promise<void>((resolve) => {
      if (isOver) resolve();
      else child.once('exit', () => resolve());
    });
    child.ref();
    // Its native code has been seen to fail when it is ended in an orderly way.
    child.kill('SIGKILL');
    this.#lost(child, why);
    await over;
  }

  #unavailable(detail: string): BusError {
    return new BusError('EMBEDDING_UNAVAILABLE', { engine: bundledModel.name, detail });
  }
}

/** Of the vectors of the model itself, or of a table that was made from it. */
export function fingerprintOf(engine: string): string {
  const { name, dims, weightsSha256, tokenizerSha256, pooling } = bundledModel;
  const files = `${weightsSha256.slice(0, 16)}-${tokenizerSha256.slice(0, 8)}`;
  return [name, dims, files, pooling, engine].join('/');
}

/** The work itself is not stopped. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  let stop = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason as Error);
    signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
    // A failure without a waiter is ignored.
    work.catch(() => undefined);
  }
}
