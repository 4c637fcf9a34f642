import fc from 'fast-check';
import { expect, test } from 'vitest';
import { attendCapability } from '../../../src/attention/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import {
  delegationCapability,
  runnerCapability,
  type RunnerName,
} from '../../../src/delegation/task/shapes.js';
import {
  promptSlotsCapability,
  slotsCapability,
  ReturnWatch,
  WorkerPool,
  workersOf,
  type WorkerRequest,
  type Worker,
} from '../../../src/delegation/manager/worker-pool.js';
import type { AgentView } from '../../../src/wire/messages.js';

const signal = new AbortController().signal;

function viewOf(id: string, capabilities: string[], state = 'online'): AgentView {
  return { state, record: { id, alias: `${id}-alias`, capabilities } } as AgentView;
}

/** One that knows the protocol, and these runners. */
function capable(id: string, slots = 1, runners: RunnerName[] = ['answer']): Worker {
  const capabilities = [
    delegationCapability,
    slotsCapability(slots),
    ...runners.map(runnerCapability),
  ];
  return workersOf([viewOf(id, capabilities)])[0] as Worker;
}
const legacy = (id: string): Worker => workersOf([viewOf(id, [])])[0] as Worker;
const wish = (task: string, fields: Partial<WorkerRequest> = {}): WorkerRequest => ({
  task,
  runner: 'answer',
  to: '',
  failed: [],
  ...fields,
});

function poolOf(...workers: Worker[]): WorkerPool {
  const pool = new WorkerPool();
  pool.update(workers);
  return pool;
}

/** Who gets it, as soon as anybody does. */
function follow(pool: WorkerPool, its: WorkerRequest, of = signal): { got: string } {
  const seen = { got: '' };
  pool.take(its, of).then(
    ({ id }) => (seen.got = id),
    (error: unknown) => (seen.got = error instanceof BusError ? error.code : 'bug'),
  );
  return seen;
}
const settle = (): Promise<void> => new Promise(setImmediate);

test('what has leave goes only to who keeps to it, by name too', () => {
  const plain = capable('plain');
  const [attending] = workersOf([
    viewOf('attending', [delegationCapability, runnerCapability('answer'), attendCapability]),
  ]);
  const pool = poolOf(plain, legacy('old'));
  expect(pool.tryTake(wish('a', { hasGrant: true }))).toBeUndefined();
  expect(pool.tryTake(wish('a', { hasGrant: true, to: 'old' }))).toBeUndefined();
  expect(pool.isPossible(wish('a', { hasGrant: true }))).toBe(false);
  pool.update([plain, attending!]);
  expect(pool.tryTake(wish('a', { hasGrant: true }))?.id).toBe('attending');
  expect(pool.tryTake(wish('b'))?.id).toBe('plain');
});

test('only who is online works, with as many slots as it says, in bounds', () => {
  const views = [
    viewOf('a', [delegationCapability, 'slots:3']),
    viewOf('b', ['slots:0']),
    viewOf('c', ['slots:1000']),
    viewOf('d', ['slots:many']),
    viewOf('e', []),
    viewOf('f', ['slots:2'], 'offline'),
  ];
  const known = workersOf(views).map(({ id, slots, isCapable }) => [id, slots, isCapable]);
  expect(known).toEqual([
    ['a', 3, true],
    ['b', 1, false],
    ['c', 64, false],
    ['d', 1, false],
    ['e', 1, false],
  ]);
});

test('the one with most free slots is chosen, and none beyond its slots', () => {
  const pool = poolOf(capable('a', 1), capable('b', 2));
  const chosen = ['1', '2', '3', '4'].map((task) => pool.tryTake(wish(task))?.id);
  expect(chosen).toEqual(['b', 'a', 'b', undefined]);
});

test('a task that has a slot keeps it, and takes no second one', () => {
  const pool = poolOf(capable('a', 2));
  expect([pool.tryTake(wish('1'))?.id, pool.tryTake(wish('1'))?.id]).toEqual(['a', 'a']);
  expect(pool.tryTake(wish('2'))?.id).toBe('a');
  expect(pool.tryTake(wish('3'))).toBeUndefined();
});

test('who waits is served in the order of coming', async () => {
  const pool = poolOf(capable('a'));
  pool.tryTake(wish('0'));
  const waiting = ['1', '2', '3'].map((task) => follow(pool, wish(task)));
  const order = async (): Promise<string[]> => {
    await settle();
    return waiting.map(({ got }) => got);
  };
  expect(await order()).toEqual(['', '', '']);
  pool.release('0');
  expect(await order()).toEqual(['a', '', '']);
  pool.release('1');
  expect(await order()).toEqual(['a', 'a', '']);
  expect(pool.waiting).toBe(1);
  pool.release('2');
  expect(await order()).toEqual(['a', 'a', 'a']);
  expect(pool.waiting).toBe(0);
});

test('who cannot be served does not hold up who can', async () => {
  const pool = poolOf(capable('a', 1, ['answer', 'model']));
  pool.tryTake(wish('0'));
  const command = follow(pool, wish('1', { runner: 'command' }));
  const model = follow(pool, wish('2', { runner: 'model' }));
  pool.release('0');
  await settle();
  expect([command.got, model.got]).toEqual(['', 'a']);
  pool.update([capable('a'), capable('b', 1, ['command'])]);
  await settle();
  expect(command.got).toBe('b');
});

test('a worker that comes wakes who waits', async () => {
  const pool = poolOf();
  const first = follow(pool, wish('1'));
  expect(pool.isPossible(wish('1'))).toBe(false);
  pool.update([capable('a')]);
  await settle();
  expect(first.got).toBe('a');
  // It could, though it is busy.
  expect(pool.isPossible(wish('2'))).toBe(true);
  expect(pool.tryTake(wish('2'))).toBeUndefined();
});

test('who is named does it, by id or by alias, and nobody else', () => {
  const pool = poolOf(capable('a'), capable('b', 9));
  expect(pool.tryTake(wish('1', { to: 'a' }))?.id).toBe('a');
  expect(pool.tryTake(wish('2', { to: 'a-alias' }))).toBeUndefined();
  pool.release('1');
  expect(pool.tryTake(wish('2', { to: 'a-alias' }))?.id).toBe('a');
  expect(pool.isPossible(wish('3', { to: 'nobody' }))).toBe(false);
});

test('one that does not know the protocol gets a task only by name', () => {
  const pool = poolOf(legacy('old'));
  expect(pool.tryTake(wish('1'))).toBeUndefined();
  expect(pool.isPossible(wish('1'))).toBe(false);
  expect(pool.tryTake(wish('1', { to: 'old' }))?.id).toBe('old');
  pool.release('1');
  expect(pool.tryTake(wish('1', { to: 'old', failed: ['old'] }))).toBeUndefined();
});

test('one that has the runner, but does not know the protocol, is a legacy one', () => {
  const [half] = workersOf([viewOf('half', [runnerCapability('answer')])]);
  const pool = poolOf(half as Worker);
  expect(pool.tryTake(wish('1'))).toBeUndefined();
  expect(pool.tryTake(wish('1', { to: 'half-alias' }))?.id).toBe('half');
});

test('one that failed gets it again only where nobody else could do it', () => {
  const failed = ['a'];
  const pool = poolOf(capable('a', 9), capable('b'));
  expect(pool.tryTake(wish('1', { failed }))?.id).toBe('b');
  // Another one could: that it is busy is no reason.
  expect(pool.tryTake(wish('2', { failed }))).toBeUndefined();
  pool.update([capable('a', 9)]);
  expect(pool.tryTake(wish('2', { failed }))?.id).toBe('a');
});

test('one that failed does not keep the slot while another one is free', () => {
  const pool = poolOf(capable('a', 9), capable('b'));
  expect(pool.tryTake(wish('1'))?.id).toBe('a');
  expect(pool.tryTake(wish('1', { failed: ['a'] }))?.id).toBe('b');
});

test('one that was named and failed is not named any more, there or not', () => {
  const named = wish('1', { to: 'a', failed: ['a'] });
  expect(poolOf(capable('a', 9), capable('b')).tryTake(named)?.id).toBe('b');
  expect(poolOf(capable('b')).tryTake(named)?.id).toBe('b');
  const other = wish('1', { to: 'a', failed: ['b'] });
  expect(poolOf(capable('a'), capable('b', 9)).tryTake(other)?.id).toBe('a');
});

test('the slot that a task gives up for another worker is given on', async () => {
  const pool = poolOf(capable('a'), capable('b', 1, ['command']));
  pool.tryTake(wish('1'));
  const waiting = follow(pool, wish('2'));
  // It is a command by now.
  expect(pool.tryTake(wish('1', { runner: 'command' }))?.id).toBe('b');
  await settle();
  expect(waiting.got).toBe('a');
});

test('slots of an earlier process are taken', () => {
  const pool = poolOf(capable('a'));
  pool.restore('1', 'a');
  expect(pool.tryTake(wish('2'))).toBeUndefined();
  pool.release('1');
  expect(pool.tryTake(wish('2'))?.id).toBe('a');
});

test('who does not wait any more takes nothing', async () => {
  const pool = poolOf(capable('a'));
  const gone = AbortSignal.abort();
  const early = follow(pool, wish('0'), gone);
  await settle();
  expect(early.got).toBe('CANCELLED');
  pool.tryTake(wish('1'));
  const ending = new AbortController();
  const late = follow(pool, wish('2'), ending.signal);
  const behind = follow(pool, wish('3'));
  ending.abort();
  pool.release('1');
  await settle();
  expect([late.got, behind.got, pool.waiting]).toEqual(['CANCELLED', 'a', 0]);
  ending.abort();
  expect(pool.tryTake(wish('4'))).toBeUndefined();
});

test('releasing what was never taken wakes nobody and frees nothing', () => {
  const pool = poolOf(capable('a'));
  pool.tryTake(wish('1'));
  pool.release('unknown');
  expect(pool.tryTake(wish('2'))).toBeUndefined();
});

// ---------------------------------------------------------------- whatever comes

const runner = fc.constantFrom<RunnerName>('answer', 'command');
const task = fc.constantFrom('1', '2', '3', '4', '5', '6');
const worker = fc
  .record({
    id: fc.constantFrom('a', 'b', 'c'),
    slots: fc.integer({ min: 1, max: 3 }),
    runners: fc.subarray<RunnerName>(['answer', 'command']),
  })
  .map(({ id, slots, runners }) =>
    runners.length === 0 ? legacy(id) : capable(id, slots, runners),
  );
const workers = fc.uniqueArray(worker, { selector: ({ id }) => id, maxLength: 3 });
const wanted = fc.record({
  task,
  runner,
  to: fc.constantFrom('', '', '', 'a', 'b-alias'),
  failed: fc.subarray(['a', 'b']),
});
const move = fc.oneof(
  fc.record({ what: fc.constant('turn' as const), its: wanted, isPatient: fc.boolean() }),
  fc.record({ what: fc.constant('release' as const), task }),
  fc.record({ what: fc.constant('update' as const), workers }),
);

test('whatever comes, nobody waits for a slot that is free, and slots are never overdrawn', async () => {
  await fc.assert(
    fc.asyncProperty(workers, fc.array(move, { maxLength: 30 }), async (first, moves) => {
      const pool = poolOf(...first);
      let present = first;
      const held = new Map<string, Worker>();
      const waiting = new Map<object, WorkerRequest>();
      const overdrawn: Worker[] = [];
      const load = (id: string): number =>
        [...held.values()].filter((each) => each.id === id).length;
      for (const its of moves) {
        if (its.what === 'release') {
          held.delete(its.task);
          pool.release(its.task);
        } else if (its.what === 'update') {
          present = its.workers;
          pool.update(present);
        } else if (![...waiting.values()].some((each) => each.task === its.its.task)) {
          const key = {};
          waiting.set(key, its.its);
          const isHeld = held.delete(its.its.task);
          const ending = new AbortController();
          const turn = pool.take(its.its, ending.signal).then(
            (got) => {
              held.set(its.its.task, got);
              if (!isHeld && load(got.id) > got.slots) overdrawn.push(got);
            },
            () => undefined,
          );
          void turn.finally(() => waiting.delete(key));
          await settle();
          if (!its.isPatient) ending.abort();
        }
        await settle();
        expect(pool.waiting).toBe(waiting.size);
        expect(overdrawn).toEqual([]);
        // Every one that waits has nobody who suits it and has a slot.
        for (const { runner: its, to, failed } of waiting.values()) {
          if (to !== '' || failed.length > 0) continue;
          const free = present.filter(
            ({ id, slots, capabilities }) =>
              capabilities.has(runnerCapability(its)) && load(id) < slots,
          );
          expect(free).toEqual([]);
        }
      }
    }),
    { numRuns: 200 },
  );
});

test('prompts of one depth have slots of their own: parents never starve what they wait for', () => {
  const capabilities = [
    delegationCapability,
    slotsCapability(1),
    promptSlotsCapability(1),
    ...(['answer', 'prompt'] as const).map(runnerCapability),
  ];
  const [worker] = workersOf([viewOf('a', capabilities)]);
  const pool = poolOf(worker as Worker);
  const prompt = (task: string, depth: number): WorkerRequest =>
    wish(task, { runner: 'prompt', depth });
  expect(pool.tryTake(wish('work'))?.id).toBe('a');
  expect(pool.tryTake(prompt('top', 0))?.id).toBe('a');
  expect(pool.tryTake(prompt('top-2', 0))).toBeUndefined();
  expect(pool.tryTake(prompt('child', 1))?.id).toBe('a');
  expect(pool.tryTake(wish('work-2'))).toBeUndefined();
  pool.release('top');
  expect(pool.tryTake(prompt('top-2', 0))?.id).toBe('a');
});

test('a prompt goes to a worker with a model, and waits for it while it is busy', async () => {
  const runners: RunnerName[] = ['prompt', 'answer'];
  const plain = { ...capable('a-plain', 4, runners), hasModel: false };
  const able = { ...capable('b-able', 1, runners), promptSlots: 1, hasModel: true };
  const pool = poolOf(plain, able);
  const prompt = (task: string): WorkerRequest => wish(task, { runner: 'prompt' });
  expect(pool.tryTake(prompt('one'))?.id).toBe('b-able');
  const second = follow(pool, prompt('two'));
  await settle();
  expect(second.got).toBe('');
  pool.release('one');
  await settle();
  expect(second.got).toBe('b-able');
  expect(pool.tryTake(wish('other'))?.id).toBe('a-plain');
  expect(poolOf(plain).tryTake(prompt('three'))?.id).toBe('a-plain');
});

test('a change goes to a worker with an agent, and waits for it; where there is none, another one says so', async () => {
  const able = capable('b-able', 1, ['agent', 'answer']);
  const pool = poolOf(capable('a-plain', 4), able);
  const change = (task: string, to = ''): WorkerRequest => wish(task, { runner: 'agent', to });
  expect(pool.tryTake(change('one'))?.id).toBe('b-able');
  const second = follow(pool, change('two'));
  await settle();
  expect(second.got).toBe('');
  // It is started again.
  pool.update([capable('a-plain', 4)], new Set<RunnerName>(['agent']));
  await settle();
  expect(second.got).toBe('');
  pool.update([capable('a-plain', 4)]);
  await settle();
  expect(second.got).toBe('a-plain');
  expect(poolOf(able).tryTake(change('three', 'nobody'))).toBeUndefined();
});

test('a prompt waits for a worker with a model that was here a moment ago', async () => {
  const runners: RunnerName[] = ['prompt', 'answer'];
  const plain = { ...capable('a-plain', 4, runners), hasModel: false };
  const able = { ...capable('b-able', 1, runners), hasModel: true };
  const prompt = (task: string): WorkerRequest => wish(task, { runner: 'prompt' });
  const pool = new WorkerPool();
  pool.update([plain], new Set<RunnerName>(['prompt']));
  const first = follow(pool, prompt('one'));
  expect(pool.tryTake(wish('other'))?.id).toBe('a-plain');
  expect(pool.isPossible(prompt('one'))).toBe(false);
  await settle();
  expect(first.got).toBe('');
  pool.update([plain, able], new Set<RunnerName>(['prompt']));
  await settle();
  expect(first.got).toBe('b-able');
  pool.update([plain], new Set<RunnerName>(['prompt']));
  const second = follow(pool, prompt('two'));
  pool.update([plain]);
  await settle();
  expect(second.got).toBe('a-plain');
});

test('a worker with a model is waited for a minute after it was seen, also where the broker forgot when', () => {
  const view = (state: string, last_seen_ms: number, model = 'm'): AgentView =>
    ({
      ...{ state, last_seen_ms, load: 0 },
      record: { id: 'a', alias: 'a', model, capabilities: ['runner:prompt'] },
    }) as unknown as AgentView;
  const watch = new ReturnWatch('prompt');
  expect(watch.isAwaited([view('offline', 0)], 100_000)).toBe(false);
  expect(watch.isAwaited([view('offline', 99_000)], 100_000)).toBe(true);
  expect(watch.isAwaited([view('offline', 99_000, '')], 100_000)).toBe(false);
  expect(watch.isAwaited([], 100_000)).toBe(false);
  expect(watch.isAwaited([view('online', 100_000)], 100_000)).toBe(true);
  expect(watch.isAwaited([view('offline', 0)], 159_000)).toBe(true);
  expect(watch.isAwaited([view('offline', 0)], 161_000)).toBe(false);
  // It runs prompts, and no agent.
  expect(new ReturnWatch('agent').isAwaited([view('online', 100_000)], 100_000)).toBe(false);
});
