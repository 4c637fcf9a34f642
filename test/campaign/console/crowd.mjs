// Many agents in one process. Each answers requests and takes messages; those of `all` send messages to each other, so
// many a second.
import { randomBytes } from 'node:crypto';
import { connectTo, endWithParent, recordOf, untilTaken } from '../agent.mjs';
import { paced } from './pace.mjs';

const readyMsMax = 120_000;
/** More greetings at once wait for each other. */
const atOnce = 25;

const { home, names, all, perS, bytes, echo } = endWithParent();
const senders = [];
const body = randomBytes(bytes);
const counts = { accepted: 0, taken: 0, failed: 0 };

process.on('message', ({ type }) => {
  if (type === 'send') paced(perS, post);
  process.send({ type: 'counted', ...counts });
});
for (let first = 0; first < names.length; first += atOnce)
  await Promise.all(names.slice(first, first + atOnce).map(join));
process.send({ type: 'ready' });

async function join(name) {
  const client = connectTo(home, name);
  client.serve({ [echo]: (request) => request.body });
  await client.ready({ withinMs: readyMsMax });
  await untilTaken(() => client.register(recordOf(name)));
  await client.receive(() => void (counts.taken += 1));
  if (all.includes(name)) senders.push(client);
}

function post() {
  const sender = senders[Math.floor(Math.random() * senders.length)];
  const to = all[Math.floor(Math.random() * all.length)];
  sender.post(`agent:${to}`, 'campaign', body).then(
    () => (counts.accepted += 1),
    () => (counts.failed += 1),
  );
}
