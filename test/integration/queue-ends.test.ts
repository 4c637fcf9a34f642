import { afterAll, beforeAll, expect, test } from 'vitest';
import { receiveOne } from '../../src/remote/receive.js';
import { Tasks } from '../../src/remote/tasks.js';
import type { Client } from '../../src/client/client.js';
import {
  delegationCapability,
  runnerCapability,
  type DelegatedTask,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { taskMessages } from '../../src/task/requests/messages.js';
import { resultMessage } from '../../src/task/requests/result-message.js';
import { QueueHand } from '../support/queue-hand.js';
import { TaskStage } from '../support/task-stage.js';

/** How queues end, and what they refuse: cascades, bounds, supervision, and a manager that starts anew. */
let stage: TaskStage;
let hand: QueueHand;
let tasks: Tasks;
const limits = { depthMax: 8, treeMax: 40, queueMax: 20 };
const held = new Map<string, () => void>();
/** How often each was begun. */
const begun = new Map<string, number>();

const failedWith = (code: string): Partial<TaskResponse> => ({
  status: 'failed',
  result: 'half of it',
  reason: code,
  errors: [{ code, text: `it was ${code}`, retryable: true }],
});

/** As an agent on the bus, as long as that takes. */
async function asTask<T>(id: string, act: (client: Client) => Promise<T>): Promise<T> {
  const client = await stage.bus.client(id, { role: 'task' });
  try {
    return await act(client);
  } finally {
    await client.close();
  }
}

async function work({ id, task, name }: DelegatedTask): Promise<Partial<TaskResponse>> {
  const [word = '', ...rest] = task.split(' ');
  begun.set(name || id, (begun.get(name || id) ?? 0) + 1);
  switch (word) {
    case 'hold':
      await new Promise<void>((resolve) => held.set(name, resolve));
      return {};
    case 'fail':
      return failedWith(rest[0] ?? '');
    case 'flaky':
      return (begun.get(name) ?? 0) > Number(rest[0]) ? {} : failedWith('DEADLINE_EXCEEDED');
    // Pushes the rest as one task, starts it and waits for ever.
    case 'nest':
      await asTask(id, async (client) => {
        const its = new QueueHand(client);
        await its.push(`below-${name}`, rest.join(' '));
        await its.run();
      });
      return new Promise(() => undefined);
    // One below it; fails in passing at first, and waits for what it pushed then.
    case 'relay': {
      const isFirst = begun.get(name) === 1;
      return asTask(id, async (client) => {
        const its = new QueueHand(client);
        const below = await its.push('below', isFirst ? 'hold below' : 'quick');
        await its.run();
        if (isFirst) return failedWith('DEADLINE_EXCEEDED');
        const next = { agent: id, from: '', lifo: false, waitMs: 20_000, queueOf: its.queue };
        const taken = await receiveOne(client, next);
        client.settle([taken.view.seq]);
        return { result: taken.view.from === below.id ? 'its own' : taken.view.from };
      });
    }
    // Two more of its kind, and it does not wait for them.
    case 'bomb': {
      const refused = await asTask(id, async (client) => {
        const its = new QueueHand(client);
        const codes: string[] = [];
        for (const at of ['l', 'r'])
          await its.push(at, 'bomb').catch((error: unknown) => codes.push(asBusError(error).code));
        await its.run();
        // As an orchestrator does: until nobody is left.
        const queueOf = its.queue;
        for (;;) {
          const next = { agent: id, from: '', lifo: false, waitMs: 20_000, queueOf };
          if ((await its.queue()).rows.length === 0) return codes;
          try {
            client.settle([(await receiveOne(client, next)).view.seq]);
          } catch {
            return codes;
          }
        }
      });
      return { result: `refused ${refused.join(' ')}` };
    }
    default:
      return {};
  }
}

const capabilities = [delegationCapability, runnerCapability('prompt')];

beforeAll(async () => {
  stage = new TaskStage({}, limits);
  await stage.begin();
  hand = new QueueHand(stage.asker);
  tasks = new Tasks(stage.asker);
  const options = { capabilities, isParallel: true };
  await stage.worker('hands', ({ task }) => work(task), options);
  await stage.manager.desk.look();
});
afterAll(() => stage.end());

async function result(from = ''): Promise<{ name: string; said: string; partial: string }> {
  const own = { agent: 'asker', from, lifo: false, waitMs: 25_000, queueOf: hand.queue };
  const { view, body } = await receiveOne(stage.asker, own);
  stage.asker.settle([view.seq]);
  const {
    name,
    result: said,
    error,
    partial_output,
  } = resultMessage(taskMessages.finished.codec.decode(body));
  return { name, said: said ?? error?.code ?? '', partial: partial_output ?? '' };
}

const statesBelow = async (id: string): Promise<string[]> => {
  const { tasks: children } = await tasks.list({ states: [], parent: id }, 100);
  const below = await Promise.all(children.map((each) => statesBelow(each.id)));
  return [...children.map(({ state }) => state), ...below.flat()];
};

test('a failure is told with its code and what was done by then', async () => {
  await hand.push('bad', 'fail ACTION_FAILED');
  await hand.run();
  expect(await result('bad')).toEqual({
    name: 'bad',
    said: 'ACTION_FAILED',
    partial: 'half of it',
  });
});

test('the same push is one task, the same start is one start, and a name is taken once', async () => {
  const { id } = await hand.push('same', 'same', { id: 'same-1' });
  expect((await hand.push('same', 'same', { id: 'same-1' })).id).toBe(id);
  await expect(hand.push('same', 'other')).rejects.toMatchObject({ code: 'NAME_TAKEN' });
  await hand.push('later');
  const first = await hand.run({ count: 1, key: 'k' });
  expect(first).toMatchObject({ started: ['same-1'], queued: 1 });
  expect(await hand.run({ count: 1, key: 'k' })).toEqual(first);
  expect((await result()).name).toBe('same');
  await hand.run();
  expect((await result()).name).toBe('later');
  expect((await hand.push('same')).state).toBe('queued');
  await tasks.change({ id: (await hand.queue()).rows.at(-1)?.id ?? '', what: 'cancel', text: '' });
  expect((await result()).said).toBe('CANCELLED');
});

test('nobody pushes into the queue of another, or looks at it', async () => {
  const other = await stage.bus.client('stranger');
  await expect(new QueueHand(other).queue('asker')).rejects.toMatchObject({
    code: 'QUEUE_NOT_YOURS',
  });
  await expect(new QueueHand(other).push('mine', 'mine', { owner: 'asker' })).rejects.toMatchObject(
    { code: 'QUEUE_NOT_YOURS' },
  );
  await expect(new QueueHand(other).push('bad', '/push')).rejects.toMatchObject({
    code: 'PROMPT_INVALID',
  });
});

test('who is killed ends with all below it, over three levels, and tells that it was killed', async () => {
  const { id } = await hand.push('top', 'nest nest hold');
  await hand.run();
  await expect.poll(async () => (await statesBelow(id)).length, { timeout: 15_000 }).toBe(2);
  await expect.poll(() => held.has('below-below-top'), { timeout: 15_000 }).toBe(true);
  await tasks.change({ id, what: 'cancel', text: 'KILLED: enough' });
  expect(await result()).toMatchObject({ name: 'top', said: 'KILLED' });
  await expect.poll(() => statesBelow(id), { timeout: 15_000 }).toEqual(['cancelled', 'cancelled']);
  const [child] = (await tasks.list({ states: [], parent: id }, 10)).tasks;
  expect(child?.error?.code).toBe('PARENT_OVER');
  expect((await tasks.show(id)).error?.text).toBe('killed by asker: enough');
  // Nobody of them is there any more.
  await expect
    .poll(async () => (await stage.asker.agents({ role: 'task' })).length, { timeout: 15_000 })
    .toBe(0);
});

test('what a task leaves behind ends with it, and it may push nothing afterwards', async () => {
  const { id } = await hand.push('heir', 'hold heir');
  await hand.run();
  await expect.poll(() => held.has('heir')).toBe(true);
  const child = await asTask(id, (client) => new QueueHand(client).push('left', 'left'));
  expect(child).toMatchObject({ state: 'queued', parent: id, owner: id, depth: 1 });
  const after = await asTask(id, (client) =>
    new QueueHand(client).push('next', 'next', { to_parent: true }),
  );
  expect(after).toMatchObject({ state: 'queued', parent: 'asker', owner: 'asker', depth: 0 });
  held.get('heir')?.();
  expect((await result('heir')).name).toBe('heir');
  await expect.poll(async () => (await tasks.show(child.id)).state).toBe('cancelled');
  await hand.run();
  expect((await result()).name).toBe('next');
});

test('a queue that is supervised tries again what passes by itself, and ends with what does not', async () => {
  await hand.push('flaky', 'flaky 1');
  await hand.run({ supervised: true });
  expect(await result()).toMatchObject({ name: 'flaky', said: 'done as it was asked for' });
  expect(begun.get('flaky')).toBe(2);
  await hand.push('going', 'hold going');
  await hand.push('fatal', 'fail ACTION_FAILED');
  const { id: waits } = await hand.push('waits', 'waits');
  await hand.run({ count: 2, supervised: true });
  const all = [await result(), await result(), await result()];
  expect(all.map(({ name, said }) => `${name} ${said}`).sort()).toEqual([
    'fatal ACTION_FAILED',
    'going SIBLING_FAILED',
    'waits SIBLING_FAILED',
  ]);
  expect((await tasks.show(waits)).error?.text).toContain('of the same queue failed');
});

test('one that is tried again finds nothing of what it pushed before, neither open nor in its inbox', async () => {
  const { id } = await hand.push('relay', 'relay');
  await hand.run({ supervised: true });
  expect(await result()).toMatchObject({ name: 'relay', said: 'its own' });
  expect(begun.get('relay')).toBe(2);
  expect((await statesBelow(id)).sort()).toEqual(['cancelled', 'completed']);
});

test('a queue is full at its limit', async () => {
  for (let at = 0; at < limits.queueMax; at += 1) await hand.push(`n${at}`);
  await expect(hand.push('one-more')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
  for (const { id, status } of (await hand.queue()).rows)
    if (status !== 'finished') await tasks.change({ id, what: 'cancel', text: '' });
  for (let at = 0; at < limits.queueMax; at += 1) await result();
});

test('what pushes two for each ends by the limit of its tree, with nothing left open', async () => {
  const { id } = await hand.push('root', 'bomb');
  await hand.run();
  expect((await result('root')).name).toBe('root');
  const states = await statesBelow(id);
  expect(states.length).toBeLessThanOrEqual(limits.treeMax);
  expect(states.length).toBeGreaterThan(limits.treeMax - 2);
  expect(states.every((state) => state === 'completed')).toBe(true);
  const { tasks: all } = await tasks.list({ states: ['completed'], parent: '' }, 500);
  const refused = all.flatMap(({ response }) => response?.result.split(' ') ?? []);
  expect(refused).toContain('TREE_FULL');
}, 60_000);

test('a manager that starts anew goes on: what was queued stays, the limit holds, results come once', async () => {
  await hand.push('q1', 'hold q1');
  await hand.push('q2', 'hold q2');
  await hand.push('q3', 'hold q3');
  await hand.run({ concurrency: 1, key: 'before' });
  await hand.push('q4', 'q4');
  await expect.poll(() => held.has('q1')).toBe(true);
  await stage.stopManager();
  await stage.startManager();
  await stage.manager.desk.look();
  expect(await hand.run({ concurrency: 1, key: 'before' })).toMatchObject({ queued: 0 });
  expect((await hand.queue()).rows.at(-1)).toMatchObject({ name: 'q4', state: 'queued' });
  for (const name of ['q1', 'q2', 'q3']) {
    await expect.poll(() => held.has(name), { timeout: 15_000 }).toBe(true);
    const under = (await hand.queue()).rows.filter(({ status }) => status === 'running');
    expect(under.map((row) => row.name)).toEqual([name]);
    held.get(name)?.();
    held.delete(name);
    expect((await result()).name).toBe(name);
  }
  await expect(result()).rejects.toMatchObject({ code: 'NOBODY_LEFT' });
  await hand.run();
  expect((await result()).name).toBe('q4');
});
