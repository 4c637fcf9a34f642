/** Time as a parameter: production passes `systemClock`, tests and simulations pass their own. */
export interface Clock {
  /** Unix time in milliseconds; may jump. For records and for comparison across processes. */
  nowMs(): number;
  /** Milliseconds that only ever grow. For durations and deadlines. */
  monotonicMs(): number;
  /** Calls `fn` once after `delayMs`, unless disposed of first. */
  after(delayMs: number, fn: () => void): Disposable;
  /** Resolves in a later turn of the event loop, when I/O has had its chance. */
  turn(): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, fn) {
    const timer = setTimeout(fn, Math.max(0, delayMs));
    return { [Symbol.dispose]: () => clearTimeout(timer) };
  },
  turn: () => new Promise(setImmediate),
};
