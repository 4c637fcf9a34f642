import type { Clock } from './clock.js';

/** Waits for `work`, at most `ms`. True when it was done in time; the work itself is not stopped. */
export async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: Disposable | undefined;
  const tooLate = new Promise<boolean>((resolve) => {
    timer = clock.after(ms, () => resolve(false));
  });
  try {
    return await Promise.race([work.then(() => true), tooLate]);
  } finally {
    // A timer that is left behind keeps the process alive for its whole time.
    timer?.[Symbol.dispose]();
  }
}

/**
 * Given when `signal` is, and after `ms` at the latest; dispose of it. A signal that is composed of a timeout may be collected
 * before its time, and is never given then.
 */
export function givenWithin(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
): Disposable & { signal: AbortSignal } {
  const over = new AbortController();
  const give = (): void => over.abort();
  const timer = clock.after(ms, give);
  signal.addEventListener('abort', give, { once: true });
  if (signal.aborted) give();
  return {
    signal: over.signal,
    [Symbol.dispose]: () => {
      timer[Symbol.dispose]();
      signal.removeEventListener('abort', give);
    },
  };
}
