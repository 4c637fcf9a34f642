export interface BackoffPolicy {
  baseMs: number;
  capMs: number;
}

/**
 * Full jitter: uniform in [0, min(cap, base · 2^attempt)]. `attempt` starts at 0; `random` in [0, 1).
 * Source: M. Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
 */
export function backoffMs(policy: BackoffPolicy, attempt: number, random: number): number {
  const ceiling = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(attempt, 30));
  return Math.floor(random * ceiling);
}
