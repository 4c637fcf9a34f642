import { expect, test } from 'vitest';
import { parseActionLine } from '../../../src/attention/action-line.js';
import { parseOperatorPolicy } from '../../../src/attention/policy/policy.js';
import { readAttend } from '../../../src/attention/session/request.js';
import { attend } from '../../../src/operations/attend.js';
import { readWith } from '../../../src/operations/fields.js';

/** What is wrong with a document is said in plain words, wherever it is read. */

const detailOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return (error as { data: { detail: string } }).data.detail;
  }
};

test('of several forms the nearest one is objected to: in a request, and in the arguments of an operation', () => {
  const tasks = [{ foo: 1 }];
  expect(detailOf(() => readAttend({ tasks }))).toBe('tasks.0.task: it is missing');
  expect(readWith(attend, { tasks })).toEqual({ field: 'tasks.0.task', why: 'it is missing' });
});

test('a policy and a line of actions', () => {
  expect(detailOf(() => parseOperatorPolicy('allow: 5', 'p.yaml'))).toBe(
    'allow: it must be a list',
  );
  expect(detailOf(() => parseActionLine('{"argv": 5}', 1))).toBe('argv: it must be a list');
});
