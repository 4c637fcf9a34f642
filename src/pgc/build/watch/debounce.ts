import type { Clock } from '../../../base/clock.js';

export interface DebounceLimits {
  /** Calls back after this long without a change. */
  quietMs: number;
  /** Under constant changes, calls back this long after the first one. */
  delayMsMax: number;
}

/** Calls back once after a burst of changes. */
export class Debounce implements Disposable {
  readonly #clock: Clock;
  readonly #limits: DebounceLimits;
  readonly #onQuiet: () => void;
  #firstMs: number | undefined;
  #timer: Disposable | undefined;

  constructor(clock: Clock, limits: DebounceLimits, onQuiet: () => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#onQuiet = onQuiet;
  }

  touch(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#firstMs ??= nowMs;
    const leftMs = this.#firstMs + this.#limits.delayMsMax - nowMs;
    this.#timer?.[Symbol.dispose]();
    this.#timer = this.#clock.after(Math.max(0, Math.min(this.#limits.quietMs, leftMs)), () => {
      this.#firstMs = undefined;
      this.#timer = undefined;
      this.#onQuiet();
    });
  }

  [Symbol.dispose](): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
  }
}
