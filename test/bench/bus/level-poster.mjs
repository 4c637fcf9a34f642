// LevelDB alone: one synced batch after the other, of a whole window of messages: what the broker writes for each.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Level } from 'level';
import { serveRuns } from './load.mjs';

const [folder, bytes] = process.argv.slice(2);
/** A stored frame: the body, its head and its envelope. */
const frameBytes = Number(bytes) + 116;
const frame = randomBytes(frameBytes);
const db = new Level(folder, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
await db.open();
let seq = 0;

function operationsOf(window) {
  const operations = [];
  for (let at = 0; at < window; at += 1) {
    const key = (seq += 1).toString(16).padStart(16, '0');
    operations.push({ type: 'put', key: `message/${key}`, value: frame });
  }
  return operations;
}

serveRuns(async ({ window, ms }) => {
  const latenciesMs = [];
  const startedMs = performance.now();
  for (let nowMs = startedMs; nowMs < startedMs + ms;) {
    const beganMs = nowMs;
    await db.batch(operationsOf(window), { sync: true });
    nowMs = performance.now();
    latenciesMs.push(nowMs - beganMs);
  }
  const count = latenciesMs.length * window;
  const perSecond = (count / (performance.now() - startedMs)) * 1_000;
  latenciesMs.sort((a, b) => a - b);
  const at = (percent) => latenciesMs[Math.ceil((percent / 100) * latenciesMs.length) - 1];
  return { count, perSecond, p50Ms: at(50), p99Ms: at(99) };
});
