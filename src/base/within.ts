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
