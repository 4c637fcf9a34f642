import type { Failure } from '../errors/bus-error.js';

/** Before each further try, unless whoever failed asks for longer. */
export const modelPausesMs = [1_000, 4_000, 15_000] as const;

/**
 * How long to wait before a failed request is made again; null: it is not. What passes by itself is tried three times more, what
 * does not never. `tries`: that failed before this one.
 */
export function pauseAfter(failure: Failure, tries: number): number | null {
  const pauseMs = modelPausesMs[tries];
  if (!failure.retryable || pauseMs === undefined) return null;
  return failure.retry_after_ms ?? pauseMs;
}
