import { backoffMs, type BackoffPolicy } from '../../../base/backoff.js';
import type { Clock } from '../../../base/clock.js';
import { asBusError, type BusError } from '../../../errors/bus-error.js';
import { Quiet, type QuietLimits } from './debounce.js';

/** Editors write in bursts; a checkout of another release takes seconds. */
export const quietLimits: QuietLimits = { quietMs: 400, delayMsMax: 5_000 };
/** More changes than this at once, and some may have been lost on the way: everything is looked at. */
export const changedMax = 1_000;
/** Everything is looked at this long after the last time, whatever the watcher told. */
export const checkEveryMs = 15 * 60_000;
/** Between two attempts after one that failed. */
const retryBackoff: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };

/** Paths that may have changed, and folders in which anything may have; undefined: anything anywhere. */
export type Changed = ReadonlySet<string> | undefined;

export interface RefresherParts {
  clock: Clock;
  random: () => number;
  /** Makes the index follow. One at a time. */
  refresh: (changed: Changed) => Promise<void>;
  onFailure: (error: BusError, retryMs: number) => void;
  limits?: QuietLimits;
}

/**
 * Refreshes an index after its tree has changed: once for all changes of a burst, and once more for those that came
 * while it did. What a failed one was about is tried again, with growing pauses; the old index is served meanwhile.
 */
export class Refresher implements AsyncDisposable {
  readonly #parts: RefresherParts;
  readonly #quiet: Quiet;
  #changed = new Set<string>();
  #isAll = false;
  #failures = 0;
  #running: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #isClosed = false;

  constructor(parts: RefresherParts) {
    this.#parts = parts;
    this.#quiet = new Quiet(parts.clock, parts.limits ?? quietLimits, () => this.#begin());
    this.#arm(checkEveryMs);
  }

  /** Undefined: it is not known what has changed. */
  onChange(paths: Iterable<string> | undefined): void {
    if (this.#isClosed) return;
    this.#note(paths);
    this.#quiet.touch();
  }

  /** Resolves when a refresh that is under way has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#quiet[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await this.#running;
  }

  #note(paths: Iterable<string> | undefined): void {
    for (const path of paths ?? []) {
      if (this.#changed.size >= changedMax) this.#isAll = true;
      if (this.#isAll) break;
      this.#changed.add(path);
    }
    this.#isAll ||= paths === undefined;
    if (this.#isAll) this.#changed.clear();
  }

  #begin(): void {
    if (this.#isClosed || this.#running !== undefined) return;
    if (!this.#isAll && this.#changed.size === 0) return;
    const changed = this.#isAll ? undefined : this.#changed;
    this.#isAll = false;
    this.#changed = new Set();
    this.#running = this.#run(changed).finally(() => {
      this.#running = undefined;
      // What came meanwhile has had its quiet, or has a timer of its own.
      if (this.#failures === 0) this.#begin();
    });
  }

  async #run(changed: Changed): Promise<void> {
    try {
      await this.#parts.refresh(changed);
      this.#failures = 0;
      if (changed === undefined) this.#arm(checkEveryMs);
    } catch (error) {
      this.#note(changed);
      const { baseMs } = retryBackoff;
      const retryMs = baseMs + backoffMs(retryBackoff, this.#failures, this.#parts.random());
      this.#failures += 1;
      this.#parts.onFailure(asBusError(error), retryMs);
      this.#arm(retryMs);
    }
  }

  /** After this everything is looked at. */
  #arm(delayMs: number): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#isClosed) return;
    this.#timer = this.#parts.clock.after(delayMs, () => {
      this.#note(undefined);
      this.#begin();
    });
  }
}
