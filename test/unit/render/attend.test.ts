import { expect, test } from 'vitest';
import type { Row, SessionView } from '../../../src/attention/session/shapes.js';
import { endLine } from '../../../src/render/attend.js';

const row = (entry: string, outcome: string): Row =>
  ({ entry, outcome, is_over: true, situated_by: 'low' }) as Row;
const ended = (...trace: Row[]): SessionView =>
  ({ state: 'converged', is_converged: true, trace }) as SessionView;

test('the end of a session says which tasks came to nothing', () => {
  expect(endLine(ended(row('a', 'timed_out')))).toBe(
    'Ended without a completed task. Not completed: a timed_out.',
  );
  expect(endLine(ended(row('a', 'completed'), row('b', 'failed')))).toBe(
    'Converged: 1 of 2 tasks completed, each situated as the trace shows. Not completed: b failed.',
  );
  expect(endLine(ended(row('a', 'completed')))).toBe(
    'Converged: 1 of 1 tasks completed, each situated as the trace shows.',
  );
});
