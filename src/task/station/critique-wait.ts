import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import type { Critique } from '../../critic/shapes.js';
import { asBusError, type BusError } from '../../errors/bus-error.js';
import { critiqueLimits } from './critique-station.js';

/**
 * Asks a critic, and waits `waitMs` for one that is absent or full. A critic that disappears during a review may be back soon: the wait begins again. Returns the error when there was no review, and undefined when the signal aborts.
 */
export async function critiqueWithin(
  ask: () => Promise<Critique>,
  {
    clock,
    signal,
    onWaiting,
  }: { clock: Clock; signal: AbortSignal; onWaiting: (code: string) => Promise<unknown> },
): Promise<Critique | BusError | undefined> {
  const { waitMs, pauseMs, reviewMs } = critiqueLimits;
  const lastMs = clock.monotonicMs() + reviewMs + waitMs;
  let untilMs = clock.monotonicMs() + waitMs;
  for (;;) {
    const askedMs = clock.monotonicMs();
    try {
      return await ask();
    } catch (error) {
      const failed = asBusError(error);
      if (signal.aborted) return undefined;
      const nowMs = clock.monotonicMs();
      // The critic had accepted the request before it disappeared.
      if (nowMs - askedMs > pauseMs) untilMs = nowMs + waitMs;
      const leftMs = Math.min(untilMs, lastMs) - nowMs;
      if (!failed.retryable || leftMs <= 0) return failed;
      await onWaiting(failed.code);
      await pause(clock, Math.min(pauseMs, leftMs), signal);
    }
  }
}
