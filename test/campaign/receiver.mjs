// Takes messages out of its mailbox and writes each into its journal before it settles it.
import { setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { connectTo, endWithParent, nowMs, recordOf, untilTaken } from './agent.mjs';
import { digestOf } from './body.mjs';
import { Journal, readJournal } from './journal.mjs';

const readyMsMax = 120_000;
const progressMs = 50;

const { home, agent, journal: file, credit, handleMs } = endWithParent();
const journal = new Journal(file);
let processed = readJournal(file).length;
let lastMs = nowMs();
const client = connectTo(home, agent);
client.onState((state) => {
  if (state === 'closed') process.exit(3);
});
await client.ready({ withinMs: readyMsMax });
await untilTaken(() => client.register(recordOf(agent)));
setInterval(() => process.send({ type: 'progress', processed, lastMs }), progressMs);
await untilTaken(() =>
  client.receive(
    async ({ from, id, seq, attempt, body }) => {
      if (handleMs > 0) await wait(handleMs);
      journal.append(`${from} ${id} ${seq} ${attempt} ${digestOf(body)}`);
      processed += 1;
      lastMs = nowMs();
    },
    { messages: credit },
  ),
);
process.send({ type: 'ready' });
