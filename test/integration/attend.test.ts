import { readSecret } from '../../src/config/keys.js';
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Attends, asksPerson, openGates } from '../../src/remote/attends.js';
import { Gates } from '../../src/remote/gates.js';
import { shutdownType } from '../../src/attention/session/messages.js';
import type { Row, SessionView } from '../../src/attention/session/shapes.js';
import type { Judgement } from '../../src/attention/shapes.js';
import { userName } from '../../src/base/user-name.js';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { failureOf, stdioClient, type Person } from '../support/mcp.js';
import { environment, program, sigma, type Ran, type Running } from '../support/sigma.js';
import { renderSession } from '../../src/render/attend.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';
import { startWorker } from '../support/worker.js';

/** A real broker, a real manager with a real policy, and a real executor that runs programs in a folder. */
const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
const place = path.join(folder.path, 'place');
let stack: Stack;
const clients: Client[] = [];
let manager: Running;
let attends: Attends;
let gates: Gates;

async function client(agent: string, role = 'client'): Promise<Client> {
  const made = Client.connect({
    link: new ZeromqLink(loadConfig({ SIGMA_HOME: home }).bus),
    identity: { agent, role, isEphemeral: false },
    secretOf: () => readSecret(home, role),
    clock: systemClock,
    random: Math.random,
  });
  clients.push(made);
  await made.ready({ withinMs: 10_000 });
  await made.register({
    ...{ alias: agent, model: '', project: '', scope: [], overlays: {} },
    ...{ capabilities: [], protocol_versions: [] },
  });
  return made;
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  mkdirSync(place);
  stack = await Stack.open(home, []);
  // One test kills it.
  manager = await stack.startProcess(['agent', 'manager']);
  await stack.start(['agent', 'executor', '--root', place]);
  const person = await client('person');
  attends = new Attends(person);
  gates = new Gates(person);
}, 60_000);

afterAll(async () => {
  for (const each of clients) await each.close();
  await stack[Symbol.asyncDispose]();
  folder.remove();
});

const waited = (view: SessionView): Promise<SessionView> =>
  attends.follow(view, () => undefined, { withinMs: 25_000 });

const begin = async (document: object): Promise<SessionView> =>
  waited(await attends.begin(document));

/** Answers the open question, which must be of this kind. */
async function answer(
  view: SessionView,
  kind: string,
  choice: string,
  text = '',
): Promise<SessionView> {
  expect(view.question?.kind).toBe(kind);
  const { context } = view;
  return waited(await attends.say({ context, what: 'answer', choice, text }));
}

/** Judges each gate of a session as it comes, until the session is over. */
async function judging(view: SessionView, say: (row: Row) => Judgement): Promise<SessionView> {
  let now = view;
  while (!now.is_over && openGates(now).length > 0) {
    const [id = ''] = openGates(now);
    const row = now.trace.find(({ open_gate }) => open_gate === id)!;
    await gates.judge(await gates.show(id), { judgement: say(row), direction: '' });
    const next = await attends.show(now.context);
    expect(openGates(next), 'nobody is asked twice').not.toContain(id);
    now = await waited(next);
  }
  return now;
}

function traced(view: SessionView): void {
  const rows = view.trace.map((row) => {
    const seen = row.findings.map(({ signal }) => signal).join(',') || '-';
    const said = row.judgements.map(({ judgement }) => judgement).join(',') || '-';
    return `  ${row.entry}: ${row.risk} · ${seen} · ${said} · ${row.situated_by || '-'} · ${row.outcome}`;
  });
  process.stdout.write(
    `${[`${view.context}: ${view.route}, ${view.answers.map(({ kind, choice }) => `${kind}=${choice}`).join(' ')} → ${view.state}`, ...rows].join('\n')}\n`,
  );
}

const echo = (id: string, fields: object = {}): object => ({
  ...{ id, task: `print ${id}`, action: { argv: ['echo', id] } },
  ...fields,
});
const removal = (id: string, name: string): object => ({
  ...{ id, task: `remove ${name}`, action: { argv: ['rm', '-rf', name] } },
});
const confirmations = ({ answers }: SessionView): string[] =>
  answers
    .map(({ kind }) => kind)
    .filter((kind) => ['conflict', 'confirm_boundary', 'confirm'].includes(kind));

describe('materialisation', () => {
  test('resume: the tasks of the list are adopted without a confirmation, what is left over is resumed', async () => {
    const first = await begin({ context: 'resume', tasks: [echo('one'), echo('two')] });
    expect([first.route, first.question?.kind]).toEqual(['resume', 'classification']);
    const escaped = await attends.say({ context: 'resume', what: 'escape' });
    expect(escaped).toMatchObject({ state: 'escaped', trace: [{ situated_by: 'escape' }, {}] });
    const again = await begin({ context: 'resume' });
    expect([again.run, again.route, again.trace.length]).toEqual([2, 'resume', 2]);
    const ended = await answer(again, 'classification', 'delegate');
    traced(ended);
    expect(ended).toMatchObject({ state: 'converged', is_converged: true });
    expect(confirmations(ended)).toEqual([]);
    expect(ended.trace).toMatchObject([
      { entry: 'one', risk: 'Low', situated_by: 'low', outcome: 'completed' },
      { entry: 'two', risk: 'Low', situated_by: 'low', outcome: 'completed' },
    ]);
    const over = await begin({ context: 'resume' });
    expect([over.state, over.reason]).toEqual(['deactivated', 'NO_TASKS']);
  });

  test.each([
    ['resume', ['old']],
    ['refresh', ['new']],
    ['merge', ['old', 'new']],
  ])('conflict: %s, one confirmation', async (choice, entries) => {
    const context = `conflict-${choice}`;
    await begin({ context, tasks: [echo('old')] });
    await attends.say({ context, what: 'escape' });
    const prior = { protocols: ['goal'], text: 'The goal is clear.', tasks: [echo('new')] };
    const asked = await begin({ context, prior });
    expect(asked.route).toBe('conflict');
    const planned = await answer(asked, 'conflict', choice);
    const ended = await answer(planned, 'classification', 'delegate');
    traced(ended);
    expect(ended.state).toBe('converged');
    expect(ended.trace.map(({ entry }) => entry)).toEqual(entries);
    expect(confirmations(ended)).toEqual(['conflict']);
  });

  test('confirm boundary: the output of a protocol is confirmed once', async () => {
    const prior = {
      protocols: ['goal', 'inquire'],
      text: '1. Find the callers\n2. List the files',
    };
    // What is said of a task is not what it does: that is shown, too.
    const masked = [{ ...removal('tidy', 'a'), task: 'look at the files' }];
    const both = await begin({ context: 'masked', prior, tasks: masked });
    expect(both.question?.text).toContain('tidy: look at the files; runs: rm -rf a');
    await attends.say({ context: 'masked', what: 'withdraw', choice: '', text: '' });
    const asked = await begin({ context: 'boundary', prior });
    expect(asked.route).toBe('confirm_boundary');
    expect(asked.question?.text).toMatch(/prior-1: Find the callers\n.*prior-2: List the files/);
    const planned = await answer(
      ...([asked, 'confirm_boundary', 'replace', JSON.stringify([echo('this')])] as const),
    );
    const ended = await answer(planned, 'classification', 'delegate');
    traced(ended);
    expect(ended).toMatchObject({ state: 'converged', trace: [{ entry: 'this' }] });
    expect(confirmations(ended)).toEqual(['confirm_boundary']);
  });

  test('confirm: a cold start is confirmed once, and may be called off', async () => {
    const asked = await begin({ context: 'cold', args: 'List the files of the folder.' });
    expect([asked.route, asked.question?.kind]).toEqual(['confirm', 'confirm']);
    const ended = await answer(asked, 'confirm', 'cancel');
    expect([ended.state, ended.reason]).toEqual(['deactivated', 'DECLINED']);
    const again = await begin({ context: 'cold', args: 'List the files of the folder.' });
    const planned = await answer(again, 'confirm', 'replace', JSON.stringify([echo('files')]));
    const done = await answer(planned, 'classification', 'delegate');
    traced(done);
    expect(confirmations(done)).toEqual(['confirm']);
    expect(done.state).toBe('converged');
  });

  test('auto proceed: what Sub-A0 has cleared up is not confirmed again; suspended, it survives a manager that is killed', async () => {
    const asked = await begin({
      context: 'upstream',
      args: 'Should I list the files?',
      deficits: [{ protocol: 'inquire', evidence: 'nobody said which folder' }],
    });
    expect(asked.upstream.deficits.map(({ protocol, origin }) => [protocol, origin])).toEqual([
      ['bound', 'found'],
      ['inquire', 'declared'],
    ]);
    const first = await answer(asked, 'upstream', 'route');
    expect(first).toMatchObject({ state: 'suspended', upstream: { suspended: 'bound' } });
    // Nothing here does it: who is asked is told what is to be done.
    expect(first.question?.text).toMatch(
      /waits for \/bound\. This is up to you.*\n {2}say what may be decided/,
    );

    await stack.stop(manager, 'SIGKILL');
    await stack.start(['agent', 'manager']);
    await eventually(async () => {
      expect((await attends.show('upstream', { deadlineMs: 2_000 })).state).toBe('suspended');
    }, 40_000);

    const restored = await answer(first, 'restore', 'restore', 'The person decides, and said yes.');
    expect(restored).toMatchObject({
      state: 'routing',
      upstream: { resolved: ['bound'], rounds: 1, deficits: [{ protocol: 'inquire' }] },
    });
    const other = await answer(restored, 'upstream', 'other', 'clarify');
    const planned = await answer(other, 'restore', 'restore', 'It is the folder of the executor.');
    expect(planned.upstream).toMatchObject({
      resolved: ['bound', 'clarify', 'ContextInsufficient'],
      rounds: 2,
    });
    expect([planned.route, planned.question?.kind]).toEqual(['auto_proceed', 'classification']);
    const ended = await answer(planned, 'classification', 'withdraw');
    traced(ended);
    expect(confirmations(ended)).toEqual([]);
    expect(ended).toMatchObject({ state: 'withdrawn', is_converged: false });
  }, 90_000);

  test('an escape from an upstream protocol leads to the tasks, not out of the session', async () => {
    const asked = await begin({ context: 'leave', args: 'make it better' });
    const suspended = await answer(asked, 'upstream', 'route');
    const left = await answer(suspended, 'restore', 'escape');
    // Nothing was resolved, and nobody chose to proceed: it is a cold start.
    expect([left.route, left.question?.kind, left.upstream.resolved]).toEqual([
      'confirm',
      'confirm',
      [],
    ]);
    await attends.say({ context: 'leave', what: 'escape' });
  });
});

describe('risk', () => {
  test('one elevated task asks nothing about the plan: it stops by itself, and is approved', async () => {
    writeFileSync(path.join(place, 'doomed'), 'x');
    const tasks = [echo('word'), removal('gone', 'doomed')];
    const gated = await begin({ context: 'gated', tasks });
    expect(gated).toMatchObject({ state: 'looping', granularity: 'Micro', question: null });
    const ended = await judging(gated, () => 'approve');
    traced(ended);
    expect(ended).toMatchObject({ state: 'converged', granularity: 'Meso' });
    expect(ended.trace).toMatchObject([
      { situated_by: 'low', outcome: 'completed' },
      {
        ...{ risk: 'Elevated', situated_by: 'approved', outcome: 'completed' },
        findings: [{ signal: 'Irreversibility', severity: 'Gate' }],
        judgements: [{ judgement: 'approve', by: 'person' }],
      },
    ]);
    expect(ended.counts).toEqual({ assessed: 2, surfaced: 1, halted: [] });
    expect(existsSync(path.join(place, 'doomed'))).toBe(false);
  });

  test('several irreversible actions are one question about the plan; halted ones are counted', async () => {
    const tasks = [removal('first', 'a'), removal('second', 'b')];
    const asked = await begin({ context: 'plan', tasks });
    expect(asked.question?.text).toMatch(
      /first: Elevated \(Irreversibility\) {2}remove a; runs: rm -rf a/,
    );
    const gated = await answer(asked, 'plan', 'delegate');
    const ended = await judging(gated, ({ entry }) => (entry === 'first' ? 'halt' : 'dismiss'));
    traced(ended);
    expect(ended.trace).toMatchObject([
      { situated_by: 'adapted', outcome: 'halted' },
      { situated_by: 'approved', outcome: 'completed' },
    ]);
    expect(ended.counts).toMatchObject({ assessed: 2, surfaced: 2, halted: [expect.any(String)] });
  });

  test('withdraw at a gate ends the session and whatever is open of it', async () => {
    const tasks = [removal('first', 'a'), echo('later', { depends_on: ['first'] })];
    const gated = await begin({ context: 'withdrawn', tasks });
    expect(gated.state).toBe('looping');
    const ended = await judging(gated, () => 'withdraw');
    traced(ended);
    expect(ended).toMatchObject({ state: 'withdrawn', reason: 'GATE_WITHDRAWN' });
    expect(ended.trace.every(({ is_over }) => is_over)).toBe(true);
    const [, later] = ended.trace;
    // Nothing is said of it that is true of the first alone.
    expect(later).toMatchObject({
      ...{ entry: 'later', outcome: 'cancelled' },
      why: 'another task of its session stopped at a gate, and all of the session was withdrawn',
    });
  });
});

describe('teams', () => {
  const team = {
    name: 'crew',
    members: [
      { name: 'writer', type: 'author' },
      { name: 'reader', perspective: 'security' },
    ],
  };
  const told: [string, string][] = [];

  beforeAll(async () => {
    const done = (): Promise<object> => Promise.resolve({ result: 'done as it was asked for' });
    for (const name of ['writer', 'checker']) clients.push(await startWorker(home, name, done));
    const reader = await client('reader', 'executor');
    await reader.receive(({ type, body }) => {
      if (type === shutdownType) told.push([type, body.toString()]);
    });
  });

  const tasks = [
    { id: 'write', task: 'write the report', role: 'author', acceptance_criteria: ['it is there'] },
    { id: 'check', task: 'check the report', role: 'checker', acceptance_criteria: ['it is true'] },
  ];
  const ends = (view: SessionView): string[] =>
    view.trace.map(({ entry, to, outcome }) => `${entry}→${to || 'anybody'} ${outcome}`);

  test('retain: who does a task follows from its role; an unknown role is anybody', async () => {
    const asked = await begin({ context: 'team-retain', tasks: [tasks[0]], team });
    const planned = await answer(asked, 'team', 'retain');
    const ended = await answer(planned, 'classification', 'delegate');
    traced(ended);
    expect(ended).toMatchObject({ state: 'converged', team: { kind: 'retained' } });
    expect(ends(ended)).toEqual(['write→writer completed']);
  });

  test('who is not there, or takes no tasks, is named, and gets none', async () => {
    const members = [{ name: 'writer' }, { name: 'ghost' }, { name: 'manager' }];
    const idle = { ...tasks[0], role: 'manager', runner: 'command', action: { argv: ['true'] } };
    const asked = await begin({
      ...{ context: 'team-ghost', tasks: [idle], team: { name: 'crew', members } },
    });
    expect(asked.question?.text).toBe(
      'How should team crew be structured for one task?\n  writer\n  ghost (is not there)\n  manager (takes no tasks)',
    );
    const planned = await answer(asked, 'team', 'retain');
    expect(renderSession(planned)).toContain('retained: writer, ghost (is not there), manager (');
    const ended = await answer(planned, 'classification', 'delegate');
    // It does not wait for an agent that will never read it.
    expect(ends(ended)).toEqual(['write→anybody completed']);
  });

  test('augment: roles are confirmed on their own, six in all', async () => {
    const asked = await begin({ context: 'team-augment', tasks, team });
    const many = ['a', 'b', 'c', 'd', 'e'].map((name) => ({ name }));
    const refused = await attends
      .say({
        context: 'team-augment',
        what: 'answer',
        choice: 'augment',
        text: JSON.stringify(many),
      })
      .catch((error: unknown) => asBusError(error));
    expect(refused).toMatchObject({ code: 'USAGE' });
    const roles = JSON.stringify([{ name: 'checker', focus: 'truth' }]);
    const cast = await answer(asked, 'team', 'augment', roles);
    const back = await answer(cast, 'augment', 'back');
    const again = await answer(back, 'team', 'augment', roles);
    const planned = await answer(again, 'augment', 'confirm');
    const ended = await answer(planned, 'classification', 'delegate');
    traced(ended);
    expect(ended).toMatchObject({ state: 'converged', team: { kind: 'augmented' } });
    expect(ends(ended)).toEqual(['write→writer completed', 'check→checker completed']);
  });

  test('restructure: somebody stays, else it is solo; a withdrawal is told to whoever is in the team', async () => {
    const solo = await begin({ context: 'team-solo', tasks: [tasks[0]], team });
    const alone = await answer(solo, 'team', 'restructure', '{"retained": []}');
    expect(alone.team).toEqual({ kind: 'solo' });
    await answer(alone, 'classification', 'withdraw');
    expect(told).toEqual([]);

    const asked = await begin({ context: 'team-new', tasks, team });
    const cast = { retained: ['reader'], roles: [{ name: 'checker' }, { name: 'executor' }] };
    const planned = await answer(asked, 'team', 'restructure', JSON.stringify(cast));
    expect(planned.team).toMatchObject({ kind: 'restructured', retained: ['reader'] });
    const ended = await answer(planned, 'classification', 'withdraw');
    traced(ended);
    await eventually(() => expect(told).toHaveLength(1), 10_000);
    expect(JSON.parse(told[0]![1])).toEqual({
      ...{ session: 'attend-team-new', team: 'crew', reason: 'ATTEND_WITHDRAWN' },
    });
    // Our own executor understands it, too.
    await eventually(() => expect(stack.outputs().join('')).toContain('the session ends'), 10_000);
    const { json } = await sigma(home, ['dead', 'list', '--json']);
    expect(JSON.stringify(json)).not.toContain(shutdownType);
  });
});

describe('command line', () => {
  const run = (...args: string[]): Promise<Ran> => sigma(home, ['attend', ...args]);

  test('what is asked is printed with a code, answered by a command, and shown with its trace', async () => {
    const file = path.join(folder.path, 'tasks.json');
    writeFileSync(file, JSON.stringify([echo('hello')]));
    const asked = await run('print hello', '--context', 'line', '--tasks', file);
    expect([asked.code, asked.stdout]).toEqual([1, expect.stringContaining('1. delegate')]);
    const twice = await run('something else', '--context', 'line', '--json');
    expect([twice.code, twice.json.error.code]).toEqual([1, 'SESSION_EXISTS']);
    const wrong = await run('answer', 'line', 'maybe', '--json');
    expect([wrong.code, wrong.json.error.code]).toEqual([2, 'USAGE']);
    const stale = await run('answer', 'line', 'delegate', '--question', '9', '--json');
    expect([stale.code, stale.json.error.code]).toEqual([1, 'ATTEND_STATE']);
    const listed = await run('list', '--json');
    expect(listed.json.sessions.map(({ context }: SessionView) => context)).toContain('line');
    const done = await run('answer', 'line', 'delegate');
    expect([done.code, done.stdout]).toEqual([
      0,
      expect.stringMatching(/hello +Low .* low +completed/),
    ]);
    const shown = await run('show', 'line', '--json');
    expect(shown.json).toMatchObject({ state: 'converged', is_converged: true });
    const late = await run('withdraw', 'line', '--json');
    expect([late.code, late.json.error.code]).toEqual([1, 'ATTEND_STATE']);
  });

  test('a session whose task failed has not converged', async () => {
    const file = path.join(folder.path, 'failing.json');
    writeFileSync(file, JSON.stringify([{ id: 'no', task: 'fail', action: { argv: ['false'] } }]));
    await run('x', '--context', 'failing', '--tasks', file);
    const done = await run('answer', 'failing', 'delegate', '--json');
    expect([done.code, done.json.error.code]).toEqual([1, 'ATTEND_UNDONE']);
    expect(done.json).toMatchObject({ state: 'diverged', is_converged: false });
    const shown = await run('show', 'failing');
    expect(shown.stdout).toMatch(/Not converged: 1 of 1 tasks was not done: no failed \(.+\)/);
    expect(shown.stdout).toMatch(/what happened of no: sigma task show attend-no-/);
    expect(shown.stdout).toContain('what is left, once more: sigma attend --context failing');
  });

  test('a task that cannot be begun says why', async () => {
    const tasks = [
      ...[echo('one', { depends_on: ['two'] }), echo('two', { depends_on: ['one'] })],
      echo('three', { depends_on: ['nowhere'] }),
    ];
    const planned = await begin({ context: 'circle', tasks });
    const ended = await answer(planned, 'classification', 'delegate');
    expect(ended.state).toBe('diverged');
    expect(ended.trace.map(({ entry, outcome, why }) => [entry, outcome, why])).toEqual([
      ['one', 'refused', 'it depends on two, which could not be begun before it'],
      ['two', 'refused', 'it depends on one, which could not be begun before it'],
      ['three', 'refused', 'there is no task nowhere'],
    ]);
  });

  test('where there was nothing to do, that is said, and the command fails', async () => {
    const none = await run('--context', 'nothing', '--json');
    expect([none.code, none.json.error.code]).toEqual([1, 'NO_TASKS']);
    expect((await run('show', 'nothing')).stdout).toContain('Nothing was done: no task was named');
    await run('Who calls x?', '--context', 'declined');
    const declined = await run('answer', 'declined', 'cancel');
    expect([declined.code, declined.stdout]).toEqual([
      0,
      expect.stringContaining('Nothing was done: the tasks were not confirmed'),
    ]);
  });

  test('its results come to the agent in whose name it is attended, and begun again it is the same session', async () => {
    const file = path.join(folder.path, 'named.json');
    writeFileSync(file, JSON.stringify([{ id: 'yes', task: 'do it', action: { argv: ['true'] } }]));
    const intent = ['x', '--context', 'named', '--tasks', file];
    for (let times = 0; times < 2; times += 1) {
      const begun = await run(...intent, '--as', 'ann', '--json');
      expect(begun.json, begun.stdout).toMatchObject({ owner: 'ann', run: 1 });
    }
    expect((await run('answer', 'named', 'delegate')).code).toBe(0);
    const { json } = await sigma(home, ['receive', '--as', 'ann', '--wait', '10s', '--json']);
    expect(JSON.parse(json.message.body)).toMatchObject({ success: true });
    const story = await sigma(home, ['task', 'story', JSON.parse(json.message.body).from]);
    expect(story.stdout).toMatch(/named +ann wants: x\n.*named +asked .*, \w+ said: delegate\n/);
    expect(story.stdout).toMatch(/yes +done; ann gets the result\n.*over: 1 of 1 tasks are done\n/);
    await expect(attends.begin({ args: 'x', context: 'theirs', owner: 'ann' })).rejects.toThrow(
      /person may not act as ann/,
    );
  });

  test('a task that no worker can do is told of, not waited for in silence', async () => {
    const file = path.join(folder.path, 'alone.json');
    const task = { id: 'think', task: 'List the files of the folder.', runner: 'model' };
    writeFileSync(file, JSON.stringify([{ ...task, acceptance_criteria: ['all of them'] }]));
    await run('x', '--context', 'alone', '--tasks', file);
    await run('answer', 'alone', 'delegate', '--no-wait');
    await eventually(async () => {
      const { stdout } = await run('show', 'alone');
      expect(stdout).toContain('think waits: no worker that can do it is there yet.');
    }, 10_000);
    await run('withdraw', 'alone');
  });

  test('an advisory risk stops nothing, and is told in the task and its story', async () => {
    writeFileSync(path.join(place, 'kept.txt'), 'nowhere else');
    const action = { argv: ['cp', 'kept.txt', 'other.txt'] };
    const over = { argv: ['cp', 'other.txt', 'kept.txt'] };
    for (const [id, its] of [['copy', action] as const, ['over', over] as const]) {
      const input = JSON.stringify({ id, task: 'copy it', action: its });
      const ran = await sigma(home, ['delegate', '-', '--wait'], { input });
      expect(ran.code, ran.stdout).toBe(0);
    }
    const told = /advisory.*Irreversibility: overwrites a file that is not under version control/;
    expect((await sigma(home, ['task', 'show', 'copy'])).stdout).not.toMatch(told);
    expect((await sigma(home, ['task', 'show', 'over'])).stdout).toMatch(told);
    expect((await sigma(home, ['task', 'story', 'over'])).stdout).toMatch(told);

    // The executor alone sees the file; the trace of a session knows it all the same.
    const tasks = [{ id: 'again', task: 'copy it', action: over }];
    const ended = await answer(
      ...([await begin({ context: 'advised', tasks }), 'classification', 'delegate'] as const),
    );
    expect(ended.trace[0]).toMatchObject({
      ...{ risk: 'Elevated', situated_by: 'noted', outcome: 'completed' },
      findings: [{ signal: 'Irreversibility', severity: 'Advisory' }],
    });
  });

  test.each([
    ['no such session', ['show', 'nobody'], 'NO_SUCH_SESSION'],
    ['an unknown protocol', ['x', '--deficit', 'guess:why'], 'USAGE'],
    ['a context that is no name', ['x', '--context', 'No Name'], 'ATTEND_INVALID'],
  ])('%s is refused', async (_, args, code) => {
    const ran = await run(...args, '--json');
    expect(ran.json.error.code).toBe(code);
  });

  test('on a terminal a person is walked through: the boundary, the risk of one task, the end', async () => {
    const prior = path.join(folder.path, 'prior.json');
    writeFileSync(prior, JSON.stringify({ protocols: ['goal'], tasks: [removal('rid', 'gone')] }));
    const shown = await onTerminal(
      ['attend', 'x', '--context', 'walk', '--prior', prior],
      [
        [/1\. confirm: these tasks[^]*> $/, '1\n'],
        [/Irreversibility[^]*by name: dismiss, modify, withdraw[^]*> $/, 'dismiss\n'],
      ],
    );
    // The person, not the connection.
    expect(shown.replaceAll(userName(), 'ME')).toMatch(
      /rid +Elevated +Irreversibility\/Gate +dismiss by ME +approved +completed/,
    );
    expect(shown).toMatch(/Converged: 1 of 1 tasks completed/);
  }, 30_000);

  /** In a terminal of its own; what is said when the end of what it shows matches, each once. */
  function onTerminal(args: string[], says: [RegExp, string][]): Promise<string> {
    const words = [process.execPath, program, ...args].map((each) => `'${each}'`).join(' ');
    return new Promise((resolve, reject) => {
      const env = { ...environment(home), TERM: 'dumb' };
      const child = execFile('script', ['-qec', words, '/dev/null'], { env }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(new Error(stdout, { cause: error })),
      );
      let text = '';
      const left = [...says];
      child.stdout?.on('data', (chunk: string) => {
        text += chunk;
        if (left[0]?.[0].test(text) !== true) return;
        child.stdin?.write(left.shift()![1]);
        text = '';
      });
    });
  }

  test('MCP: the same verbs; the person answers in a form, and no model does', async () => {
    const shown: string[] = [];
    let said: ReturnType<Person> = { action: 'decline' };
    const person: Person = (message) => {
      shown.push(message);
      return said;
    };
    const args = ['--as', 'model'];
    const mcp = await stdioClient(home, { era: 'modern', cwd: place, args, person });
    const call = async (its: Record<string, unknown>): Promise<any> =>
      mcp.callTool({ name: 'attend', arguments: { context: 'mcp', ...its } });
    try {
      const asked = await call({ args: 'print', tasks: [echo('word')] });
      expect(asked.structuredContent.session.question).toMatchObject({ kind: 'classification' });
      expect(asked.content[0].text).toContain('- delegate: all of them');
      const listed = await call({ verb: 'list' });
      expect(listed.structuredContent.sessions).toContainEqual({
        ...{ context: 'mcp', state: 'planning', asks: 'classification' },
      });
      const wrong = await call({ verb: 'show', context: 'nobody' });
      expect(failureOf(wrong).code).toBe('NO_SUCH_SESSION');
      // What a model chooses is not what the person says.
      const declined = await call({ verb: 'answer', choice: 'delegate' });
      expect(declined.structuredContent.session).toMatchObject({ state: 'planning' });
      expect(shown).toEqual([expect.stringContaining('1. delegate: all of them')]);
      // A form has no command line.
      expect(shown[0]).not.toMatch(/sigma attend|--text/);
      said = { action: 'accept', content: { choice: 'delegate', text: '' } };
      const done = await call({ verb: 'answer' });
      expect(done.structuredContent).toMatchObject({
        session: { state: 'converged', is_converged: true },
        trace: [{ entry: 'word', situated_by: 'low', outcome: 'completed' }],
      });
    } finally {
      await mcp.close();
    }
  });

  test.each(['legacy', 'modern'] as const)(
    'MCP, %s: a client that shows no forms is told what the person runs instead',
    async (era) => {
      const context = `formless-${era}`;
      await begin({ context, tasks: [echo('word')] });
      const mcp = await stdioClient(home, { era, cwd: place, args: ['--as', `formless-${era}`] });
      try {
        const its = { verb: 'answer', context, choice: 'delegate' };
        const refused: any = await mcp.callTool({ name: 'attend', arguments: its });
        expect(failureOf(refused)).toMatchObject({
          ...{ code: 'NO_FORM', retryable: false },
          next: `Show them what is asked, and have them run \`sigma attend answer ${context} CHOICE\`.`,
        });
      } finally {
        await mcp.close();
      }
      expect((await attends.show(context)).state).toBe('planning');
    },
  );

  test('an agent that is no person decides nothing', async () => {
    const machine = new Attends(await client('machine', 'executor'));
    const asked = await begin({ context: 'guarded', tasks: [echo('x')] });
    expect(asksPerson(asked)).toBe(true);
    const refused = await machine
      .say({ context: 'guarded', what: 'answer', choice: 'delegate' })
      .catch((error: unknown) => asBusError(error));
    expect(refused).toMatchObject({ code: 'ATTEND_NOT_YOURS' });
    await attends.say({ context: 'guarded', what: 'withdraw' });
  });
});
