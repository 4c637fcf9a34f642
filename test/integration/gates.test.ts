import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  attentionMessages,
  gateOpened,
  gatesTopic,
  type GateJudgement,
} from '../../src/attention/messages.js';
import {
  attendCapability,
  type ActionDigest,
  type Classification,
  type Gate,
  type Signal,
} from '../../src/attention/shapes.js';
import type { Client } from '../../src/client/client.js';
import { actionOf } from '../../src/delegation/task/action.js';
import { readTask } from '../../src/delegation/task/schema.js';
import {
  delegationCapability,
  runnerCapability,
  type Assignment,
  type DelegatedTask,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { slotsCapability } from '../../src/delegation/manager/worker-pool.js';
import { Attends, openGates } from '../../src/remote/attends.js';
import { taskKey } from '../../src/store/keys.js';
import { taskService, type TaskView } from '../../src/task/requests/messages.js';
import { recordOf } from '../support/bus.js';
import { listGates } from '../../src/operations/gates.js';
import type { Call } from '../../src/operations/operation.js';
import { eventually } from '../support/eventually.js';
import { TaskStage } from '../support/task-stage.js';

const sha256 = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

/** By the rules of this test: what risks are, is tested elsewhere. */
function risk(task: DelegatedTask): Promise<Classification | undefined> {
  const action = actionOf(task);
  if (action === undefined) return Promise.resolve(undefined);
  const [tool = '', target = ''] = action.argv;
  const environment = action.env.STAGE ?? 'dev';
  const signals: Signal[] = tool === 'inject' ? ['PromptInjection'] : ['Irreversibility'];
  const severity = tool === 'note' ? 'Advisory' : 'Gate';
  const isRisky = ['risky', 'note', 'inject'].includes(tool);
  const findings = isRisky
    ? [
        { signal: signals[0] ?? 'Emergent', severity, evidence: action.argv.join(' ') } as const,
      ].map((each) => ({ ...each, action_description: '', rule: 'test', file: '' }))
    : [];
  return Promise.resolve({
    level: isRisky ? 'Elevated' : 'Low',
    findings,
    intensity: isRisky ? 'medium' : 'none',
    pattern: { tool, target, environment, signals: isRisky ? signals : [] },
    is_cacheable: tool !== 'inject',
    digest: { action: sha256([action.argv, action.env, action.cwd]), files: {} },
    description: action.argv.join(' '),
  });
}

/** Gates of which a person was told outside of the bus. */
const told: string[] = [];
const ways = [
  {
    name: 'test',
    tell: (notice: string) => Promise.resolve(void told.push(JSON.parse(notice).gate)),
  },
];
const stage = new TaskStage({ classify: risk, gateMs: 60_000 }, {}, {}, ways);
let person: Client;
beforeAll(async () => {
  await stage.begin();
  person = await stage.bus.client('cli-person', { role: 'client', isEphemeral: true });
});
afterAll(() => stage.end());

const capabilities = [
  ...[delegationCapability, attendCapability],
  ...[runnerCapability('command'), slotsCapability(4)],
];

async function ask<T>(
  { type, request, answer }: { type: string; request: any; answer: { decode(b: Buffer): T } },
  body: object,
  client = person,
): Promise<T> {
  const reply = await client.request(`service:${taskService}`, type, request.encode(body));
  return answer.decode(reply.body);
}

const judge = (said: Partial<GateJudgement> & { id: string }, client = person): Promise<Gate> =>
  ask(
    attentionMessages.judge,
    { judgement: 'dismiss', direction: '', action: '', ...said },
    client,
  );
const open = async (session = ''): Promise<Gate[]> =>
  (await ask(attentionMessages.gates, { session, is_all: false, after: '', limit: 0, wait_ms: 0 }))
    .gates;
/** By a person, where it shares a session. */
const run = (
  argv: string[],
  { env, ...fields }: { env?: object; session?: string; [field: string]: unknown } = {},
  client = fields.session === undefined ? stage.asker : person,
): Promise<TaskView> => {
  const action = { argv, ...(env !== undefined && { env }) };
  return stage.delegate({ runner: 'command', action, ...fields }, client);
};
async function gated(view: TaskView): Promise<Gate> {
  let found: Gate | undefined;
  await eventually(async () => {
    found = (await open()).find(({ task }) => task === view.id);
    expect(found).toBeDefined();
  });
  if (found === undefined) throw new Error('no gate');
  return found;
}

/** Uses what it is given leave by, as an executor does, and then says what it ran. */
async function runs(given: Assignment, client: Client): Promise<{ result: string }> {
  const [grant] = given.grants;
  if (grant !== undefined) await use(given, grant.digest, client);
  return {
    result: `ran ${given.task.action?.argv.join(' ') ?? ''}, ${given.grants.length} grants`,
  };
}

function use(
  { task, attempt, grants }: Assignment,
  digest: ActionDigest,
  client: Client,
): Promise<object> {
  const said = { task_id: task.id, attempt, grant: grants[0]?.id ?? 'none', digest };
  return ask(attentionMessages.use, said, client);
}

test('the harmless passes in silence, the advisory with a note', async () => {
  await using _worker = await stage.worker('w-low', runs, { capabilities });
  const low = await stage.until((await run(['true'])).id, ['completed']);
  expect(low).toMatchObject({ gates: [], findings: [] });
  expect(low.response?.result).toBe('ran true, 0 grants');
  const noted = await stage.until((await run(['note'])).id, ['completed']);
  expect(noted).toMatchObject({ gates: [], findings: [{ severity: 'Advisory' }] });
});

test('the risky waits; dismissed, it runs once, with leave for exactly that, and the next stops again', async () => {
  await using _worker = await stage.worker('w-dismiss', runs, { capabilities });
  const task = await run(['risky', 'a']);
  const gate = await gated(task);
  expect(await stage.until(task.id, ['attending'])).toMatchObject({ assigned_to: '' });
  expect(gate).toMatchObject({ id: `gate-${task.id}-1`, state: 'open', session: 'asker' });
  expect(await judge({ id: gate.id })).toMatchObject({ state: 'judged', judgement: 'dismiss' });
  const done = await stage.until(task.id, ['completed']);
  expect(done.response?.result).toBe('ran risky a, 1 grants');
  expect(await gated(await run(['risky', 'a']))).toMatchObject({ state: 'open' });
});

test('approved for the session: the same passes, another target, environment or session stops', async () => {
  await using _worker = await stage.worker('w-approve', runs, { capabilities });
  const fields = { session: 'mine' };
  const first = await run(['risky', 'main'], fields);
  await judge({ id: (await gated(first)).id, judgement: 'approve' });
  await stage.until(first.id, ['completed']);
  const same = await stage.until((await run(['risky', 'main'], fields)).id, ['completed']);
  expect(same).toMatchObject({ gates: [], response: { result: 'ran risky main, 1 grants' } });
  await gated(await run(['risky', 'other'], fields));
  await gated(await run(['risky', 'main'], { ...fields, env: { STAGE: 'prod' } }));
  await gated(await run(['risky', 'main'], { session: 'theirs' }));

  const listed = await ask(attentionMessages.approvals, { session: 'mine', is_revoked: false });
  expect(listed.approvals).toMatchObject([{ pattern: { target: 'main', environment: 'dev' } }]);
  await ask(attentionMessages.approvals, { session: 'mine', is_revoked: true });
  await gated(await run(['risky', 'main'], fields));
});

test('what was approved for others is no leave for whoever names their session', async () => {
  const named = (session: string, client: Client): Promise<unknown> =>
    run(['true'], { session }, client);
  await expect(named('mine', stage.asker)).rejects.toMatchObject({ code: 'SESSION_NOT_YOURS' });
  await expect(named('asker', stage.asker)).resolves.toMatchObject({ parent: 'asker' });
  // Called like the session of an intent that a person attends.
  const impostor = await stage.bus.client('attend-login');
  await impostor.register(recordOf('attend-login'));
  await expect(named('', impostor)).rejects.toMatchObject({ code: 'SESSION_NOT_YOURS' });
});

test('what was approved in an attended session is not approved in the next one of its name', async () => {
  await using _worker = await stage.worker('w-attend', runs, { capabilities });
  const attends = new Attends(person);
  const document = {
    context: 'twice',
    tasks: [{ id: 'it', task: 'x', runner: 'command', action: { argv: ['risky', 'twice'] } }],
  };
  for (const approved of [0, 1]) {
    const asked = await attends.follow(await attends.begin(document), () => undefined);
    expect(asked.trace, `run ${approved + 1}`).toMatchObject([{ gates: 1, is_over: false }]);
    await judge({ id: openGates(asked)[0] ?? '', judgement: 'approve' });
    const done = await attends.follow(await attends.show('twice'), () => undefined);
    expect(done).toMatchObject({ run: approved + 1, state: 'converged' });
  }
});

test('whoever began a session and is no person brings what was missing, and decides nothing', async () => {
  const [own, theirs] = [new Attends(stage.asker), new Attends(person)];
  const context = 'by-agent';
  const deficits = [{ protocol: 'goal', evidence: 'nobody said when it is done' }];
  const asked = { context, args: 'print a word', deficits };
  const question = await own.follow(await own.begin(asked), () => undefined);
  expect(question.question?.kind).toBe('upstream');
  const denied = { code: 'ATTEND_NOT_YOURS' };
  const answer = { context, what: 'answer' } as const;
  await expect(own.say({ ...answer, choice: 'proceed' })).rejects.toMatchObject(denied);
  await theirs.say({ ...answer, choice: 'route', text: 'goal' });
  expect(await own.say({ ...answer, choice: 'restore', text: 'a word on a line' })).toMatchObject({
    upstream: { resolved: ['goal'] },
  });
  expect(await own.say({ context, what: 'withdraw' })).toMatchObject({ context });
});

test('an unknown environment and an injection are approved, and never remembered', async () => {
  await using _worker = await stage.worker('w-never', runs, { capabilities });
  for (const [argv, env] of [
    [['risky', 'x'], { STAGE: 'unknown' }],
    [['inject', 'x'], {}],
  ] as const) {
    const fields = { session: 'never', env };
    const first = await run([...argv], fields);
    await judge({ id: (await gated(first)).id, judgement: 'approve' });
    await stage.until(first.id, ['completed']);
    await gated(await run([...argv], fields));
  }
});

test('modified, the new action is judged anew; a harmless one runs without leave', async () => {
  await using _worker = await stage.worker('w-modify', runs, { capabilities });
  const task = await run(['risky', 'a']);
  const first = await gated(task);
  await expect(
    judge({ id: first.id, judgement: 'modify', direction: 'be careful' }),
  ).rejects.toMatchObject({ code: 'USAGE' });
  await expect(
    judge({ id: first.id, judgement: 'modify', direction: '{"argv": []}' }),
  ).rejects.toMatchObject({ code: 'TASK_INVALID' });
  await judge({ id: first.id, judgement: 'modify', direction: '{"argv": ["risky", "b"]}' });
  const second = await nextGate(task.id, first.id);
  expect(second.classification.description).toBe('risky b');
  await judge({ id: second.id, judgement: 'modify', direction: '{"argv": ["true"]}' });
  const done = await stage.until(task.id, ['completed']);
  expect(done.response?.result).toBe('ran true, 0 grants');
  expect(done.gates.map(({ judgement }) => judgement)).toEqual(['modify', 'modify']);
});

async function nextGate(task: string, before: string): Promise<Gate> {
  let found: Gate | undefined;
  await eventually(async () => {
    found = (await open()).find((each) => each.task === task && each.id !== before);
    expect(found).toBeDefined();
  });
  if (found === undefined) throw new Error('no gate');
  return found;
}

test('halted it ends, and what depends on it is blocked; withdrawn all of its session ends', async () => {
  const halted = await run(['risky', 'h']);
  const after = await stage.delegate({ depends_on: [halted.id] });
  await judge({ id: (await gated(halted)).id, judgement: 'halt' });
  expect(await stage.until(halted.id, ['halted'])).toMatchObject({
    error: { code: 'GATE_HALTED' },
  });
  expect(await stage.until(after.id, ['blocked'])).toMatchObject({
    error: { code: 'DEPENDENCY_FAILED' },
  });
  const fields = { session: 'doomed' };
  const [one, two] = [await run(['risky', '1'], fields), await run(['risky', '2'], fields)];
  const third = await run(['risky', '3'], { session: 'another' });
  await gated(two);
  await judge({ id: (await gated(one)).id, judgement: 'withdraw' });
  expect((await stage.until(one.id, ['halted'])).error?.code).toBe('GATE_WITHDRAWN');
  expect((await stage.until(two.id, ['cancelled'])).gates).toMatchObject([{ state: 'void' }]);
  expect(await gated(third)).toMatchObject({ state: 'open' });
});

test('a manager that died when a gate was judged withdraws the rest of the session all the same', async () => {
  const fields = { session: 'halved' };
  const [one, two] = [await run(['risky', '1'], fields), await run(['risky', '2'], fields)];
  await gated(one);
  await gated(two);
  // All that was on disk by then.
  const event = { type: 'gate.judged', outcome: 'withdrawn', reason: 'GATE_WITHDRAWN' } as const;
  await stage.manager.desk.book.send(one.id, event);
  await stage.until(two.id, ['cancelled']);
});

test('modified to what it was, nothing is judged', async () => {
  const task = await run(['risky', 'same']);
  const { id } = await gated(task);
  for (const direction of ['{"argv": ["risky", "same"]}', '{"argv": ["risky", "same"], "cwd": ""}'])
    await expect(judge({ id, judgement: 'modify', direction })).rejects.toMatchObject({
      code: 'USAGE',
    });
  expect(await gated(task)).toMatchObject({ id, state: 'open' });
  await judge({ id, judgement: 'halt' });
});

test('an agent is modified by words, also by such that look like an action', async () => {
  const task = await stage.delegate({ runner: 'agent', action: { argv: ['risky', 'agent'] } });
  const { id } = await gated(task);
  const modified = { id, judgement: 'modify' } as const;
  await expect(judge({ ...modified, direction: ' ' })).rejects.toMatchObject({ code: 'USAGE' });
  const direction = '{"argv": ["true"]}';
  await expect(judge({ ...modified, direction: 'x'.repeat(4_001) })).rejects.toMatchObject({
    code: 'TOO_LARGE',
  });
  await judge({ ...modified, direction });
  await nextGate(task.id, id);
  const { task: now } = await stage.until(task.id, ['attending']);
  expect(now).toMatchObject({ feedback: [direction], action: { argv: ['risky', 'agent'] } });
  await stage.change(task.id, 'cancel');
});

test('what a manager does not get to of a withdrawal, the next one does', async () => {
  const fields = { session: 'half' };
  const [one, two] = [await run(['risky', '1'], fields), await run(['risky', '2'], fields)];
  await gated(two);
  const { store } = stage.manager;
  const commit = store.commit.bind(store);
  // From here on this manager cannot write a word about the second one.
  store.commit = (operations) =>
    operations.some(({ key }) => key === taskKey(two.id))
      ? Promise.reject(new BusError('STORE_UNAVAILABLE'))
      : commit(operations);
  const gate = await gated(one);
  await judge({ id: gate.id, judgement: 'withdraw' });
  const later = await run(['risky', '3'], fields);
  await gated(later);
  await stage.stopManager();
  await stage.startManager();
  expect((await stage.until(two.id, ['cancelled'])).gates).toMatchObject([{ state: 'void' }]);
  expect(await gated(later)).toMatchObject({ state: 'open' });
  await judge({ id: (await gated(later)).id, judgement: 'halt' });
});

test('who says the same once more is answered again, and nothing is granted twice', async () => {
  const task = await run(['risky', 'repeated']);
  const { id } = await gated(task);
  const first = await judge({ id });
  await stage.stopManager();
  await stage.startManager();
  expect(await judge({ id })).toEqual(first);
  const judged = { code: 'GATE_JUDGED' };
  await expect(judge({ id, judgement: 'approve' })).rejects.toMatchObject(judged);
  const other = await stage.bus.client('cli-other', { role: 'client', isEphemeral: true });
  await expect(judge({ id }, other)).rejects.toMatchObject(judged);
  await using _worker = await stage.worker('w-repeated', runs, { capabilities });
  const done = await stage.until(task.id, ['completed']);
  expect(done.response?.result).toBe('ran risky repeated, 1 grants');
});

test('only a person judges, nobody twice, and nobody an action that was not shown', async () => {
  const task = await run(['risky', 'who']);
  const gate = await gated(task);
  const stranger = await stage.bus.client('stranger-gates', { role: 'executor' });
  const denied = { code: 'GATE_NOT_YOURS' };
  await expect(judge({ id: gate.id }, stranger)).rejects.toMatchObject(denied);
  await expect(judge({ id: gate.id }, stage.asker)).rejects.toMatchObject(denied);
  const other = { id: gate.id, action: '0'.repeat(64) };
  await expect(judge(other)).rejects.toMatchObject({ code: 'GATE_CHANGED' });
  await expect(judge({ id: gate.id, judgement: 'yes' as 'halt' })).rejects.toMatchObject({
    code: 'USAGE',
  });
  await expect(judge({ id: 'gate-nothing-1' })).rejects.toMatchObject({ code: 'NO_SUCH_GATE' });
  const shown = { id: gate.id, action: gate.classification.digest.action };
  const both = await Promise.allSettled([
    judge({ ...shown, judgement: 'halt' }),
    judge({ ...shown, judgement: 'dismiss' }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(judge({ ...shown, judgement: 'approve' })).rejects.toMatchObject({
    code: 'GATE_JUDGED',
  });
  if (both[1].status === 'fulfilled') await stage.change(task.id, 'cancel');
});

test('nobody judges what they stopped at themselves, whatever role they have', async () => {
  const stops = async (given: Assignment): Promise<Partial<TaskResponse>> => {
    const its = await risk({ ...given.task, action: { ...given.task.action!, argv: ['risky'] } });
    return { status: 'blocked', reason: 'GATE_DETECTED', classification: its ?? null };
  };
  await using worker = await stage.worker('w-self', stops, { capabilities, role: 'client' });
  const { id } = await gated(await run(['sh', 'self.sh']));
  await expect(judge({ id }, worker.client)).rejects.toMatchObject({ code: 'GATE_NOT_YOURS' });
  await judge({ id, judgement: 'halt' });
});

test('only a person takes approvals back, or says what was missed', async () => {
  const stranger = await stage.bus.client('stranger-says', { role: 'executor' });
  const task = await run(['risky', 'says']);
  await gated(task);
  const { approvals, missed } = attentionMessages;
  const denied = { code: 'GATE_NOT_YOURS' };
  const taken = { session: '', is_revoked: true };
  await expect(ask(approvals, taken, stranger)).rejects.toMatchObject(denied);
  const said = { task: task.id, signal: 'SecurityBoundary', text: 'it reads a key' };
  await expect(ask(missed, said, stranger)).rejects.toMatchObject(denied);
  await ask(missed, said);
  const { attention } = stage.manager.desk.book.numbers;
  const { notes } = await stage.until(said.task, ['attending']);
  expect(notes.at(-1)?.text).toBe('missed by cli-person: SecurityBoundary, it reads a key');
  expect(attention.missed).toEqual({ SecurityBoundary: ['asker'] });
  expect(attention.signals.SecurityBoundary?.missed).toBe(1);
  await stage.change(task.id, 'cancel');
});

test('whoever stopped is free for another task while a person thinks', async () => {
  const one = [...capabilities.slice(0, 3), slotsCapability(1)];
  await using _worker = await stage.worker(
    'w-free',
    async (given) => {
      if (given.task.action?.argv[0] !== 'sh') return { result: 'free' };
      const its = await risk({ ...given.task, action: { ...given.task.action, argv: ['risky'] } });
      return { status: 'blocked', reason: 'GATE_DETECTED', classification: its ?? null };
    },
    { capabilities: one },
  );
  const stopping = await run(['sh', 'free.sh']);
  await gated(stopping);
  const other = await stage.until((await run(['true'])).id, ['completed']);
  expect(other.response?.result).toBe('free');
  await stage.change(stopping.id, 'cancel');
});

test('leave is used once, by who has the task, for what it was given', async () => {
  const codes: string[] = [];
  const tried = (work: Promise<unknown>): Promise<void> =>
    work.then(
      () => void codes.push('ok'),
      (error: unknown) => void codes.push(asBusError(error).code),
    );
  const stranger = await stage.bus.client('stranger-use', { role: 'executor' });
  await using _worker = await stage.worker(
    'w-use',
    async (given, client) => {
      const [grant] = given.grants;
      if (grant === undefined) return { result: 'nothing' };
      const { digest } = grant;
      await tried(use(given, digest, stranger));
      await tried(use({ ...given, attempt: given.attempt + 1 }, digest, client));
      await tried(use(given, { ...digest, action: '1'.repeat(64) }, client));
      await tried(use({ ...given, grants: [{ ...grant, id: 'grant-other-1' }] }, digest, client));
      await tried(use(given, digest, client));
      // Told twice, as when an answer was lost.
      await tried(use(given, digest, client));
      return { status: 'failed', reason: 'ACTION_FAILED' };
    },
    { capabilities },
  );
  const task = await run(['risky', 'use'], {
    limits: { attempts_max: 2 },
  });
  await judge({ id: (await gated(task)).id });
  const view = await stage.until(task.id, ['failed', 'attending', 'completed']);
  expect(view.state).toBe('failed');
  expect(codes).toEqual([
    ...['STALE_ATTEMPT', 'STALE_ATTEMPT', 'GRANT_REFUSED', 'GRANT_REFUSED', 'ok', 'ok'],
  ]);
});

test('of a task that is over, or that another attempt has, leave is used no more', async () => {
  let late: (() => Promise<object>) | undefined;
  await using _worker = await stage.worker(
    'w-late',
    (given, client) => {
      late = () => use(given, given.grants[0]!.digest, client);
      return undefined;
    },
    { capabilities },
  );
  const task = await run(['risky', 'late']);
  await judge({ id: (await gated(task)).id });
  await eventually(() => expect(late).toBeDefined());
  await stage.change(task.id, 'cancel');
  const before = await stage.until(task.id, ['cancelled']);
  await expect(late!()).rejects.toMatchObject({ code: 'STALE_ATTEMPT' });
  expect((await stage.until(task.id, ['cancelled'])).revision).toBe(before.revision);
});

test.each(['without a word of what it saw', 'with something that it calls harmless'])(
  'a worker that stops %s is stopped at all the same, and a person is asked once',
  async (how) => {
    let starts = 0;
    const plain = { task: 'x', runner: 'command', action: { argv: ['true'] } };
    const harmless = await risk(readTask(plain, 'plain'));
    await using _worker = await stage.worker(
      how.startsWith('without') ? 'w-mute' : 'w-meek',
      (given) => {
        starts += 1;
        if (given.grants.length > 0) return { result: 'went on' };
        const classification = how.startsWith('without') ? null : (harmless ?? null);
        const result = 'GATE_DETECTED: true\nSignal: HumanCommunication\nEvidence: it mails';
        return { status: 'blocked', reason: 'GATE_DETECTED', result, classification };
      },
      { capabilities },
    );
    const task = await run(['true']);
    const gate = await gated(task);
    expect(gate.classification).toMatchObject({
      level: 'Elevated',
      is_cacheable: false,
      findings: [{ signal: 'HumanCommunication', severity: 'Gate', evidence: 'it mails' }],
    });
    expect(starts).toBe(1);
    await judge({ id: gate.id });
    expect((await stage.until(task.id, ['completed'])).response?.result).toBe('went on');
  },
);

test('what an executor sees that the manager did not stops as well, and is given leave for what was seen', async () => {
  const seen = async (given: Assignment): Promise<Classification> => ({
    ...((await risk({
      ...given.task,
      action: { ...given.task.action!, argv: ['risky', 'in'] },
    })) as Classification),
    digest: { action: '2'.repeat(64), files: { 'run.sh': '3'.repeat(64) } },
  });
  await using _worker = await stage.worker(
    'w-seen',
    async (given, client) =>
      given.grants.length > 0
        ? runs(given, client)
        : { status: 'blocked', reason: 'GATE_DETECTED', classification: await seen(given) },
    { capabilities },
  );
  const task = await run(['sh', 'run.sh']);
  const gate = await gated(task);
  expect(gate).toMatchObject({ seen_by: 'w-seen', classification: { digest: { files: {} } } });
  await judge({ id: gate.id });
  const done = await stage.until(task.id, ['completed']);
  expect(done).toMatchObject({ attempt: 2, response: { result: 'ran sh run.sh, 1 grants' } });
});

test('an executor that stops again and again is given up, and says why', async () => {
  await using _worker = await stage.worker(
    'w-loop',
    async ({ task }) => {
      const its = await risk({ ...task, action: { ...task.action!, argv: ['risky'] } });
      return { status: 'blocked', reason: 'GATE_DETECTED', classification: its ?? null };
    },
    { capabilities },
  );
  const task = await run(['sh', 'again.sh']);
  let last = '';
  for (let count = 0; count < 16; count += 1) {
    const gate = last === '' ? await gated(task) : await nextGate(task.id, last);
    last = gate.id;
    await judge({ id: gate.id });
  }
  expect(await stage.until(task.id, ['halted'])).toMatchObject({
    error: { code: 'GATES_EXCEEDED' },
  });
}, 60_000);

test('a gate is announced, listed in pages, and waited for', async () => {
  const heard: string[] = [];
  const listener = await stage.bus.client('listener');
  listener.subscribe(gatesTopic, (_, { body }) => {
    heard.push(gateOpened.codec.decode(body).task);
  });
  const query = { session: 'paged', is_all: false, after: '', limit: 2, wait_ms: 20_000 };
  const waiting = ask(attentionMessages.gates, query);
  const fields = { session: 'paged' };
  const tasks = [await run(['risky', '1'], fields)];
  expect((await waiting).gates).toMatchObject([{ session: 'paged' }]);
  for (const each of ['2', '3']) tasks.push(await run(['risky', each], fields));
  for (const each of tasks) await gated(each);
  const first = await ask(attentionMessages.gates, query);
  expect(first).toMatchObject({ more: true });
  const after = first.gates.at(-1)?.id ?? '';
  const second = await ask(attentionMessages.gates, { ...query, after });
  expect(second).toMatchObject({ more: false });
  const ids = [...first.gates, ...second.gates].map(({ task }) => task);
  expect(ids).toEqual(tasks.map(({ id }) => id));
  await eventually(() => expect(heard).toEqual(expect.arrayContaining(ids)));
  // Who watches is told of those that are open, and then of each that opens.
  const over = new AbortController();
  const call = { bus: { client: () => Promise.resolve(listener) }, signal: over.signal };
  const input = { session: 'paged', all: false, limit: 10, watch: true };
  const { rows } = await listGates.run(input, call as unknown as Call);
  const told = rows![Symbol.asyncIterator]();
  for (const id of ids) expect((await told.next()).value).toMatchObject({ task: id });
  const next = told.next();
  const fourth = await run(['risky', '4'], fields);
  expect((await next).value).toMatchObject({ task: fourth.id, state: 'open' });
  over.abort();
  expect((await told.next()).done).toBe(true);
});

test('a manager that starts anew still asks, under the same id, and the leave still holds', async () => {
  const task = await run(['risky', 'again']);
  const gate = await gated(task);
  await stage.stopManager();
  await stage.startManager();
  expect(await gated(task)).toEqual(gate);
  await judge({ id: gate.id });
  await using _worker = await stage.worker('w-again', runs, { capabilities });
  const done = await stage.until(task.id, ['completed']);
  expect(done.response?.result).toBe('ran risky again, 1 grants');
});

test.each(['halt', 'withdraw'] as const)(
  'what nobody judges in time ends as the policy says: %s',
  async (onExpiry) => {
    const brief = new TaskStage({ classify: risk, gateMs: 300, onExpiry });
    await brief.begin();
    try {
      const fields = { runner: 'command', session: 'asker' };
      const other = await brief.delegate({ ...fields, action: { argv: ['true'] } });
      const task = await brief.delegate({ ...fields, action: { argv: ['risky'] } });
      const over = await brief.until(task.id, ['halted']);
      expect(over).toMatchObject({
        error: { code: 'GATE_EXPIRED' },
        gates: [{ state: 'expired' }],
      });
      // It waits for a worker that never comes.
      const ends = onExpiry === 'withdraw' ? ['cancelled'] : ['pending', 'assigned'];
      expect(ends).toContain((await brief.until(other.id, ends)).state);
    } finally {
      await brief.end();
    }
  },
);

test('of each gate a person was told once, also over a restart of the manager', async () => {
  const body = { session: '', is_all: true, after: '', limit: 0, wait_ms: 0 };
  const { gates } = await ask(attentionMessages.gates, body);
  await eventually(() => expect(told).toEqual(expect.arrayContaining(gates.map(({ id }) => id))));
  expect(told).toHaveLength(new Set(told).size);
});
