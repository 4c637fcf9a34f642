import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Client } from '../../../src/client/client.js';
import { loadConfig } from '../../../src/config/config.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { ZeromqLink } from '../../../src/transport/zeromq.js';
import { sessionLimits } from '../../../services/console/sessions.js';
import { recordOf } from '../../support/bus.js';
import { Browser, json, startConsole, type RunningConsole } from '../../support/console.js';
import { eventually } from '../../support/eventually.js';
import { chainRepository } from '../../support/repository.js';
import { environment, program, sigma } from '../../support/sigma.js';
import { Stack } from '../../support/stack.js';

let repository: ReturnType<typeof chainRepository>;
let stack: Stack;
let worker: Client;
const consoles: RunningConsole[] = [];
let browser: Browser;
/** Before a console that only shows. */
let looker: Browser;

async function opened(...args: string[]): Promise<Browser> {
  const its = await startConsole(repository.home, [repository.root, ...args]);
  consoles.push(its);
  return Browser.open(await its.link());
}

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  mkdirSync(home, { recursive: true });
  // A person of this bus may requeue what was given up, but not read what waits.
  const administer = ['dead.*', 'inbox.take'];
  const settings = { permissions: { operator: { administer } }, person: 'Ann' };
  writeFileSync(path.join(home, 'config.json'), JSON.stringify(settings));
  stack = await Stack.open(home, ['manager'], { root, plan });
  worker = Client.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
    identity: { agent: 'worker', role: 'executor', isEphemeral: false },
    clock: systemClock,
    random: Math.random,
  });
  await worker.ready({ withinMs: 10_000 });
  await worker.register(recordOf('worker'));
  browser = await opened();
  looker = await opened('--read-only');
});
afterAll(async () => {
  for (const each of consoles) {
    each.process.kill('SIGTERM');
    expect(await each.ended).toBe(0);
  }
  await worker.close();
  await stack[Symbol.asyncDispose]();
  repository.remove();
});

const run = (...args: string[]): ReturnType<typeof sigma> => sigma(repository.home, args);

async function valueOf(name: string, input: object = {}): Promise<any> {
  const answer = await browser.call(name, input);
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  return answer.json.value;
}

/** Lines of the audit log of this type, once there is one. */
async function audited(type: string): Promise<any[]> {
  let entries: any[] = [];
  await eventually(async () => {
    entries = (await run('audit', '--type', type, '--json')).json.entries;
    expect(entries.length).toBeGreaterThan(0);
  });
  return entries;
}

test('the page learns who it is, and which trees there are', () => {
  const { person, read_only, trees, version } = browser.greeting;
  expect([person, read_only, trees]).toEqual(['Ann', false, [repository.root]]);
  expect(version).toMatch(/^\d+\.\d+\.\d+/);
  expect(looker.greeting.read_only).toBe(true);
});

test('what is asked is answered as on the command line', async () => {
  const symbol = 'dma_alloc_ring';
  const asked = await browser.call('callers', { symbol });
  const ran = await run('callers', symbol, '--json');
  expect([asked.status, ran.code]).toEqual([200, 0]);
  expect(asked.json.value).toEqual(ran.json);
  const { agents } = await valueOf('list_agents');
  expect(agents.map(({ alias }: any) => alias)).toEqual(expect.arrayContaining(['mm', 'worker']));
});

test('what is not there, and what is asked wrongly, is refused by its code', async () => {
  const codeOf = async (name: string, input: object = {}, query = ''): Promise<unknown[]> => {
    const { status, json: its } = await browser.call(name, input, query);
    return [status, its.error.code, its.error.next !== ''];
  };
  expect(await codeOf('nothing')).toEqual([404, 'CONSOLE_NOTHING', true]);
  expect(await codeOf('__proto__')).toEqual([404, 'CONSOLE_NOTHING', true]);
  expect(await codeOf('callers', { symbl: 'x' })).toEqual([400, 'TOOL_INPUT', true]);
  expect(await codeOf('callers', [])).toEqual([400, 'TOOL_INPUT', true]);
  expect(await codeOf('callers', { symbol: 'x', timeout_seconds: 1e9 })).toEqual([
    ...[400, 'TOOL_INPUT', true],
  ]);
  expect(await codeOf('list_gates', { watch: true })).toEqual([400, 'TOOL_INPUT', true]);
  expect(await codeOf('list_gates', {}, '?as=ann')).toEqual([400, 'TOOL_INPUT', true]);
  expect(await codeOf('task show', { id: 'none' })).toEqual([422, 'NO_SUCH_TASK', true]);
  const body = { method: 'POST', headers: { ...json, ...browser.headers }, body: '{' };
  const cut = await fetch(`${browser.origin}/api/call/list_agents`, body);
  expect([cut.status, ((await cut.json()) as any).error.code]).toEqual([400, 'USAGE']);
});

test('a person judges a gate in the page, under their name, and the audit log has it', async () => {
  const action = { argv: ['git', 'push', '--force', 'origin', 'main'] };
  const { id: task } = await valueOf('delegate_task', { task: 'push', action, wait: false });
  let gate: any;
  await eventually(async () => {
    gate = (await valueOf('list_gates')).gates.find((each: any) => each.task === task);
    expect(gate).toBeDefined();
  });
  expect(gate.classification.description).toContain('git push --force origin main');
  const said = { id: gate.id, judgement: 'halt' };
  expect(await looker.call('judge_gate', said)).toMatchObject({
    status: 403,
    json: { error: { code: 'CONSOLE_READ_ONLY' } },
  });
  expect(await valueOf('judge_gate', said)).toMatchObject({
    ...{ state: 'judged', judgement: 'halt', judged_by: 'Ann' },
  });
  const entries = await audited('gate.judge');
  expect(entries.at(-1)).toMatchObject({ what: 'delivered', person: 'Ann' });
  expect(entries.at(-1).from).toMatch(/^console-client-/);
});

test('dead letters are looked at, requeued and purged with the rights of the person', async () => {
  const receiving = await worker.receive(() => {
    throw new BusError('MALFORMED_PAYLOAD', { detail: 'no idea what this is' });
  });
  await valueOf('send', { to: 'worker', message: 'riddle' });
  let dead: any[] = [];
  await eventually(async () => {
    dead = (await valueOf('dead list')).messages;
    expect(dead).toHaveLength(1);
  });
  await receiving[Symbol.asyncDispose]();
  const [{ seq }] = dead;
  expect((await looker.call('dead list')).json.value.messages).toHaveLength(1);
  for (const act of ['dead requeue', 'dead purge', 'send'])
    expect(await looker.call(act, { seq: [seq] })).toMatchObject({
      status: 403,
      json: { error: { code: 'CONSOLE_READ_ONLY' } },
    });
  expect(await valueOf('dead requeue', { seq: [seq] })).toEqual({ count: 1 });
  const { view } = await worker.take({ deadlineMs: 5_000 });
  expect(view.seq).toBe(seq);
  worker.settle([seq]);
  const [entry] = (await audited('dead.requeue')).slice(-1);
  expect(entry).toMatchObject({ what: 'administered', to: 'broker', person: 'Ann' });
  expect(await valueOf('dead purge', { all: true })).toEqual({ count: 0 });
  expect((await audited('dead.purge')).at(-1)).toMatchObject({ person: 'Ann' });
});

test('where only is shown, what can both look and act is refused by its input', async () => {
  const refused = { status: 403, json: { error: { code: 'CONSOLE_READ_ONLY' } } };
  expect((await looker.call('gate approvals')).json.value).toEqual({ approvals: [] });
  expect(await looker.call('gate approvals', { revoke: true })).toMatchObject(refused);
  expect((await looker.call('attend', { verb: 'list' })).status).toBe(200);
  expect(await looker.call('attend', { verb: 'withdraw', context: 'none' })).toMatchObject(refused);
});

test.each([
  ['symbol', { symbol: 'no_such_symbol_here' }, 422, 'NO_SUCH_SYMBOL'],
  ['agent_activity', { agent: 'no-such-agent' }, 404, 'UNKNOWN_AGENT'],
  ['task show', { id: 'no-such-task' }, 422, 'NO_SUCH_TASK'],
  ['gate show', { id: 'no-such-gate' }, 422, 'NO_SUCH_GATE'],
  ['dead show', { seq: 999_999 }, 422, 'NO_SUCH_MESSAGE'],
  ['symbol', {}, 400, 'TOOL_INPUT'],
])(
  '%s: what the asker must mend is no failure of the server',
  async (name, input, status, code) => {
    expect(await browser.call(name, input)).toMatchObject({
      status,
      json: { error: { code, text: expect.stringMatching(/./), next: expect.stringMatching(/./) } },
    });
  },
);

test('what the role of a person may not do is refused by the bus, as on the command line', async () => {
  const ran = await run('dead', 'show', '999999', '--json');
  const asked = await browser.call('dead show', { seq: 999_999 });
  expect(asked.json.error.code).toBe(ran.json.error.code);
  const inbox = await run('inbox', '--all', '--json');
  expect(inbox.json.error.code).toBe('UNAUTHORISED');
  expect(await browser.call('inbox', { all: true })).toMatchObject({
    status: 403,
    json: { error: { code: 'UNAUTHORISED' } },
  });
});

test('calls of one session have a limit; those of a browser that is gone are ended', async () => {
  // No worker is there that could begin it.
  const task = { task: 'write it', runner: 'agent', wait: false };
  const { id } = await valueOf('delegate_task', task);
  const { port } = new URL(browser.origin);
  const asked = Array.from({ length: sessionLimits.callsMax }, () => {
    const waiting = request({
      ...{ host: '127.0.0.1', port, path: '/api/call/task%20show', method: 'POST' },
      headers: { ...json, ...browser.headers },
    });
    waiting.on('error', () => undefined);
    waiting.end(JSON.stringify({ id, wait: true, timeout_seconds: 600 }));
    return waiting;
  });
  await eventually(async () => {
    const { status, json: its } = await browser.call('list_agents');
    expect([status, its.error?.code]).toEqual([429, 'CONSOLE_BUSY']);
  });
  for (const each of asked) each.destroy();
  await eventually(async () => expect((await browser.call('list_agents')).status).toBe(200));
  await run('kill', id);
});

test('a log has neither the links nor the secrets of a console', async () => {
  const its = consoles[0]!;
  const token = new URL(await its.link()).hash;
  expect(its.output()).not.toContain('token=');
  expect(its.output()).not.toContain(token.slice(1));
  expect(its.output()).toContain('"operation called"');
  expect(its.output()).toContain('"person":"Ann"');
});

test('on a terminal the link itself is shown; with the console its file is gone', async () => {
  const home = path.join(repository.home, 'terminal');
  const words = [process.execPath, program, 'console', '--port', '0'].join(' ');
  const child = spawn('script', ['-qec', words, '/dev/null'], { env: environment(home) });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  let link: string | undefined;
  await eventually(() => {
    [link] = /http:\S+#token=[\w-]+/.exec(shown) ?? [];
    expect(link, shown).toBeDefined();
  });
  expect((await Browser.open(link ?? '')).greeting.read_only).toBe(false);
  const file = path.join(home, 'console/running.json');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  child.stdin.write('\u0003');
  await ended;
  expect(existsSync(file)).toBe(false);
});

test('a home without a console says so', async () => {
  const ran = await sigma(path.join(repository.root, 'none'), ['console', '--link', '--json']);
  expect([ran.code, ran.json.error.code]).toEqual([3, 'CONSOLE_NONE']);
});

test('so does one whose console was killed, where another program has its port', async () => {
  const home = path.join(repository.root, 'killed');
  const other = createServer((_request, response) => void response.end('<p>another'));
  await new Promise<void>((resolve) => void other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as AddressInfo;
  const running = { origin: `http://127.0.0.1:${port}`, secret: 'old' };
  mkdirSync(path.join(home, 'console'), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(home, 'console/running.json'), JSON.stringify(running), { mode: 0o600 });
  const ran = await sigma(home, ['console', '--link', '--json']);
  expect([ran.code, ran.json.error.code]).toEqual([3, 'CONSOLE_NONE']);
  other.close();
});
