import type { Failure } from '../errors/bus-error.js';
import { catalogue, isErrorCode } from '../errors/catalogue.js';

/** What passes by itself is tried again so often, after these pauses. Source: the supervisor persona of prompt processing. */
const pausesMs = [1_000, 4_000, 15_000] as const;
export const retriesMax = pausesMs.length;

/**
 * What a supervised queue does about a failure: transient is what the catalogue calls worth trying again, whatever a
 * worker says of it; the rest is fatal, as is what failed so often. `triesSoFar`: failures before this one.
 */
export function retryOrAbort({ code }: { code: string }, triesSoFar: number): 'retry' | 'abort' {
  const isTransient = isErrorCode(code) && catalogue[code].retryable;
  return isTransient && triesSoFar < retriesMax ? 'retry' : 'abort';
}

/** Before the retry that follows so many failures, this one not counted. */
export function retryPauseMs(triesSoFar: number): number {
  return pausesMs[Math.min(triesSoFar, retriesMax - 1)] ?? 0;
}

/**
 * Milliseconds before a failed request to a model is made again; null: it is not. The endpoint may ask for another pause.
 * `tries`: requests that failed before this one.
 */
export function pauseAfter(failure: Failure, tries: number): number | null {
  if (retryOrAbort(failure, tries) === 'abort') return null;
  return failure.retry_after_ms ?? retryPauseMs(tries);
}
