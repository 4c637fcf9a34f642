import { ChurnMap } from '../base/churn-map.js';
import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { Frame } from '../wire/frame.js';

export interface Reply {
  from: string;
  type: string;
  body: Buffer;
  /** Of an ACCEPT: the broker's sequence number. */
  seq: number;
}

/** A timer of Node may fire this much before its time. */
const timerEarlyMsMax = 1;

interface Pending {
  frame: Frame;
  isIdempotent: boolean;
  onPartial: ((body: Buffer) => void) | undefined;
  deadlineMs: number;
  expiresAtMs: number;
  resolve: (reply: Reply) => void;
  reject: (error: BusError) => void;
  /** Stops listening to the signal of the caller, if there is one. */
  forget: (() => void) | undefined;
}

/** Requests that wait for their answer. Each ends exactly once: by answer, refusal, deadline or loss. */
export class PendingRequests {
  readonly #pending = new ChurnMap<string, Pending>();
  readonly #clock: Clock;
  readonly #unavailable: () => BusError | undefined;
  /** One for all: most requests are answered long before their deadline, and a timer each would cost more. */
  #timer: Disposable | undefined;
  #timerAtMs = Infinity;

  /** `unavailable`: why no answer is possible now, if so. A request that waited ends with it. */
  constructor(clock: Clock, unavailable: () => BusError | undefined) {
    this.#clock = clock;
    this.#unavailable = unavailable;
  }

  get size(): number {
    return this.#pending.size;
  }

  add(
    frame: Frame,
    options: {
      deadlineMs: number;
      isIdempotent: boolean;
      signal?: AbortSignal | undefined;
      onPartial?: ((body: Buffer) => void) | undefined;
      /** The caller has given up. */
      onCancelled?: () => void;
    },
  ): Promise<Reply> {
    const { deadlineMs, isIdempotent, onPartial } = options;
    const expiresAtMs = this.#clock.monotonicMs() + deadlineMs;
    if (expiresAtMs < this.#timerAtMs) this.#arm(expiresAtMs, deadlineMs);
    const forget = this.#watch(frame.envelope.id, options.signal, options.onCancelled);
    return new Promise((resolve, reject) => {
      const ends = { deadlineMs, expiresAtMs, resolve, reject, forget };
      this.#pending.set(frame.envelope.id, { frame, isIdempotent, onPartial, ...ends });
    });
  }

  /** A partial reply; more follow. */
  progress(id: string, body: Buffer): void {
    this.#pending.get(id)?.onPartial?.(body);
  }

  /** True when there was such a request. */
  settle(id: string, reply: Reply): boolean {
    const pending = this.#take(id);
    pending?.resolve(reply);
    return pending !== undefined;
  }

  /** True when there was such a request. */
  fail(id: string, error: BusError): boolean {
    const pending = this.#take(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** The connection is lost: requests that are not idempotent fail now, the rest waits for the next session. */
  interrupt(error: BusError): void {
    for (const [id, pending] of this.#pending.entries())
      if (!pending.isIdempotent) this.fail(id, error);
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
    pending.forget?.();
    return pending;
  }

  #watch(
    id: string,
    signal: AbortSignal | undefined,
    onCancelled: (() => void) | undefined,
  ): (() => void) | undefined {
    if (signal === undefined) return undefined;
    const onAbort = (): void => {
      if (this.fail(id, new BusError('CANCELLED'))) onCancelled?.();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    return () => signal.removeEventListener('abort', onAbort);
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
    for (const [id, { expiresAtMs, deadlineMs }] of this.#pending.entries()) {
      if (expiresAtMs > nowMs + timerEarlyMsMax) nextMs = Math.min(nextMs, expiresAtMs);
      else
        this.fail(id, this.#unavailable() ?? new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs }));
    }
    // A failed request may have been repeated, which armed the timer.
    if (nextMs < this.#timerAtMs) this.#arm(nextMs, nextMs - nowMs);
  }
}
