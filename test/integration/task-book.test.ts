import { type SideEffect, isOver, stateOf } from '../../src/task/life/advance.js';
import { afterAll, beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { DelegatedTask } from '../../src/delegation/task/shapes.js';
import { BusError } from '../../src/errors/bus-error.js';
import { deedPrefix, taskKey, taskNumbersKey } from '../../src/store/keys.js';
import { tasksLayout } from '../../src/store/layouts.js';
import type { Operation } from '../../src/store/port.js';
import { decisionMs, type TaskBook } from '../../src/task/book/book.js';
import type { TaskRecord } from '../../src/task/life/record.js';
import type { TaskEvent } from '../../src/task/life/task.machine.js';
import { responseOf, taskOf } from '../support/delegation.js';
import { eventually } from '../support/eventually.js';
import { openTestStore } from '../support/store.js';
import {
  crashingStore,
  divertedStore,
  openBook,
  type BookOptions,
  type OpenBook,
} from '../support/task-book.js';
import { temporaryFolder } from '../support/temporary.js';
import { VirtualClock } from '../support/virtual-clock.js';

const folders: (() => void)[] = [];
let folder = '';
let opened: OpenBook[] = [];

beforeEach(() => {
  const fresh = temporaryFolder();
  folders.push(fresh.remove);
  folder = fresh.path;
});
afterEach(async () => {
  for (const each of opened) await each.drop();
  opened = [];
});
afterAll(() => {
  for (const remove of folders) remove();
});

async function open(options: BookOptions = {}): Promise<OpenBook> {
  const book = await openBook(folder, options);
  opened.push(book);
  return book;
}

async function reopen(before: OpenBook, options: BookOptions = {}): Promise<OpenBook> {
  await before[Symbol.asyncDispose]();
  return open(options);
}

const named = (id: string, fields: Record<string, unknown> = {}): DelegatedTask =>
  taskOf({ id, ...fields });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => '',
    (error: unknown) => (error instanceof BusError ? error.code : String(error)),
  );
const kinds = ({ performed }: OpenBook): string[] => performed.map(({ effect }) => effect.type);
const all = { states: [], parent: '', after: '', limit: 1_000 };
const ready: TaskEvent = { type: 'task.ready' };
const cancelled: TaskEvent = { type: 'task.cancelled', reason: 'CANCELLED' };
const chosen: TaskEvent = { type: 'worker.chosen', worker: 'w', isCapable: true };

/** Until somebody has it, and has said so. */
async function toRunning(book: TaskBook, id: string): Promise<void> {
  await book.send(id, ready);
  await book.send(id, { type: 'attention.passed' });
  await book.send(id, chosen);
  await book.sendAssignment(id, 1, { type: 'worker.claimed' });
}

// ---------------------------------------------------------------- what is accepted

test('a task that was accepted is there after a restart, as it was', async () => {
  const first = await open();
  const record = await first.book.begin(named('a', { grounding: {} }), 'me');
  const again = await reopen(first);
  const { snapshot, ...rest } = await again.book.get('a');
  expect(rest).toEqual({ ...record, snapshot: undefined });
  expect(stateOf({ snapshot })).toBe('pending');
});

test('the same task again is the same task, also after a restart; another one is refused', async () => {
  const first = await open();
  const [one, two] = await Promise.all([
    first.book.begin(named('a'), 'me'),
    first.book.begin(named('a'), 'me'),
  ]);
  expect(two).toBe(one);
  const { book } = await reopen(first);
  expect((await book.begin(named('a'), 'me')).revision).toBe(1);
  expect(await codeOf(book.begin(named('a'), 'you'))).toBe('TASK_EXISTS');
  expect(await codeOf(book.begin(named('a', { context: 'x' }), 'me'))).toBe('TASK_EXISTS');
  await book.send('a', cancelled);
  expect(stateOf(await book.begin(named('a'), 'me'))).toBe('cancelled');
});

test('of many at once no more are accepted than there is room for', async () => {
  const { book } = await open({ limits: { openTasks: 3 } });
  const ids = Array.from({ length: 10 }, (_, at) => `t${at}`);
  const codes = await Promise.all(ids.map((id) => codeOf(book.begin(named(id), 'me'))));
  expect(codes.filter((code) => code === '')).toHaveLength(3);
  expect(codes.filter((code) => code === 'TASKS_FULL')).toHaveLength(7);
  const [first] = book.list(all);
  await book.send(first ?? '', cancelled);
  expect(await codeOf(book.begin(named('another'), 'me'))).toBe('');
  expect(book.openTasks).toBe(3);
});

test('what it depends on must be known', async () => {
  const { book } = await open();
  expect(await codeOf(book.begin(named('b', { depends_on: ['a'] }), 'me'))).toBe('NO_SUCH_TASK');
  await book.begin(named('a'), 'me');
  await book.begin(named('b', { depends_on: ['a'] }), 'me');
  await book.send('b', cancelled);
});

test('a task that nobody knows, and an event that is not possible, have codes', async () => {
  const { book } = await open();
  expect(await codeOf(book.get('a'))).toBe('NO_SUCH_TASK');
  expect(await codeOf(book.send('a', ready))).toBe('NO_SUCH_TASK');
  await book.begin(named('a'), 'me');
  const impossible = book.send('a', { type: 'worker.accepted' }, { progress: 'half' });
  expect(await codeOf(impossible)).toBe('TASK_STATE');
  expect(await codeOf(book.sendAssignment('a', 1, { type: 'worker.claimed' }))).toBe(
    'STALE_ATTEMPT',
  );
  expect(await book.get('a')).toMatchObject({ revision: 1, progress: '' });
});

// ---------------------------------------------------------------- in turn

test('of a hundred at once each is told in turn, and none is lost', async () => {
  const first = await open();
  await first.book.begin(named('a'), 'me');
  const words = Array.from({ length: 100 }, (_, at) => `${at}`);
  const records = await Promise.all(words.map((progress) => first.book.amend('a', { progress })));
  expect(records.map(({ progress }) => progress)).toEqual(words);
  expect(records.map(({ revision }) => revision)).toEqual(words.map((_, at) => at + 2));
  const { book } = await reopen(first);
  expect(await book.get('a')).toMatchObject({ revision: 101, progress: '99' });
});

test('of a hundred that say the same one is heard', async () => {
  const { book } = await open();
  await book.begin(named('a'), 'me');
  const codes = await Promise.all(Array.from({ length: 100 }, () => codeOf(book.send('a', ready))));
  expect(codes.filter((code) => code === '')).toHaveLength(1);
  expect(codes.filter((code) => code === 'TASK_STATE')).toHaveLength(99);
});

test('what a worker answered is kept, and it has the task no longer', async () => {
  const first = await open();
  await first.book.begin(named('a'), 'me');
  await toRunning(first.book, 'a');
  const { book } = await reopen(first);
  expect(book.open()).toMatchObject([
    { assignment: { worker: 'w', snapshot: { status: 'active' } } },
  ]);
  const response = responseOf();
  await book.sendAssignment('a', 1, { type: 'worker.answered' }, { response });
  expect(book.stateOf('a')).toBe('reviewing');
  expect(await book.get('a')).toMatchObject({
    response,
    assignment: { snapshot: { status: 'done' } },
  });
});

// ---------------------------------------------------------------- sideEffects

test('what follows is done in the order in which it followed', async () => {
  const its = await open();
  await its.book.begin(named('a'), 'me');
  await toRunning(its.book, 'a');
  await its.book.send('a', cancelled);
  await eventually(() => expect(kinds(its).at(-1)).toBe('task.finish'));
  expect(kinds(its)).toEqual([
    'turn.await',
    'task.attend',
    'worker.choose',
    'assignment.send',
    'withdrawal.send',
    'task.finish',
  ]);
});

test('what fails is tried again, later each time, and what follows it waits', async () => {
  const clock = new VirtualClock();
  let failures = 3;
  const its = await open({
    clock,
    perform: () => {
      if (failures === 0) return Promise.resolve();
      return Promise.reject(new BusError('NO_SUCH_TASK', { task: `${(failures -= 1)}` }));
    },
  });
  await its.book.begin(named('a'), 'me');
  await its.book.send('a', ready);
  await eventually(() => expect(its.troubles).toHaveLength(1));
  for (const [pauseMs, troubles] of [
    [100, 2],
    [200, 3],
  ] as const) {
    await clock.advance(pauseMs - 1);
    expect(its.troubles).toHaveLength(troubles - 1);
    await clock.advance(1);
    expect(its.troubles).toHaveLength(troubles);
  }
  expect(kinds(its)).toEqual([]);
  await clock.advance(400);
  await eventually(() => expect(kinds(its)).toEqual(['turn.await', 'task.attend']));
});

test('what was done is not done again after a restart, and what was not is', async () => {
  const never = new Promise<void>(() => undefined);
  const first = await open({
    perform: (_, { type }) => (type === 'task.attend' ? never : Promise.resolve()),
  });
  await first.book.begin(named('a'), 'me');
  await first.book.send('a', ready);
  await first.book.begin(named('b'), 'me');
  await eventually(() => expect(first.performed).toHaveLength(2));
  // That it was done is written behind it.
  await first.book.amend('b', { progress: 'x' });
  await first.drop();
  const again = await open();
  await eventually(() => expect(kinds(again)).toEqual(['task.attend']));
  await (await reopen(again)).book.amend('a', { progress: 'x' });
  expect(kinds(opened.at(-1) as OpenBook)).toEqual([]);
});

test('what was left undone in several lives is all done, in order', async () => {
  const never = (): Promise<void> => new Promise(() => undefined);
  const first = await open({ perform: never });
  await first.book.begin(named('a'), 'me');
  await first.drop();
  const second = await open({ perform: never });
  await second.book.send('a', ready);
  await second.drop();
  const third = await open();
  await eventually(() => expect(kinds(third)).toEqual(['turn.await', 'task.attend']));
});

test('of finished ones the first that ended is forgotten first, also by the next process', async () => {
  const clock = new VirtualClock();
  const first = await open({ clock });
  for (const id of ['a', 'b']) await first.book.begin(named(id), 'me');
  for (const id of ['b', 'a']) {
    await clock.advance(1_000);
    await first.book.send(id, cancelled);
  }
  await eventually(() =>
    expect(kinds(first).filter((each) => each === 'task.finish')).toHaveLength(2),
  );
  const { book } = await reopen(first, { clock, limits: { finishedTasks: 1 } });
  expect(book.list({ states: [], parent: '', after: '', limit: 10 })).toEqual(['a']);
});

test('a book that is closed leaves no timer behind, which would keep its process', async () => {
  const clock = new VirtualClock();
  const { book, ...its } = await open({ clock });
  for (const id of ['a', 'b']) await book.begin(named(id), 'me');
  expect(clock.waiting).toBeGreaterThanOrEqual(2);
  await book[Symbol.asyncDispose]();
  expect(clock.waiting).toBe(0);
  await its.drop();
  opened = [];
});

test('what is damaged on disk is told by its code, and costs nothing else', async () => {
  const first = await open({ perform: () => new Promise(() => undefined) });
  for (const id of ['a', 'b', 'c']) await first.book.begin(named(id), 'me');
  await first.drop();
  opened = [];
  {
    await using store = await openTestStore(folder, tasksLayout);
    const damaged = [taskKey('b'), taskNumbersKey];
    for await (const key of store.keys({ prefix: `${deedPrefix}c/` })) damaged.push(key);
    expect(damaged).toHaveLength(3);
    const value = Buffer.from('{"version":');
    await store.commit(damaged.map((key): Operation => ({ type: 'put', key, value })));
  }
  const again = await open();
  const codes = again.troubles.map((each) => (each instanceof BusError ? each.code : each));
  expect(codes).toEqual(['RECORD_DAMAGED', 'RECORD_DAMAGED', 'RECORD_DAMAGED']);
  await eventually(() => expect(again.performed.map(({ id }) => id)).toEqual(['a']));
  expect(again.book.open().map(({ id }) => id)).toEqual(['a', 'c']);
});

/** Does what a manager does, as one whose sideEffects may be done twice. */
async function managed(
  record: TaskRecord,
  effect: SideEffect,
  later: Promise<TaskBook>,
): Promise<void> {
  const book = await later;
  const { id } = record;
  const say = (event: TaskEvent): Promise<unknown> => book.send(id, event);
  try {
    if (effect.type === 'turn.await') await say(ready);
    if (effect.type === 'task.attend') await say({ type: 'attention.passed' });
    if (effect.type === 'worker.choose') await say(chosen);
    if (effect.type === 'response.review')
      await say({ type: 'review.done', verdict: 'accepted', reason: '' });
    if (effect.type === 'assignment.send') {
      const { attempt } = effect;
      await book.sendAssignment(id, attempt, { type: 'worker.claimed' });
      const response = responseOf({ attempt });
      await book.sendAssignment(id, attempt, { type: 'worker.answered' }, { response });
    }
  } catch (error) {
    const code = error instanceof BusError ? error.code : '';
    if (code !== 'TASK_STATE' && code !== 'STALE_ATTEMPT') throw error;
  }
}

describe.each(['before', 'after'] as const)('a process that ends %s a write', (when) => {
  // 7 commits of events and 6 notes that something was done; beyond, nothing is left to end.
  test.each(Array.from({ length: 14 }, (_, at) => at + 1))(
    'the %ith, loses nothing',
    async (at) => {
      const clock = new VirtualClock();
      let crashed = Promise.resolve();
      const first = await open({
        clock,
        perform: managed,
        wrap: (store) => {
          const crashing = crashingStore(store, at, when);
          ({ crashed } = crashing);
          return crashing.store;
        },
      });
      const told = first.book
        .begin(named('a'), 'me')
        .then(() => eventually(() => expect(kinds(first)).toContain('task.finish')));
      await Promise.race([crashed, told]);
      await first.drop();
      void told.catch(() => undefined);

      const again = await open({ clock, perform: managed });
      // Whoever delegates and hears nothing says it again.
      await again.book.begin(named('a'), 'me');
      await eventually(() => {
        expect(again.book.stateOf('a')).toBe('completed');
        expect([...kinds(first), ...kinds(again)]).toContain('task.finish');
      });
      const record = await again.book.get('a');
      expect(record.attempt).toBe(1);
      expect(record.response?.attempt).toBe(1);
      const last = await reopen(again, { clock });
      await last.book.amend('a', { progress: 'x' });
      expect(kinds(last)).toEqual([]);
    },
  );
});

// ---------------------------------------------------------------- a store that fails

test('a write that fails changes nothing, and may be said again', async () => {
  let isBroken = false;
  const its = await open({
    wrap: (store) =>
      divertedStore(store, (_, write) =>
        isBroken ? Promise.reject(new BusError('STORE_UNAVAILABLE')) : write(),
      ),
  });
  await its.book.begin(named('a'), 'me');
  isBroken = true;
  expect(await codeOf(its.book.send('a', ready))).toBe('STORE_UNAVAILABLE');
  expect(await codeOf(its.book.begin(named('b'), 'me'))).toBe('STORE_UNAVAILABLE');
  expect(its.book.stateOf('a')).toBe('pending');
  isBroken = false;
  await its.book.send('a', ready);
  await its.book.begin(named('b'), 'me');
  await eventually(() => expect(kinds(its)).toEqual(['turn.await', 'task.attend', 'turn.await']));
});

test('a write that failed and is on disk all the same is true', async () => {
  let isLiar = false;
  const its = await open({
    wrap: (store) =>
      divertedStore(store, async (_, write) => {
        await write();
        if (isLiar) throw new BusError('STORE_UNAVAILABLE');
      }),
  });
  await its.book.begin(named('a'), 'me');
  isLiar = true;
  expect(await codeOf(its.book.send('a', ready))).toBe('STORE_UNAVAILABLE');
  isLiar = false;
  expect(await codeOf(its.book.send('a', ready))).toBe('TASK_STATE');
  await eventually(() => expect(kinds(its)).toEqual(['turn.await', 'task.attend']));
});

test('what falls due while nothing can be written is tried again', async () => {
  const clock = new VirtualClock();
  let isBroken = false;
  const its = await open({
    clock,
    wrap: (store) =>
      divertedStore(store, (_, write) =>
        isBroken ? Promise.reject(new BusError('STORE_UNAVAILABLE')) : write(),
      ),
  });
  await its.book.begin(named('a', { limits: { timeout_ms: 5_000 } }), 'me');
  isBroken = true;
  await clock.advance(5_000);
  await eventually(() => expect(its.troubles).toHaveLength(1));
  isBroken = false;
  await clock.advance(1_000);
  await clock.advance(0);
  await eventually(() => expect(its.book.stateOf('a')).toBe('timed_out'));
  expect((await its.book.get('a')).error).toMatchObject({ code: 'TASK_TIMED_OUT' });
});

test('a task whose acceptance failed and is on disk all the same was accepted once', async () => {
  let isLiar = true;
  const its = await open({
    wrap: (store) =>
      divertedStore(store, async (_, write) => {
        await write();
        if (isLiar) throw new BusError('STORE_UNAVAILABLE');
      }),
  });
  expect(await codeOf(its.book.begin(named('a'), 'me'))).toBe('STORE_UNAVAILABLE');
  isLiar = false;
  expect((await its.book.begin(named('a'), 'me')).revision).toBe(1);
  await eventually(() => expect(kinds(its)).toEqual(['turn.await']));
  const again = await reopen(its);
  await again.book.send('a', ready);
  await eventually(() => expect(kinds(again)).toEqual(['task.attend']));
});

test('what is in doubt when the store fails is settled when it serves again', async () => {
  let isLiar = false;
  let reopened = (): void => undefined;
  const its = await open({
    wrap: (store) => ({
      ...divertedStore(store, async (_, write) => {
        await write();
        if (isLiar) throw new BusError('STORE_UNAVAILABLE');
      }),
      state: 'serving',
      onReopened: (listener) => {
        reopened = listener;
        return { [Symbol.dispose]: () => (reopened = () => undefined) };
      },
    }),
  });
  await its.book.begin(named('a'), 'me');
  isLiar = true;
  expect(await codeOf(its.book.send('a', ready))).toBe('STORE_UNAVAILABLE');
  isLiar = false;
  expect(kinds(its)).toEqual(['turn.await']);
  reopened();
  await eventually(() => expect(kinds(its)).toEqual(['turn.await', 'task.attend']));
});

// ---------------------------------------------------------------- time

test('what fell due while nobody was there ends after a restart, and what was open is done', async () => {
  const clock = new VirtualClock();
  const first = await open({ clock, perform: () => new Promise(() => undefined) });
  await first.book.begin(named('a', { limits: { timeout_ms: 1_000 } }), 'me');
  await first.drop();
  await clock.advance(1_000);
  // A timer that is late fires at once, before the rest of the book is read.
  const eager = new VirtualClock();
  await eager.advance(1_000);
  const after = eager.after.bind(eager);
  eager.after = (ms, fn) => (ms <= 0 ? (queueMicrotask(fn), after(1e9, fn)) : after(ms, fn));
  const again = await open({ clock: eager });
  await eventually(() => expect(kinds(again)).toEqual(['turn.await', 'task.finish']));
  expect(again.book.stateOf('a')).toBe('timed_out');
});

test('a worker that could not be heard while nobody listened has 30 s to be heard', async () => {
  const clock = new VirtualClock();
  const first = await open({ clock });
  for (const id of ['a', 'b']) {
    await first.book.begin(named(id), 'me');
    await toRunning(first.book, id);
  }
  await first[Symbol.asyncDispose]();
  await clock.advance(60_000);
  const { book } = await open({ clock });
  await clock.advance(29_999);
  await book.sendAssignment('a', 1, { type: 'worker.progressed' });
  expect(book.stateOf('b')).toBe('running');
  await clock.advance(1);
  await eventually(() => expect(book.stateOf('b')).toBe('pending'));
  expect(book.stateOf('a')).toBe('running');
});

test('a timer that fires early ends nothing, and fires again in time', async () => {
  const clock = new VirtualClock();
  const after = clock.after.bind(clock);
  let earlyMs = 10;
  clock.after = (ms, fn) => {
    const early = after(ms - earlyMs, fn);
    earlyMs = 0;
    return early;
  };
  const { book, troubles } = await open({ clock });
  await book.begin(named('a', { limits: { timeout_ms: 1_000 } }), 'me');
  await clock.advance(999);
  await book.amend('a', { progress: 'x' });
  expect([book.stateOf('a'), troubles]).toEqual(['pending', []]);
  await clock.advance(1);
  await eventually(() => expect(book.stateOf('a')).toBe('timed_out'));
});

test('a question that nobody answers has its time', async () => {
  const clock = new VirtualClock();
  const { book } = await open({ clock });
  await book.begin(named('a', { limits: { timeout_ms: 86_400_000 } }), 'me');
  await toRunning(book, 'a');
  const response = responseOf({ status: 'needs_clarification' });
  await book.sendAssignment('a', 1, { type: 'worker.answered' }, { response });
  const { timers } = await book.get('a');
  expect(timers.decision).toBe(clock.nowMs() + decisionMs);
});

// ---------------------------------------------------------------- what is kept

test('the oldest that are finished are forgotten beyond their number', async () => {
  const first = await open({ limits: { finishedTasks: 2 } });
  for (const id of ['a', 'b', 'c']) {
    await first.book.begin(named(id), 'me');
    await first.book.send(id, cancelled);
    await eventually(() => expect(first.performed.at(-1)?.id).toBe(id));
    await eventually(() => expect(kinds(first).at(-1)).toBe('task.finish'));
    await first.book.begin(named(`${id}-next`), 'me');
  }
  await first.book.send('c-next', cancelled);
  expect(await codeOf(first.book.get('a'))).toBe('NO_SUCH_TASK');
  const { book } = await reopen(first);
  expect(book.list(all).sort()).toEqual(['a-next', 'b-next', 'c', 'c-next']);
});

test('what is finished is forgotten when it is old', async () => {
  const clock = new VirtualClock();
  const first = await open({ clock, limits: { finishedMs: 10_000 } });
  await first.book.begin(named('a'), 'me');
  await first.book.send('a', cancelled);
  await eventually(() => expect(kinds(first)).toContain('task.finish'));
  await clock.advance(10_001);
  await first.book.begin(named('b'), 'me');
  await first.book.send('b', cancelled);
  expect(first.book.list(all)).toEqual(['b']);
});

test('nothing is forgotten that others wait for, nor before anybody heard of its end', async () => {
  let isDeaf = true;
  const clock = new VirtualClock();
  const { book, performed } = await open({
    clock,
    limits: { finishedTasks: 0, openTasks: 4 },
    perform: ({ id }, { type }) =>
      isDeaf && id === 'a' && type === 'task.finish'
        ? Promise.reject(new BusError('NO_RESPONDER'))
        : Promise.resolve(),
  });
  await book.begin(named('a'), 'me');
  await book.begin(named('b'), 'me');
  await book.begin(named('c', { depends_on: ['b'] }), 'me');
  await book.begin(named('d'), 'me');
  await book.send('a', cancelled);
  await book.send('b', cancelled);
  await eventually(() => expect(performed.filter(({ id }) => id === 'b')).toHaveLength(2));
  await book.send('d', cancelled);
  // Four that are known are as many as there may be, open or not.
  expect(await codeOf(book.begin(named('e'), 'me'))).toBe('TASKS_FULL');
  expect(book.list(all)).toEqual(['a', 'b', 'c', 'd']);
  await eventually(() => expect(performed.filter(({ id }) => id === 'd')).toHaveLength(2));
  isDeaf = false;
  await clock.advance(60_000);
  await eventually(() => expect(performed.filter(({ id }) => id === 'a')).toHaveLength(2));
  await book.send('c', cancelled);
  expect(book.list(all)).toEqual(['c']);
});

// ---------------------------------------------------------------- looking on

test('who waits for a change is woken by it, by the end, by its signal and by the close', async () => {
  const its = await open();
  const { book } = its;
  const signal = new AbortController().signal;
  await book.begin(named('a'), 'me');
  expect((await book.changed('a', 0, signal)).revision).toBe(1);
  const change = book.changed('a', 1, signal);
  await book.send('a', ready);
  expect((await change).revision).toBe(2);
  const ending = new AbortController();
  const aborted = book.changed('a', 2, ending.signal);
  ending.abort();
  expect((await aborted).revision).toBe(2);
  const closed = book.changed('a', 2, signal);
  await its.book[Symbol.asyncDispose]();
  expect((await closed).revision).toBe(2);
  const { book: again } = await reopen(its);
  await again.send('a', cancelled);
  expect(isOver(await again.changed('a', 99, signal))).toBe(true);
});

test('a change is never missed, whenever one begins to wait for it', async () => {
  let written: (() => void) | undefined;
  const { book } = await open({
    wrap: (store) =>
      divertedStore(store, async (operations, write) => {
        await write();
        if (operations.some(({ type }) => type === 'put'))
          await new Promise<void>((resolve) => (written = resolve));
      }),
  });
  const letWrite = async (): Promise<void> => {
    await eventually(() => expect(written).toBeDefined());
    written?.();
    written = undefined;
  };
  const begun = book.begin(named('a'), 'me');
  await letWrite();
  await begun;
  for (let ticks = 0; ticks < 12; ticks += 1) {
    const { revision } = await book.get('a');
    const sent = book.amend('a', { progress: `${ticks}` });
    await letWrite();
    for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve();
    const changed = book.changed('a', revision, new AbortController().signal);
    await sent;
    expect((await changed).revision).toBe(revision + 1);
  }
});

test('tasks are listed in their order, in pages, by state and by who delegated them', async () => {
  const clock = new VirtualClock();
  const first = await open({ clock });
  const ids = ['z', 'y', 'x', 'w', 'v', 'u', 't'];
  for (const [at, id] of ids.entries()) {
    await first.book.begin(named(id), at % 2 === 0 ? 'even' : 'odd');
    await clock.advance(1);
  }
  await first.book.send('y', ready);
  const { book } = await reopen(first, { clock });
  const pages: string[][] = [];
  for (let after = ''; pages.at(-1)?.length !== 0; after = pages.at(-1)?.at(-1) ?? '')
    pages.push(book.list({ ...all, after, limit: 3 }));
  expect(pages).toEqual([['z', 'y', 'x'], ['w', 'v', 'u'], ['t'], []]);
  expect(book.list({ ...all, parent: 'odd' })).toEqual(['y', 'w', 'u']);
  expect(book.list({ ...all, states: ['attending'] })).toEqual(['y']);
  expect(
    book.list({ ...all, states: ['attending', 'pending'], parent: 'odd', after: 'y' }),
  ).toEqual(['w', 'u']);
  expect(() => book.list({ ...all, after: 'gone' })).toThrow(BusError);
  expect(Object.fromEntries(book.counts())).toEqual({ pending: 6, attending: 1 });
});
