import { pause } from '../base/pause.js';
import type { Clock } from '../base/clock.js';

/** Between two attempts to write what could not be written. */
const diskPauseMs = 1_000;

export interface Patience {
  clock: Clock;
  /** Given when this process waits for its disk no longer. */
  until: AbortSignal;
  onTrouble?: (error: unknown) => void;
}

/** Does it once; with patience a disk that fails now is waited for. Throws what the last attempt threw. */
export async function persist<T>(work: () => Promise<T>, patience?: Patience): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (patience === undefined) throw error;
      patience.onTrouble?.(error);
      if (patience.until.aborted) throw error;
      await pause(patience.clock, diskPauseMs, patience.until);
    }
  }
}
