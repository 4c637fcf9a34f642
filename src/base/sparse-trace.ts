import type { Clock } from './clock.js';
import type { Trace } from './trace.js';

/** Each thing is told at most once in this time: whoever provokes lines must not fill a disk with them. */
export const sparseMs = 60_000;

/** Tells of what others can cause as often as they like, with how often it happened untold since. */
export class SparseTrace {
  readonly #trace: Trace;
  readonly #clock: Clock;
  readonly #told = new Map<string, { atMs: number; untold: number }>();

  constructor(trace: Trace, clock: Clock) {
    this.#trace = trace;
    this.#clock = clock;
  }

  /** `what` is one of the program's own texts. */
  tell(level: 'warn' | 'error', what: string, fields: Record<string, unknown> = {}): void {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#told.get(what);
    if (before !== undefined && nowMs - before.atMs < sparseMs) {
      before.untold += 1;
      return;
    }
    this.#told.set(what, { atMs: nowMs, untold: 0 });
    this.#trace(level, what, { ...fields, ...(before?.untold && { untold: before.untold }) });
  }
}
