import { createHash } from 'node:crypto';
import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import { pause } from '../base/pause.js';
import { Semaphore } from '../base/semaphore.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { blobRangeCodec, type BlobRange, type BlobRef } from '../wire/messages.js';
import type { Asker } from './request.js';
import { blobBackoff, blobLimits } from './limits.js';
import type { Handler, Incoming } from './responder.js';

export interface BlobsParts {
  /** The client that asks and answers. */
  client: Asker & { serve(handlers: Record<string, Handler>): void };
  /** Agent id of that client. */
  agent: string;
  clock: Clock;
  random: () => number;
  trace: Trace;
  limits?: Partial<{ [Limit in keyof typeof blobLimits]: number }>;
}

/** The name of a blob: SHA-256 of its content, in hex. */
const namePattern = /^[0-9a-f]{64}$/;
const requestType = 'blob.get';
/** Bytes hashed at once; other work runs in between. */
const hashBytes = 1024 * 1024;
/** How long a link that takes nothing is left alone. */
const stalledMs = 5;

/** Blobs: values larger than a frame, named by their content; offered by their owner, fetched in parts. */
export class Blobs {
  readonly #parts: BlobsParts;
  readonly #limits: { [Limit in keyof typeof blobLimits]: number };
  /** The oldest offer comes first. */
  readonly #offers = new Map<string, Buffer>();
  #offeredBytes = 0;
  readonly #turns: Semaphore;

  /** Answers requests of type `blob.get` from now on. */
  constructor(parts: BlobsParts) {
    this.#parts = parts;
    this.#limits = { ...blobLimits, ...parts.limits };
    this.#turns = new Semaphore({
      atOnce: this.#limits.fetchesMax,
      waitingMax: this.#limits.fetchesWaitingMax,
      refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
    });
    parts.client.serve({ [requestType]: (request) => this.#serve(request) });
  }

  /**
   * Other agents may fetch it while this process lives and the offer is among the youngest. The content must not
   * change from now on. Throws TOO_LARGE.
   */
  async offer(content: Buffer): Promise<BlobRef> {
    const sha256 = await this.#hashOf(content);
    this.withdraw(sha256);
    this.#offers.set(sha256, content);
    this.#offeredBytes += content.length;
    const { offersMax, offeredBytesMax } = this.#limits;
    for (const oldest of [...this.#offers.keys()])
      if (this.#offers.size > offersMax || this.#offeredBytes > offeredBytesMax)
        this.withdraw(oldest);
    return { sha256, bytes: content.length, owner: this.#parts.agent };
  }

  withdraw(sha256: string): void {
    this.#offeredBytes -= this.#offers.get(sha256)?.length ?? 0;
    this.#offers.delete(sha256);
  }

  /**
   * From its owner, part by part; a missing part is requested again from where it broke
   * off. Throws BLOB_MISSING, BLOB_CORRUPT, TOO_LARGE, DEADLINE_EXCEEDED, CANCELLED, and what the bus
   * answers when asking again did not help.
   */
  async fetch(
    ref: BlobRef,
    options: { deadlineMs: number; signal?: AbortSignal | undefined },
  ): Promise<Buffer> {
    const limit = this.#limits.bytesMax;
    if (!namePattern.test(ref.sha256) || !Number.isSafeInteger(ref.bytes) || ref.bytes < 0)
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'this names no blob' });
    if (ref.bytes > limit)
      throw new BusError('TOO_LARGE', { what: 'a blob', bytes: ref.bytes, limit });
    const { clock } = this.#parts;
    const { deadlineMs, signal } = options;
    const over = new AbortController();
    const late = clock.after(deadlineMs, () =>
      over.abort(new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs })),
    );
    const onAbort = (): void => over.abort(new BusError('CANCELLED'));
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted === true) onAbort();
    const whole = { untilMs: clock.monotonicMs() + deadlineMs, signal: over.signal };
    try {
      return await this.#turns.run(() => this.#download(ref, whole), over.signal);
    } finally {
      late[Symbol.dispose]();
      signal?.removeEventListener('abort', onAbort);
    }
  }

  // --- the owner's side

  async #serve(request: Incoming): Promise<Buffer> {
    const range = blobRangeCodec.decode(request.body);
    const offer = this.#offers.get(range.sha256);
    if (offer === undefined)
      throw new BusError('BLOB_MISSING', {
        ...{ sha256: range.sha256.slice(0, 64), owner: this.#parts.agent },
      });
    const { replyBytes, rangeBytes } = this.#limits;
    const end = Math.min(offer.length, range.offset + Math.min(range.length, rangeBytes));
    if (range.offset > end)
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'the range lies outside the blob' });
    let at = range.offset;
    for (; end - at > replyBytes; at += replyBytes)
      await this.#progress(request, offer.subarray(at, at + replyBytes));
    return offer.subarray(at, end);
  }

  async #progress(request: Incoming, part: Buffer): Promise<void> {
    while (!request.progress(part)) {
      if (request.signal.aborted) throw new BusError('CANCELLED');
      await pause(this.#parts.clock, stalledMs);
    }
  }

  async #hashOf(content: Buffer): Promise<string> {
    const limit = this.#limits.offeredBytesMax;
    if (content.length > limit)
      throw new BusError('TOO_LARGE', { what: 'a blob in memory', bytes: content.length, limit });
    const hash = createHash('sha256');
    for (let at = 0; at < content.length; at += hashBytes) {
      hash.update(content.subarray(at, at + hashBytes));
      await this.#parts.clock.turn();
    }
    return hash.digest('hex');
  }

  // --- the fetching side

  async #download(ref: BlobRef, options: FetchOptions): Promise<Buffer> {
    const content = Buffer.allocUnsafeSlow(ref.bytes);
    const hash = createHash('sha256');
    let at = 0;
    for (let attempt = 0; at < ref.bytes;) {
      const before = at;
      const length = Math.min(this.#limits.rangeBytes, ref.bytes - at);
      const take = (part: Buffer): void => {
        if (part.length > before + length - at) throw corrupt(ref);
        hash.update(part);
        at += part.copy(content, at);
      };
      try {
        await this.#ask(ref, { sha256: ref.sha256, offset: at, length }, take, options);
        if (at !== before + length) throw corrupt(ref);
        attempt = 0;
      } catch (error) {
        attempt = at > before ? 0 : attempt + 1;
        await this.#beforeAnother(asBusError(error), attempt, options);
      }
    }
    if (hash.digest('hex') !== ref.sha256) throw corrupt(ref);
    return content;
  }

  async #ask(
    ref: BlobRef,
    range: BlobRange,
    take: (part: Buffer) => void,
    { untilMs, signal }: FetchOptions,
  ): Promise<void> {
    signal.throwIfAborted();
    const leftMs = Math.max(1, untilMs - this.#parts.clock.monotonicMs());
    let fault: BusError | undefined;
    const onPartial = (part: Buffer): void => {
      try {
        if (fault === undefined) take(part);
      } catch (error) {
        fault = asBusError(error);
      }
    };
    const body = blobRangeCodec.encode(range);
    const reply = await this.#parts.client.request(`agent:${ref.owner}`, requestType, body, {
      deadlineMs: Math.min(leftMs, this.#limits.rangeMs),
      ...{ onPartial, signal },
    });
    onPartial(reply.body);
    if (fault !== undefined) throw fault;
  }

  /** Waits, or throws when a retry would not help. */
  async #beforeAnother(error: BusError, attempt: number, { signal }: FetchOptions): Promise<void> {
    const { clock, random, trace } = this.#parts;
    signal.throwIfAborted();
    if (!error.retryable || error.code === 'CANCELLED' || attempt >= this.#limits.attemptsMax)
      throw error;
    trace('debug', 'a part of a blob is asked for again', { code: error.code });
    await pause(clock, blobBackoff.baseMs + backoffMs(blobBackoff, attempt, random()), signal);
  }
}

interface FetchOptions {
  untilMs: number;
  /** Says why the whole fetch is over. */
  signal: AbortSignal;
}

function corrupt(ref: BlobRef): BusError {
  return new BusError('BLOB_CORRUPT', { sha256: ref.sha256, owner: ref.owner });
}
