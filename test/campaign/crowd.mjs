// Many agents in one process. On `join` all of them connect and register at once; on `subscribe` all of them listen to
// one topic; what each has heard is told on `tell`.
import { setTimeout } from 'node:timers';
import { connectTo, endWithParent, nowMs, recordOf, untilTaken } from './agent.mjs';

const readyMsMax = 120_000;

const { home, names, topic, heartbeatMs } = endWithParent();
const agents = new Map();
let failed = 0;

process.on('message', async ({ type }) => {
  if (type === 'join') await join();
  else if (type === 'subscribe') await subscribe();
  else if (type === 'tell') tell();
});
process.send({ type: 'ready' });

async function join() {
  const joinedMs = await Promise.all(
    names.map(async (name) => {
      const client = connectTo(home, name, { heartbeatMs });
      client.onState((state) => {
        if (state === 'closed') failed += 1;
      });
      agents.set(name, { client, heard: new Set(), again: 0, missed: 0, lastMs: 0 });
      try {
        await client.ready({ withinMs: readyMsMax });
        await untilTaken(() => client.register(recordOf(name)));
      } catch {
        failed += 1;
      }
      return nowMs();
    }),
  );
  process.send({ type: 'joined', joinedMs, failed });
}

/** Resolves when what is published from now on is complete, or told to be not. */
async function subscribe() {
  for (const agent of agents.values()) {
    agent.subscription = agent.client.subscribe(
      topic,
      (_topic, { envelope }) => {
        if (agent.heard.has(envelope.seq)) agent.again += 1;
        agent.heard.add(envelope.seq);
        agent.lastMs = nowMs();
      },
      { from: 'now', onMissed: ({ from, to }) => (agent.missed += to - from + 1) },
    );
  }
  const isLevel = () => [...agents.values()].every(({ subscription }) => subscription.isLevel);
  while (!isLevel()) await new Promise((resolve) => setTimeout(resolve, 20));
  process.send({ type: 'subscribed' });
}

function tell() {
  const all = [...agents.values()];
  process.send({
    type: 'heard',
    counts: all.map(({ heard }) => heard.size),
    again: all.reduce((sum, each) => sum + each.again, 0),
    missed: all.reduce((sum, each) => sum + each.missed, 0),
    lastMs: Math.max(...all.map(({ lastMs }) => lastMs)),
    live: all.filter(({ client }) => client.state === 'live').length,
    failed,
  });
}
