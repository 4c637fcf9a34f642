import type { BackoffPolicy } from '../base/backoff.js';

/** Every bound of the broker, by name. What happens at it stands beside it. */
export interface BrokerLimits {
  /** Sessions; one more HELLO is refused SESSIONS_FULL. */
  sessionsMax: number;
  /** Agents remembered; beyond it the offline ones that were silent longest are forgotten. */
  agentsMax: number;
  /** Open requests of one session; one more is refused BROKER_BUSY. */
  requestsPerSessionMax: number;
  /** Open requests in all; one more is refused BROKER_BUSY. */
  requestsMax: number;
  /** Longest life of an open request, and its deadline when it names none. */
  requestMsMax: number;
  /** Services one session may offer; one more is refused TOO_LARGE. */
  servicesPerSessionMax: number;
  /** Bytes waiting for one peer that does not read; beyond it a frame fails with PEER_STALLED. */
  outboxBytesMax: number;
  /** Peers without a session that are answered at once; one more is not answered at all. */
  strangersMax: number;
  /** Bytes waiting for one peer without a session. */
  strangerBytesMax: number;
  /** Interval of heartbeats, unless the client asks for another. */
  heartbeatMs: number;
  heartbeatMsMin: number;
  heartbeatMsMax: number;
  /** Heartbeats of all sessions in a second: with more sessions new ones get a longer interval. */
  heartbeatsPerSecondMax: number;
  /** How long SIGTERM waits for open requests. */
  drainMsMax: number;
  /** Durable SENDs of a session without their ACCEPT; one more is refused BROKER_BUSY. */
  windowMax: number;
  /** Refused ids that are remembered of a session: as many messages as a client keeps waiting. */
  refusedMax: number;
  /** Messages and bytes stored for one mailbox, dead letters included; one more is refused INBOX_FULL. */
  mailboxMessagesMax: number;
  mailboxBytesMax: number;
  /**
   * Messages and bytes stored in all; one more is refused BROKER_BUSY, to be tried again after `busyRetryMs`.
   * Replies may use as much again.
   */
  messagesMax: number;
  messageBytesMax: number;
  busyRetryMs: number;
  /** Bodies of stored messages kept in memory; bodies beyond it are read from disk on delivery. */
  frameCacheBytesMax: number;
  /** Unsettled messages and bytes of one session and mailbox; a larger CREDIT is cut to this. */
  creditMessagesMax: number;
  creditBytesMax: number;
  /** Length of a lease: a message neither settled nor extended for so long is delivered again. */
  leaseMs: number;
  /** Failed deliveries of a message; at the last it becomes a dead letter. */
  attemptsMax: number;
  /** Pause before a failed message is delivered again. */
  retryBackoff: BackoffPolicy;
  /** How long, and how many of one sender, accepted message ids are remembered. */
  seenMs: number;
  seenPerSenderMax: number;
  /** Of all senders together. Beyond it the sender with the most entries forgets its oldest. */
  seenMax: number;
  /** Interval at which old ids are pruned. */
  pruneMs: number;
  /** TAKEs of one session that wait for a message; one more is refused BROKER_BUSY. */
  receiversPerSessionMax: number;
  /** Messages on one page of `inbox` and `dead`. */
  messagesPageMax: number;
  /** A larger body is carried, and its sender is named in the log, at most once in `largeLogMs`. */
  bodyBytesSoft: number;
  largeLogMs: number;
  /** One publication, head included; a larger one is refused TOO_LARGE. */
  publicationBytesMax: number;
  /** Entries and bytes kept of one stream; beyond either the oldest is dropped. */
  streamEntriesMax: number;
  streamBytesMax: number;
  /** Streams besides those of presence, and bytes of all; beyond either the one that was silent longest is forgotten. */
  streamsMax: number;
  streamsBytesMax: number;
  /** A page of publications; a single larger stream is a page of its own. */
  topicsAnswerBytesMax: number;
}

export const defaultLimits: BrokerLimits = {
  sessionsMax: 4_096,
  agentsMax: 10_000,
  requestsPerSessionMax: 1_024,
  requestsMax: 65_536,
  requestMsMax: 600_000,
  servicesPerSessionMax: 64,
  outboxBytesMax: 16 * 1024 * 1024,
  strangersMax: 1_024,
  strangerBytesMax: 16 * 1024,
  heartbeatMs: 1_000,
  heartbeatMsMin: 100,
  heartbeatMsMax: 30_000,
  heartbeatsPerSecondMax: 50,
  drainMsMax: 5_000,
  windowMax: 1_024,
  refusedMax: 4_096,
  mailboxMessagesMax: 100_000,
  mailboxBytesMax: 1024 * 1024 * 1024,
  messagesMax: 1_000_000,
  messageBytesMax: 8 * 1024 * 1024 * 1024,
  busyRetryMs: 250,
  frameCacheBytesMax: 128 * 1024 * 1024,
  creditMessagesMax: 1_024,
  creditBytesMax: 8 * 1024 * 1024,
  leaseMs: 30_000,
  attemptsMax: 8,
  retryBackoff: { baseMs: 500, capMs: 60_000 },
  seenMs: 24 * 60 * 60 * 1_000,
  seenPerSenderMax: 16_384,
  seenMax: 1_000_000,
  pruneMs: 60_000,
  receiversPerSessionMax: 256,
  messagesPageMax: 500,
  bodyBytesSoft: 100 * 1024,
  largeLogMs: 60_000,
  publicationBytesMax: 256 * 1024,
  streamEntriesMax: 256,
  streamBytesMax: 1024 * 1024,
  streamsMax: 16_384,
  streamsBytesMax: 64 * 1024 * 1024,
  topicsAnswerBytesMax: 256 * 1024,
};

/** How far a client's clock may be ahead of ours. */
export const incarnationAheadMsMax = 24 * 60 * 60 * 1_000;

/** Intervals of silence after which a session is over; after half as many its agent shows as stale. */
export const silentIntervalsMax = 4;

/** From a greeting to its proof. */
export const provingMsMax = 10_000;
