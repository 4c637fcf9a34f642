import type { Clock } from '../../src/base/clock.js';

/** A clock that the test advances. */
export class VirtualClock implements Clock {
  #nowMs = 0;
  #next = 0;
  readonly #timers = new Map<number, { atMs: number; fn: () => void }>();

  nowMs(): number {
    return 1_700_000_000_000 + this.#nowMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, fn: () => void): Disposable {
    const id = (this.#next += 1);
    this.#timers.set(id, { atMs: this.#nowMs + Math.max(0, delayMs), fn });
    return { [Symbol.dispose]: () => void this.#timers.delete(id) };
  }

  turn(): Promise<void> {
    return new Promise(setImmediate);
  }

  /** Timers that wait. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Runs what falls due, in order; between two timers all promises have their turn. */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await this.turn();
    for (let due = this.#due(untilMs); due !== undefined; due = this.#due(untilMs)) {
      const [id, { atMs, fn }] = due;
      this.#nowMs = Math.max(this.#nowMs, atMs);
      this.#timers.delete(id);
      fn();
      await this.turn();
    }
    this.#nowMs = untilMs;
  }

  /** The process stands still: timers that fall due run later. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  #due(untilMs: number): [number, { atMs: number; fn: () => void }] | undefined {
    let first: [number, { atMs: number; fn: () => void }] | undefined;
    for (const each of this.#timers)
      if (each[1].atMs <= untilMs && (first === undefined || each[1].atMs < first[1].atMs))
        first = each;
    return first;
  }
}
