import path from 'node:path';
import { systemClock } from '../../../dist/src/base/clock.js';
import { readTask } from '../../../dist/src/delegation/task/schema.js';
import { tasksLayout } from '../../../dist/src/store/layouts.js';
import { LevelStore } from '../../../dist/src/store/level-store.js';
import { TaskBook } from '../../../dist/src/task/book/book.js';

/** Written at once: the store makes one commit of them. */
const atOnce = 500;

/**
 * Writes the tasks of a manager that is not there yet, by its own book: the first half of them is over, the other waits in queues of `owners`, where
 * nothing happens to them.
 */
export async function writeTasks(home, { count, owners }) {
  const store = await LevelStore.open(path.join(home, 'manager', 'tasks'), {
    ...{ layout: tasksLayout, clock: systemClock, random: Math.random },
  });
  const book = await TaskBook.open({
    ...{ store, clock: systemClock, random: Math.random },
    perform: async () => undefined,
    onChanged: () => undefined,
    onTrouble: (_, error) => {
      throw error;
    },
  });
  book.resume();
  const write = async (at) => {
    const id = `task-${at}`;
    const text = `Look why unit ${at} of the device is started twice, and write down which caller does it.`;
    const task = readTask({ id, task: text, runner: 'command', action: { argv: ['true'] } }, id);
    const owner = owners[at % owners.length];
    await book.begin(task, { owner, parent: owner, depth: 0, root: '' });
    if (at < count / 2)
      await book.send(id, { type: 'task.cancelled', reason: 'not wanted any more' });
  };
  for (let first = 0; first < count; first += atOnce)
    await Promise.all(
      Array.from({ length: Math.min(atOnce, count - first) }, (_, at) => write(first + at)),
    );
  await book[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
}
