import { createHash } from 'node:crypto';
import { open, stat } from 'node:fs/promises';
import { backoffMs } from '../base/backoff.js';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { blobRangeCodec, type BlobRange, type BlobRef } from '../wire/messages.js';
import { isBlobName, type BlobCache } from './blob-cache.js';
import type { Asker } from './request.js';
import { blobBackoff, blobLimits } from './limits.js';
import type { Handler, Incoming } from './responder.js';

export interface BlobsParts {
  /** The client that asks and answers. */
  client: Asker & { serve(handlers: Record<string, Handler>): void };
  /** Agent id of that client. */
  agent: string;
  cache?: BlobCache;
  clock: Clock;
  random: () => number;
  trace: Trace;
  limits?: Partial<{ [Limit in keyof typeof blobLimits]: number }>;
}

interface Offer {
  bytes: number;
  /** Content in memory, or the file that holds it. */
  source: Buffer | { file: string };
}

const requestType = 'blob.get';
/** Bytes hashed at once; other work runs in between. */
const hashBytes = 1024 * 1024;
/** How long a link that takes nothing is left alone. */
const stalledMs = 5;

/** Blobs: values larger than a frame, named by their content; offered by their owner, fetched in parts, cached. */
export class Blobs {
  readonly #parts: BlobsParts;
  readonly #limits: { [Limit in keyof typeof blobLimits]: number };
  /** The oldest offer comes first. */
  readonly #offers = new Map<string, Offer>();
  #offeredBytes = 0;
  #fetching = 0;
  /** Called with true when the slot is theirs. */
  readonly #waiting = new Set<(isTurn: boolean) => void>();

  /** Answers requests of type `blob.get` from now on. */
  constructor(parts: BlobsParts) {
    this.#parts = parts;
    this.#limits = { ...blobLimits, ...parts.limits };
    parts.client.serve({ [requestType]: (request) => this.#serve(request) });
  }

  /**
   * Other agents may fetch it while this process lives and the offer is among the youngest. The content must not
   * change from now on. Throws TOO_LARGE, and BLOB_MISSING for a file that cannot be read.
   */
  async offer(source: Buffer | { file: string }): Promise<BlobRef> {
    const { bytes, sha256 } = Buffer.isBuffer(source)
      ? await this.#hashOfBuffer(source)
      : await this.#hashOfFile(source.file);
    this.withdraw(sha256);
    this.#offers.set(sha256, { bytes, source });
    this.#offeredBytes += inMemory({ bytes, source });
    const { offersMax, offeredBytesMax } = this.#limits;
    for (const [oldest, offer] of [...this.#offers]) {
      const isOver = this.#offers.size > offersMax;
      // Files take no memory: forgetting one makes no room for another's bytes.
      if (isOver || (this.#offeredBytes > offeredBytesMax && inMemory(offer) > 0))
        this.withdraw(oldest);
    }
    return { sha256, bytes, owner: this.#parts.agent };
  }

  withdraw(sha256: string): void {
    const offer = this.#offers.get(sha256);
    if (offer === undefined) return;
    this.#offers.delete(sha256);
    this.#offeredBytes -= inMemory(offer);
  }

  /**
   * From the cache or from its owner, part by part; a missing part is requested again from where it broke
   * off. Throws BLOB_MISSING, BLOB_CORRUPT, TOO_LARGE, DEADLINE_EXCEEDED, CANCELLED, and what the bus
   * answers when asking again did not help.
   */
  async fetch(
    ref: BlobRef,
    options: { deadlineMs: number; signal?: AbortSignal },
  ): Promise<Buffer> {
    const limit = this.#limits.bytesMax;
    if (!isBlobName(ref.sha256) || !Number.isSafeInteger(ref.bytes) || ref.bytes < 0)
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'this names no blob' });
    if (ref.bytes > limit)
      throw new BusError('TOO_LARGE', { what: 'a blob', bytes: ref.bytes, limit });
    const untilMs = this.#parts.clock.monotonicMs() + options.deadlineMs;
    const cached = await this.#parts.cache?.get(ref.sha256);
    if (cached?.length === ref.bytes) return cached;
    const content = await this.#inTurn({ ...options, untilMs }, (whole) =>
      this.#download(ref, whole),
    );
    await this.#parts.cache?.put(ref.sha256, content);
    return content;
  }

  // --- the owner's side

  async #serve(request: Incoming): Promise<Buffer> {
    const range = blobRangeCodec.decode(request.body);
    const offer = this.#offers.get(range.sha256);
    if (offer === undefined) throw this.#missing(range.sha256);
    const end = Math.min(
      offer.bytes,
      range.offset + Math.min(range.length, this.#limits.rangeBytes),
    );
    if (range.offset > end)
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'the range lies outside the blob' });
    return Buffer.isBuffer(offer.source)
      ? this.#serveBuffer(request, offer.source.subarray(range.offset, end))
      : this.#serveFile(request, range, offer.source.file, offer.bytes, end);
  }

  async #serveBuffer(request: Incoming, content: Buffer): Promise<Buffer> {
    const { replyBytes } = this.#limits;
    let at = 0;
    for (; content.length - at > replyBytes; at += replyBytes)
      await this.#progress(request, content.subarray(at, at + replyBytes));
    return content.subarray(at);
  }

  async #serveFile(
    request: Incoming,
    range: BlobRange,
    file: string,
    bytes: number,
    end: number,
  ): Promise<Buffer> {
    const handle = await open(file, 'r').catch(() => undefined);
    if (handle === undefined) throw this.#missing(range.sha256);
    try {
      if ((await handle.stat()).size !== bytes) throw this.#missing(range.sha256);
      const content = Buffer.allocUnsafeSlow(end - range.offset);
      const { bytesRead } = await handle.read(content, 0, content.length, range.offset);
      if (bytesRead !== content.length) throw this.#missing(range.sha256);
      return await this.#serveBuffer(request, content);
    } finally {
      await handle.close();
    }
  }

  async #progress(request: Incoming, part: Buffer): Promise<void> {
    while (!request.progress(part)) {
      if (request.signal.aborted) throw new BusError('CANCELLED');
      await new Promise<void>((resolve) => void this.#parts.clock.after(stalledMs, resolve));
    }
  }

  #missing(sha256: string): BusError {
    this.withdraw(sha256);
    return new BusError('BLOB_MISSING', { sha256: sha256.slice(0, 64), owner: this.#parts.agent });
  }

  async #hashOfBuffer(content: Buffer): Promise<{ bytes: number; sha256: string }> {
    const limit = this.#limits.offeredBytesMax;
    if (content.length > limit)
      throw new BusError('TOO_LARGE', { what: 'a blob in memory', bytes: content.length, limit });
    const hash = createHash('sha256');
    for (let at = 0; at < content.length; at += hashBytes) {
      hash.update(content.subarray(at, at + hashBytes));
      await this.#parts.clock.turn();
    }
    return { bytes: content.length, sha256: hash.digest('hex') };
  }

  async #hashOfFile(file: string): Promise<{ bytes: number; sha256: string }> {
    const limit = this.#limits.bytesMax;
    try {
      const found = await stat(file);
      const size = found.size;
      if (!found.isFile())
        throw new BusError('BLOB_MISSING', { sha256: file, owner: this.#parts.agent });
      if (size > limit) throw new BusError('TOO_LARGE', { what: 'a blob', bytes: size, limit });
      const hash = createHash('sha256');
      let bytes = 0;
      const handle = await open(file, 'r');
      for await (const chunk of handle.createReadStream({ highWaterMark: hashBytes })) {
        hash.update(chunk as Buffer);
        bytes += (chunk as Buffer).length;
        if (bytes > limit) throw new BusError('TOO_LARGE', { what: 'a blob', bytes, limit });
      }
      return { bytes, sha256: hash.digest('hex') };
    } catch (error) {
      if (error instanceof BusError) throw error;
      throw new BusError(
        'BLOB_MISSING',
        { sha256: file, owner: this.#parts.agent },
        { cause: error },
      );
    }
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
    { untilMs, deadlineMs, signal }: FetchOptions,
  ): Promise<void> {
    const leftMs = untilMs - this.#parts.clock.monotonicMs();
    if (leftMs <= 0) throw new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs });
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
      onPartial,
      ...(signal !== undefined && { signal }),
    });
    onPartial(reply.body);
    if (fault !== undefined) throw fault;
  }

  /** Waits, or throws when a retry would not help. */
  async #beforeAnother(error: BusError, attempt: number, options: FetchOptions): Promise<void> {
    const { clock, random, trace } = this.#parts;
    const leftMs = options.untilMs - clock.monotonicMs();
    if (leftMs <= 0) throw new BusError('DEADLINE_EXCEEDED', { ms: options.deadlineMs });
    if (options.signal?.aborted === true) throw new BusError('CANCELLED');
    if (!error.retryable || error.code === 'CANCELLED' || attempt >= this.#limits.attemptsMax)
      throw error;
    trace('debug', 'a part of a blob is asked for again', { code: error.code });
    const waitMs = Math.min(leftMs, blobBackoff.baseMs + backoffMs(blobBackoff, attempt, random()));
    await new Promise<void>((resolve) => void clock.after(waitMs, resolve));
  }

  async #inTurn<T>(options: FetchOptions, work: (options: FetchOptions) => Promise<T>): Promise<T> {
    if (this.#fetching < this.#limits.fetchesMax) this.#fetching += 1;
    else await this.#turn(options);
    try {
      return await work(options);
    } finally {
      // Pass the slot on, so that no other caller takes it in between.
      const [next] = this.#waiting;
      if (next === undefined) this.#fetching -= 1;
      else next(true);
    }
  }

  async #turn({ untilMs, deadlineMs, signal }: FetchOptions): Promise<void> {
    const { clock } = this.#parts;
    const limit = this.#limits.fetchesWaitingMax;
    if (this.#waiting.size >= limit) throw new BusError('BROKER_BUSY', { limit });
    const isTurn = await new Promise<boolean>((resolve) => {
      const settle = (answer: boolean): void => {
        this.#waiting.delete(settle);
        timer[Symbol.dispose]();
        signal?.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      const onAbort = (): void => settle(false);
      const timer = clock.after(untilMs - clock.monotonicMs(), onAbort);
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiting.add(settle);
    });
    if (isTurn) return;
    if (signal?.aborted === true) throw new BusError('CANCELLED');
    throw new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs });
  }
}

interface FetchOptions {
  deadlineMs: number;
  untilMs: number;
  signal?: AbortSignal;
}

function inMemory({ bytes, source }: Offer): number {
  return Buffer.isBuffer(source) ? bytes : 0;
}

function corrupt(ref: BlobRef): BusError {
  return new BusError('BLOB_CORRUPT', { sha256: ref.sha256, owner: ref.owner });
}
