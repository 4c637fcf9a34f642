import type { Failure } from '../errors/bus-error.js';
import { catalogue, isErrorCode } from '../errors/catalogue.js';

/** Pauses before the retries of a transient failure. Source: the supervisor persona of prompt processing. */
const pausesMs = [1_000, 4_000, 15_000] as const;
export const retriesMax = pausesMs.length;

/**
 * Whether a supervised queue retries after a failure: the catalogue decides which codes are transient, not the worker. Other failures abort, and so does the last retry. `triesSoFar`: failures before this one.
 */
export function retryOrAbort({ code }: { code: string }, triesSoFar: number): 'retry' | 'abort' {
  const isTransient = isErrorCode(code) && catalogue[code].retryable;
  return isTransient && triesSoFar < retriesMax ? 'retry' : 'abort';
}

/** Milliseconds before the next retry. `triesSoFar`: failures before this one. */
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
