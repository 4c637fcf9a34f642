import { z } from 'zod';
import { backoffMs, type BackoffPolicy } from '../base/backoff.js';
import { systemClock, type Clock } from '../base/clock.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { toUnitLength, type Embedder } from './embedder.js';
import { textCharsMax } from './word-piece.js';

const textsPerRequest = 64;
const requestMsMax = 30_000;
const attemptsMax = 4;
const backoff: BackoffPolicy = { baseMs: 500, capMs: 8_000 };
/** What the other side asks for is granted up to this. */
const retryAfterMsMax = 30_000;
/** Of one answer: 64 vectors of 4 096 numbers, written out. */
const answerBytesMax = 16 * 1024 * 1024;
const dimsMax = 8_192;
const detailCharsMax = 200;

const answerShape = z.object({
  data: z.array(
    z.object({
      index: z.number().int().min(0),
      embedding: z.array(z.number()).min(1).max(dimsMax),
    }),
  ),
});

export interface EndpointSettings {
  /** `https://…`, or `http://` on this machine; `/embeddings` is put behind it. */
  url: string;
  model: string;
  /** Name of the environment variable that holds the key. */
  keyEnv?: string | undefined;
}

export interface EndpointOptions {
  env: Readonly<Record<string, string | undefined>>;
  clock?: Clock;
  random?: () => number;
  /** Of one request. */
  requestMs?: number;
}

/** Any server that answers `POST {url}/embeddings {model, input[]}` as OpenAI's does. */
export class EndpointEmbedder implements Embedder {
  readonly fingerprint: string;
  readonly #url: string;
  readonly #settings: EndpointSettings;
  readonly #env: EndpointOptions['env'];
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #requestMs: number;
  #dims = 0;

  constructor(settings: EndpointSettings, options: EndpointOptions) {
    this.#settings = settings;
    this.#url = `${settings.url.replace(/\/+$/, '')}/embeddings`;
    // Not its key and not its scheme: they change nothing of the vectors.
    const { host, pathname } = new URL(this.#url);
    this.fingerprint = `${settings.model} at ${host}${pathname}`;
    this.#env = options.env;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#requestMs = options.requestMs ?? requestMsMax;
  }

  get dims(): number {
    return this.#dims;
  }

  async embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += textsPerRequest) {
      const input = texts.slice(from, from + textsPerRequest).map(readable);
      vectors.push(...(await this.#patiently(input, signal)));
    }
    return vectors;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }

  async #patiently(input: string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#once(input, signal);
      } catch (error) {
        signal?.throwIfAborted();
        const { retryable, retryAfterMs } = asBusError(error);
        if (!retryable || attempt + 1 >= attemptsMax) throw error;
        const waitMs = retryAfterMs || backoffMs(backoff, attempt, this.#random());
        await this.#sleep(waitMs, signal);
      }
    }
  }

  async #once(input: string[], signal: AbortSignal | undefined): Promise<Float32Array[]> {
    using limit = new Limit(this.#clock, this.#requestMs);
    const { status, retryAfterMs, text } = await this.#post(input, limit.with(signal)).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        if (error instanceof BusError) throw error;
        throw this.#failure(
          'EMBEDDING_UNAVAILABLE',
          limit.isOver ? `no answer within ${this.#requestMs} ms` : reasonOf(error),
        );
      },
    );
    if (status === 429 || status >= 500)
      throw this.#failure('EMBEDDING_UNAVAILABLE', `status ${status}: ${text}`, retryAfterMs);
    if (status !== 200) throw this.#failure('EMBEDDING_REFUSED', `status ${status}: ${text}`);
    return this.#vectorsOf(text, input.length);
  }

  async #post(
    input: string[],
    signal: AbortSignal,
  ): Promise<{ status: number; retryAfterMs: number; text: string }> {
    const key = this.#key();
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model: this.#settings.model, input }),
      // The key is for this address and no other.
      redirect: 'error',
      signal,
    });
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    const retryAfterMs = seconds > 0 ? Math.min(retryAfterMsMax, seconds * 1_000) : 0;
    return { status: response.status, retryAfterMs, text: await this.#textOf(response) };
  }

  async #textOf({ body }: Response): Promise<string> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > answerBytesMax)
        throw this.#failure('EMBEDDING_INVALID', `more than ${answerBytesMax} bytes`);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks).toString();
  }

  #vectorsOf(text: string, wanted: number): Float32Array[] {
    const invalid = (detail: string): BusError => this.#failure('EMBEDDING_INVALID', detail);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      throw invalid('it is not JSON');
    }
    const parsed = answerShape.safeParse(value);
    if (!parsed.success)
      throw invalid(z.prettifyError(parsed.error).split('\n')[0] ?? 'another shape');
    const vectors: Float32Array[] = [];
    for (const { index, embedding } of parsed.data.data) {
      const dims = this.#dims === 0 ? embedding.length : this.#dims;
      if (embedding.length !== dims)
        throw invalid(`a vector of ${embedding.length} numbers, not ${dims}`);
      if (index >= wanted || vectors[index] !== undefined) throw invalid(`index ${index}`);
      this.#dims = dims;
      vectors[index] = toUnitLength(Float32Array.from(embedding));
    }
    const { length } = parsed.data.data;
    if (length !== wanted) throw invalid(`${length} vectors for ${wanted} texts`);
    return vectors;
  }

  /** Read each time: it is kept nowhere. */
  #key(): string | undefined {
    const { keyEnv } = this.#settings;
    if (keyEnv === undefined) return undefined;
    const key = this.#env[keyEnv];
    if (key === undefined || key === '')
      throw this.#failure('EMBEDDING_REFUSED', `the environment variable ${keyEnv} is not set`);
    return key;
  }

  /** Servers repeat what they were sent, keys too. */
  #failure(
    code: 'EMBEDDING_UNAVAILABLE' | 'EMBEDDING_REFUSED' | 'EMBEDDING_INVALID',
    detail: string,
    retryAfterMs = 0,
  ): BusError {
    const key = this.#settings.keyEnv === undefined ? '' : (this.#env[this.#settings.keyEnv] ?? '');
    const plain = key === '' ? detail : detail.replaceAll(key, '…');
    return new BusError(code, {
      engine: this.fingerprint,
      detail: plain.slice(0, detailCharsMax).trim(),
      ...(retryAfterMs > 0 && { retryAfterMs }),
    });
  }

  async #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = (): void => {
        timer[Symbol.dispose]();
        reject(signal?.reason as Error);
      };
      const timer = this.#clock.after(ms, () => {
        signal?.removeEventListener('abort', stop);
        resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  }
}

/** Ends one request when its time is over. */
class Limit implements Disposable {
  readonly #controller = new AbortController();
  readonly #timer: Disposable;

  constructor(clock: Clock, ms: number) {
    this.#timer = clock.after(ms, () => this.#controller.abort());
  }

  get isOver(): boolean {
    return this.#controller.signal.aborted;
  }

  with(signal: AbortSignal | undefined): AbortSignal {
    const own = this.#controller.signal;
    return signal === undefined ? own : AbortSignal.any([own, signal]);
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }
}

/** Servers refuse an empty text. */
function readable(text: string): string {
  const cut = text.slice(0, textCharsMax);
  return cut.trim() === '' ? '-' : cut;
}

/** What is behind the `fetch failed` of Node. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  if (cause instanceof Error) return cause.message || cause.name;
  return error instanceof Error ? error.message : String(error);
}
