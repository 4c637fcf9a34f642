import type { Clock } from './clock.js';
import type { Trace } from './trace.js';

/** Each event is logged at most once in this time: a peer must not be able to fill the disk. */
export const sparseMs = 60_000;

/** Logs events that a peer can cause at will, with the number of suppressed ones. */
export class SparseTrace {
  readonly #trace: Trace;
  readonly #clock: Clock;
  readonly #logged = new Map<string, { atMs: number; suppressed: number }>();

  constructor(trace: Trace, clock: Clock) {
    this.#trace = trace;
    this.#clock = clock;
  }

  /** `what` is one of the program's own texts. */
  log(level: 'warn' | 'error', what: string, fields: Record<string, unknown> = {}): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#logged.get(what);
    if (before !== undefined && nowMs - before.atMs < sparseMs) {
      before.suppressed += 1;
      return;
    }
    this.#logged.set(what, { atMs: nowMs, suppressed: 0 });
    this.#trace(level, what, {
      ...fields,
      ...(before?.suppressed && { suppressed: before.suppressed }),
    });
  }
}
