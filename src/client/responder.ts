import { ChurnMap } from '../base/churn-map.js';
import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { inTrace, isSampled } from '../base/trace-context.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { Command, frameOf, newEnvelope, type Frame } from '../wire/frame.js';
import { encodeFailure } from '../wire/messages.js';
import { clientLimits } from './limits.js';

/** A request to answer. `signal` aborts at its deadline. */
export interface Incoming {
  from: string;
  type: string;
  body: Buffer;
  /** Milliseconds that were left when it was delivered; 0: no deadline. */
  deadlineMs: number;
  signal: AbortSignal;
  /** Sends a part of the answer or its progress; the final reply follows. False: the link is full. */
  progress(body: Buffer): boolean;
}

/** Returns the body of the reply; a BusError that it throws reaches the requester as it is. */
export type Handler = (request: Incoming) => Buffer | Promise<Buffer>;

/** A reply whose body is a BlobRef: the real one has to be fetched. */
export const blobReplyType = 'blob';

/**
 * One request under way. Most handlers never look at its signal: it and its timer are made when one does.
 * A class, because V8 gives each object literal that has a getter a hidden class of its own.
 */
class Serving implements Incoming {
  readonly from: string;
  readonly type: string;
  readonly body: Buffer;
  readonly deadlineMs: number;
  readonly progress: Incoming['progress'];
  readonly #clock: Clock;
  readonly #arrivedMs: number;
  #abort: AbortController | undefined;
  #timer: Disposable | undefined;
  #state: 'running' | 'cancelled' | 'ended' = 'running';

  constructor(request: Frame, clock: Clock, progress: Incoming['progress']) {
    const { from, type, deadline_ms } = request.envelope;
    this.from = from;
    this.type = type;
    this.body = request.body;
    this.deadlineMs = deadline_ms;
    this.#clock = clock;
    this.progress = progress;
    this.#arrivedMs = clock.monotonicMs();
  }

  get signal(): AbortSignal {
    if (this.#abort !== undefined) return this.#abort.signal;
    const abort = new AbortController();
    this.#abort = abort;
    if (this.#state === 'cancelled') abort.abort();
    else if (this.#state === 'running' && this.deadlineMs > 0) {
      const leftMs = this.deadlineMs - (this.#clock.monotonicMs() - this.#arrivedMs);
      if (leftMs <= 0) abort.abort();
      else this.#timer = this.#clock.after(leftMs, () => abort.abort());
    }
    return abort.signal;
  }

  cancel(): void {
    this.#state = 'cancelled';
    this.#abort?.abort();
  }

  end(): void {
    this.#state = 'ended';
    this.#timer?.[Symbol.dispose]();
  }
}

/** Runs handlers and sends what they return. Every request that wants a reply gets exactly one. */
export class Responder {
  readonly #handlers = new Map<string, { handle: Handler; replyType: string }>();
  readonly #agent: string;
  readonly #clock: Clock;
  readonly #trace: Trace;
  readonly #nextId: () => string;
  readonly #send: (frame: Frame, reserve: number) => boolean;
  readonly #share: (body: Buffer) => Promise<Buffer>;
  /** By requester and request. */
  readonly #serving = new ChurnMap<string, Serving>();

  constructor(parts: {
    agent: string;
    clock: Clock;
    trace: Trace;
    nextId: () => string;
    /** `reserve`: bytes beyond the limit of the link. False when nothing more can be queued; throws TOO_LARGE. */
    send: (frame: Frame, reserve: number) => boolean;
    /** Offers a body that is too large for a reply; returns the BlobRef that is sent instead. */
    share: (body: Buffer) => Promise<Buffer>;
  }) {
    this.#agent = parts.agent;
    this.#clock = parts.clock;
    this.#trace = parts.trace;
    this.#nextId = parts.nextId;
    this.#send = parts.send;
    this.#share = parts.share;
  }

  add(handlers: Record<string, Handler>): void {
    for (const [type, handle] of Object.entries(handlers))
      this.#handlers.set(type, { handle, replyType: `${type}.reply` });
  }

  onRequest(frame: Frame): void {
    inTrace(frame.envelope.trace, () => this.#handle(frame));
  }

  #handle(frame: Frame): void {
    const { from, type } = frame.envelope;
    const known = this.#handlers.get(type);
    if (known === undefined)
      return this.#fail(frame, new BusError('UNKNOWN_TYPE', { agent: this.#agent, type }));
    if (this.#serving.size >= clientLimits.servingMax) {
      return this.#fail(frame, new BusError('BROKER_BUSY', { limit: clientLimits.servingMax }));
    }
    const progress = (part: Buffer): boolean => this.#answer(frame, `${type}.part`, part, true);
    const serving = new Serving(frame, this.#clock, progress);
    if (isSampled()) this.#trace('info', 'asked', { type, from });
    try {
      const body = known.handle(serving);
      // Until it has answered it can be cancelled, and counts.
      if (body instanceof Promise || body.length > clientLimits.replyBytesMax)
        return void this.#finish(frame, serving, body);
      this.#answer(frame, known.replyType, body);
    } catch (error) {
      this.#fail(frame, error);
    }
    serving.end();
  }

  async #finish(frame: Frame, serving: Serving, reply: Buffer | Promise<Buffer>): Promise<void> {
    const { from, id, type } = frame.envelope;
    const key = keyOf(from, id);
    this.#serving.set(key, serving);
    try {
      const body = await reply;
      if (body.length <= clientLimits.replyBytesMax) this.#answer(frame, `${type}.reply`, body);
      else this.#answer(frame, blobReplyType, await this.#share(body));
    } catch (error) {
      // TOO_LARGE of the reply itself lands here too: the requester hears why it gets nothing.
      this.#fail(frame, error);
    } finally {
      serving.end();
      // The same request may have come again meanwhile, in a later session.
      if (this.#serving.get(key) === serving) this.#serving.delete(key);
    }
  }

  /** The requester no longer wants this answered. */
  onCancel(from: string, request: string): void {
    this.#serving.get(keyOf(from, request))?.cancel();
  }

  #fail(request: Frame, error: unknown): void {
    const coded = asBusError(error);
    if (coded.code === 'INTERNAL') {
      this.#trace('error', 'a handler failed', {
        type: request.envelope.type,
        detail: coded.message,
      });
    }
    this.#answer(request, 'error', encodeFailure(coded));
  }

  #answer(request: Frame, type: string, body: Buffer, more = false): boolean {
    const { id: correlation, reply_to: to } = request.envelope;
    if (to === '') return true;
    const envelope = newEnvelope();
    envelope.id = this.#nextId();
    envelope.to = to;
    envelope.correlation = correlation;
    envelope.type = type;
    envelope.more = more;
    const isError = type === 'error';
    const reserve = isError ? clientLimits.errorBytesMax : 0;
    if (this.#send(frameOf(Command.SEND, envelope, body), reserve)) return true;
    // The sender of a part may send it again. The requester waits for the end, and is told.
    if (more) return false;
    this.#trace('warn', 'a reply was dropped: the link takes nothing', { type });
    if (!isError) this.#fail(request, new BusError('REPLY_DROPPED', { agent: this.#agent }));
    return false;
  }
}

function keyOf(requester: string, request: string): string {
  return `${requester}\0${request}`;
}
