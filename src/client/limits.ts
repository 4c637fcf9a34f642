import type { BackoffPolicy } from '../base/backoff.js';

/** Every bound of a client, by name. */
export const clientLimits = {
  /** Requests under way; one more fails with BROKER_BUSY. The broker's WELCOME may lower it. */
  requestsMax: 1_024,
  /** Requests being served at once; one more is answered BROKER_BUSY. */
  servingMax: 256,
  /** Bytes that wait for the link; beyond it a send fails with BROKER_BUSY. */
  outboxBytesMax: 16 * 1024 * 1024,
  /** A request without a deadline gets this one. */
  deadlineMs: 30_000,
  /** Wished time between signs of life; the broker decides. */
  heartbeatMs: 1_000,
  /** A pattern more is refused TOO_LARGE. */
  subscriptionsMax: 256,
} as const;

/** A registration that the broker could not take just now is repeated. */
export const restoreBackoff: BackoffPolicy = { baseMs: 250, capMs: 5_000 };

/** HELLO is repeated while nobody answers. */
export const greetingBackoff: BackoffPolicy = { baseMs: 250, capMs: 2_000 };
