import { expect, test } from 'vitest';
import { readTask } from '../../../src/delegation/task/schema.js';
import { TaskIndex } from '../../../src/task/book/task-index.js';
import { beginTask } from '../../../src/task/life/advance.js';
import type { TaskRecord } from '../../../src/task/life/record.js';

const limits = { finishedTasks: 100, finishedMs: 1_000 };
const all = { states: [], worker: '', text: '', offset: 0, limit: 10 };

interface Known {
  state?: string;
  worker?: string;
  owner?: string;
  task?: string;
  asks?: string;
}

let order = 0;

function record(id: string, its: Known = {}): TaskRecord {
  const { state = 'running', worker = '', owner = '', asks = '' } = its;
  const task = readTask({ task: its.task ?? 'do it', grounding: { strategy: 'none' } }, id);
  order += 1;
  const { record: first } = beginTask(
    {
      ...{ kind: 'task', version: 1, id, task, asked: task, parent: 'ann', owner, order, asks },
      ...{ failed_workers: [], error: null, progress: '', reactions: [], reviews: [], notes: [] },
      ...{ iterations: [], gates: [], grants: [], findings: [], depth: 0, root: '' },
      ...{ started_ms: 0, is_supervised: false, not_before_ms: 0, response: null },
      ...{ created_ms: 1, updated_ms: 1, finished_ms: 0 },
    },
    { timeoutMs: 1_000, triesMax: 3, decisionMs: 1_000 },
  );
  const assignment = worker === '' ? null : { worker, attempt: 1, snapshot: {} };
  return { ...first, assignment, snapshot: { ...first.snapshot, value: state } } as TaskRecord;
}

function indexOf(...records: TaskRecord[]): TaskIndex {
  const index = new TaskIndex(limits);
  for (const each of records) index.remember(each);
  return index;
}

const idsIn = (index: TaskIndex, query: object): string[] =>
  index.rows({ ...all, ...query }).rows.map(({ id }) => id);

test('the latest task is first, and a page says how many there are', () => {
  const index = indexOf(...['a', 'b', 'c', 'd', 'e'].map((id) => record(id)));
  expect(idsIn(index, { limit: 2 })).toEqual(['e', 'd']);
  expect(idsIn(index, { offset: 3, limit: 5 })).toEqual(['b', 'a']);
  expect(idsIn(index, { offset: 9 })).toEqual([]);
  expect(index.rows({ ...all, offset: 9 }).total).toBe(5);
  // A change does not move it.
  index.remember(record('a', { state: 'deciding' }));
  expect(idsIn(index, { limit: 1 })).toEqual(['e']);
});

test('by state, worker and words; states are counted as if none were asked for', () => {
  const index = indexOf(
    record('a', { state: 'completed', worker: 'w1', task: 'Read the Kernel log' }),
    record('b', { state: 'running', worker: 'w2', task: 'write the log' }),
    record('c', { state: 'running', worker: 'w1', task: 'sort names' }),
  );
  expect(idsIn(index, { states: ['running'] })).toEqual(['c', 'b']);
  expect(idsIn(index, { states: ['running'], worker: 'w1' })).toEqual(['c']);
  expect(idsIn(index, { text: 'LOG the' })).toEqual(['b', 'a']);
  expect(idsIn(index, { text: 'log sort' })).toEqual([]);
  const found = index.rows({ ...all, states: ['completed'], text: 'log' });
  expect(found.states).toEqual({ completed: 1, running: 1 });
  expect([found.total, found.workers]).toEqual([1, ['w1', 'w2']]);
});

test('a row holds the beginning of what a task says, and no more', () => {
  const long = 'x'.repeat(1_000);
  const [row] = indexOf(record('a', { task: long, asks: long })).rows(all).rows;
  expect([row?.text.length, row?.asks.length]).toEqual([200, 200]);
});

test('queues by their owner, with what stands in each', () => {
  const index = indexOf(
    record('a', { owner: 'bob', state: 'queued' }),
    record('b', { owner: 'bob', state: 'running' }),
    record('c', { owner: 'amy', state: 'completed' }),
    record('d'),
  );
  expect(index.queues()).toEqual([
    { owner: 'amy', queued: 0, running: 0, finished: 1 },
    { owner: 'bob', queued: 1, running: 1, finished: 0 },
  ]);
});
