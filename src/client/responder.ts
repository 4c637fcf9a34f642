import type { Clock } from '../base/clock.js';
import type { Trace } from '../base/trace.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { Command, makeFrame, type Frame } from '../wire/frame.js';
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
  /** Sends a part of the answer, or tells how far it is; the reply itself still has to come. False: the link takes nothing now. */
  progress(body: Buffer): boolean;
}

/** Returns the body of the reply; a BusError that it throws reaches the requester as it is. */
export type Handler = (request: Incoming) => Buffer | Promise<Buffer>;

/** Runs handlers and sends what they return. Every request that wants a reply gets exactly one. */
export class Responder {
  readonly #handlers = new Map<string, Handler>();
  readonly #agent: string;
  readonly #clock: Clock;
  readonly #trace: Trace;
  readonly #send: (frame: Frame) => boolean;
  /** By requester and request. */
  readonly #serving = new Map<string, AbortController>();

  /** `send`: false when nothing more can be queued; throws TOO_LARGE. */
  constructor(parts: {
    agent: string;
    clock: Clock;
    trace: Trace;
    send: (frame: Frame) => boolean;
  }) {
    this.#agent = parts.agent;
    this.#clock = parts.clock;
    this.#trace = parts.trace;
    this.#send = parts.send;
  }

  add(handlers: Record<string, Handler>): void {
    for (const [type, handler] of Object.entries(handlers)) this.#handlers.set(type, handler);
  }

  async onRequest(frame: Frame): Promise<void> {
    const { from, type, deadline_ms } = frame.envelope;
    const handler = this.#handlers.get(type);
    if (handler === undefined)
      return this.#fail(frame, new BusError('UNKNOWN_TYPE', { agent: this.#agent, type }));
    if (this.#serving.size >= clientLimits.servingMax) {
      return this.#fail(frame, new BusError('BROKER_BUSY', { limit: clientLimits.servingMax }));
    }
    const key = keyOf(from, frame.envelope.id);
    const abort = new AbortController();
    this.#serving.set(key, abort);
    const timer = deadline_ms > 0 ? this.#clock.after(deadline_ms, () => abort.abort()) : undefined;
    try {
      const body = await handler({
        from,
        type,
        body: frame.body,
        deadlineMs: deadline_ms,
        signal: abort.signal,
        progress: (part) => this.#answer(frame, `${type}.part`, part, true),
      });
      this.#answer(frame, `${type}.reply`, body);
    } catch (error) {
      // TOO_LARGE of the reply itself lands here too: the requester hears why it gets nothing.
      this.#fail(frame, error);
    } finally {
      timer?.[Symbol.dispose]();
      this.#serving.delete(key);
    }
  }

  /** The requester no longer wants this answered. */
  onCancel(from: string, request: string): void {
    this.#serving.get(keyOf(from, request))?.abort();
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
    const { id, reply_to } = request.envelope;
    if (reply_to === '') return true;
    if (this.#send(makeFrame(Command.SEND, { to: reply_to, correlation: id, type, more }, body)))
      return true;
    // The link takes nothing: the requester learns it from its deadline or from the loss of this session.
    // Who sends a part is told at once and may try again.
    if (!more) this.#trace('warn', 'a reply was dropped: the link takes nothing', { type });
    return false;
  }
}

function keyOf(requester: string, request: string): string {
  return `${requester}\0${request}`;
}
