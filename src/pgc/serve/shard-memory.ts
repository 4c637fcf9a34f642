import type { Engine } from '../search/vectors/engine.js';

const mebibyte = 1024 * 1024;
/** What one process may hold, all in all. */
export const memoryBytesDefault = 1024 * mebibyte;
export const memoryBytesMin = 256 * mebibyte;
/** The process of the bundled model, as long as it runs. */
const modelBytes = 96 * mebibyte;
/** Room that V8 takes before it gives back what was closed. */
const slackBytes = 64 * mebibyte;
/** However little is left, one shard at a time is served. */
const shardBytesMin = 16 * mebibyte;

/** What open shards may take of the memory of this process, after what it is and its model take. */
export function shardBudget(memoryBytes: number, engine: Engine['kind'] | undefined): number {
  const own = process.memoryUsage.rss() + slackBytes + (engine === 'bundled' ? modelBytes : 0);
  return Math.max(shardBytesMin, memoryBytes - own);
}
