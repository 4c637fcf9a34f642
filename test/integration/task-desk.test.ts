import path from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { Shards } from '../../services/manager/shards.js';
import { TaskDesk } from '../../services/manager/task-desk.js';
import type { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { delegationMessages, legacyType } from '../../src/delegation/messages.js';
import { readTask } from '../../src/delegation/schema.js';
import {
  delegationCapability,
  runnerCapability,
  type Assignment,
  type TaskResponse,
} from '../../src/delegation/shapes.js';
import { slotsCapability } from '../../src/delegation/worker-pool.js';
import { openLog } from '../../src/observe/log.js';
import { tasksLayout } from '../../src/store/layouts.js';
import type { LevelStore } from '../../src/store/level-store.js';
import {
  taskMessages,
  taskService,
  type TaskChangeName,
  type TaskView,
} from '../../src/task/messages.js';
import { recordOf, testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

let bus: TestBus;
let asker: Client;
let manager: { desk: TaskDesk; store: LevelStore; client: Client };
const folder = temporaryFolder();

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  asker = await bus.client('asker');
  await asker.register(recordOf('asker'));
  manager = await startManager();
});
afterAll(async () => {
  await stopManager();
  await bus.close();
  folder.remove();
});

async function startManager(): Promise<typeof manager> {
  const config = loadConfig({}, { home: folder.path });
  const log = openLog(config, { service: 'manager' });
  const client = await bus.client('manager', { role: 'manager' });
  await client.register(recordOf('manager'));
  const store = await openTestStore(path.join(folder.path, 'tasks'), tasksLayout);
  const desk = await TaskDesk.open({ client, store, shards: new Shards(client, log), log, config });
  await desk.begin();
  return { desk, store, client };
}

async function stopManager(): Promise<void> {
  await manager.desk[Symbol.asyncDispose]();
  await manager.store[Symbol.asyncDispose]();
  await manager.client.close();
}

/** A worker of the test: claims what it is given, and answers what `work` says; undefined: nothing. */
async function worker(
  agent: string,
  work: (assignment: Assignment) => Partial<TaskResponse> | undefined,
  { capabilities = [delegationCapability, runnerCapability('answer'), slotsCapability(4)] } = {},
): Promise<{ client: Client; withdrawn: string[] } & AsyncDisposable> {
  const client = await bus.client(agent, { role: 'executor' });
  const withdrawn: string[] = [];
  const { assign, claim, response, withdraw } = delegationMessages;
  await client.receive(async ({ type, body }) => {
    if (type === withdraw.type) {
      withdrawn.push(withdraw.codec.decode(body).reason);
      return;
    }
    const given =
      type === legacyType
        ? { task: JSON.parse(body.toString()) as Assignment['task'], attempt: 0 }
        : assign.codec.decode(body);
    const { task, attempt } = given;
    if (type !== legacyType) {
      const asked = claim.codec.encode({ task_id: task.id, attempt });
      await client.request('agent:manager', claim.type, asked);
    }
    const said = work(given as Assignment);
    if (said === undefined) return;
    const whole = { ...answer, task_id: task.id, attempt, ...said };
    if (type === legacyType)
      await client.post('agent:manager', legacyType, Buffer.from(JSON.stringify(whole)));
    else await client.post('agent:manager', response.type, response.codec.encode(whole));
  });
  await client.register({ ...recordOf(agent), capabilities });
  return { client, withdrawn, [Symbol.asyncDispose]: () => gone(client) };
}

/** Gone, and known to be gone: nothing is given to it any more. */
async function gone(client: Client): Promise<void> {
  await client.close();
  const { agent } = client.identity;
  await expect
    .poll(async () => (await asker.agents()).find(({ record }) => record.id === agent)?.state)
    .toBe('offline');
  await manager.desk.look();
}

const answer: TaskResponse = {
  task_id: '',
  status: 'completed',
  result: 'done as it was asked for',
  grounding_evidence: null,
  reason: '',
  errors: [],
  protocol_version: '2.0',
  clarification_request: '',
  attempt: 0,
  partial: false,
  files_modified: [],
  usage: null,
};

async function delegate(task: object): Promise<TaskView> {
  const { delegate: message } = taskMessages;
  const body = message.request.encode({ ...readTask({ task: 'do it', ...task }, ''), id: '' });
  const reply = await asker.request(`service:${taskService}`, message.type, body);
  return message.answer.decode(reply.body);
}

async function until(id: string, states: string[]): Promise<TaskView> {
  const { show } = taskMessages;
  let revision = 0;
  for (;;) {
    const body = show.request.encode({ id, wait_ms: 5_000, revision });
    const reply = await asker.request(`service:${taskService}`, show.type, body);
    const view = show.answer.decode(reply.body);
    if (states.includes(view.state)) return view;
    revision = view.revision;
  }
}

async function change(
  id: string,
  what: TaskChangeName,
  text = '',
  client = asker,
): Promise<TaskView> {
  const { change: message } = taskMessages;
  const body = message.request.encode({ id, what, text });
  const reply = await client.request(`service:${taskService}`, message.type, body);
  return message.answer.decode(reply.body);
}

test('a task goes to a worker that can, and its result to whoever delegated it', async () => {
  await using _worker = await worker('one', () => ({}));
  const finished = new Promise<TaskView>((resolve) => {
    void asker.receive(({ type, body }) => {
      if (type === taskMessages.finished.type) resolve(taskMessages.finished.codec.decode(body));
    });
  });
  const { id, state } = await delegate({});
  expect(state).toBe('pending');
  const view = await until(id, ['completed', 'failed']);
  expect(view).toMatchObject({ state: 'completed', assigned_to: 'one', attempt: 1 });
  expect(view.reviews).toMatchObject([{ verdict: 'accepted', worker: 'one' }]);
  expect(view.notes.map((each) => each.state)).toEqual([
    ...['pending', 'attending', 'assigned', 'running', 'reviewing', 'completed'],
  ]);
  expect(await finished).toMatchObject({ id, state: 'completed' });
});

test('evidence that is missing is refused with its reason, and somebody else gets the task', async () => {
  await using _liar = await worker('liar', () => ({}));
  await using _other = await worker('other', ({ task }) => ({
    status: 'failed',
    reason: 'ACTION_FAILED',
    result: task.feedback.join(),
  }));
  const { id } = await delegate({
    grounding: { strategy: 'pgc_cite' },
    limits: { attempts_max: 2 },
  });
  const last = await until(id, ['failed']);
  expect(last.reviews[0]).toMatchObject({
    worker: 'liar',
    verdict: 'refused',
    findings: [{ code: 'EVIDENCE_MISSING', severity: 'error' }],
  });
  expect(last).toMatchObject({ assigned_to: 'other', attempt: 2 });
  expect(last.response?.result).toContain('EVIDENCE_MISSING');
});

test('a response that breaks the limits is a failure of its worker, told with its code', async () => {
  await using _careless = await worker('careless', () => ({
    usage: { grounding_ms: 1, elapsed_ms: 2, grounding_bytes: 3, context_bytes: 4, tokens: 5 },
    grounding_evidence: {
      queries_executed: [],
      overlays_consulted: [],
      citations: Array.from({ length: 1_000 }, () => ({ similarity: NaN }) as never),
      grounding_confidence: 'high',
      overlay_warnings: [],
    },
  }));
  const { id } = await delegate({ limits: { attempts_max: 1 } });
  const last = await until(id, ['failed', 'completed']);
  expect(last).toMatchObject({ state: 'failed', error: { code: 'MALFORMED_PAYLOAD' } });
  expect(last.response).toMatchObject({ status: 'failed', grounding_evidence: null });
});

test('a legacy worker that is named gets JSON; without evidence the task goes to one that knows the protocol', async () => {
  await using _old = await worker('old', () => ({ protocol_version: '1.0-legacy' }), {
    capabilities: [],
  });
  await using _modern = await worker('modern', () => ({
    grounding_evidence: {
      queries_executed: [],
      overlays_consulted: [],
      citations: [],
      grounding_confidence: 'low',
      overlay_warnings: [],
    },
  }));
  const { id } = await delegate({ to: 'old', grounding: { strategy: 'pgc_cite' } });
  const last = await until(id, ['failed']);
  expect(last.reviews[0]).toMatchObject({
    worker: 'old',
    findings: [{ code: 'PROTOCOL_MISMATCH' }],
  });
  expect(last.reviews[1]).toMatchObject({
    worker: 'modern',
    findings: [{ code: 'CITATIONS_MISSING' }, {}],
  });
});

test('a question goes there and back; the answer is part of the next attempt', async () => {
  await using _worker = await worker('curious', ({ task: { clarifications } }) =>
    clarifications.length === 0
      ? { status: 'needs_clarification', clarification_request: 'which branch?' }
      : { result: `on ${clarifications[0]?.answer ?? ''}` },
  );
  const { id } = await delegate({});
  const asked = await until(id, ['clarifying']);
  expect(asked).toMatchObject({ asks: 'which branch?', may: ['answer', 'cancel'] });
  await expect(change(id, 'accept')).rejects.toMatchObject({ code: 'TASK_STATE' });
  await expect(change(id, 'answer', '  ')).rejects.toMatchObject({ code: 'USAGE' });
  await change(id, 'answer', 'main');
  expect(await until(id, ['completed'])).toMatchObject({
    attempt: 2,
    response: { result: 'on main' },
  });
});

test('only whoever delegated a task and the command line may change it; a worker never its own', async () => {
  await using asking = await worker('asking', () => ({
    status: 'needs_clarification',
    clarification_request: 'shall I?',
  }));
  const stranger = await bus.client('stranger');
  const { id } = await delegate({});
  await until(id, ['clarifying']);
  const denied = { code: 'TASK_NOT_YOURS' };
  await expect(change(id, 'answer', 'yes', asking.client)).rejects.toMatchObject(denied);
  await expect(change(id, 'cancel', '', asking.client)).rejects.toMatchObject(denied);
  await expect(change(id, 'answer', 'yes', stranger)).rejects.toMatchObject(denied);
  const long = 'x'.repeat(4_001);
  await expect(change(id, 'answer', long)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  expect(await until(id, ['clarifying'])).toMatchObject({ attempt: 1 });
  const shell = await bus.client('cli-1', { role: 'client', isEphemeral: true });
  expect(await change(id, 'cancel', '', shell)).toMatchObject({ state: 'cancelled' });

  const { update } = taskMessages;
  const body = update.request.encode({ list: 'asker', json: Buffer.alloc(0) });
  const list = (client: Client): Promise<unknown> =>
    client.request(`service:${taskService}`, update.type, body);
  await expect(list(stranger)).rejects.toMatchObject(denied);
  await expect(list(shell)).resolves.toBeDefined();
  await expect(list(asker)).resolves.toBeDefined();
});

test('of an action, the values of its environment and its input are shown to those whom it concerns', async () => {
  const action = { argv: ['true'], env: { TOKEN: 'abracadabra' }, stdin: 'sesame' };
  const { id } = await delegate({ runner: 'command', grounding: null, action });
  const { show, list } = taskMessages;
  const shown = async (client: Client): Promise<unknown> => {
    const body = show.request.encode({ id, wait_ms: 0, revision: 0 });
    const reply = await client.request(`service:${taskService}`, show.type, body);
    return show.answer.decode(reply.body).task.action;
  };
  const listed = async (client: Client): Promise<unknown> => {
    const body = list.request.encode({ states: [], parent: 'asker', after: '', limit: 0 });
    const reply = await client.request(`service:${taskService}`, list.type, body);
    return list.answer.decode(reply.body).tasks.find((each) => each.id === id)?.task.action;
  };
  const shell = await bus.client('cli-2', { role: 'client', isEphemeral: true });
  const stranger = await bus.client('stranger-2');
  const hidden = { env: { TOKEN: '[not shown]' }, stdin: '[not shown] (6 characters)' };
  for (const look of [shown, listed]) {
    expect(await look(asker)).toMatchObject(action);
    expect(await look(shell)).toMatchObject(action);
    expect(await look(stranger)).toMatchObject({ argv: ['true'], ...hidden });
  }
  await using able = await worker('able', () => undefined, {
    capabilities: [delegationCapability, runnerCapability('command'), slotsCapability(1)],
  });
  await until(id, ['running']);
  expect(await shown(able.client)).toMatchObject(action);
  // However many are listed, the broker is asked once who it is that looks.
  const more = await delegate({ runner: 'command', grounding: null, action });
  const asked = vi.spyOn(manager.client, 'roleOf');
  await listed(stranger);
  expect(asked.mock.calls).toEqual([['stranger-2']]);
  asked.mockRestore();
  await change(id, 'cancel');
  await change(more.id, 'cancel');
});

test('who delegates to itself cannot answer itself, but may give up', async () => {
  await using selfish = await worker('selfish', () => ({
    status: 'needs_clarification',
    clarification_request: 'am I right?',
  }));
  const { delegate: message } = taskMessages;
  const mine = { ...readTask({ task: 'do it', to: 'selfish' }, ''), id: '' };
  const address = `service:${taskService}`;
  const reply = await selfish.client.request(address, message.type, message.request.encode(mine));
  const { id } = message.answer.decode(reply.body);
  await until(id, ['clarifying']);
  await expect(change(id, 'answer', 'yes', selfish.client)).rejects.toMatchObject({
    code: 'TASK_NOT_YOURS',
  });
  expect(await change(id, 'cancel', '', selfish.client)).toMatchObject({ state: 'cancelled' });
});

test('who failed at a task is not the next to try it', async () => {
  const tried: string[] = [];
  const failing = (name: string) => (): Partial<TaskResponse> => {
    tried.push(name);
    return name === 'able' ? {} : { status: 'failed', reason: 'ACTION_FAILED' };
  };
  const more = [delegationCapability, runnerCapability('answer'), slotsCapability(8)];
  await using _broken = await worker('broken', failing('broken'), { capabilities: more });
  await using _able = await worker('able', failing('able'));
  const { id } = await delegate({});
  expect(await until(id, ['completed', 'failed'])).toMatchObject({ state: 'completed' });
  expect(tried).toEqual(['broken', 'able']);
});

test('what is cancelled is withdrawn from its worker, and a late result is dropped', async () => {
  await using slow = await worker('slow', () => undefined);
  const { client, withdrawn } = slow;
  const { id } = await delegate({});
  await until(id, ['running']);
  expect((await change(id, 'cancel', 'not needed')).state).toBe('cancelled');
  const { response } = delegationMessages;
  const late = { ...answer, task_id: id, attempt: 1 };
  await client.post('agent:manager', response.type, response.codec.encode(late));
  await expect.poll(() => withdrawn).toEqual(['not needed']);
  expect(await until(id, ['cancelled'])).toMatchObject({ response: null });
});

test('a manager that starts anew goes on with its tasks', async () => {
  await using patient = await worker('patient', () => undefined);
  const { client } = patient;
  const { id } = await delegate({});
  await until(id, ['running']);
  await stopManager();
  const { response } = delegationMessages;
  await client.post(
    'agent:manager',
    response.type,
    response.codec.encode({ ...answer, task_id: id, attempt: 1 }),
  );
  manager = await startManager();
  expect(await until(id, ['completed'])).toMatchObject({ attempt: 1, assigned_to: 'patient' });
});

test('what depends on another task waits for it, and is blocked when that fails', async () => {
  await using _worker = await worker('either', ({ task }) =>
    task.task === 'fail' ? { status: 'failed', reason: 'ACTION_FAILED' } : {},
  );
  const first = await delegate({ task: 'first' });
  const then = await delegate({ task: 'then', depends_on: [first.id] });
  expect(await until(then.id, ['completed'])).toBeDefined();
  const bad = await delegate({ task: 'fail', limits: { attempts_max: 1 } });
  const never = await delegate({ task: 'never', depends_on: [bad.id] });
  const blocked = await until(never.id, ['blocked']);
  expect(blocked.error).toMatchObject({ code: 'DEPENDENCY_FAILED' });
  expect((await change(never.id, 'cancel')).state).toBe('cancelled');
});

test('a manager ends while tasks wait for a worker and for each other, and goes on with them', async () => {
  const first = await delegate({ task: 'first' });
  const then = await delegate({ task: 'then', depends_on: [first.id] });
  await stopManager();
  manager = await startManager();
  await using _worker = await worker('late', () => ({}));
  expect(await until(then.id, ['completed'])).toMatchObject({ attempt: 1 });
  expect(await until(first.id, ['completed'])).toMatchObject({ attempt: 1 });
});
