import { expect, test } from 'vitest';
import type { Row, SessionView } from '../../../src/attention/session/shapes.js';
import { endOf } from '../../../src/attention/session/trace.js';
import { endLine } from '../../../src/render/attend.js';

const row = (entry: string, outcome: string): Row =>
  ({ entry, outcome, is_over: true, situated_by: 'low' }) as Row;
const ended = (...trace: Row[]): SessionView => {
  const is_converged = endOf(trace) === 'situated';
  return { state: is_converged ? 'converged' : 'diverged', is_converged, trace } as SessionView;
};

test('a session with a task that was not done has not converged, and says which', () => {
  const lost = { ...row('b', 'failed'), why: 'nothing found' };
  expect(endLine(ended(row('a', 'timed_out')))).toBe(
    'Not converged: 1 of 1 tasks was not done: a timed out',
  );
  expect(endLine(ended(row('a', 'completed'), lost))).toBe(
    'Not converged: 1 of 2 tasks was not done: b failed (nothing found)',
  );
  expect(endLine(ended(row('a', 'completed'), row('b', 'halted')))).toBe(
    'Converged: 1 of 2 tasks completed, each situated as the trace shows. Halted: b.',
  );
  expect(endLine(ended(row('a', 'halted')))).toBe('Ended, and nothing was done. Halted: a.');
});
