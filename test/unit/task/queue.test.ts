import { expect, test } from 'vitest';
import { retryOrAbort, retriesMax, retryPauseMs } from '../../../src/prompt/retry-policy.js';
import type { QueueAnswer, QueueRow } from '../../../src/task/requests/messages.js';
import { expectedAnswers, resolveName } from '../../../src/task/queue/queue.js';
import { resultMessage } from '../../../src/task/requests/result-message.js';
import { responseOf, taskOf } from '../../support/delegation.js';

function row(id: string, state: string, more: Partial<QueueRow> = {}): QueueRow {
  const status = state === 'completed' ? 'finished' : state === 'queued' ? 'queued' : 'running';
  return {
    ...{ id, name: `name-${id}`, status, state, created_ms: 1, started_ms: 0, finished_ms: 0 },
    ...{ progress: '', is_delivering: false },
    ...more,
  };
}
const queue = (rows: QueueRow[], more: Partial<QueueAnswer> = {}): QueueAnswer => ({
  ...{ owner: 'me', rows, parent: '', siblings: [], concurrency: 0, supervised: false },
  ...more,
});

test.each<[string, QueueAnswer, string, boolean, number, isUnderWay?: boolean]>([
  ['nothing was ever pushed: anybody may write', queue([]), '', true, 0],
  ['only queued', queue([row('a', 'queued')]), '', false, 1],
  ['one is started', queue([row('a', 'queued'), row('b', 'pending')]), '', true, 1, true],
  ['all came, nothing is queued: anybody may write', queue([row('a', 'completed')]), '', true, 0],
  [
    'its result is on its way',
    queue([row('a', 'queued'), row('b', 'completed', { is_delivering: true })]),
    '',
    true,
    1,
    true,
  ],
  ['a task whose own have all come', queue([row('a', 'completed')], { parent: 'p' }), '', false, 0],
  ['of one that has come', queue([row('a', 'completed')]), 'a', false, 0],
  ['of one that is queued', queue([row('a', 'queued')]), 'a', false, 1],
  ['of somebody else', queue([row('a', 'queued')]), 'stranger', true, 1],
  ['of a sibling', queue([], { parent: 'p', siblings: [row('s', 'running')] }), 's', true, 0, true],
])('who could still answer: %s', (_, its, from, isAnswerPossible, queued, isUnderWay = false) => {
  expect(expectedAnswers(its, from)).toEqual({ isAnswerPossible, isUnderWay, queued });
});

test('a name is that of an open task before one that is over, and `parent` where there is one', () => {
  const rows = [
    row('one', 'completed', { name: 'x' }),
    row('two', 'queued', { name: 'x' }),
    row('three', 'completed', { name: 'x' }),
  ];
  expect(resolveName(queue(rows), 'x')).toBe('two');
  expect(resolveName(queue(rows.slice(0, 1)), 'x')).toBe('one');
  expect(resolveName(queue([]), 'parent')).toBe('parent');
  expect(resolveName(queue([], { parent: 'top' }), 'parent')).toBe('top');
  expect(resolveName(queue([]), 'somebody')).toBe('somebody');
  expect(resolveName(queue([row('unnamed', 'running', { name: '' })]), '')).toBe('');
});

test('a name that several open tasks bear is nobody in particular; an id is its own task', () => {
  const rows = [
    row('one', 'running', { name: 'main' }),
    row('two', 'running', { name: 'main' }),
    row('three', 'completed', { name: 'x' }),
    row('four', 'running', { name: 'three' }),
  ];
  expect(() => resolveName(queue(rows), 'main')).toThrow(
    expect.objectContaining({ code: 'AMBIGUOUS_ALIAS' }),
  );
  expect(resolveName(queue(rows), 'two')).toBe('two');
  expect(resolveName(queue(rows), 'three')).toBe('three');
});

test('what a failure tells: its code, and what was done by then', () => {
  const task = taskOf();
  const response = { ...responseOf(), result: 'half' };
  const error = { code: 'ACTION_FAILED', text: 'it failed', retryable: false };
  const view = { id: task.id, state: 'failed', task, response, error };
  expect(resultMessage(view)).toEqual({
    ...{ from: task.id, name: '', success: false, error, partial_output: 'half' },
  });
  // Ended from outside, it sent no result.
  const progress = 'asking the model, turn 2; done before: push name=a';
  expect(resultMessage({ ...view, response: null, progress }).partial_output).toBe(
    `When it ended: ${progress}`,
  );
  expect(resultMessage({ ...view, progress }).partial_output).toBe('half');
  expect(resultMessage({ ...view, state: 'completed', error: null })).toEqual({
    ...{ from: task.id, name: '', success: true, result: 'half' },
  });
});

test('a supervised queue tries again what the catalogue calls worth it, three times, ever later', () => {
  expect(retryOrAbort({ code: 'DEADLINE_EXCEEDED' }, 0)).toBe('retry');
  expect(retryOrAbort({ code: 'DEADLINE_EXCEEDED' }, retriesMax - 1)).toBe('retry');
  expect(retryOrAbort({ code: 'DEADLINE_EXCEEDED' }, retriesMax)).toBe('abort');
  expect(retryOrAbort({ code: 'ACTION_FAILED' }, 0)).toBe('abort');
  expect(retryOrAbort({ code: 'SOMETHING_ELSE' }, 0)).toBe('abort');
  expect([0, 1, 2].map(retryPauseMs)).toEqual([1_000, 4_000, 15_000]);
});
