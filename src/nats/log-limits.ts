const mib = 1024 * 1024;

export interface LogLimits {
  /** Of the stream of the log. Full, it refuses: nothing is dropped to make room. */
  logBytesMax: number;
  /** Of the stream of snapshots, which holds two, and one that is being written. */
  snapshotBytesMax: number;
  /** So much log makes the leader write a snapshot; what is older than the one before it then leaves the log. */
  snapshotAfterBytes: number;
  snapshotAfterMessages: number;
  /** A commit waits so long for a server that is away; then the store has failed. */
  awayMsMax: number;
  /** One request to the server. */
  requestMsMax: number;
  /** Of one atomic step. */
  stepBytesMax: number;
}

export const logLimits: LogLimits = {
  logBytesMax: 1024 * mib,
  snapshotBytesMax: 1024 * mib,
  snapshotAfterBytes: 128 * mib,
  snapshotAfterMessages: 200_000,
  awayMsMax: 10_000,
  requestMsMax: 2_000,
  stepBytesMax: 512 * mib,
};
