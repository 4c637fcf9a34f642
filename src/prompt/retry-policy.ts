import { catalogue, isErrorCode } from '../errors/catalogue.js';

/** What passes by itself is tried again so often, after these pauses. Source: the supervisor persona of prompt processing. */
const pausesMs = [1_000, 4_000, 15_000] as const;
export const retriesMax = pausesMs.length;

/**
 * What a supervised queue does about a failure: transient is what the catalogue calls worth trying again, whatever a
 * worker says of it; the rest is fatal, as is what failed so often. `triesSoFar`: failures before this one.
 */
export function reactionTo({ code }: { code: string }, triesSoFar: number): 'retry' | 'abort' {
  const isTransient = isErrorCode(code) && catalogue[code].retryable;
  return isTransient && triesSoFar < retriesMax ? 'retry' : 'abort';
}

/** Before the retry that follows so many failures, this one not counted. */
export function retryPauseMs(triesSoFar: number): number {
  return pausesMs[Math.min(triesSoFar, retriesMax - 1)] ?? 0;
}
