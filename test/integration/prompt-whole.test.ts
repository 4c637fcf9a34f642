import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ModelServer } from '../support/model-server.js';
import { chainRepository } from '../support/repository.js';
import { eventually } from '../support/eventually.js';
import { sigma, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';

/** Broker, index and manager, with an executor without a model, then one with a model beside it. */
let stage: ReturnType<typeof chainRepository>;
let server: ModelServer;
let stack: Stack;

const startExecutor = (name: string, env: Record<string, string> = {}): Promise<Running> => {
  const runners = 'prompt,answer,command';
  const args = ['--name', name, '--root', stage.root, '--runners', runners];
  return stack.start(['agent', 'executor', ...args], env);
};

beforeAll(async () => {
  stage = chainRepository();
  const { root, home, plan } = stage;
  writeFileSync(path.join(root, 'GUIDE.md'), 'Rings are for descriptors.\n');
  server = await ModelServer.open();
  stack = await Stack.open(home, ['manager'], { root, plan });
  await startExecutor('without-model');
}, 90_000);

afterAll(async () => {
  await stack[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  stage.remove();
});

async function prompted(id: string, task: string): Promise<any> {
  const document = { id, task, runner: 'prompt' };
  const args = ['delegate', '-', '--wait', '--json'];
  return (await sigma(stage.home, args, { input: JSON.stringify(document) })).json;
}

test('without a model the index answers, says so, and names its places and what was read', async () => {
  const view = await prompted('plain', '/read GUIDE.md\n/read GONE.md\nWho calls nic_log?');
  expect(view).toMatchObject({ state: 'completed', response: { usage: { tokens: 0 } } });
  const { result, steps } = view.response;
  expect(result).toMatch(/^No language model is configured here/);
  expect(result).toContain('Read beforehand: GUIDE.md.');
  expect(result).toMatch(/Could not be read: GONE\.md \(.+\)/);
  expect(result).toMatch(/nic_log is called at 3 places/);
  expect(result).toContain('drivers/nic/nic_main.c:');
  expect(steps.map(({ what }: any) => what)).toEqual(['read', 'read', 'content', 'index', 'end']);
  const asked = await prompted('plain-2', 'How is the ring of received frames allocated?');
  expect(asked.state).toBe('completed');
  expect(asked.response.result).toMatch(/\w+\.[ch]:\d+/);
  // What nothing clearly answers is told as such, as `sigma ask` tells it.
  const vague = await prompted('vague', 'How does the driver open sockets?');
  expect(vague.response.result).toMatch(
    /^No language model.*\n\nNothing here clearly answers the question/,
  );
}, 60_000);

test('without a model work is not done: what it started is waited for, and what there is and lacks is told', async () => {
  const view = await prompted(
    'work',
    [
      ...['/read GUIDE.md', '/push name=who "Who calls nic_log?"'],
      ...['/push name=unstarted "Implement it, too."', '/run 1'],
      ...['Implement JWT validation.', '/push name=after "Test it."'],
    ].join('\n'),
  );
  expect(view).toMatchObject({ state: 'not_done', error: { code: 'NOT_DONE' }, attempt: 1 });
  const { result } = view.response;
  expect(result).toContain('Read beforehand: GUIDE.md.');
  expect(result).toMatch(/^- who, done: .*nic_log is called at 3 places/ms);
  expect(result).toContain('Left to do: the content, "Implement JWT validation."; /push after.');
  expect(result).toContain('Needed: an executor with a language model');
  await eventually(async () => {
    const { json } = await sigma(stage.home, ['task', 'list', '--json']);
    const tasks = json.tasks.map(({ state, task }: any) => `${task.name} ${state}`);
    expect(tasks).toEqual(expect.arrayContaining(['who completed', 'unstarted not_done']));
  });
}, 60_000);

test('an intent in words is attended from a cold start, and done', async () => {
  const attend = (...args: string[]): Promise<any> => sigma(stage.home, ['attend', ...args]);
  const asked = await attend('List the callers of nic_log', '--context', 'cold');
  expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining('1. confirm')]);
  await attend('answer', 'cold', 'confirm');
  const done = await attend('answer', 'cold', 'delegate');
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining('1 of 1 tasks completed')]);
}, 60_000);

test('a prompt that is killed or out of time has told what it had done', async () => {
  const child = await startExecutor('slow-model', {
    ...{ SIGMA_MODEL_BASE_URL: server.url, SIGMA_MODEL: 'stub' },
  });
  await server.play([
    { times: 1, answer: { calls: [{ name: 'push', arguments: { name: 'a', prompt: 'x' } }] } },
    { answer: { hangs: 'before' } },
  ]);
  const input = JSON.stringify({ id: 'stopped', task: 'Do it.', runner: 'prompt' });
  await sigma(stage.home, ['delegate', '-', '--no-wait', '--json'], { input });
  await eventually(async () => {
    const { json } = await sigma(stage.home, ['task', 'show', 'stopped', '--json']);
    expect(json.progress).toBe(
      'asking the model, turn 2; done before: push name=a prompt=(1 characters)',
    );
  }, 20_000);
  await sigma(stage.home, ['task', 'cancel', 'stopped', '--why', 'enough']);
  const shown = await sigma(stage.home, ['task', 'show', 'stopped']);
  expect(shown.stdout).toContain(
    'It stopped while it was running (asking the model, turn 2; done before: push name=a',
  );
  await stack.stop(child);
}, 60_000);

test('with one, a prompt pushes others, has them run, takes their results and asks the index', async () => {
  await server.play([
    { match: '^Part (one|two)\\.$', times: 2, answer: { each: 'Part (\\w+)', text: 'Found $1.' } },
    {
      match: '^Do both parts\\.$',
      answer: {
        calls: [
          { name: 'push', arguments: { name: 'two', prompt: 'Part two.' } },
          { name: 'run' },
          { name: 'callers', arguments: { symbol: 'nic_log' } },
          { name: 'receive', arguments: { from: 'two' } },
          { name: 'receive', arguments: { from: 'one' } },
          { name: 'receive', arguments: { wait_seconds: 60 } },
        ],
      },
    },
    { match: 'NOBODY_LEFT', answer: { text: 'Both parts are done.' } },
  ]);
  await startExecutor('with-model', { SIGMA_MODEL_BASE_URL: server.url, SIGMA_MODEL: 'small' });
  const view = await prompted(
    'both',
    '/push name=one "Part one."\n/run\nDo both parts.\n/push name=later "Part three."',
  );
  expect(view).toMatchObject({ state: 'completed', response: { result: 'Both parts are done.' } });
  const request = (await server.requests()).find(({ body }) => body.messages.length > 10)!;
  const told = request.body.messages.slice(-6).map(({ content }: any) => content as string);
  expect(told[2]).toContain('nic_log is called at 3 places');
  expect(told[3]).toMatch(/message from two \(two-\w+\)[^]*"result":"Found two\."/);
  expect(told[4]).toMatch(/message from one \(one-\w+\)[^]*"result":"Found one\."/);
  const { json } = await sigma(stage.home, ['task', 'list', '--json']);
  const tasks = json.tasks.map(({ state, depth, task }: any) => `${task.name} ${state} ${depth}`);
  expect(tasks).toEqual(
    expect.arrayContaining(['one completed 1', 'two completed 1', 'later queued 0']),
  );
}, 90_000);

test('a program that an agent wants run waits for a person, whatever anybody writes to it', async () => {
  const doomed = path.join(stage.root, 'doomed');
  writeFileSync(doomed, 'still here');
  await server.play([
    {
      match: '^Clean up\\.$',
      answer: {
        calls: [
          {
            name: 'delegate',
            arguments: { task: 'Remove it.', action: { argv: ['rm', '-rf', 'doomed', 'drivers'] } },
          },
          { name: 'receive', arguments: { wait_seconds: 2 } },
        ],
      },
    },
    { match: 'INBOX_EMPTY|NOBODY_LEFT', answer: { text: 'It waits.' } },
  ]);
  const view = await prompted('cleaner', 'Clean up.');
  expect(view).toMatchObject({ state: 'completed', response: { result: 'It waits.' } });
  const { json } = await sigma(stage.home, ['task', 'list', '--json']);
  const work = json.tasks.find(({ parent }: any) => parent === 'cleaner');
  expect(work.gates.length).toBeGreaterThan(0);
  expect(work.gates.every(({ state }: any) => state !== 'approved')).toBe(true);
  expect([existsSync(doomed), readFileSync(doomed, 'utf8')]).toEqual([true, 'still here']);
}, 60_000);
