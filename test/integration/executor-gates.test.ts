import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { attentionMessages } from '../../src/attention/messages.js';
import { attendCapability, type Gate, type Grant } from '../../src/attention/shapes.js';
import { readTask } from '../../src/delegation/task/schema.js';
import type { TaskResponse } from '../../src/delegation/task/shapes.js';
import { BusError } from '../../src/errors/bus-error.js';
import { taskMessages, taskService, type TaskView } from '../../src/task/requests/messages.js';
import { Desk } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { program, startSigma, type Running } from '../support/sigma.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const agent = fileURLToPath(new URL('../support/stopping-agent.mjs', import.meta.url));
let home: string;
let place: string;
let executor: Running;
/** Delegates, judges, and is a manager by hand where leave must be what no manager gives. */
let desk: Desk;
let stack: Stack;
/** Grants that were asked for at the desk; how it answers. */
const uses: string[] = [];
let onUse: (grant: string) => void = () => undefined;

async function startExecutor(): Promise<void> {
  // Killed by one test; another looks at what its programs can do to it.
  executor = await stack.startProcess(['agent', 'executor']);
  await eventually(async () => {
    const agents = await desk.client.agents({ role: 'executor' });
    const mine = agents.find(({ state }) => state === 'online')?.record;
    expect(mine?.capabilities).toEqual(
      expect.arrayContaining([attendCapability, 'sandbox:on', 'runner:agent', 'runner:command']),
    );
  }, 30_000);
}

beforeAll(async () => {
  const base = realpathSync(folder.path);
  home = path.join(base, 'home');
  place = path.join(base, 'place');
  mkdirSync(home, { recursive: true });
  mkdirSync(path.join(place, 'below'), { recursive: true });
  writeFileSync(
    path.join(home, 'config.json'),
    JSON.stringify({ executor: { root: place, agent: [process.execPath, agent, place] } }),
  );
  process.env.OF_THE_EXECUTOR = 'only-its-own';
  stack = await Stack.open(home, ['manager']);
  desk = await Desk.open(home);
  const { use } = attentionMessages;
  desk.client.serve({
    [use.type]: ({ body }) => {
      const { grant } = use.request.decode(body);
      uses.push(grant);
      onUse(grant);
      return use.answer.encode({});
    },
  });
  await startExecutor();
  await eventually(async () => {
    const { services } = await desk.client.status();
    expect(services.map(({ name }) => name)).toContain(taskService);
  }, 30_000);
}, 90_000);

afterAll(async () => {
  await desk[Symbol.asyncDispose]();
  await stack[Symbol.asyncDispose]();
  folder.remove();
});

const lines = (name: string): string[] => {
  const file = path.join(place, name);
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
};

/** A script that deletes what nothing can bring back, and leaves a line each time it runs. */
function script(name: string, more = ''): string[] {
  const text = `echo "$1" >> ${name}.effect\nrm -rf ${name}.old\n${more}`;
  for (const each of ['', 'below/']) writeFileSync(path.join(place, each, `${name}.sh`), text);
  return ['sh', `${name}.sh`];
}

async function delegate(id: string, task: object): Promise<void> {
  const { delegate: message } = taskMessages;
  const body = message.request.encode(readTask({ id, task: 'do it', ...task }, id));
  await desk.client.request(`service:${taskService}`, message.type, body);
}

async function until(id: string, ...states: string[]): Promise<TaskView> {
  const { show } = taskMessages;
  for (let revision = 0; ;) {
    const body = show.request.encode({ id, wait_ms: 5_000, revision });
    const view = show.answer.decode(
      (await desk.client.request(`service:${taskService}`, show.type, body)).body,
    );
    if (states.includes(view.state)) return view;
    revision = view.revision;
  }
}

/** The open gate of a task. */
async function gateOf(id: string): Promise<Gate> {
  const { gates } = attentionMessages;
  let found: Gate | undefined;
  await eventually(async () => {
    const asked = { session: '', is_all: false, after: '', limit: 0, wait_ms: 0 };
    const body = gates.request.encode(asked);
    const reply = await desk.client.request(`service:${taskService}`, gates.type, body);
    found = gates.answer.decode(reply.body).gates.find(({ task }) => task === id);
    expect(found).toBeDefined();
  }, 20_000);
  return found!;
}

async function judge(id: string, judgement: 'approve' | 'dismiss' | 'halt'): Promise<void> {
  const { judge: message } = attentionMessages;
  const body = message.request.encode({ id, judgement, direction: '', action: '' });
  await desk.client.request(`service:${taskService}`, message.type, body);
}

/** As a manager would, with leave of the test's choice. */
async function assigned(
  id: string,
  action: object,
  { attempt = 1, grants = [] as Grant[], by = desk } = {},
): Promise<TaskResponse> {
  const task = readTask({ id, task: 'x', runner: 'command', action }, id);
  const until_ms = Date.now() + 300_000;
  const manager = by.client.identity.agent;
  const above = { depth: 0, parent: manager };
  await desk.post({ task, attempt, lease_ms: 2_000, until_ms, manager, grants, ...above });
  let found: TaskResponse | undefined;
  await eventually(() => {
    found = by.responses.find((each) => each.task_id === id && each.attempt === attempt);
    expect(found).toBeDefined();
  }, 25_000);
  return found!;
}

function grantFor({ task_id: task, classification }: TaskResponse, used_ms = 0): Grant {
  return {
    ...{ id: `grant-${task}-1`, task, digest: classification!.digest, gate: '', by: 'test' },
    ...{ given_ms: 1, used_ms, used_attempt: 0, findings: [] },
  };
}

const stopped = { status: 'blocked', reason: 'GATE_DETECTED', result: '' };

describe('a program that is risky', () => {
  test('is not started without leave, is shown to a person, and runs once with it', async () => {
    await delegate('one', { runner: 'command', action: { argv: [...script('one'), 'a'] } });
    const gate = await gateOf('one');
    expect(gate.seen_by).toBe('executor');
    expect(gate.classification).toMatchObject({ level: 'Elevated' });
    expect(gate.classification.findings).toContainEqual(
      expect.objectContaining({ signal: 'Emergent', severity: 'Gate', file: 'one.sh' }),
    );
    expect(Object.keys(gate.classification.digest.files)).toEqual(['one.sh']);
    expect(lines('one.effect')).toEqual([]);
    await judge(gate.id, 'dismiss');
    expect(await until('one', 'completed', 'failed')).toMatchObject({
      state: 'completed',
      attempt: 2,
    });
    expect(lines('one.effect')).toEqual(['a']);
    // Leave of one task is none for the next.
    await delegate('one-more', { runner: 'command', action: { argv: ['sh', 'one.sh', 'a'] } });
    await judge((await gateOf('one-more')).id, 'halt');
    expect(await until('one-more', 'halted')).toMatchObject({ attempt: 1 });
    expect(lines('one.effect')).toEqual(['a']);
  }, 60_000);

  test('whose script was changed after it was approved is asked about again', async () => {
    const argv = [...script('changed'), 'a'];
    await delegate('changed', { runner: 'command', action: { argv } });
    const first = await gateOf('changed');
    script('changed', 'rm -rf changed.more\n');
    await judge(first.id, 'approve');
    await eventually(async () => expect((await gateOf('changed')).id).not.toBe(first.id), 20_000);
    expect(lines('changed.effect')).toEqual([]);
    await judge((await gateOf('changed')).id, 'dismiss');
    await until('changed', 'completed');
    expect(lines('changed.effect')).toEqual(['a']);
  }, 60_000);

  test('is refused with leave that is used, of another task, or for another action', async () => {
    const argv = [...script('bound'), 'a'];
    const seen = await assigned('bound', { argv });
    expect(seen).toMatchObject(stopped);
    const grant = grantFor(seen);
    const others: [object, Grant][] = [
      [{ argv: ['sh', 'bound.sh', 'b'] }, grant],
      [{ argv, cwd: 'below' }, grant],
      [{ argv, env: { LEVEL: '2' } }, grant],
      [{ argv, stdin: 'yes' }, grant],
      [{ argv }, { ...grant, task: 'another' }],
      [{ argv }, { ...grant, used_ms: 1, used_attempt: 1 }],
    ];
    for (const [at, [action, given]] of others.entries())
      expect(await assigned('bound', action, { attempt: 2 + at, grants: [given] })).toMatchObject(
        stopped,
      );
    expect(uses).toEqual([]);
    onUse = () => {
      throw new BusError('GRANT_USED', { grant: grant.id });
    };
    expect(await assigned('bound', { argv }, { attempt: 20, grants: [grant] })).toMatchObject(
      stopped,
    );
    expect(lines('bound.effect')).toEqual([]);
    // The manager that cannot say yet is asked again, and nothing runs before.
    let asked = 0;
    onUse = () => {
      asked += 1;
      expect(lines('bound.effect')).toEqual([]);
      if (asked < 3) throw new BusError('STORE_UNAVAILABLE');
    };
    const done = await assigned('bound', { argv }, { attempt: 21, grants: [grant] });
    expect(done).toMatchObject({ status: 'completed' });
    expect(asked).toBe(3);
    expect(lines('bound.effect')).toEqual(['a']);
    onUse = () => undefined;
  }, 60_000);

  test('is not run with leave of somebody who is no manager, whatever they say of it', async () => {
    const argv = [...script('forged'), 'a'];
    const grant = grantFor(await assigned('forged', { argv }));
    await using stranger = await Desk.open(home, 'stranger', 'client');
    const { use } = attentionMessages;
    let asked = 0;
    stranger.client.serve({
      [use.type]: () => {
        asked += 1;
        return use.answer.encode({});
      },
    });
    const forged = { attempt: 2, grants: [grant], by: stranger };
    expect(await assigned('forged', { argv }, forged)).toMatchObject(stopped);
    expect(asked).toBe(0);
    expect(lines('forged.effect')).toEqual([]);
    // Nor do they hand out work themselves, however harmless.
    await expect(stranger.withdraw('forged')).rejects.toMatchObject({ code: 'UNAUTHORISED' });
    const task = { id: 'plain', task: 'x', runner: 'command', action: { argv: ['true'] } };
    await expect(stranger.assign(task)).rejects.toMatchObject({ code: 'UNAUTHORISED' });
  }, 60_000);

  test('whose script changes while leave is being used is stopped', async () => {
    const argv = [...script('racing'), 'a'];
    const grant = grantFor(await assigned('racing', { argv }));
    onUse = () => void script('racing', 'rm -rf racing.more\n');
    expect(await assigned('racing', { argv }, { attempt: 2, grants: [grant] })).toMatchObject(
      stopped,
    );
    onUse = () => undefined;
    expect(lines('racing.effect')).toEqual([]);
  }, 60_000);

  test('of an executor that dies when leave was used, is never run twice', async () => {
    const argv = [...script('dying'), 'a'];
    const grant = grantFor(await assigned('dying', { argv }));
    onUse = () => executor.process.kill('SIGKILL');
    const response = assigned('dying', { argv }, { attempt: 2, grants: [grant] });
    await executor.ended;
    onUse = () => undefined;
    await startExecutor();
    expect(await response).toMatchObject({ status: 'blocked', reason: 'OUTCOME_UNKNOWN' });
    expect(lines('dying.effect')).toEqual([]);
  }, 60_000);

  test('and one that is not, passes in silence', async () => {
    const done = await assigned('plain', { argv: ['ls'] });
    expect(done).toMatchObject({ status: 'completed', classification: null });
  });
});

describe('an agent of somebody else', () => {
  test('stops by itself, and does what was approved in its next attempt, once', async () => {
    await delegate('mailing', { task: 'COMPLETE', runner: 'agent' });
    const gate = await gateOf('mailing');
    expect(gate.classification).toMatchObject({
      is_cacheable: false,
      description: 'send the newsletter',
      pattern: { signals: ['HumanCommunication'] },
      findings: [{ evidence: 'it mails all customers', rule: 'reported-by-agent' }],
    });
    expect(lines('mailing.prompts')[0]).toContain('GATE_DETECTED: true');
    await judge(gate.id, 'approve');
    expect(await until('mailing', 'completed', 'failed')).toMatchObject({ state: 'completed' });
    expect(lines('mailing.effect')).toEqual(['sent']);
    expect(lines('mailing.prompts')).toHaveLength(2);
    expect(lines('mailing.prompts')[1]).toContain('approved exactly this action');
    const { task } = await until('mailing', 'completed');
    expect(task.runner).toBe('agent');
  }, 60_000);

  test.each([
    ['PARTIAL', 'it gives no Evidence'],
    ['MALFORMED', 'no such Signal: Danger'],
    ['FLOOD', 'output that was cut'],
  ])('whose words are %s is stopped all the same', async (mode, flaw) => {
    const id = mode.toLowerCase();
    await delegate(id, { task: mode, runner: 'agent' });
    const { classification } = await gateOf(id);
    expect(classification.findings).toMatchObject([{ signal: 'Emergent', severity: 'Gate' }]);
    expect(classification.findings[0]?.evidence).toContain(flaw);
    await judge((await gateOf(id)).id, 'halt');
    await until(id, 'halted');
  });

  test.each(['STRUCTURED', 'FAILING'])('that says it as %s has stopped', async (mode) => {
    const id = mode.toLowerCase();
    await delegate(id, { task: mode, runner: 'agent' });
    const { classification } = await gateOf(id);
    expect(classification.findings).toMatchObject([{ signal: 'HumanCommunication' }]);
    await judge((await gateOf(id)).id, 'halt');
    await until(id, 'halted');
  });

  test('that repeats all it was told has not', async () => {
    await delegate('echo', { task: 'ECHO', runner: 'agent' });
    expect(await until('echo', 'completed', 'failed')).toMatchObject({ state: 'completed' });
  });
});

test('an executor whose root lies in its home is refused at once', async () => {
  const root = path.join(home, 'bus');
  const its = startSigma(home, ['agent', 'executor', '--name', 'inside', '--root', root]);
  expect(await its.ended).toBe(2);
  expect(its.output()).toContain('SANDBOX_ROOT');
});

test('programs reach neither the home, nor the bus, nor the executor', async () => {
  const { pid = 0 } = executor.process;
  writeFileSync(path.join(place, 'probe.mjs'), probe);
  const action = { argv: [process.execPath, 'probe.mjs', home, String(pid), program] };
  const seen = await assigned('probe', action);
  const grants = seen.reason === 'GATE_DETECTED' ? [grantFor(seen)] : [];
  const done = grants.length > 0 ? await assigned('probe', action, { attempt: 2, grants }) : seen;
  const found = JSON.parse(/^\{.*\}$/m.exec(done.result)?.[0] ?? '{}') as Record<string, unknown>;
  expect(found).toEqual({
    list: [],
    config: 'ENOENT',
    write: 'EROFS',
    socket: 'ENOENT',
    descriptors: [],
    environments: [],
    roots: [],
    kill: 'ESRCH',
    umount: 'failed',
    nested: [],
    agents: 'failed',
    variables: [],
  });
  // It is there all the same.
  expect(existsSync(path.join(home, 'config.json'))).toBe(true);
  expect(executor.process.exitCode).toBeNull();
  expect((await assigned('alive', { argv: ['true'] })).status).toBe('completed');
}, 60_000);

/** Tries what an enemy would, and says what came of it. */
const probe = `
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
const [home, pid, sigma] = process.argv.slice(2);
const codeOf = (work) => { try { return work() ?? 'done'; } catch (error) { return error.code ?? 'failed'; } };
const run = (...argv) => { try { return execFileSync(argv[0], argv.slice(1), { stdio: 'pipe', timeout: 20000 }).toString().trim(); } catch { return 'failed'; } };
const numbers = readdirSync('/proc').filter((each) => /^\\d+$/.test(each)).concat(pid);
const holding = (name, work) => numbers.filter((each) => { try { return work('/proc/' + each + '/' + name); } catch { return false; } });
const socket = await new Promise((resolve) => {
  const its = connect(home + '/run/bus.sock', () => resolve('connected'));
  its.on('error', ({ code }) => resolve(code));
});
const nested = run('unshare', '--user', '--map-current-user', '--keep-caps', '--mount', 'sh', '-c',
  'umount "$1"; umount -l "$1"; mount --bind "$(dirname "$1")" /mnt && ls -A "/mnt/$(basename "$1")"; ls -A "$1"', 'sh', home);
const found = {
  list: readdirSync(home),
  config: codeOf(() => readFileSync(home + '/config.json')),
  write: codeOf(() => writeFileSync(home + '/mine', 'x')),
  socket,
  descriptors: readdirSync('/proc/self/fd').map((fd) => { try { return readlinkSync('/proc/self/fd/' + fd); } catch { return ''; } }).filter((it) => it.startsWith(home)),
  environments: holding('environ', (file) => readFileSync(file, 'utf8').includes('only-its-own')),
  roots: holding('root' + home, (file) => readdirSync(file).length > 0),
  kill: codeOf(() => process.kill(Number(pid), 'SIGKILL')),
  umount: run('umount', home),
  nested: nested === 'failed' || nested === '' ? [] : nested.split('\\n'),
  agents: run(process.execPath, sigma, 'agents', '--home', home),
  variables: Object.keys(process.env).filter((name) => name === 'OF_THE_EXECUTOR' || name === 'SIGMA_HOME' || name === 'SIGMA_BUS'),
};
console.log(JSON.stringify(found));
`;
