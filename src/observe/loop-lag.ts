import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';

/** Interval of the timer that measures; subtracted from the result. */
const resolutionMs = 50;
const slotMs = 10_000;
const slotsPerMinute = 6;

/** How late timers run: the delay that a blocked event loop causes. */
export class LoopLag implements Disposable {
  readonly #delay: IntervalHistogram = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly #timer: NodeJS.Timeout;
  /** The worst of each of the last slots that are over. */
  readonly #worstMs: number[] = [];

  constructor() {
    this.#delay.enable();
    this.#timer = setInterval(() => this.#turn(), slotMs).unref();
  }

  /** At worst, over the last minute. */
  worstMs(): number {
    return Math.max(this.#nowMs(), ...this.#worstMs);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#delay.disable();
  }

  #nowMs(): number {
    return Math.max(0, this.#delay.max / 1e6 - resolutionMs);
  }

  #turn(): void {
    this.#worstMs.push(this.#nowMs());
    if (this.#worstMs.length >= slotsPerMinute) this.#worstMs.shift();
    this.#delay.reset();
  }
}
