import { ChurnMap } from '../base/churn-map.js';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { Frame } from '../wire/frame.js';
import type { Reply, RequestOptions } from './request.js';

/** A timer of Node may fire this much before its time. */
const timerEarlyMsMax = 1;

interface Pending {
  readonly frame: Frame;
  readonly options: PendingOptions;
  readonly expiresAtMs: number;
  readonly resolve: (reply: Reply | Promise<Reply>) => void;
  readonly reject: (error: BusError) => void;
  /** Listens to the signal of the caller, if there is one. */
  readonly onAbort: (() => void) | undefined;
}

export interface PendingOptions extends RequestOptions {
  deadlineMs: number;
  /** Asked anew after its responder was lost. */
  isMoved?: boolean;
}

/** A request that has ended, and until when it might have taken. */
export type Ended = Pick<Pending, 'frame' | 'options' | 'expiresAtMs'>;

interface PendingParts {
  clock: Clock;
  /** Why no answer is possible now, if so. A request that waited ends with it. */
  unavailable: () => BusError | undefined;
  /** What the caller gets for this reply. */
  whole: (reply: Reply, request: Ended) => Reply | Promise<Reply>;
  /** Another attempt in the place of a failure, if there may be one. */
  again: (error: BusError, request: Ended) => Promise<Reply> | undefined;
  /** The caller has given up. */
  onCancelled: (frame: Frame) => void;
}

/** Requests that wait for their answer. Each ends exactly once: by answer, refusal, deadline or loss. */
export class PendingRequests {
  readonly #pending = new ChurnMap<string, Pending>();
  readonly #parts: PendingParts;
  readonly #clock: Clock;
  /** One for all: most requests are answered long before their deadline, and a timer each would cost more. */
  #timer: Disposable | undefined;
  #timerAtMs = Infinity;

  constructor(parts: PendingParts) {
    this.#parts = parts;
    this.#clock = parts.clock;
  }

  get size(): number {
    return this.#pending.size;
  }

  add(frame: Frame, options: PendingOptions): Promise<Reply> {
    const { deadlineMs, signal } = options;
    const expiresAtMs = this.#clock.monotonicMs() + deadlineMs;
    if (expiresAtMs < this.#timerAtMs) this.#arm(expiresAtMs, deadlineMs);
    const onAbort = signal && this.#watch(frame, signal);
    return new Promise((resolve, reject) => {
      const pending = { frame, options, expiresAtMs, resolve, reject, onAbort };
      this.#pending.set(frame.envelope.id, pending);
    });
  }

  /** A partial reply; more follow. */
  progress(id: string, body: Buffer): void {
    this.#pending.get(id)?.options.onPartial?.(body);
  }

  /** True when there was such a request. */
  settle(id: string, reply: Reply): boolean {
    const pending = this.#take(id);
    if (pending === undefined) return false;
    pending.resolve(this.#parts.whole(reply, pending));
    return true;
  }

  /** True when there was such a request. */
  fail(id: string, error: BusError): boolean {
    const pending = this.#take(id);
    if (pending === undefined) return false;
    const another = this.#parts.again(error, pending);
    if (another === undefined) pending.reject(error);
    else pending.resolve(another);
    return true;
  }

  /** The connection is lost: requests that are not idempotent fail now, the rest waits for the next session. */
  interrupt(error: BusError): void {
    for (const [id, pending] of this.#pending.entries())
      if (pending.options.isIdempotent !== true) this.fail(id, error);
  }

  failAll(error: BusError): void {
    for (const [id] of this.#pending.entries()) this.fail(id, error);
    this.#timer?.[Symbol.dispose]();
    this.#timerAtMs = Infinity;
  }

  /** Requests to send again, with what is left of their time. */
  unanswered(): { frame: Frame; leftMs: number }[] {
    const now = this.#clock.monotonicMs();
    return this.#pending.values().map(({ frame, expiresAtMs }) => ({
      frame,
      leftMs: Math.max(1, Math.round(expiresAtMs - now)),
    }));
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    if (pending.onAbort) pending.options.signal?.removeEventListener('abort', pending.onAbort);
    return pending;
  }

  #watch(frame: Frame, signal: AbortSignal): () => void {
    const onAbort = (): void => {
      if (this.fail(frame.envelope.id, new BusError('CANCELLED'))) this.#parts.onCancelled(frame);
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return onAbort;
  }

  #arm(atMs: number, inMs: number): void {
    this.#timer?.[Symbol.dispose]();
    this.#timerAtMs = atMs;
    this.#timer = this.#clock.after(inMs, () => this.#expire());
  }

  #expire(): void {
    this.#timerAtMs = Infinity;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Infinity;
    for (const [id, { expiresAtMs, options }] of this.#pending.entries()) {
      if (expiresAtMs > nowMs + timerEarlyMsMax) nextMs = Math.min(nextMs, expiresAtMs);
      else {
        const late = new BusError('DEADLINE_EXCEEDED', { ms: options.deadlineMs });
        this.fail(id, this.#parts.unavailable() ?? late);
      }
    }
    // A failed request may have been repeated, which armed the timer.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs, nextMs - nowMs);
  }
}
