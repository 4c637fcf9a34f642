import { TodoHandler } from '../../../src/manager/todo-handler.js';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { managerLayout } from '../../../src/store/layouts.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { mergeUpdate, type Todo } from '../../../src/task/todo/sigma-task-update.js';
import { readTodoUpdate } from '../../../src/task/todo/todo-update.js';
import { TodoLists } from '../../../src/task/todo/todo-lists.js';
import type { TaskView } from '../../../src/task/requests/messages.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let store: LevelStore;
let nowMs = 0;
let lists: TodoLists;

const open = async (): Promise<void> => {
  store = await openTestStore(folder.path, managerLayout);
  lists = new TodoLists({ store, nowMs: () => (nowMs += 1), listsMax: 3 });
};

beforeEach(async () => {
  folder = temporaryFolder();
  await open();
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  folder.remove();
});

const bytes = (document: object): Buffer => Buffer.from(JSON.stringify(document));
const put = (list: string, ...todos: object[]): Promise<Todo[]> =>
  lists.change(list, (before) =>
    mergeUpdate({ list, parent: 'ann' }, before, readTodoUpdate(bytes({ todos }))),
  );
const entry = (id: string, status = 'pending'): object => ({ id, content: id, status });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => asBusError(error).code,
  );

test('a list is there again after a restart, in its order, and apart from others', async () => {
  await put('ann', entry('z'), entry('a'));
  await put('ann', entry('m'));
  await put('an', entry('other'));
  await store[Symbol.asyncDispose]();
  await open();
  expect((await lists.read('ann')).map(({ id }) => id)).toEqual(['z', 'a', 'm']);
  expect((await lists.read('an')).map(({ id }) => id)).toEqual(['other']);
  expect(await lists.read('nobody')).toEqual([]);
});

test('changes at the same time are all there, and one that is refused changes nothing', async () => {
  const ids = Array.from({ length: 20 }, (_, at) => `t${at}`);
  const refused = { id: 'x', status: 'pending' };
  const all = await Promise.all([
    ...ids.map((id) => put('ann', entry(id))),
    codeOf(put('ann', entry('lost'), refused)),
  ]);
  expect(all.at(-1)).toBe('TASK_UPDATE_INVALID');
  expect((await lists.read('ann')).map(({ id }) => id)).toEqual(ids);
});

test('a name that would reach into another list is refused', async () => {
  expect(await codeOf(put('ann/a', entry('a')))).toBe('INVALID_NAME');
});

test('of too many lists the one that was changed longest ago goes, unless something is delegated', async () => {
  const handed = { ...entry('d', 'delegated'), delegated_to: 'bob', acceptance_criteria: ['x'] };
  await put('first', handed);
  await put('second', entry('a'), entry('b'));
  await put('third', entry('a'));
  await put('fourth', entry('a'));
  expect(await lists.read('second')).toEqual([]);
  expect(await lists.read('first')).toHaveLength(1);
  await put('third', handed);
  await put('fourth', handed);
  expect(await codeOf(put('fifth', entry('a')))).toBe('LIST_FULL');
});

/** The tasks of a manager, in memory; the desk before them and the store behind it are the real ones. */
function tasksThat(refuse: () => boolean): {
  begun: [id: string, parent: string][];
  state: { now: string };
  delegate: (task: { id: string }, parent: string) => Promise<TaskView>;
  show: (id: string) => Promise<TaskView>;
} {
  const begun: [id: string, parent: string][] = [];
  const state = { now: 'running' };
  const view = (id: string): TaskView =>
    ({
      ...{ id, state: state.now, asks: '', may: ['cancel'], error: null },
      response: { result: 'It is done', grounding_evidence: null },
      reviews: [],
    }) as unknown as TaskView;
  return {
    begun,
    state,
    delegate: ({ id }, parent) => {
      if (refuse()) return Promise.reject(new BusError('TASKS_FULL', { limit: 1 }));
      begun.push([id, parent]);
      return Promise.resolve(view(id));
    },
    show: (id) => {
      const isKnown = begun.some(([each]) => each === id);
      return isKnown
        ? Promise.resolve(view(id))
        : Promise.reject(new BusError('NO_SUCH_TASK', { task: id }));
    },
  };
}

const delegation = bytes({
  todos: [
    { ...entry('fix', 'delegated'), delegated_to: 'bob', acceptance_criteria: ['It is gone'] },
    entry('mine'),
  ],
});

test('what is delegated is handed over once, and its outcome comes into the list', async () => {
  const tasks = tasksThat(() => false);
  const desk = new TodoHandler({ lists, tasks });
  const first = await desk.update('ann', delegation, 'ann');
  expect(first.todos).toMatchObject([
    { id: 'fix', status: 'delegated', task: { state: 'running', may: ['cancel'] } },
    { id: 'mine', status: 'pending', task: null },
  ]);
  await desk.update('ann', delegation, 'cli-1');
  expect(tasks.begun).toEqual([[first.todos[0]!.task_id, 'ann']]);
  tasks.state.now = 'completed';
  const last = await desk.update('ann', Buffer.alloc(0), 'cli-2');
  expect(last.todos[0]).toMatchObject({ status: 'completed', task: { state: 'completed' } });
  expect(last.todos[0]!.result_summary).toMatch(/It is done$/);
});

test('what a full manager refused stays in the list, and is handed over the next time', async () => {
  let isFull = true;
  const tasks = tasksThat(() => isFull);
  const desk = new TodoHandler({ lists, tasks });
  expect(await codeOf(desk.update('ann', delegation, 'ann'))).toBe('TASKS_FULL');
  expect((await lists.read('ann'))[0]).toMatchObject({ status: 'delegated' });
  isFull = false;
  await desk.update('ann', Buffer.alloc(0), 'cli-3');
  expect(tasks.begun.map(([, parent]) => parent)).toEqual(['ann']);
});
