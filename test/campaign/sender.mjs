// Posts numbered messages to several recipients. Its journal says what it is about to post and what was accepted, so
// that its next incarnation posts what is unknown once more, under the same ids and in the same order.
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { connectTo, endWithParent, nowMs, recordOf, untilTaken } from './agent.mjs';
import { Bodies, digestOf } from './body.mjs';
import { Journal, readJournal } from './journal.mjs';

const readyMsMax = 120_000;
const progressMs = 50;
const batchMessages = 64;
/** At a pace, so often. */
const batchS = 0.1;
/** Longer than this without an ACCEPT is an outage, whose end is told. */
const outageMs = 200;
const retryMs = 200;

const {
  home,
  agent,
  recipients,
  messages,
  seed,
  journal: file,
  window,
  deadlineMs,
  perS: pace,
} = endWithParent();
let perS = pace;
process.on('message', ({ type }) => {
  if (type === 'hurry') perS = undefined;
});
const bodies = new Bodies(agent, seed);
const journal = new Journal(file);
const intents = new Map();
let accepted = 0;
const refused = {};
const unknown = new Map();
for (const [what, number, ...rest] of readJournal(file)) {
  if (what === 'SEND') {
    intents.set(Number(number), rest[0]);
    unknown.set(Number(number), rest[0]);
  } else if (unknown.delete(Number(number))) accepted += 1;
}

let lastAcceptMs = nowMs();
let outstanding = 0;
const client = connectTo(home, agent);
client.onState((state) => {
  if (state === 'closed') process.exit(3);
});
await client.ready({ withinMs: readyMsMax });
await untilTaken(() => client.register(recordOf(agent)));
setInterval(tell, progressMs);

for (const [number, to] of unknown) {
  await roomFor(1);
  post(number, to);
}
const startedMs = nowMs();
let begun = 0;
for (let next = intents.size; next < messages;) {
  const batch = [];
  const size = Math.min(batchMessages, Math.ceil((perS ?? Infinity) * batchS));
  for (; batch.length < size && next + batch.length < messages;) {
    const number = next + batch.length;
    batch.push({ number, to: recipients[number % recipients.length] });
  }
  next += batch.length;
  begun += batch.length;
  await roomFor(batch.length);
  journal.append(
    ...batch.map(({ number, to }) => `SEND ${number} ${to} ${digestOf(bodies.of(number))}`),
  );
  await journal.synced();
  for (const { number, to } of batch) {
    intents.set(number, to);
    post(number, to);
  }
  if (perS !== undefined) await wait(Math.max(0, startedMs + (begun / perS) * 1_000 - nowMs()));
}
while (outstanding > 0) await wait(10);
await journal.synced();
tell();
process.send({ type: 'done' });

/** Tried for as long as the campaign lasts: what was begun must end accepted. */
function post(number, to) {
  outstanding += 1;
  const id = `m-${number}`;
  const attempt = () =>
    client.post(`agent:${to}`, 'campaign', bodies.of(number), { id, deadlineMs }).then(
      ({ seq }) => {
        const atMs = nowMs();
        journal.append(`ACCEPT ${number} ${seq} ${Math.round(atMs)}`);
        accepted += 1;
        outstanding -= 1;
        if (atMs - lastAcceptMs > outageMs) process.send({ type: 'resumed', atMs });
        lastAcceptMs = atMs;
      },
      async ({ code, retryable }) => {
        refused[code] = (refused[code] ?? 0) + 1;
        if (!retryable) {
          process.send({ type: 'failed', detail: `${id} to ${to}: ${code}` });
          return;
        }
        await wait(retryMs);
        await attempt();
      },
    );
  void attempt();
}

async function roomFor(count) {
  while (outstanding + count > window) await wait(1);
}

function tell() {
  process.send({ type: 'progress', sent: intents.size, accepted, refused });
}
