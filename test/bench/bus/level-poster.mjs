// LevelDB alone, as the broker opens it and with what the broker writes: one key a message, and under it
// the frame that will be delivered. One synced batch after the other, of a whole window.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Level } from 'level';
import { busLayout } from '../../../dist/src/store/layouts.js';
import { figuresOf, serveRuns } from './load.mjs';

/** Head and envelope of a stored frame. */
const frameBytesBesides = 107;

const [folder, bytes] = process.argv.slice(2);
const value = randomBytes(Number(bytes) + frameBytesBesides);
const db = new Level(folder, {
  ...{ keyEncoding: 'utf8', valueEncoding: 'buffer' },
  writeBufferSize: busLayout.writeBufferBytes,
});
await db.open();
let seq = 0;

function operationsOf(window) {
  return Array.from({ length: window }, () => {
    const key = `message/${(seq += 1).toString(16).padStart(16, '0')}`;
    return { type: 'put', key, value };
  });
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
  const figures = figuresOf(Float64Array.from(latenciesMs), performance.now() - startedMs);
  return {
    ...figures,
    count: figures.count * window,
    perSecond: figures.perSecond * window,
  };
});
