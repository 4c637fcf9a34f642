import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Client } from '../../src/client/client.js';
import { malformedType } from '../../src/client/malformed.js';
import {
  assignmentId,
  delegationMessages,
  legacyType,
} from '../../src/delegation/task/messages.js';
import { readTask } from '../../src/delegation/task/schema.js';
import {
  delegationCapability,
  runnerCapability,
  type Assignment,
  type TaskResponse,
} from '../../src/delegation/task/shapes.js';
import { slotsCapability } from '../../src/delegation/manager/worker-pool.js';
import { taskMessages, taskService, type TaskView } from '../../src/task/requests/messages.js';
import { recordOf } from '../support/bus.js';
import { plainAnswer, TaskStage } from '../support/task-stage.js';

const stage = new TaskStage();
beforeAll(() => stage.begin());
afterAll(() => stage.end());

test('a task goes to a worker that can, and its result to whoever delegated it', async () => {
  await using _worker = await stage.worker('one', () => ({}));
  const finished = new Promise<TaskView>((resolve) => {
    void stage.asker.receive(({ type, body }) => {
      if (type === taskMessages.finished.type) resolve(taskMessages.finished.codec.decode(body));
    });
  });
  const { id, state } = await stage.delegate({});
  expect(state).toBe('pending');
  const view = await stage.until(id, ['completed', 'failed']);
  expect(view).toMatchObject({ state: 'completed', assigned_to: 'one', attempt: 1 });
  expect(view.reviews).toMatchObject([
    { verdict: 'warned', worker: 'one', findings: [{ code: 'WORDS_UNCHECKED' }] },
  ]);
  expect(view.notes.map((each) => each.state)).toEqual([
    ...['pending', 'attending', 'assigned', 'running', 'reviewing', 'completed'],
  ]);
  expect(await finished).toMatchObject({ id, state: 'completed' });
});

test('evidence that is missing is refused with its reason, and somebody else gets the task', async () => {
  await using _liar = await stage.worker('liar', () => ({}));
  await using _other = await stage.worker('other', ({ task }) => ({
    status: 'failed',
    reason: 'ACTION_FAILED',
    result: task.feedback.join(),
  }));
  const { id } = await stage.delegate({
    grounding: { strategy: 'pgc_cite' },
    limits: { attempts_max: 2 },
  });
  const last = await stage.until(id, ['failed']);
  expect(last.reviews[0]).toMatchObject({
    worker: 'liar',
    verdict: 'refused',
    findings: [{ code: 'EVIDENCE_MISSING', severity: 'error' }],
  });
  expect(last).toMatchObject({ assigned_to: 'other', attempt: 2 });
  expect(last.response?.result).toContain('EVIDENCE_MISSING');
});

test('a response that breaks the limits is a failure of its worker, told with its code', async () => {
  await using _careless = await stage.worker('careless', () => ({
    usage: { grounding_ms: 1, elapsed_ms: 2, grounding_bytes: 3, context_bytes: 4, tokens: 5 },
    grounding_evidence: {
      queries_executed: [],
      overlays_consulted: [],
      citations: Array.from({ length: 1_000 }, () => ({ similarity: NaN }) as never),
      grounding_confidence: 'high',
      overlay_warnings: [],
    },
  }));
  const { id } = await stage.delegate({ limits: { attempts_max: 1 } });
  const last = await stage.until(id, ['failed', 'completed']);
  expect(last).toMatchObject({ state: 'failed', error: { code: 'MALFORMED_PAYLOAD' } });
  expect(last.response).toMatchObject({ status: 'failed', grounding_evidence: null });
});

test('what cannot be read is a failure of its worker, who is told why, and so is what a worker cannot read', async () => {
  const told: object[] = [];
  await using old = await stage.bus.client('garbler');
  await old.register(recordOf('garbler'));
  await old.receive(async ({ type, body, from }) => {
    if (type === malformedType) told.push(JSON.parse(body.toString()) as object);
    else await old.post(`agent:${from}`, legacyType, Buffer.from('{"task_id": "cut'));
  });
  const { id } = await stage.delegate({ to: 'garbler', limits: { attempts_max: 1 } });
  const last = await stage.until(id, ['failed', 'completed']);
  expect(last).toMatchObject({ state: 'failed', error: { code: 'MALFORMED_PAYLOAD' } });
  await vi.waitFor(() =>
    expect(told).toMatchObject([{ type: legacyType, code: 'MALFORMED_PAYLOAD' }]),
  );
  // What a worker says that it could not read, another one may.
  const deaf = async ({ task: { id: its }, attempt, manager }: Assignment, client: Client) => {
    const said = { id: assignmentId.of(its, attempt), text: 'this is no task' };
    await client.post(`agent:${manager}`, malformedType, Buffer.from(JSON.stringify(said)));
    return undefined;
  };
  await using _deaf = await stage.worker('deaf', deaf);
  const second = await stage.delegate({ to: 'deaf', limits: { attempts_max: 1 } });
  const after = await stage.until(second.id, ['failed', 'completed']);
  expect(after.notes.map(({ text }) => text)).toContain('worker.lost: MALFORMED_PAYLOAD');
});

test('a legacy worker that is named gets JSON; without evidence the task goes to one that knows the protocol', async () => {
  await using _old = await stage.worker('old', () => ({ protocol_version: '1.0-legacy' }), {
    capabilities: [],
  });
  await using _modern = await stage.worker('modern', () => ({
    grounding_evidence: {
      queries_executed: [],
      overlays_consulted: [],
      citations: [],
      grounding_confidence: 'low',
      overlay_warnings: [],
    },
  }));
  const { id } = await stage.delegate({ to: 'old', grounding: { strategy: 'pgc_cite' } });
  const last = await stage.until(id, ['failed']);
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
  await using _worker = await stage.worker('curious', ({ task: { clarifications } }) =>
    clarifications.length === 0
      ? { status: 'needs_clarification', clarification_request: 'which branch?' }
      : { result: `on ${clarifications[0]?.answer ?? ''}` },
  );
  const { id } = await stage.delegate({});
  const asked = await stage.until(id, ['clarifying']);
  expect(asked).toMatchObject({ asks: 'which branch?', may: ['answer', 'cancel'] });
  await expect(stage.decide(id, 'accept')).rejects.toMatchObject({ code: 'TASK_STATE' });
  await expect(stage.change(id, 'answer', '  ')).rejects.toMatchObject({ code: 'USAGE' });
  await stage.change(id, 'answer', 'main');
  expect(await stage.until(id, ['completed'])).toMatchObject({
    attempt: 2,
    response: { result: 'on main' },
  });
});

test('only whoever delegated a task and the command line may change it; a worker never its own', async () => {
  await using asking = await stage.worker('asking', () => ({
    status: 'needs_clarification',
    clarification_request: 'shall I?',
  }));
  const stranger = await stage.bus.client('stranger');
  const { id } = await stage.delegate({});
  await stage.until(id, ['clarifying']);
  const denied = { code: 'TASK_NOT_YOURS' };
  await expect(stage.change(id, 'answer', 'yes', asking.client)).rejects.toMatchObject(denied);
  await expect(stage.change(id, 'cancel', '', asking.client)).rejects.toMatchObject(denied);
  await expect(stage.change(id, 'answer', 'yes', stranger)).rejects.toMatchObject(denied);
  const long = 'x'.repeat(4_001);
  await expect(stage.change(id, 'answer', long)).rejects.toMatchObject({ code: 'TOO_LARGE' });
  expect(await stage.until(id, ['clarifying'])).toMatchObject({ attempt: 1 });
  const shell = await stage.bus.client('cli-1', { role: 'client', isEphemeral: true });
  expect(await stage.change(id, 'cancel', '', shell)).toMatchObject({ state: 'cancelled' });

  const { update } = taskMessages;
  const body = update.request.encode({ list: 'asker', json: Buffer.alloc(0) });
  const list = (client: Client): Promise<unknown> =>
    client.request(`service:${taskService}`, update.type, body);
  await expect(list(stranger)).rejects.toMatchObject(denied);
  await expect(list(shell)).resolves.toBeDefined();
  await expect(list(stage.asker)).resolves.toBeDefined();
});

test('of an action, the values of its environment and its input are shown to those whom it concerns', async () => {
  const action = { argv: ['true'], env: { TOKEN: 'abracadabra' }, stdin: 'sesame' };
  const { id } = await stage.delegate({ runner: 'command', grounding: null, action });
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
  const shell = await stage.bus.client('cli-2', { role: 'client', isEphemeral: true });
  const stranger = await stage.bus.client('stranger-2');
  const hidden = { env: { TOKEN: '[not shown]' }, stdin: '[not shown] (6 characters)' };
  for (const look of [shown, listed]) {
    expect(await look(stage.asker)).toMatchObject(action);
    expect(await look(shell)).toMatchObject(action);
    expect(await look(stranger)).toMatchObject({ argv: ['true'], ...hidden });
  }
  await using able = await stage.worker('able', () => undefined, {
    capabilities: [delegationCapability, runnerCapability('command'), slotsCapability(1)],
  });
  await stage.until(id, ['running']);
  expect(await shown(able.client)).toMatchObject(action);
  // However many are listed, the broker is asked once who it is that looks.
  const more = await stage.delegate({ runner: 'command', grounding: null, action });
  const asked = vi.spyOn(stage.manager.client, 'roleOf');
  await listed(stranger);
  expect(asked.mock.calls).toEqual([['stranger-2']]);
  asked.mockRestore();
  await stage.change(id, 'cancel');
  await stage.change(more.id, 'cancel');
});

test('who delegates to itself cannot answer itself, but may give up', async () => {
  await using selfish = await stage.worker('selfish', () => ({
    status: 'needs_clarification',
    clarification_request: 'am I right?',
  }));
  const { delegate: message } = taskMessages;
  const mine = { ...readTask({ task: 'do it', to: 'selfish' }, ''), id: '' };
  const address = `service:${taskService}`;
  const reply = await selfish.client.request(address, message.type, message.request.encode(mine));
  const { id } = message.answer.decode(reply.body);
  await stage.until(id, ['clarifying']);
  await expect(stage.change(id, 'answer', 'yes', selfish.client)).rejects.toMatchObject({
    code: 'TASK_NOT_YOURS',
  });
  expect(await stage.change(id, 'cancel', '', selfish.client)).toMatchObject({
    state: 'cancelled',
  });
});

test('who failed at a task is not the next to try it', async () => {
  const tried: string[] = [];
  const failing = (name: string) => (): Partial<TaskResponse> => {
    tried.push(name);
    return name === 'able' ? {} : { status: 'failed', reason: 'ACTION_FAILED' };
  };
  const more = [delegationCapability, runnerCapability('answer'), slotsCapability(8)];
  await using _broken = await stage.worker('broken', failing('broken'), { capabilities: more });
  await using _able = await stage.worker('able', failing('able'));
  const { id } = await stage.delegate({});
  expect(await stage.until(id, ['completed', 'failed'])).toMatchObject({ state: 'completed' });
  expect(tried).toEqual(['broken', 'able']);
});

test('no agent decides about a result, not even of what it delegated, and who sent it is told of a refusal', async () => {
  await using doubtful = await stage.worker('doubtful', ({ task }) =>
    task.criticality === 'C3' ? {} : { result: '' },
  );
  const model = await stage.bus.client('model', { role: 'mcp' });
  const grounding = { strategy: 'none' };
  const acceptance_criteria = ['it is pretty'];
  const { id } = await stage.delegate({ criticality: 'C3', grounding, acceptance_criteria }, model);
  await stage.until(id, ['deciding']);
  for (const what of ['accept', 'refuse', 'revise', 'halt'] as const)
    await expect(stage.change(id, what, '', model)).rejects.toMatchObject({
      code: 'TASK_NOT_YOURS',
    });
  expect(await stage.decide(id, 'accept')).toMatchObject({ state: 'completed' });

  const empty = await stage.delegate({ limits: { attempts_max: 1 }, grounding }, model);
  await stage.until(empty.id, ['failed']);
  await expect
    .poll(() => doubtful.withdrawn)
    .toEqual([
      expect.stringContaining(
        'EVIDENCE_REFUSED: the evidence does not support the result: there is no result',
      ),
    ]);
});

test('who sends a result of a task that it was not given is told, and so is who comes late', async () => {
  await using busy = await stage.worker('busy', () => undefined);
  await using other = await stage.worker('other-hand', () => ({}), { capabilities: [] });
  const { id } = await stage.delegate({ to: 'busy' });
  await stage.until(id, ['running']);
  const { response, claim } = delegationMessages;
  const say = (client: Client, attempt: number) =>
    client.post(
      'agent:manager',
      response.type,
      response.codec.encode({ ...plainAnswer, task_id: id, attempt }),
    );
  await say(other.client, 1);
  await expect
    .poll(() => other.withdrawn)
    .toEqual([
      `TASK_NOT_ASSIGNED: task ${id} is not assigned to other-hand: attempt 1 is that of another worker`,
    ]);
  await say(busy.client, 2);
  await expect
    .poll(() => busy.withdrawn)
    .toEqual([expect.stringContaining('there is no attempt 2 yet')]);
  const asked = claim.codec.encode({ task_id: id, attempt: 1 });
  await expect(other.client.request('agent:manager', claim.type, asked)).rejects.toMatchObject({
    code: 'TASK_NOT_ASSIGNED',
  });
  await say(busy.client, 1);
  await stage.until(id, ['completed']);
  await say(busy.client, 1);
  await expect
    .poll(() => busy.withdrawn.at(-1))
    .toBe(`STALE_ATTEMPT: attempt 1 at task ${id} has ended; the latest is 1`);
});

test('what is cancelled is withdrawn from its worker, and who sends its result late is told', async () => {
  await using slow = await stage.worker('slow', () => undefined);
  const { client, withdrawn } = slow;
  const { id } = await stage.delegate({});
  await stage.until(id, ['running']);
  expect((await stage.change(id, 'cancel', 'not needed')).state).toBe('cancelled');
  const { response } = delegationMessages;
  const late = { ...plainAnswer, task_id: id, attempt: 1 };
  await client.post('agent:manager', response.type, response.codec.encode(late));
  await expect
    .poll(() => withdrawn)
    .toEqual(['not needed', expect.stringMatching(/^STALE_ATTEMPT: attempt 1 .* has ended/)]);
  expect(await stage.until(id, ['cancelled'])).toMatchObject({ response: null });
});

test('a manager that starts anew goes on with its tasks', async () => {
  await using patient = await stage.worker('patient', () => undefined);
  const { client } = patient;
  const { id } = await stage.delegate({});
  await stage.until(id, ['running']);
  await stage.stopManager();
  const { response } = delegationMessages;
  await client.post(
    'agent:manager',
    response.type,
    response.codec.encode({ ...plainAnswer, task_id: id, attempt: 1 }),
  );
  await stage.startManager();
  expect(await stage.until(id, ['completed'])).toMatchObject({
    attempt: 1,
    assigned_to: 'patient',
  });
});

test('what depends on another task waits for it, and is blocked when that fails', async () => {
  await using _worker = await stage.worker('either', ({ task }) =>
    task.task === 'fail' ? { status: 'failed', reason: 'ACTION_FAILED' } : {},
  );
  const first = await stage.delegate({ task: 'first' });
  const then = await stage.delegate({ task: 'then', depends_on: [first.id] });
  expect(await stage.until(then.id, ['completed'])).toBeDefined();
  const bad = await stage.delegate({ task: 'fail', limits: { attempts_max: 1 } });
  const never = await stage.delegate({ task: 'never', depends_on: [bad.id] });
  const blocked = await stage.until(never.id, ['blocked']);
  expect(blocked.error).toMatchObject({ code: 'DEPENDENCY_FAILED' });
  // That task is over for good: trying again would not help, going on without it does, with all that it asks for itself.
  await stage.decide(never.id, 'relax');
  const done = await stage.until(never.id, ['completed']);
  expect(done.task.grounding).toEqual(never.task.grounding);
});

test('a manager ends while tasks wait for a worker and for each other, and goes on with them', async () => {
  const first = await stage.delegate({ task: 'first' });
  const then = await stage.delegate({ task: 'then', depends_on: [first.id] });
  await stage.stopManager();
  await stage.startManager();
  await using _worker = await stage.worker('late', () => ({}));
  expect(await stage.until(then.id, ['completed'])).toMatchObject({ attempt: 1 });
  expect(await stage.until(first.id, ['completed'])).toMatchObject({ attempt: 1 });
});
