import type { Clock } from './clock.js';

/** Resolves after so many milliseconds, or when the signal is given: what is done next says that nobody waits. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const end = (): void => {
      timer[Symbol.dispose]();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(ms, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}
