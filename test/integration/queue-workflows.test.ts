import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiveOne } from '../../services/mail/receive.js';
import type { Client } from '../../src/client/client.js';
import { delegationCapability, runnerCapability } from '../../src/delegation/task/shapes.js';
import { resultMessage } from '../../src/task/requests/result-message.js';
import { taskMessages } from '../../src/task/requests/messages.js';
import { QueueHand } from '../support/queue-hand.js';
import { TaskStage } from '../support/task-stage.js';

/** The seven workflows of queues, with workers that do what the test says. */
let stage: TaskStage;
let hand: QueueHand;

/** What a scripted prompt does is said in its text; held until it is let go. */
const gates = new Map<string, () => void>();
let running = 0;
let runningMost = 0;

async function work(text: string, id: string): Promise<string> {
  running += 1;
  runningMost = Math.max(runningMost, running);
  try {
    const [word = '', ...rest] = text.split(' ');
    if (word === 'hold') await new Promise<void>((resolve) => gates.set(rest.join(' '), resolve));
    if (word === 'tell') await told(id, rest);
    if (word === 'hear') return `heard ${await heard(id, rest[0] ?? '')}`;
    return `did ${text}`;
  } finally {
    running -= 1;
  }
}

/** Each word as a message to its parent, by its own agent. */
async function told(id: string, words: string[]): Promise<void> {
  const client = await stage.bus.client(id, { role: 'task' });
  for (const word of words)
    await client.post('agent:asker', 'text', Buffer.from(word), { deadlineMs: 5_000 });
  await client.close();
}

async function heard(id: string, from: string): Promise<string> {
  const client = await stage.bus.client(id, { role: 'task' });
  const queueOf = new QueueHand(client).queue;
  const one = await receiveOne(client, { agent: id, from, lifo: false, waitMs: 10_000, queueOf });
  client.settle([one.view.seq]);
  await client.close();
  return textOf(one.body);
}

const textOf = (body: Uint8Array): string => Buffer.from(body).toString();

beforeAll(async () => {
  stage = new TaskStage();
  await stage.begin();
  hand = new QueueHand(stage.asker);
  await stage.worker('hands', async ({ task }) => ({ result: await work(task.task, task.id) }), {
    capabilities: [delegationCapability, runnerCapability('prompt')],
    isParallel: true,
  });
  await stage.manager.desk.look();
});
afterAll(() => stage.end());

/** The next message: of a task what it came to. */
async function next(client: Client, from = '', waitMs = 10_000): Promise<string> {
  const { queue: queueOf } = new QueueHand(client);
  const agent = client.identity.agent;
  const { view, body } = await receiveOne(client, { agent, from, lifo: false, waitMs, queueOf });
  client.settle([view.seq]);
  if (view.type !== taskMessages.finished.type) return `${view.from} says ${textOf(body)}`;
  const { name, result, error } = resultMessage(taskMessages.finished.codec.decode(body));
  expect(view.from).not.toBe('manager');
  return `${name}: ${result ?? error?.code ?? ''}`;
}

test('sequential: push, run, receive, and again', async () => {
  await hand.push('a');
  await hand.run();
  expect(await next(stage.asker)).toBe('a: did a');
  await hand.push('b');
  await hand.run();
  expect(await next(stage.asker)).toBe('b: did b');
});

test('parallel: three at once, received in the order in which they end', async () => {
  for (const name of ['one', 'two', 'three']) await hand.push(name, `hold ${name}`);
  await hand.run();
  await expect.poll(() => gates.size).toBe(3);
  for (const name of ['three', 'one', 'two']) {
    gates.get(name)?.();
    gates.delete(name);
    expect(await next(stage.asker)).toBe(`${name}: did hold ${name}`);
  }
});

test('asynchronous: nothing yet, and later the result', async () => {
  await hand.push('slow', 'hold slow');
  await hand.run();
  await expect(next(stage.asker, '', 0)).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
  await expect.poll(() => gates.has('slow')).toBe(true);
  gates.get('slow')?.();
  gates.delete('slow');
  expect(await next(stage.asker, 'slow')).toBe('slow: did hold slow');
});

test('batched: two of five are started, and the third receive ends at once with three queued', async () => {
  for (const name of ['p1', 'p2', 'p3', 'p4', 'p5']) await hand.push(name);
  const { started, queued } = await hand.run({ count: 2 });
  expect([started.length, queued]).toEqual([2, 3]);
  expect([await next(stage.asker), await next(stage.asker)].sort()).toEqual([
    'p1: did p1',
    'p2: did p2',
  ]);
  const beganMs = performance.now();
  await expect(next(stage.asker, '', 20_000)).rejects.toMatchObject({
    code: 'NOBODY_LEFT',
    data: { queued: 3 },
  });
  expect(performance.now() - beganMs).toBeLessThan(15_000);
  // The rest, two at a time.
  runningMost = 0;
  for (const name of ['p6', 'p7']) await hand.push(name, `hold ${name}`);
  await hand.run({ concurrency: 2 });
  const rest: string[] = [];
  for (let at = 0; at < 3; at += 1) rest.push(await next(stage.asker));
  expect(rest.sort()).toEqual(['p3: did p3', 'p4: did p4', 'p5: did p5']);
  await expect.poll(() => gates.size).toBe(2);
  for (const name of ['p6', 'p7']) {
    gates.get(name)?.();
    gates.delete(name);
    expect(await next(stage.asker)).toBe(`${name}: did hold ${name}`);
  }
  expect(runningMost).toBe(2);
  await hand.run({ concurrency: 1_000 });
});

test('out of order: of one by its name, of the other, then of any', async () => {
  for (const name of ['x', 'y', 'z']) await hand.push(name);
  await hand.run();
  expect(await next(stage.asker, 'z')).toBe('z: did z');
  expect(await next(stage.asker, 'y')).toBe('y: did y');
  expect(await next(stage.asker)).toBe('x: did x');
});

test('progress: what a task says, in order, and then its result', async () => {
  const { id } = await hand.push('teller', 'tell begun half almost');
  await hand.run();
  const all: string[] = [];
  for (let at = 0; at < 4; at += 1) all.push(await next(stage.asker, 'teller'));
  expect(all).toEqual([
    ...['begun', 'half', 'almost'].map((word) => `${id} says ${word}`),
    'teller: did tell begun half almost',
  ]);
});

test('siblings: one receives of the other by its name, the parent gets both results', async () => {
  const { id } = await hand.push('hearer', 'hear speaker');
  await hand.push('speaker', 'hold speaker');
  await hand.run();
  await expect.poll(() => gates.has('speaker')).toBe(true);
  const speaker = (await hand.queue()).rows.find(({ name }) => name === 'speaker');
  const client = await stage.bus.client(speaker?.id ?? '', { role: 'task' });
  await client.post(`agent:${id}`, 'text', Buffer.from('a word'), { deadlineMs: 5_000 });
  await client.close();
  gates.get('speaker')?.();
  expect([await next(stage.asker), await next(stage.asker)].sort()).toEqual([
    'hearer: heard a word',
    'speaker: did hold speaker',
  ]);
  await expect(next(stage.asker, 'speaker')).rejects.toMatchObject({ code: 'NOBODY_LEFT' });
});
