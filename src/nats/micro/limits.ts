/** Every bound of the micro services on NATS, by name. */
export const microLimits = {
  /** Bytes of a request to an endpoint; a larger one is refused with 400. */
  requestBytesMax: 256 * 1024,
  /** Requests of one service under way; one more is refused with 429. */
  requestsAtOnce: 16,
  /** Milliseconds to wait for the server when a service starts. */
  startMs: 2_000,
  /** Milliseconds for requests under way when a service stops; then they are cancelled, and get as long again. */
  drainMs: 2_000,
  /** Characters of an error in a header; headers are one line. */
  errorCharsMax: 200,
} as const;

export const gatewayLimits = {
  /** Agents of ours that others see; one more is left out, with a warning. */
  agentsMax: 512,
  /** Milliseconds for one question. */
  answerMs: 600_000,
  /** Bytes of one answer; beyond it the stream ends with an error. */
  answerBytesMax: 4 * 1024 * 1024,
  /** Characters of one chunk of an answer, each at most six bytes of JSON. */
  chunkCharsMax: 16 * 1024,
  heartbeatMs: 30_000,
  /** Between two chunks that say only that work goes on: callers give up after a minute of silence. */
  keepAliveMs: 20_000,
} as const;

export const foreignLimits = {
  /** Foreign agents that are known at a time, and their processes; further ones are left out, with a warning. */
  agentsMax: 256,
  instancesMax: 1_024,
  /** Bytes of what an agent says of itself; more is not read. */
  infoBytesMax: 64 * 1024,
  heartbeatBytesMax: 4_096,
  /** Characters of one word of it, and of its description; the rest is cut. */
  wordCharsMax: 200,
  descriptionCharsMax: 1_000,
  /** Entries of its metadata that are kept. */
  metadataMax: 32,
  /** Between two questions who is there. */
  discoverMs: 30_000,
  /** Between two looks who is gone. */
  sweepMs: 1_000,
  /** Processes that are asked by id who they are, because only their heartbeat is known, in one `sweepMs`. */
  lookupsMax: 64,
  /** Heartbeats that an agent may miss, and their interval as far as it is believed. */
  beatsMissedMax: 3,
  intervalMsMin: 100,
  intervalMsMax: 300_000,
  /** Until its first heartbeat an agent counts as one with this interval. */
  intervalMsDefault: 30_000,
  /** Milliseconds of silence, and of all of an answer; then it fails with DEADLINE_EXCEEDED. */
  silenceMs: 60_000,
  answerMs: 600_000,
  /** Bytes of an answer, and what each message counts beside its own; more fails with TOO_LARGE. */
  answerBytesMax: 4 * 1024 * 1024,
  messageBytes: 256,
} as const;

export const bridgeLimits = {
  /** Foreign agents on our bus at a time, each with a session of its own. */
  agentsMax: 64,
  /** Characters of an answer on our bus; the rest is cut, and the answer says so. */
  answerCharsMax: 64 * 1024,
} as const;

/** What could not be begun is tried again after so long. */
export const retryMs = 5_000;
