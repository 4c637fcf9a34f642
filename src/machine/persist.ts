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

/** Writes once; with patience a disk that takes nothing is waited for. Throws what the last attempt threw. */
export async function persist(write: () => Promise<void>, patience?: Patience): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      if (patience === undefined) throw error;
      patience.onTrouble?.(error);
      if (patience.until.aborted) throw error;
      await pause(patience.clock, diskPauseMs, patience.until);
    }
  }
}
