import { expect, test } from 'vitest';
import { taskUpdate } from '../../../src/operations/tasks/task-update.js';
import { taskChanges } from '../../../src/task/requests/messages.js';
import { changeWords } from '../../../services/console/page/pages/tasks/words.js';
import { changeOf } from '../../../services/console/page/pages/tasks/change.js';

test('all that may be said to a task has words, and is said as the operation takes it', () => {
  expect(Object.keys(changeWords).sort()).toEqual([...taskChanges].sort());
  for (const what of taskChanges.filter((each) => each !== 'cancel')) {
    const read = taskUpdate.input.parse(changeOf('task-1', what, 'because'));
    expect(() => taskUpdate.check?.(read)).not.toThrow();
  }
  expect(changeOf('task-1', 'revise', '')).toEqual({ id: 'task-1', revise: true });
});
