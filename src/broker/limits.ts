/** Every bound of the broker, by name. What happens at it stands beside it. */
export interface BrokerLimits {
  /** One more HELLO is refused SESSIONS_FULL. */
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
  /** Bytes waiting for one of these. */
  strangerBytesMax: number;
  /** A session is asked to show life once in this time, unless it wished for another interval. */
  heartbeatMs: number;
  heartbeatMsMin: number;
  heartbeatMsMax: number;
  /** How long SIGTERM waits for open requests. */
  drainMsMax: number;
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
  drainMsMax: 5_000,
};

/** How far a client's clock may be ahead of ours. */
export const incarnationAheadMsMax = 24 * 60 * 60 * 1_000;

/** Intervals of silence after which a session is over; after half as many its agent shows as stale. */
export const silentIntervalsMax = 4;
