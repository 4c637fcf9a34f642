// A bit of everything: live requests, durable messages, publications, questions about agents, and clients that come
// and go. As fast as it can, or so many rounds a second as it is told.
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { performance } from 'node:perf_hooks';
import { connectTo, endWithParent, recordOf } from './agent.mjs';

const readyMsMax = 60_000;
const body = Buffer.alloc(300, 'b');
const roundsAtOnce = 32;
const publishEvery = 4;
const listEvery = 50;
const guestEveryMs = 250;
const guestNames = 20;
const tellMs = 1_000;
/** Latencies told of each second; more are counted and not told. */
const samplesMax = 500;

const { home, name, peer } = endWithParent();
let perS = 0;
let running = 0;
let rounds = 0;
let isStopped = false;
let figures = newFigures();

const client = connectTo(home, name);
await client.ready({ withinMs: readyMsMax });
await client.register(recordOf(name));
client.serve({ echo: (request) => request.body });
await client.offer([`soak.${name}`]);
await client.receive(() => void (figures.received += 1), { messages: 256 });
client.subscribe('agent.>', () => void (figures.heard += 1), {
  from: 'now',
  onMissed: ({ from, to }) => void (figures.missed += to - from + 1),
});
process.on('message', (message) => {
  if (message.type === 'rate') perS = message.perS;
  else if (message.type === 'stop') isStopped = true;
});
setInterval(tell, tellMs);
process.send({ type: 'ready' });
void comeAndGo();
await loop();

async function loop() {
  let owed = 0;
  let lastMs = performance.now();
  while (!isStopped || running > 0) {
    const nowMs = performance.now();
    owed = Math.min(owed + ((nowMs - lastMs) / 1_000) * perS, roundsAtOnce);
    lastMs = nowMs;
    for (; !isStopped && owed >= 1 && running < roundsAtOnce; owed -= 1) void round();
    await wait(2);
  }
  tell();
  process.send({ type: 'stopped' });
}

async function round() {
  running += 1;
  rounds += 1;
  const work = [
    timed(figures.requestMs, () => client.request(`service:soak.${peer}`, 'echo', body)),
    timed(figures.postMs, () => client.post(`agent:${peer}`, 'work', body)),
  ];
  if (rounds % publishEvery === 0)
    work.push(timed(figures.publishMs, () => client.publish(`agent.${name}.news`, 'news', body)));
  if (rounds % listEvery === 0) work.push(timed(figures.listMs, () => client.agents()));
  await Promise.all(work);
  figures.rounds += 1;
  running -= 1;
}

async function timed(samples, work) {
  const startedMs = performance.now();
  try {
    await work();
    if (samples.length < samplesMax) samples.push(performance.now() - startedMs);
  } catch ({ code }) {
    figures.failures[code] = (figures.failures[code] ?? 0) + 1;
  }
}

/** Like runs of the command line. */
async function comeAndGo() {
  for (let at = 0; !isStopped; at += 1) {
    const guest = connectTo(home, `${name}-guest-${at % guestNames}`, { isEphemeral: true });
    await timed(figures.visitMs, async () => {
      await guest.ready({ withinMs: readyMsMax });
      await guest.request(`service:soak.${peer}`, 'echo', body);
    });
    await guest.close();
    await wait(guestEveryMs);
  }
}

function tell() {
  process.send({ type: 'figures', ...figures });
  figures = newFigures();
}

function newFigures() {
  return {
    ...{ rounds: 0, received: 0, heard: 0, missed: 0, failures: {} },
    ...{ requestMs: [], postMs: [], publishMs: [], listMs: [], visitMs: [] },
  };
}
