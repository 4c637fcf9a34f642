import { backoffMs, type BackoffPolicy } from '../../../base/backoff.js';
import type { Clock } from '../../../base/clock.js';
import { asBusError, type BusError } from '../../../errors/bus-error.js';
import { Debounce, type DebounceLimits } from './debounce.js';

/** Editors write in bursts; a checkout of another release takes seconds. */
const debounceLimits: DebounceLimits = { quietMs: 400, delayMsMax: 5_000 };
/** A larger burst may have lost changes on the way, so the whole tree is checked. */
export const changedMax = 1_000;
/** The whole tree is checked this long after the last check, even if the watcher reported nothing. */
export const checkEveryMs = 15 * 60_000;
/** Pauses after failed attempts. */
const retryBackoff: BackoffPolicy = { baseMs: 1_000, capMs: 60_000 };

/** Paths that may have changed, and folders below which anything may have; undefined: anything anywhere. */
export type Changed = ReadonlySet<string> | undefined;

interface RefresherParts {
  clock: Clock;
  random: () => number;
  /** Brings the index up to date. Not called concurrently. */
  refresh: (changed: Changed) => Promise<void>;
  onFailure: (error: BusError, retryMs: number) => void;
  limits?: DebounceLimits;
}

/**
 * Refreshes an index after its tree has changed: once per burst, and once more for changes during the refresh. A
 * failed refresh is retried with growing pauses; the old index is served meanwhile.
 */
export class Refresher implements AsyncDisposable {
  readonly #parts: RefresherParts;
  readonly #debounce: Debounce;
  #changed = new Set<string>();
  #isAll = false;
  #failures = 0;
  #running: Promise<void> | undefined;
  #timer: Disposable | undefined;
  #isClosed = false;

  constructor(parts: RefresherParts) {
    this.#parts = parts;
    this.#debounce = new Debounce(parts.clock, parts.limits ?? debounceLimits, () => this.#begin());
    this.#arm(checkEveryMs);
  }

  /** Undefined: it is not known what has changed. */
  onChange(paths: Iterable<string> | undefined): void {
    if (this.#isClosed) return;
    this.#note(paths);
    this.#debounce.touch();
  }

  /** Resolves when a running refresh has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#debounce[Symbol.dispose]();
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
      // Changes during the run have had their quiet time, or have a timer of their own.
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

  /** Schedules a check of the whole tree. */
  #arm(delayMs: number): void {
    this.#timer?.[Symbol.dispose]();
    if (this.#isClosed) return;
    this.#timer = this.#parts.clock.after(delayMs, () => {
      this.#note(undefined);
      this.#begin();
    });
  }
}
