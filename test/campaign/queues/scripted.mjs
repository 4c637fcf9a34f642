// A worker without a language model, and a process of its own: does prompts that are JSON, `{ delayMs, send: [[to, text]],
// hear: from, text }`. It keeps nothing: what is done anew is said again under the same ids.
import { clearInterval, setInterval } from 'node:timers';
import { setTimeout as wait } from 'node:timers/promises';
import { delegationMessages } from '../../../dist/src/delegation/task/messages.js';
import {
  delegationCapability,
  protocolVersion,
  runnerCapability,
} from '../../../dist/src/delegation/task/shapes.js';
import { slotsCapability } from '../../../dist/src/delegation/manager/worker-pool.js';
import { taskMessages, taskService } from '../../../dist/src/task/requests/messages.js';
import { resolveName } from '../../../dist/src/task/queue/queue.js';
import { connectTo, endWithParent, recordOf, untilTaken } from '../agent.mjs';

const { home, name } = endWithParent();
const slots = 64;
const leaseShare = 4;
const { assign, claim, progress, response } = delegationMessages;
const client = connectTo(home, name, { role: 'executor' });
await client.ready({ withinMs: 30_000 });
await client.register({
  ...recordOf(name),
  capabilities: [
    delegationCapability,
    runnerCapability('prompt'),
    slotsCapability(slots),
    `slots:prompt=${slots}`,
  ],
  protocol_versions: [protocolVersion],
});
await client.receive(({ type, body }) => {
  if (type !== assign.type) return;
  void work(assign.codec.decode(body)).catch((error) => console.error(error));
});
process.send?.({ type: 'ready' });

async function work({ task, attempt, manager, lease_ms, parent }) {
  const to = `agent:${manager}`;
  const mine = { task_id: task.id, attempt };
  await untilTaken(() => client.request(to, claim.type, claim.codec.encode(mine)));
  const signs = setInterval(() => {
    const said = progress.codec.encode({ ...mine, summary: 'at work' });
    client.request(to, progress.type, said).catch(() => undefined);
  }, lease_ms / leaseShare);
  const agent = connectTo(home, task.id, { role: 'task' });
  try {
    const result = await done(agent, JSON.parse(task.task), parent);
    const answer = response.codec.encode({
      ...{ ...mine, status: 'completed', result, grounding_evidence: null, reason: '', errors: [] },
      ...{ protocol_version: protocolVersion, clarification_request: '', partial: false },
      ...{ files_modified: [], usage: null, classification: null, steps: [] },
    });
    await untilTaken(() =>
      client.post(to, response.type, answer, { id: `${task.id}-${attempt}-response` }),
    );
  } finally {
    clearInterval(signs);
    await agent.close();
  }
}

async function done(agent, { delayMs = 0, send = [], hear = '', text }, parent) {
  await agent.ready({ withinMs: 30_000 });
  for (const [at, [to, message]] of send.entries()) {
    const id = `${agent.identity.agent}-${at}`;
    const whom = await idOf(agent, to, parent);
    await untilTaken(() => agent.post(`agent:${whom}`, 'text', Buffer.from(message), { id }));
  }
  let heard = '';
  if (hear !== '') {
    const mailbox = `agent:${agent.identity.agent}`;
    const from = await idOf(agent, hear, parent);
    for (;;) {
      const taken = await agent
        .take({ mailbox, from, lifo: false, correlation: '', deadlineMs: 1_000 })
        .catch(() => undefined);
      if (taken === undefined) continue;
      heard = Buffer.from(taken.body).toString();
      agent.settle([taken.view.seq]);
      break;
    }
  }
  await wait(delayMs);
  return text.replace('$heard', heard);
}

async function idOf(agent, name, parent) {
  if (name === 'parent') return parent;
  const { type, request, answer } = taskMessages.queue;
  const asked = request.encode({ owner: '' });
  const reply = await untilTaken(() => agent.request(`service:${taskService}`, type, asked));
  return resolveName(answer.decode(reply.body), name);
}
