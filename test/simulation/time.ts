import type { Clock } from '../../src/base/clock.js';
import type { SeededRandom } from './random.js';

interface Event {
  atMs: number;
  order: number;
  run: (() => void) | undefined;
}

/** A Unix time to begin at; which one does not matter. */
const startMs = Date.UTC(2026, 0, 1);

/**
 * Time that passes only when the next event is due. After each event every promise that it released has
 * run before the next one begins: nothing here waits for real I/O, so one turn of the real event loop
 * drains them all, always in the same order.
 */
export class SimulatedTime {
  /** Milliseconds since the run began. */
  nowMs = 0;
  /** How wrong the wall clock is. */
  wallOffsetMs = 0;
  events = 0;
  readonly #heap: Event[] = [];
  #order = 0;

  get wallMs(): number {
    return Math.floor(startMs + this.nowMs + this.wallOffsetMs);
  }

  schedule(delayMs: number, run: () => void): Disposable {
    const event: Event = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#order, run };
    this.#order += 1;
    this.#push(event);
    return { [Symbol.dispose]: () => (event.run = undefined) };
  }

  /** Runs events until `isOver`, or until this time has come, or none is left. */
  async runUntil(untilMs: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const next = this.#heap[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#pop();
      if (next.run === undefined) continue;
      this.nowMs = next.atMs;
      this.events += 1;
      next.run();
      await new Promise<void>((resolve) => void setImmediate(resolve));
    }
    if (!isOver()) this.nowMs = Math.max(this.nowMs, untilMs);
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

/**
 * One operating system process: what was to happen in it never does once it is killed, and waits while its
 * event loop is blocked. Its monotonic clock begins at its own start, as a real one does.
 */
export class Process {
  isAlive = true;
  readonly clock: Clock;
  readonly random: SeededRandom;
  readonly #time: SimulatedTime;
  readonly #startedMs: number;
  #blockedUntilMs = 0;
  readonly #inputs: (() => void)[] = [];

  constructor(
    time: SimulatedTime,
    readonly name: string,
    random: SeededRandom,
  ) {
    this.#time = time;
    this.random = random;
    this.#startedMs = time.nowMs;
    this.clock = {
      nowMs: () => time.wallMs,
      monotonicMs: () => time.nowMs - this.#startedMs,
      // Timers come a little late, as they do.
      after: (delayMs, fn) => this.run(Math.max(1, delayMs) + random.next(), fn),
      turn: () => new Promise((resolve) => void this.run(0, resolve, true)),
    };
  }

  /** Timers that came due while the loop was blocked run before what arrived meanwhile is read (`isInput`), in order. */
  run(delayMs: number, fn: () => void, isInput = false): Disposable {
    let isWanted = true;
    const attempt = (): void => {
      if (!this.isAlive || !isWanted) return;
      const waitMs = this.#blockedUntilMs - this.#time.nowMs;
      if (isInput && (waitMs > 0 || this.#inputs.length > 0)) this.#read(fn);
      else if (waitMs > 0) this.#time.schedule(waitMs, attempt);
      else fn();
    };
    this.#time.schedule(delayMs, attempt);
    return { [Symbol.dispose]: () => (isWanted = false) };
  }

  /** Keeps what has arrived until the loop turns again. */
  #read(fn: () => void): void {
    const next = (): void => {
      if (!this.isAlive) return;
      const waitMs = this.#blockedUntilMs - this.#time.nowMs;
      if (waitMs > 0) return void this.#time.schedule(waitMs + 0.01, next);
      this.#inputs.shift()?.();
      if (this.#inputs.length > 0) this.#time.schedule(0, next);
    };
    this.#inputs.push(fn);
    if (this.#inputs.length === 1) next();
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.run(ms, resolve));
  }

  /** Its event loop does nothing for a while. */
  block(ms: number): void {
    this.#blockedUntilMs = this.#time.nowMs + ms;
  }

  /** As `kill -9` does. */
  kill(): void {
    this.isAlive = false;
  }
}
