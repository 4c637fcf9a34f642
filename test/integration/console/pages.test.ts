import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser, startConsole, type RunningConsole } from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { chainRepository } from '../../support/repository.js';
import { Stack } from '../../support/stack.js';

/** What pages ask for, and no command does. */

let repository: ReturnType<typeof chainRepository>;
let stack: Stack;
let running: RunningConsole;
let browser: Browser;

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  stack = await Stack.open(home, ['manager'], { root, plan });
  running = await startConsole(home, [root]);
  browser = await Browser.open(await running.link());
});
afterAll(async () => {
  running.process.kill('SIGTERM');
  expect(await running.ended).toBe(0);
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

async function valueOf(name: string, input: object = {}): Promise<any> {
  const { status, text, json } = await browser.call(name, input);
  expect([status, text]).toEqual([200, expect.any(String)]);
  return json.value;
}

async function stopped(argv: string[]): Promise<{ task: string; gate: string }> {
  const asked = { task: 'publish it', action: { argv }, wait: false };
  const { id: task } = await valueOf('delegate_task', asked);
  let gate = '';
  await eventually(async () => {
    const { gates } = await valueOf('list_gates');
    gate = gates.find((each: any) => each.task === task)?.id ?? '';
    expect(gate).not.toBe('');
  });
  return { task, gate };
}

test('tasks are found by state and words, and one has what happened to it', async () => {
  const { task } = await stopped(['git', 'push', '--force', 'origin', 'found']);
  const found = await valueOf('find_tasks', { states: ['attending'], text: 'publish' });
  expect(found.rows.map(({ id }: any) => id)).toContain(task);
  expect(found.states.attending).toBe(found.total);
  expect((await valueOf('find_tasks', { text: 'nothing like it' })).total).toBe(0);
  const { task: view, events } = await valueOf('task_history', { id: task });
  expect([view.id, view.state]).toEqual([task, 'attending']);
  const times = events.map(({ at_ms }: any) => at_ms);
  expect(times).toEqual([...times].sort((one, other) => one - other));
  expect(events.map(({ what }: any) => what)).toEqual(expect.arrayContaining(['asked', 'gate']));
});

test('a gate is judged by the exact action that was shown, and by no other', async () => {
  const argv = ['git', 'push', '--force', 'origin', 'judged'];
  const { gate } = await stopped(argv);
  const shown = await valueOf('inspect_gate', { id: gate });
  expect([shown.is_exact, shown.action.argv]).toEqual([true, argv]);
  const { action } = shown.gate.classification.digest;
  const judged = (digest: string) =>
    browser.call('judge_gate', { id: gate, judgement: 'halt', direction: 'no', action: digest });
  expect(await judged(action.replace(/./g, '0'))).toMatchObject({
    json: { error: { code: 'GATE_CHANGED' } },
  });
  expect((await valueOf('inspect_gate', { id: gate })).gate.state).toBe('open');
  expect(await judged(action)).toMatchObject({
    json: { value: { state: 'judged', judgement: 'halt', direction: 'no' } },
  });
});

test('mailboxes of all agents, and what waits in one', async () => {
  await valueOf('send', { to: 'manager', message: 'later', delay_seconds: 600, type: 'note' });
  const { mailboxes } = await valueOf('mailboxes');
  expect(mailboxes.find(({ mailbox }: any) => mailbox === 'agent:manager').depth).toBe(1);
  const { messages } = await valueOf('mailbox_messages', { mailbox: 'agent:manager' });
  expect(messages).toMatchObject([{ type: 'note', state: 'scheduled' }]);
  const { message } = await valueOf('dead show', { seq: messages[0].seq });
  expect([message.body, message.encoding]).toEqual(['later', 'utf8']);
});

test('an agent has what it sent and got, of which the broker keeps the kinds', async () => {
  await valueOf('find_tasks');
  let its: any;
  await eventually(async () => {
    its = await valueOf('agent_activity', { agent: 'manager' });
    expect(its.entries.map(({ type }: any) => type)).toContain('task.rows');
  });
  expect(its.services).toContain('tasks');
  expect(its.known_ms).toBeGreaterThan(0);
  expect(its.minutes.at(-1).received).toBeGreaterThan(0);
  const none = await browser.call('agent_activity', { agent: 'none' });
  expect(none.json.error.code).toBe('UNKNOWN_AGENT');
});

test('queues of all agents, and the rows of one', async () => {
  const { id } = await valueOf('push', { prompt: 'say hello', name: 'hello' });
  const { queues, queue } = await valueOf('prompt_queues', { owner: 'operator' });
  expect(queues).toMatchObject([{ owner: 'operator', queued: 1 }]);
  expect(queue.rows).toMatchObject([{ id, name: 'hello', status: 'queued' }]);
});
