import type { Failure } from '../../errors/bus-error.js';
import { reactionTo, retryPauseMs } from '../retry-policy.js';

/**
 * How long to wait before a failed request of a model is made again; null: it is not. Whoever failed may ask for another
 * wait. `tries`: that failed before this one.
 */
export function pauseAfter(failure: Failure, tries: number): number | null {
  if (reactionTo(failure, tries) === 'abort') return null;
  return failure.retry_after_ms ?? retryPauseMs(tries);
}
