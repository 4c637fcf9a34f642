import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { Frame } from '../wire/frame.js';

export interface Reply {
  from: string;
  type: string;
  body: Buffer;
  /** Of an ACCEPT: what the broker counted it as. */
  seq: number;
}

interface Pending {
  frame: Frame;
  isIdempotent: boolean;
  onPartial: ((body: Buffer) => void) | undefined;
  expiresAtMs: number;
  resolve: (reply: Reply) => void;
  reject: (error: BusError) => void;
  timer: Disposable;
}

/** Requests that wait for their answer. Each ends exactly once: by answer, refusal, deadline or loss. */
export class PendingRequests {
  readonly #pending = new Map<string, Pending>();
  readonly #clock: Clock;
  readonly #unavailable: () => BusError | undefined;

  /** `unavailable`: why nobody can answer right now, if so. A request that waited for that ends with it. */
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
    const { id } = frame.envelope;
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(options.deadlineMs, () => {
        this.fail(
          id,
          this.#unavailable() ?? new BusError('DEADLINE_EXCEEDED', { ms: options.deadlineMs }),
        );
      });
      const onAbort = (): void => {
        if (this.fail(id, new BusError('CANCELLED'))) options.onCancelled?.();
      };
      options.signal?.addEventListener('abort', onAbort, { once: true });
      const forget = (): void => options.signal?.removeEventListener('abort', onAbort);
      this.#pending.set(id, {
        frame,
        isIdempotent: options.isIdempotent,
        onPartial: options.onPartial,
        expiresAtMs: this.#clock.monotonicMs() + options.deadlineMs,
        resolve: (reply) => {
          forget();
          resolve(reply);
        },
        reject: (error) => {
          forget();
          reject(error);
        },
        timer,
      });
    });
  }

  /** A reply that others follow. */
  progress(id: string, body: Buffer): void {
    this.#pending.get(id)?.onPartial?.(body);
  }

  settle(id: string, reply: Reply): void {
    this.#take(id)?.resolve(reply);
  }

  /** True when there was such a request. */
  fail(id: string, error: BusError): boolean {
    const pending = this.#take(id);
    pending?.reject(error);
    return pending !== undefined;
  }

  /** The connection is lost: what must not be asked twice fails now, the rest waits for the next session. */
  interrupt(error: BusError): void {
    for (const [id, pending] of [...this.#pending]) if (!pending.isIdempotent) this.fail(id, error);
  }

  failAll(error: BusError): void {
    for (const id of [...this.#pending.keys()]) this.fail(id, error);
  }

  /** Requests to send again, with what is left of their time. */
  unanswered(): { frame: Frame; leftMs: number }[] {
    const now = this.#clock.monotonicMs();
    return [...this.#pending.values()].map(({ frame, expiresAtMs }) => ({
      frame,
      leftMs: Math.max(1, Math.round(expiresAtMs - now)),
    }));
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    pending.timer[Symbol.dispose]();
    return pending;
  }
}
