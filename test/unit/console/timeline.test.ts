import { expect, test } from 'vitest';
import type { TaskHistory } from '../../../src/operations/tasks/task-rows.js';
import {
  happeningsOf,
  spansOf,
  totalsOf,
  widthsOf,
} from '../../../services/console/page/pages/tasks/timeline.js';

const notes = [
  { at_ms: 1_000, state: 'pending', text: 'delegated' },
  { at_ms: 1_010, state: 'attending', text: 'task.ready' },
  { at_ms: 1_020, state: 'assigned', text: 'attention.passed' },
  { at_ms: 1_100, state: 'running', text: 'worker.accepted: hands' },
  { at_ms: 3_100, state: 'deciding', text: 'review.done: undecided' },
  { at_ms: 9_100, state: 'completed', text: 'decision.made: accept by ann: good' },
];
const over = { notes, created_ms: 1_000, finished_ms: 9_100, state: 'completed' };

test('a task is in one state after the other, from its first note to its end', () => {
  const spans = spansOf(over, 50_000);
  expect(spans.map(({ state, from_ms, to_ms }) => [state, to_ms - from_ms])).toEqual([
    ['pending', 10],
    ['attending', 10],
    ['assigned', 80],
    ['running', 2_000],
    ['deciding', 6_000],
    ['completed', 0],
  ]);
  expect(spans.some(({ isOpen }) => isOpen)).toBe(false);
});

test('the state that it is in goes on until now', () => {
  const open = { ...over, notes: notes.slice(0, 5), finished_ms: 0, state: 'deciding' };
  expect(spansOf(open, 5_100).at(-1)).toEqual({
    ...{ state: 'deciding', from_ms: 3_100, to_ms: 5_100, isOpen: true },
  });
  // A clock of another machine may be behind.
  expect(spansOf(open, 1_000).at(-1)?.to_ms).toBe(3_100);
  expect(spansOf({ ...open, notes: [] }, 5_100)).toEqual([
    { state: 'deciding', from_ms: 1_000, to_ms: 5_100, isOpen: true },
  ]);
});

test('two notes of one state are one span, and of one state there is one sum', () => {
  const again = [...notes.slice(0, 4), { at_ms: 1_200, state: 'running', text: 'x' }];
  const spans = spansOf(
    { ...over, notes: [...again, { at_ms: 2_000, state: 'pending', text: 'worker.lost: GONE' }] },
    0,
  );
  expect(spans.map(({ state }) => state)).toEqual([
    ...['pending', 'attending', 'assigned', 'running', 'pending'],
  ]);
  expect(totalsOf(spans)[0]).toEqual({ state: 'pending', ms: 7_110 });
});

test('the end takes no time, and is not summed', () => {
  expect(totalsOf(spansOf(over, 0)).map(({ state }) => state)).not.toContain('completed');
});

test('short states are still seen, and all of them together are the whole', () => {
  const widths = widthsOf(spansOf(over, 0));
  expect(Math.min(...widths)).toBeGreaterThan(0.015);
  expect(widths.reduce((sum, each) => sum + each, 0)).toBeCloseTo(1);
  expect(widths[4]).toBe(Math.max(...widths));
  const atOnce = [{ state: 'failed', from_ms: 5, to_ms: 5, isOpen: false }];
  expect(widthsOf(atOnce)).toEqual([1]);
});

test('each event has who did it, and what it moved', () => {
  const history = {
    task: { ...over, parent: 'ann', owner: '', assigned_to: 'hands' },
    events: [
      { at_ms: 1_000, what: 'asked', text: 'asked by ann: do it' },
      { at_ms: 1_100, what: 'running', text: 'hands works on it' },
      { at_ms: 2_000, what: 'query', text: 'the index was asked' },
      { at_ms: 3_100, what: 'deciding', text: 'a person is asked whether it counts' },
      { at_ms: 9_100, what: 'completed', text: 'done' },
    ],
  } as unknown as TaskHistory;
  expect(
    happeningsOf(history, 0).map(({ event, who, state, lasted_ms }) => [
      event,
      who,
      state,
      lasted_ms,
    ]),
  ).toEqual([
    ['asked', 'ann', '', 0],
    ['worker.accepted', 'hands', 'running', 2_000],
    ['query', 'hands', '', 0],
    ['review.done', 'manager', 'deciding', 6_000],
    ['decision.made', 'ann', 'completed', 0],
  ]);
});
