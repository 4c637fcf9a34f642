// Asks agents, so many times a second. An answer counts from when its request was due.
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { figuresOf } from '../../bench/bus/load.mjs';
import { connectTo, endWithParent } from '../agent.mjs';
import { paced } from './pace.mjs';

const readyMsMax = 60_000;

const { home, all, perS, bytes, echo } = endWithParent();
const body = randomBytes(bytes);
const client = connectTo(home, 'requester', { role: 'client', isEphemeral: true });
await client.ready({ withinMs: readyMsMax });
let its = { latenciesMs: [], failed: {}, startedMs: performance.now() };

process.on('message', ({ type }) => {
  if (type === 'send') paced(perS, ask);
  const { latenciesMs, failed, startedMs } = its;
  const elapsedMs = performance.now() - startedMs;
  const worstMs = latenciesMs.reduce((worst, each) => Math.max(worst, each), 0);
  const figures = figuresOf(Float64Array.from(latenciesMs), elapsedMs);
  process.send({ type: 'counted', ...figures, worstMs, failed });
  its = { latenciesMs: [], failed: {}, startedMs: performance.now() };
});
process.send({ type: 'ready' });

async function ask(dueMs) {
  const to = all[Math.floor(Math.random() * all.length)];
  // Of the round in which it was due.
  const round = its;
  try {
    await client.request(`agent:${to}`, echo, body);
    round.latenciesMs.push(performance.now() - dueMs);
  } catch ({ code }) {
    round.failed[code] = (round.failed[code] ?? 0) + 1;
  }
}
