const mib = 1024 * 1024;

export interface LogLimits {
  /**
   * Of the stream of the log. Full, it refuses: nothing is dropped to make room. The stream of snapshots has no limit of its own:
   * it holds two copies of the store, and one that is being written.
   */
  logBytesMax: number;
  /**
   * So much log makes the leader write a snapshot, or as much as the last one had; what is older than the one before it then leaves
   * the log. At most a quarter of the log.
   */
  snapshotAfterBytes: number;
  /** A commit waits so long for a server that is away; then the store has failed. */
  awayMsMax: number;
  /** One request to the server. */
  requestMsMax: number;
  /** Of one atomic step. */
  stepBytesMax: number;
}

export const logLimits: LogLimits = {
  logBytesMax: 2048 * mib,
  snapshotAfterBytes: 128 * mib,
  awayMsMax: 10_000,
  requestMsMax: 2_000,
  stepBytesMax: 512 * mib,
};
