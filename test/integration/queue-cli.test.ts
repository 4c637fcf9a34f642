import { readSecret } from '../../src/config/keys.js';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Client as McpClient } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { takeResult } from '../../src/operations/prompts.js';
import { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { failureOf, stdioClient } from '../support/mcp.js';
import { sigma, startProcess, startSigma, type Running } from '../support/sigma.js';
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

function connected(agent: string, role: string): Client {
  return Client.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
    identity: { agent, role, isEphemeral: false },
    secretOf: () => readSecret(home, role),
    clock: systemClock,
    random: Math.random,
  });
}

const startManager = async (): Promise<Running> => {
  const running = startProcess(home, ['agent', 'manager']);
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
  const story = await run('task', 'story', done.json.id);
  expect(story.json.results).toMatchObject([{ success: true, result: 'did say it' }]);
  const told = await sigma(home, ['task', 'story', done.json.id]);
  expect(told.stdout).toMatch(/\+0\.0 s {2}main {2}asked by operator: say it/);
});

test('what is run without a queue is waited for, received and killed by its name, too', async () => {
  const running = await run('run', 'hold the run', '--no-wait', '--name', 'alone');
  const queued = await run('push', 'not started', '--name', 'idle');
  await eventually(() => expect(held.has('alone')).toBe(true), 20_000);
  expect((await run('receive', '--wait', '2s')).json.error.code).toBe('INBOX_EMPTY');
  expect((await run('queue')).json.rows).toMatchObject([
    { id: running.json.id, name: 'alone', status: 'running' },
    { name: 'idle', status: 'queued' },
  ]);
  held.get('alone')?.();
  const { json } = await run('receive', '--from', 'alone', '--wait', '20s');
  expect(JSON.parse(json.message.body)).toMatchObject({ from: running.json.id, success: true });
  expect((await run('receive', '--wait', '20s')).json.error.code).toBe('NOBODY_LEFT');
  await run('run', 'hold the other', '--no-wait', '--name', 'other');
  expect((await run('kill', 'other')).json.state).toBe('cancelled');
  await run('kill', queued.json.id);
  await run('receive', '--from', 'other', '--wait', '20s');
  await run('receive', '--from', queued.json.id, '--wait', '20s');
});

test('what a run told before its result stays in the mailbox of its parent', async () => {
  const reader = connected('reader', 'client');
  await reader.ready({ withinMs: 5_000 });
  await worker.post('agent:reader', 'text', Buffer.from('so far'));
  await takeResult(reader, 'reader', 'worker', 1_000);
  await reader.close();
  const again = connected('reader', 'client');
  await again.ready({ withinMs: 5_000 });
  const { body } = await again.take({ from: 'worker', deadlineMs: 5_000 });
  expect(body.toString()).toBe('so far');
  await again.close();
});

test('of several without a name, whichever is over first is received first', async () => {
  const quick = await run('push', 'quick');
  await run('push', 'hold me', '--name', '');
  await run('push', 'never started');
  await run('queue', 'run', '2');
  const { json } = await run('receive', '--wait', '20s');
  expect(json.message.from).toBe(quick.json.id);
  await eventually(() => expect(held.has('')).toBe(true), 20_000);
  expect((await run('receive', '--wait', '2s')).json.error.code).toBe('INBOX_EMPTY');
  held.get('')?.();
  expect((await run('receive', '--wait', '20s')).json.message.type).toBe('task.finished');
  await run('queue', 'run');
  expect((await run('receive', '--wait', '20s')).json.message.type).toBe('task.finished');
});

test('--as before a subcommand is about that agent, not about the operator', async () => {
  const mine = await run('push', 'of the operator', '--name', 'mine');
  expect((await run('queue', '--as', 'bob', 'run')).json.started).toEqual([]);
  expect((await run('queue', '--as', 'bob', 'run', '--as', 'operator', '1')).json.started).toEqual([
    mine.json.id,
  ]);
  await run('receive', '--from', 'mine', '--wait', '20s');
});

test('a prompt can be pushed for an agent that is no operator', async () => {
  const { json } = await run('push', 'of the worker', '--as', 'worker');
  expect(json).toMatchObject({ state: 'queued', owner: 'worker' });
  expect((await run('kill', json.id, '--as', 'worker')).json.state).toBe('cancelled');
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
