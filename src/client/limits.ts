import type { BackoffPolicy } from '../base/backoff.js';

/** Every bound of a client, by name. */
export const clientLimits = {
  /** Requests under way; one more fails with BROKER_BUSY. The broker's WELCOME may lower it. */
  requestsMax: 1_024,
  /** Retries of one request because its agent moved to another process. */
  movesMax: 3,
  /** Milliseconds to wait for an agent that was lost during a request: a supervisor restarts it. */
  comebackMsMax: 5_000,
  /** Bytes of a reply; a larger one is offered as a blob, and fetched by the requester's client. */
  replyBytesMax: 1024 * 1024,
  /** Requests being served at once; one more is answered BROKER_BUSY. */
  servingMax: 256,
  /** Bytes that wait for the link; beyond it a send fails with BROKER_BUSY. */
  outboxBytesMax: 16 * 1024 * 1024,
  /** Beyond it only errors are sent, up to so many bytes: a requester is told why no answer comes. */
  errorBytesMax: 1024 * 1024,
  /** A request without a deadline gets this one. */
  deadlineMs: 30_000,
  /** What an administrator asks for may take long: a backup, for example. */
  adminMs: 600_000,
  /** Wished time between signs of life; the broker decides. */
  heartbeatMs: 1_000,
  /** Durable messages that wait for their ACCEPT; one more fails with BROKER_BUSY. */
  postsMax: 4_096,
  /** Of these, how many are out at once, if the broker's window allows it. */
  postsOutMax: 1_024,
  /** Default credit: unsettled durable messages, and their bytes. */
  creditMessages: 64,
  creditBytes: 8 * 1024 * 1024,
  /** Settled messages remembered, in case one is delivered again. */
  settledMax: 4_096,
  /** Ended TAKEs that are remembered, in case a message still comes for one. */
  takesMax: 4_096,
  /** A handler that takes longer has failed; its message is delivered again. */
  handlerMs: 600_000,
  /** A pattern more is refused TOO_LARGE. */
  subscriptionsMax: 256,
} as const;

/** Between two looks whether a lost agent is back. */
export const comebackBackoff: BackoffPolicy = { baseMs: 50, capMs: 500 };

/** A registration that the broker could not take just now is repeated. */
export const restoreBackoff: BackoffPolicy = { baseMs: 250, capMs: 5_000 };

/** A durable message that the broker could not take just now is sent again. */
export const postBackoff: BackoffPolicy = { baseMs: 50, capMs: 2_000 };

/** HELLO is repeated until the broker answers. */
export const greetingBackoff: BackoffPolicy = { baseMs: 250, capMs: 2_000 };

/** Bounds of one subscription. */
export const followLimits = {
  /** Streams whose positions are kept; gaps of further streams go unnoticed. */
  streamsMax: 65_536,
  /** Held back while entries are fetched; one more is dropped and fetched afterwards. */
  publicationsHeldMax: 4_096,
  bytesHeldMax: 16 * 1024 * 1024,
  /** Time between two looks at the broker's positions, which find a last publication that was lost. */
  checkMs: 10_000,
  /** The first look after a subscription or a restart. */
  firstCheckMs: 1_000,
} as const;

/** A question about topics that the broker could not answer just now is repeated. */
export const syncBackoff: BackoffPolicy = { baseMs: 100, capMs: 5_000 };

/** Limits of blobs. */
export const blobLimits = {
  /** A larger blob is refused TOO_LARGE, where it is offered and where it is fetched. */
  bytesMax: 256 * 1024 * 1024,
  /** One question for a part of a blob; the broker's outbox of 16 MiB holds those of all fetches. */
  rangeBytes: 1024 * 1024,
  /** One partial reply. */
  replyBytes: 256 * 1024,
  /** Concurrent fetches; the rest waits. */
  fetchesMax: 8,
  /** One more waiting is refused BROKER_BUSY. */
  fetchesWaitingMax: 1_024,
  /** Of all offers together; at the limit the oldest offer is forgotten. */
  offeredBytesMax: 64 * 1024 * 1024,
  /** Offers; likewise. */
  offersMax: 1_024,
  /** Questions in a row that brought nothing; then a fetch fails with the last error. */
  attemptsMax: 6,
  /** Milliseconds after which a query is repeated. */
  rangeMs: 10_000,
} as const;

/** A part of a blob that did not come is asked for again. */
export const blobBackoff: BackoffPolicy = { baseMs: 100, capMs: 2_000 };
