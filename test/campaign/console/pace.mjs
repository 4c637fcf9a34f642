import { performance } from 'node:perf_hooks';
import { clearInterval, setInterval } from 'node:timers';

/** More ticks would cost the machine more than what they begin. */
const tickMs = 5;

/**
 * Calls `once` so many times a second, whether or not what it began before is over, with the time at which it was due: who measures from
 * there counts what was late. Gives what ends it.
 */
export function paced(perS, once) {
  const startedMs = performance.now();
  let begun = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    for (let dueMs; (dueMs = startedMs + (begun * 1_000) / perS) <= nowMs; begun += 1) once(dueMs);
  }, tickMs);
  return () => clearInterval(timer);
}
