// A worker of the time before grounding: it gets a task as JSON, and answers in JSON, without evidence.
import { connectTo, endWithParent, recordOf } from '../agent.mjs';

const { home, name } = endWithParent();
const client = connectTo(home, name, { role: 'executor' });
await client.ready({ withinMs: 30_000 });
await client.receive(async ({ type, body }) => {
  if (type !== 'text') return;
  const { id } = JSON.parse(body.toString());
  const said = { task_id: id, status: 'completed', result: 'I had a look and it is fine.' };
  await client.post('agent:manager', 'text', Buffer.from(JSON.stringify(said)));
});
await client.register(recordOf(name));
