import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { taskMessages } from '../../src/task/requests/messages.js';
import { recordOf, testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

/** Agents of tasks, as a broker keeps them for a manager. */
let bus: TestBus;
let manager: Client;
let asker: Client;

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  manager = await bus.client('manager', { role: 'manager' });
  asker = await bus.client('asker');
  await asker.register(recordOf('asker'));
});
afterAll(() => bus.close());

const enrolled = (id: string): Promise<void> =>
  manager.mail.enrol({ ...recordOf(''), id, role: 'task' });
const say = (client: Client, to: string, text: string, from = ''): Promise<unknown> =>
  client.post(`agent:${to}`, 'text', Buffer.from(text), { from, deadlineMs: 2_000 });
const taken = async (client: Client, from = ''): Promise<string> => {
  const { view, body } = await client.take({ from, deadlineMs: 2_000 });
  client.settle([view.seq]);
  return `${view.from}: ${Buffer.from(body).toString()}`;
};

test('a task has a mailbox before anybody connects as it, and whoever does takes from it', async () => {
  await enrolled('early');
  await enrolled('early');
  await say(asker, 'early', 'before it runs');
  await using task = await bus.client('early', { role: 'task' });
  expect(await taken(task)).toBe('asker: before it runs');
  const [view] = (await asker.agents()).filter(({ record }) => record.id === 'early');
  expect(view?.record.role).toBe('task');
});

test('a manager speaks for tasks and for nobody else, and nobody else speaks for them', async () => {
  await enrolled('spoken');
  await say(manager, 'asker', 'its result', 'spoken');
  expect(await taken(asker, 'spoken')).toBe('spoken: its result');
  await expect(say(asker, 'asker', 'forged', 'spoken')).rejects.toMatchObject({
    code: 'UNAUTHORISED',
  });
  await expect(say(manager, 'asker', 'forged', 'asker')).rejects.toMatchObject({
    code: 'UNAUTHORISED',
  });
});

test('nobody but a manager says that a task is finished', async () => {
  await using executor = await bus.client('someone', { role: 'executor' });
  await using task = await bus.client('spoken', { role: 'task' });
  const said = (client: Client): Promise<unknown> =>
    client.post('agent:asker', taskMessages.finished.type, Buffer.alloc(0), { deadlineMs: 2_000 });
  for (const each of [asker, executor, task])
    await expect(said(each)).rejects.toMatchObject({ code: 'UNAUTHORISED' });
  await said(manager);
  expect(await taken(asker)).toBe('manager: ');
});

test('who waits for a task that is not connected waits on, until it speaks or is dismissed', async () => {
  await enrolled('away');
  const waiting = taken(asker, 'away');
  await (await bus.client('away', { role: 'task' })).close();
  await say(manager, 'asker', 'still', 'away');
  expect(await waiting).toBe('away: still');
  const again = taken(asker, 'away');
  again.catch(() => undefined);
  await manager.mail.dismiss('away');
  await expect(again).rejects.toMatchObject({ code: 'RESPONDER_LOST' });
});

test('a dismissed one is gone at once: its messages are dead letters, its session ends, later ones are refused', async () => {
  await enrolled('over');
  await say(asker, 'over', 'too late');
  await using task = await bus.client('over', { role: 'task' });
  const held = await task.take({ deadlineMs: 1_000 });
  expect(held.view.from).toBe('asker');
  await say(asker, 'over', 'later still');
  await manager.mail.dismiss('over');
  await manager.mail.dismiss('over');
  await expect(say(asker, 'over', 'never')).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' });
  const { messages } = await manager.mail.dead({ mailbox: 'agent:over' });
  expect(messages.map(({ reason }) => reason)).toEqual(['AGENT_DISMISSED', 'AGENT_DISMISSED']);
  await expect.poll(() => task.state).toBe('closed');
  expect((await asker.agents()).some(({ record }) => record.id === 'over')).toBe(false);
});

test('no task is called like an agent or a proven role, and no agent is dismissed but tasks', async () => {
  const refused = { code: 'UNAUTHORISED' };
  await expect(enrolled('asker')).rejects.toMatchObject(refused);
  await expect(enrolled('operator')).rejects.toMatchObject(refused);
  await expect(
    manager.mail.enrol({ ...recordOf(''), id: 'false', role: 'executor' }),
  ).rejects.toMatchObject(refused);
  await expect(manager.mail.dismiss('asker')).rejects.toMatchObject(refused);
  await expect(
    asker.mail.enrol({ ...recordOf(''), id: 'mine', role: 'task' }),
  ).rejects.toMatchObject(refused);
  await enrolled('taken');
  await using thief = bus.dial('taken');
  await expect(thief.ready({ withinMs: 2_000 })).rejects.toMatchObject(refused);
});

test('who was enrolled or dismissed is so after a crash of the broker', async () => {
  await enrolled('kept');
  await enrolled('not-kept');
  await manager.mail.dismiss('not-kept');
  await bus.crash();
  await bus.start();
  await manager.ready({ withinMs: 5_000 });
  await asker.ready({ withinMs: 5_000 });
  await say(asker, 'kept', 'hello');
  await expect(say(asker, 'not-kept', 'hello')).rejects.toMatchObject({ code: 'UNKNOWN_AGENT' });
});
