import { backoffMs, type BackoffPolicy } from '../../../base/backoff.js';
import { systemClock, type Clock } from '../../../base/clock.js';
import { pause } from '../../../base/pause.js';
import { parseLoopback } from '../../../base/loopback.js';
import { BusError } from '../../../errors/bus-error.js';
import type { PublishedPlace } from './published-place.js';

const attemptsMax = 5;
const policy: BackoffPolicy = { baseMs: 250, capMs: 8_000 };
/** A server that asks for more is asked again by the next run. */
const retryAfterMsMax = 30_000;
/** Without a byte, a connection is given up. */
const silenceMsMax = 30_000;
/** What a slow line is granted for what is sent, of which no progress is seen. */
const sentBytesPerMs = 32;
/** Absent; 403 is how a store without the right to list says so. */
const absent = [403, 404, 410];

export interface WebOptions {
  /** Sent as a bearer token; empty: none. */
  token: string;
  signal?: AbortSignal | undefined;
  clock?: Clock;
  random?: () => number;
}

/**
 * A server that answers GET, for a pull, and HEAD and PUT, for publishing, for each file below one address. What stands behind `?` in the
 * address is sent with each request: some stores sign a whole folder so.
 */
export class WebPlace implements PublishedPlace {
  readonly title: string;
  readonly atOnce = 8;
  readonly #base: URL;
  readonly #options: WebOptions;

  /** Throws USAGE for an address that is none, or to which the token would go in the clear. */
  constructor(address: string, options: WebOptions) {
    const base = URL.canParse(address) ? new URL(address) : undefined;
    if (base === undefined) throw unusable('it is no address');
    if (base.username + base.password !== '')
      throw unusable('a password does not belong into it; SIGMA_INDEX_TOKEN takes a token');
    if (
      options.token !== '' &&
      base.protocol !== 'https:' &&
      parseLoopback(base.host) === undefined
    )
      throw unusable('SIGMA_INDEX_TOKEN is sent over https only');
    this.#base = base;
    this.#options = options;
    this.title = `${base.origin}${base.pathname}`;
  }

  async get(name: string, bytesMax: number): Promise<Buffer | undefined> {
    return this.#ask('GET', name, async (response, silence) => {
      if (absent.includes(response.status)) return undefined;
      await this.#check(response);
      const chunks: Uint8Array[] = [];
      let bytes = 0;
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        silence.renew();
        bytes += chunk.length;
        if (bytes > bytesMax)
          throw new BusError('PUBLISHED_DAMAGED', {
            ...{ place: this.title, name, detail: `it has more than ${bytesMax} bytes` },
          });
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    });
  }

  async lengthOf(name: string): Promise<number | undefined> {
    return this.#ask('HEAD', name, async (response) => {
      if (absent.includes(response.status)) return undefined;
      await this.#check(response);
      const length = response.headers.get('content-length') ?? '';
      return /^\d+$/.test(length) ? Number(length) : undefined;
    });
  }

  async put(name: string, bytes: Buffer): Promise<void> {
    return this.#ask('PUT', name, (response) => this.#check(response), bytes);
  }

  /** Tries again what may work later. Throws INTERRUPTED, PUBLISHED_UNREACHABLE, and what `read` throws. */
  async #ask<T>(
    method: 'GET' | 'HEAD' | 'PUT',
    name: string,
    read: (response: Response, silence: Silence) => Promise<T>,
    body?: Buffer,
  ): Promise<T> {
    const { signal, clock = systemClock, random = Math.random } = this.#options;
    const isOver = (): boolean => signal?.aborted === true;
    for (let attempt = 0; ; attempt += 1) {
      if (isOver()) throw new BusError('INTERRUPTED');
      using silence = new Silence(clock, silenceMsMax + (body?.length ?? 0) / sentBytesPerMs);
      let failure: BusError;
      try {
        return await read(await this.#send(method, name, body, silence.signal), silence);
      } catch (error) {
        failure = error instanceof BusError ? error : this.#unreachable(reasonOf(error));
      }
      if (isOver()) throw new BusError('INTERRUPTED');
      if (!failure.retryable || attempt + 1 >= attemptsMax) throw failure;
      const wait = failure.retryAfterMs || backoffMs(policy, attempt, random());
      await pause(clock, wait, signal);
    }
  }

  #send(
    method: string,
    name: string,
    body: Buffer | undefined,
    silence: AbortSignal,
  ): Promise<Response> {
    const { token, signal } = this.#options;
    const address = new URL(this.#base);
    address.pathname = `${address.pathname.replace(/\/+$/, '')}/${name}`;
    return fetch(address, {
      method,
      // Followed by a reader alone; the token goes to no other host, which fetch sees to.
      redirect: method === 'PUT' ? 'error' : 'follow',
      headers: {
        // What is stored is gzip already.
        'accept-encoding': 'identity',
        ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/octet-stream' }),
      },
      signal: signal === undefined ? silence : AbortSignal.any([silence, signal]),
      ...(body === undefined ? {} : { body }),
    });
  }

  /** Throws PUBLISHED_UNREACHABLE for what may work later, PUBLISHED_REFUSED for the rest that is no success. */
  async #check(response: Response): Promise<void> {
    const { ok, status, headers } = response;
    if (ok) return;
    await response.body?.cancel();
    const detail = `the server answers with HTTP ${status}`;
    if (status < 500 && status !== 408 && status !== 429)
      throw new BusError('PUBLISHED_REFUSED', { place: this.title, detail });
    const seconds = Number(headers.get('retry-after') ?? NaN);
    const retryAfterMs = seconds > 0 ? Math.min(seconds * 1_000, retryAfterMsMax) : 0;
    throw new BusError('PUBLISHED_UNREACHABLE', { place: this.title, detail, retryAfterMs });
  }

  #unreachable(detail: string): BusError {
    return new BusError('PUBLISHED_UNREACHABLE', { place: this.title, detail });
  }
}

/** Gives a signal when nothing was heard for so long. */
class Silence implements Disposable {
  readonly #stop = new AbortController();
  readonly #clock: Clock;
  readonly #ms: number;
  #timer: Disposable;

  constructor(clock: Clock, ms: number) {
    this.#clock = clock;
    this.#ms = ms;
    this.#timer = this.#started();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  renew(): void {
    this.#timer[Symbol.dispose]();
    this.#timer = this.#started();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #started(): Disposable {
    const why = new Error(`nothing was heard for ${Math.round(this.#ms / 1_000)} s`);
    return this.#clock.after(this.#ms, () => this.#stop.abort(why));
  }
}

/** What fetch says hides what happened in its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error as Error;
  const { code, message = '' } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  return code ?? (message || (error instanceof Error ? error.message : String(error)));
}

function unusable(detail: string): BusError {
  return new BusError('USAGE', { detail: `the address cannot be used: ${detail}` });
}
