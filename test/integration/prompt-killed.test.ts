import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hex64, historyOfPrefix, historyPrefix, workPrefix } from '../../src/store/keys.js';
import { executorLayout } from '../../src/store/layouts.js';
import type { LevelStore } from '../../src/store/level-store.js';
import { eventually } from '../support/eventually.js';
import { ModelServer, type ModelRequest, type ModelRule } from '../support/model-server.js';
import { PromptDesk } from '../support/prompt-desk.js';
import type { Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

/** An executor that is killed while conversations are in every phase, and goes on with all of them. */
let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let server: ModelServer;
let desk: PromptDesk;
let executor: Running;
let stack: Stack;

/** Tasks by the phase in which the executor dies; each says so in its content. */
const script: ModelRule[] = [
  // Before the answer: the first request is never answered.
  { match: '^Phase asking', times: 1, answer: { hangs: 'before' } },
  { match: '^Phase asking', answer: { text: 'Asked again.' } },
  // Between two calls of one answer.
  {
    match: '^Phase calling',
    answer: {
      calls: [
        { name: 'send', arguments: { to: 'parent', message: 'of calling' } },
        { name: 'push', arguments: { name: 'one', prompt: 'One.' } },
        { name: 'push', arguments: { name: 'stuck-call', prompt: 'Two.' } },
        { name: 'run' },
      ],
    },
  },
  { match: '^1 started|^2 started', answer: { text: 'Called all.' } },
  // Between the lease of a message and the story on disk; and between that and the settling.
  { match: '^Phase (leased|settling)', answer: { calls: [{ name: 'check' }] } },
  { match: 'stands a message from sender', answer: { calls: [{ name: 'check' }] } },
  { match: '^Nothing is there', answer: { text: 'Nothing more.' } },
  { match: '^Phase ending', answer: { text: 'Ended.' } },
  // The commands have been done, each once.
  { match: '^Phase setup', answer: { text: 'Set up.' } },
  { match: '^Phase damaged', answer: { hangs: 'before' } },
];
const stuck = new Set(['stuck-setup', 'stuck-call', 'stuck-end']);

async function startExecutor(): Promise<void> {
  executor = await stack.startProcess(['agent', 'executor']);
}

const store = (): Promise<LevelStore> =>
  openTestStore(path.join(home, 'executor/executor/store'), executorLayout);
const pushesOf = (from: string): string[] =>
  desk.pushes.filter((each) => each.from === from).map(({ push }) => push.task.name);
const idsOf = (from: string): Set<string> =>
  new Set(desk.pushes.filter((each) => each.from === from).map(({ push }) => push.task.id));

async function requestsOf(phase: string): Promise<ModelRequest[]> {
  return (await server.requests()).filter(({ body }) =>
    body.messages.some(
      ({ role, content }: any) => role === 'user' && content.startsWith(`Phase ${phase}`),
    ),
  );
}

beforeAll(async () => {
  folder = temporaryFolder();
  home = path.join(folder.path, 'home');
  const root = path.join(folder.path, 'tree');
  for (const each of [home, root]) mkdirSync(each);
  writeFileSync(path.join(root, 'notes.md'), 'as it was');
  server = await ModelServer.open(script);
  const model = { url: server.url, model: 'small' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ model, executor: { root } }));
  stack = await Stack.open(home, []);
  await startExecutor();
  desk = await PromptDesk.open(home);
  await desk.enrol('me');
}, 60_000);

afterAll(async () => {
  for (const each of [desk, stack, server]) await each[Symbol.asyncDispose]();
  folder.remove();
});

test('killed in every phase, it goes on with each conversation, and nothing is asked or done twice that was done', async () => {
  const reached = new Set<string>();
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  desk.onAsked = async (type, from, name) => {
    // Whoever looks at its queue after a message was leased: it stands on no disk yet.
    const isLeased = type === 'task.queue' && from === 'leased' && reached.has('message');
    if (!stuck.has(name) && !isLeased) return;
    reached.add(name || from);
    await released;
  };
  for (const to of ['leased', 'settling']) {
    await desk.enrol(to);
    await desk.say('sender', to, `for ${to}`, `to-${to}`);
  }
  reached.add('message');
  await desk.assign(
    'setup',
    '/read notes.md\n/push name=first "1"\n/push name=stuck-setup "2"\nPhase setup.',
  );
  await desk.assign('asking', '/push name=early "1"\nPhase asking.');
  await desk.assign('calling', 'Phase calling.');
  await desk.assign('leased', 'Phase leased.');
  await desk.assign('ending', 'Phase ending.\n/push name=last-1 "1"\n/push name=stuck-end "2"');
  await desk.assign('damaged', 'Phase damaged.');
  await eventually(async () => {
    expect([...reached].sort()).toEqual([
      'leased',
      'message',
      'stuck-call',
      'stuck-end',
      'stuck-setup',
    ]);
    expect(await requestsOf('asking')).toHaveLength(1);
    expect(await requestsOf('damaged')).toHaveLength(1);
  }, 20_000);
  executor.process.kill('SIGKILL');
  await executor.ended;
  desk.onAsked = () => undefined;
  release();
  writeFileSync(path.join(folder.path, 'tree/notes.md'), 'as it is by now');
  {
    await using its = await store();
    await its.commit([
      {
        type: 'put',
        key: historyOfPrefix('damaged', 1) + hex64(0),
        value: Buffer.from('{"kind":'),
      },
      // Nobody has such an assignment any more.
      { type: 'put', key: historyOfPrefix('forgotten', 1) + hex64(0), value: Buffer.from('{}') },
    ]);
    // As if it had died a moment earlier: the message was sent, and nobody knows.
    const keys: string[] = [];
    for await (const key of its.keys({ prefix: historyOfPrefix('calling', 1) })) keys.push(key);
    expect(keys).toHaveLength(4);
    await its.commit(keys.slice(2).map((key) => ({ type: 'del', key })));
  }
  await startExecutor();
  const results = Object.fromEntries(
    await Promise.all(
      ['setup', 'asking', 'calling', 'leased', 'ending'].map(async (id) => {
        const { status, result } = await desk.desk.response(id, 40_000);
        return [id, `${status}: ${result}`];
      }),
    ),
  );
  expect(results).toEqual({
    setup: 'completed: Set up.',
    asking: 'completed: Asked again.',
    calling: 'completed: Called all.',
    leased: 'completed: Nothing more.',
    ending: 'completed: Ended.',
  });
  // What stood on disk was not done again, what did not was, under the same id.
  expect(pushesOf('setup')).toEqual(['first', 'stuck-setup', 'stuck-setup']);
  expect(pushesOf('asking')).toEqual(['early']);
  expect(pushesOf('calling')).toEqual(['one', 'stuck-call', 'one', 'stuck-call']);
  expect(pushesOf('ending')).toEqual(['last-1', 'stuck-end', 'stuck-end']);
  expect(['setup', 'asking', 'calling', 'ending'].map((each) => idsOf(each).size)).toEqual([
    2, 1, 2, 2,
  ]);
  const asked = ['setup', 'asking', 'calling', 'leased', 'ending'].map(
    async (phase) => (await requestsOf(phase)).length,
  );
  expect(await Promise.all(asked)).toEqual([1, 2, 2, 3, 1]);
  // One message, sent twice under one id.
  await desk.waiting('me', 1);
  await desk.waiting('leased', 0);
  // What was read before it died is what the model sees.
  const [{ body }] = (await requestsOf('setup')) as [ModelRequest];
  expect(JSON.stringify(body.messages)).toContain('as it was');
  const damaged = await desk.desk.response('damaged');
  expect(damaged).toMatchObject({ status: 'failed', reason: 'RECORD_DAMAGED' });
}, 120_000);

test('a message whose settling was lost is known when it comes again', async () => {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let isReached = false;
  desk.onAsked = async (type, from) => {
    if (type !== 'task.queue' || from !== 'settling') return;
    isReached = true;
    await released;
  };
  await desk.assign('settling', 'Phase settling.');
  await eventually(() => expect(isReached).toBe(true), 20_000);
  executor.process.kill('SIGKILL');
  await executor.ended;
  desk.onAsked = () => undefined;
  release();
  const page = await desk.desk.client.mail.inbox({ mailbox: 'agent:settling' });
  expect(page.messages).toHaveLength(1);
  const { seq, id, from } = page.messages[0]!;
  {
    // As if it had died a moment later: the story has the message, the broker does not know.
    await using its = await store();
    const keys: string[] = [];
    for await (const key of its.keys({ prefix: historyOfPrefix('settling', 1) })) keys.push(key);
    const text = 'Between the marks x stands a message from sender: for settling';
    const entry = {
      ...{ at_ms: 1, kind: 'result', callId: 'call_0', name: 'check', told: '', text },
      ...{ code: '', isInvalid: false, message: { seq, id, from } },
    };
    const key = historyOfPrefix('settling', 1) + hex64(keys.length);
    await its.commit([{ type: 'put', key, value: Buffer.from(JSON.stringify(entry)) }]);
  }
  await startExecutor();
  const response = await desk.desk.response('settling', 40_000);
  expect(response).toMatchObject({ status: 'completed', result: 'Nothing more.' });
  const requests = await requestsOf('settling');
  expect(requests).toHaveLength(3);
  const told = requests.at(-1)!.body.messages.filter(({ role }: any) => role === 'tool');
  expect(told.filter(({ content }: any) => content.includes('for settling'))).toHaveLength(1);
  await desk.waiting('settling', 0);
}, 90_000);

test('what is over leaves no history', async () => {
  executor.process.kill('SIGTERM');
  await executor.ended;
  await using its = await store();
  const left: string[] = [];
  for (const prefix of [historyPrefix, workPrefix])
    for await (const key of its.keys({ prefix })) left.push(key);
  expect(left).toEqual([]);
});
