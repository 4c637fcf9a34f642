import type { Clock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import type { Critique } from '../../critic/shapes.js';
import { asBusError, type BusError } from '../../errors/bus-error.js';
import { critiqueLimits } from './critique-station.js';

/**
 * What a critic says. One that is not there or has no room is waited for so long; one that was at work and is gone may be
 * back at once, and is waited for as long again. Returns why nobody reviewed it, or undefined where that is not wanted
 * any more.
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
      // It was there for longer than it takes to refuse.
      if (nowMs - askedMs > pauseMs) untilMs = nowMs + waitMs;
      const leftMs = Math.min(untilMs, lastMs) - nowMs;
      if (!failed.retryable || leftMs <= 0) return failed;
      await onWaiting(failed.code);
      await pause(clock, Math.min(pauseMs, leftMs), signal);
    }
  }
}
