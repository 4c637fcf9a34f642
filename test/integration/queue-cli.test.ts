import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client as McpClient } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { eventually } from '../support/eventually.js';
import { failureOf, stdioClient } from '../support/mcp.js';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';
import { startWorker } from '../support/worker.js';

/** Queues on the command line and as tools of a model, over real processes; the prompts are done by a scripted worker. */
const folder = temporaryFolder();
const home = folder.path;
let bus: Running;
let manager: Running;
let worker: Client;
let mcp: McpClient;
const held = new Map<string, () => void>();

const startManager = async (): Promise<Running> => {
  const running = startSigma(home, ['agent', 'manager']);
  await eventually(async () => {
    const { code } = await sigma(home, ['task', 'list', '--json']);
    expect(code).toBe(0);
  }, 30_000);
  return running;
};

beforeAll(async () => {
  bus = startSigma(home, ['bus']);
  await eventually(async () => {
    expect((await sigma(home, ['status', '--json'])).code).toBe(0);
  }, 30_000);
  manager = await startManager();
  worker = await startWorker(
    home,
    'worker',
    async ({ task, name }) => {
      if (task.includes('hold')) await new Promise<void>((resolve) => held.set(name, resolve));
      return { result: `did ${task}` };
    },
    ['prompt'],
  );
  mcp = await stdioClient(home, { era: 'modern', cwd: home, args: ['--as', 'model'] });
}, 120_000);

afterAll(async () => {
  for (const release of held.values()) release();
  await mcp.close();
  await worker.close();
  for (const each of [manager, bus]) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  folder.remove();
});

const run = (...args: string[]): Promise<any> => sigma(home, [...args, '--json']);

test('a prompt that cannot be read is refused with its place, before anything is sent', async () => {
  const refused = await run('push', 'hello\n/run');
  expect(refused.code).toBe(2);
  expect(refused.json.error).toMatchObject({ code: 'PROMPT_INVALID' });
  expect(refused.json.error.text).toContain('line 2, column 1');
  expect((await run('queue')).json.rows).toEqual([]);
});

test('pushed, looked at, started, received by its name; then nobody is left', async () => {
  writeFileSync(path.join(home, 'b.md'), 'the prompt of b');
  const first = await run('push', 'the prompt of a', '--name', 'a');
  expect(first.json).toMatchObject({ state: 'queued', owner: 'operator' });
  expect((await run('push', path.join(home, 'b.md'), '--name', 'b')).code).toBe(0);
  const taken = await run('push', 'again', '--name', 'b');
  expect([taken.code, taken.json.error.code]).toEqual([1, 'NAME_TAKEN']);
  const { stdout } = await sigma(home, ['queue']);
  expect(stdout).toMatch(/Queue of operator\n.*NAME.*\na .*queued/);
  expect((await run('queue', 'run', '1', '--concurrency', '2')).json).toMatchObject({ queued: 1 });
  const { json } = await run('receive', '--from', 'a', '--wait', '20s');
  expect(json.error).toBeUndefined();
  expect(JSON.parse(json.message.body)).toEqual({
    ...{ from: first.json.id, name: 'a', success: true, result: 'did the prompt of a' },
  });
  const nobody = await run('receive', '--wait', '60s');
  expect([nobody.code, nobody.json.error.code]).toEqual([1, 'NOBODY_LEFT']);
  expect(nobody.json.error.text).toContain('1 queued');
  await run('queue', 'run');
  expect((await run('receive', '--wait', '20s')).json.message.from).not.toBe('manager');
});

test('run follows a prompt to its end, and leaves nothing in the mailbox', async () => {
  const done = await run('run', 'say it', '--wait', '--concurrency', '3');
  expect(done.code).toBe(0);
  expect(done.json).toMatchObject({ state: 'completed', response: { result: 'did say it' } });
  expect(done.json.id).toMatch(/^main-[0-9a-f]{8}$/);
  expect((await run('inbox')).json.messages).toEqual([]);
  const story = await run('task', 'show', done.json.id, '--story');
  expect(story.json.results).toMatchObject([{ success: true, result: 'did say it' }]);
  const told = await sigma(home, ['task', 'show', done.json.id, '--story']);
  expect(told.stdout).toMatch(/\+0\.0 s {2}main {2}delegated by operator: say it/);
});

test('kill ends it by its name, and says who did', async () => {
  await run('push', 'hold on', '--name', 'held');
  await run('queue', 'run');
  await eventually(() => expect(held.has('held')).toBe(true), 20_000);
  expect((await run('kill', 'held', '--why', 'no need')).json.state).toBe('cancelled');
  const { json } = await run('receive', '--from', 'held', '--wait', '20s');
  const told = JSON.parse(json.message.body);
  expect(told).toMatchObject({ success: false, error: { code: 'KILLED' } });
  expect(told.error.text).toMatch(/^killed by \S+: no need$/);
});

test('a manager that is killed between a push and its start, and before a result is told, tells it once', async () => {
  await run('push', 'hold twice', '--name', 'kept', '--id', 'kept-1');
  manager.process.kill('SIGKILL');
  await manager.ended;
  manager = await startManager();
  expect((await run('push', 'hold twice', '--name', 'kept', '--id', 'kept-1')).json.state).toBe(
    'queued',
  );
  await run('queue', 'run', '--key', 'once');
  await eventually(() => expect(held.has('kept')).toBe(true), 20_000);
  manager.process.kill('SIGKILL');
  await manager.ended;
  held.get('kept')?.();
  manager = await startManager();
  expect((await run('queue', 'run', '--key', 'once')).json.started).toEqual(['kept-1']);
  const { json } = await run('receive', '--from', 'kept', '--wait', '30s');
  expect(JSON.parse(json.message.body)).toMatchObject({ from: 'kept-1', success: true });
  manager.process.kill('SIGKILL');
  await manager.ended;
  manager = await startManager();
  const again = await run('receive', '--from', 'kept', '--wait', '30s');
  expect(again.json.error.code).toBe('NOBODY_LEFT');
}, 120_000);

const call = async (name: string, args: object = {}): Promise<any> =>
  mcp.callTool({ name, arguments: args as Record<string, unknown> });

test('the tools of a model: push, queue, queue_run, receive, check, inbox, send, run and kill', async () => {
  const pushed = await call('push', { prompt: 'of a model', name: 'mine' });
  expect(pushed.structuredContent).toMatchObject({ name: 'mine', state: 'queued' });
  expect(failureOf(await call('push', { prompt: '/nothing' })).code).toBe('PROMPT_INVALID');
  const { rows } = (await call('queue')).structuredContent;
  expect(rows).toMatchObject([{ name: 'mine', status: 'queued' }]);
  expect(failureOf(await call('receive', { timeout_seconds: 60 })).code).toBe('NOBODY_LEFT');
  expect((await call('queue_run')).structuredContent.started).toHaveLength(1);
  const { messages } = (await call('receive', { from: 'mine' })).structuredContent;
  expect(JSON.parse(messages[0].body)).toMatchObject({ success: true, result: 'did of a model' });
  expect((await call('check')).structuredContent.messages).toEqual([]);
  await run('send', 'model', 'a word');
  expect((await call('inbox')).structuredContent.messages).toMatchObject([{ from: 'operator' }]);
  expect((await call('check')).structuredContent.messages).toMatchObject([{ body: 'a word' }]);
  expect((await call('inbox')).structuredContent.messages).toEqual([]);
  await call('send', { to: 'operator', message: 'an answer' });
  expect((await run('receive', '--from', 'model', '--wait', '10s')).json.message.body).toBe(
    'an answer',
  );
  const main = await call('run', { prompt: 'now' });
  expect(main.structuredContent).toMatchObject({ state: 'completed', result: 'did now' });
  await call('push', { prompt: 'hold it', name: 'long' });
  await call('queue_run', {});
  await eventually(() => expect(held.has('long')).toBe(true), 20_000);
  expect((await call('kill', { task: 'long' })).structuredContent.state).toBe('cancelled');
});
