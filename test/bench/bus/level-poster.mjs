// LevelDB alone: one synced batch after the other, of a whole window of messages. `keys`: how many each costs;
// 3 with an index of its mailbox and one of ids seen, as a queue on LevelDB usually has, 1 as the broker writes it.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Level } from 'level';
import { serveRuns } from './load.mjs';

const [folder, bytes, keys] = process.argv.slice(2);
const isIndexed = keys === '3';
/** The index keys lead to the bare body; what needs none of them is a frame with its head and envelope. */
const value = randomBytes(Number(bytes) + (isIndexed ? 0 : 116));
const db = new Level(folder, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
await db.open();
const nothing = Buffer.alloc(0);
let seq = 0;

function operationsOf(window) {
  const operations = [];
  for (let at = 0; at < window; at += 1) {
    const key = (seq += 1).toString(16).padStart(16, '0');
    operations.push({ type: 'put', key: `message/${key}`, value });
    if (!isIndexed) continue;
    operations.push({ type: 'put', key: `inbox/bench/${key}`, value: nothing });
    operations.push({ type: 'put', key: `seen/bench/${key}`, value: nothing });
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
