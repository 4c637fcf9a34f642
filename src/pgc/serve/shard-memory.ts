const mebibyte = 1024 * 1024;
/** Memory of one host process in all. */
export const memoryBytesDefault = 1024 * mebibyte;
export const memoryBytesMin = 256 * mebibyte;
/** Memory that V8 keeps for a while after shards were closed. */
const slackBytes = 64 * mebibyte;
/** However little is left, one shard at a time is served. */
const shardBytesMin = 16 * mebibyte;

/** Memory for open shards: the process's limit without its own needs. */
export function shardBudget(memoryBytes: number): number {
  const own = process.memoryUsage.rss() + slackBytes;
  return Math.max(shardBytesMin, memoryBytes - own);
}
