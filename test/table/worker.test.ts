import { expect, test } from 'vitest';
import { workerMachine, type WorkEvent } from '../../src/delegation/worker/worker.machine.js';
import { restored, start, stateName, step, stored } from '../../src/machine/step.js';
import { transitionTable } from './walk.js';

const events: WorkEvent[] = [
  { type: 'slot.given' },
  { type: 'claim.granted' },
  { type: 'claim.refused' },
  { type: 'grounding.done' },
  { type: 'grounding.failed', reason: 'PGC_FAILED' },
  { type: 'begin.stored' },
  { type: 'runner.finished' },
  { type: 'runner.failed', reason: 'ACTION_FAILED' },
  { type: 'runner.blocked', reason: 'GATE_DETECTED' },
  { type: 'runner.asked' },
  { type: 'runner.stopped' },
  { type: 'verification.done', conflicts: 0 },
  { type: 'verification.done', conflicts: 2 },
  { type: 'verification.failed', reason: 'PGC_FAILED' },
  { type: 'response.accepted' },
  { type: 'assignment.withdrawn' },
  { type: 'attempt.over' },
  { type: 'time.over' },
  { type: 'executor.restarted' },
];

test('delegation.worker', async () => {
  const table = (input: Parameters<typeof start<typeof workerMachine>>[1]): string =>
    transitionTable(workerMachine, input, events, (snapshot) => {
      const { turn, hasBegun, isStale } = snapshot.context;
      const state = stateName(snapshot);
      const marks = [
        turn > 1 ? `turn ${turn}` : '',
        hasBegun ? 'begun' : '',
        isStale ? 'stale' : '',
      ].filter(Boolean);
      return snapshot.status === 'active' && marks.length > 0
        ? `${state}(${marks.join(', ')})`
        : state;
    });
  const whole = [
    'grounded first, with effects',
    table({ strategy: 'pgc_first', isOnce: true, isTeachable: false }),
    'verified afterwards, can try again',
    table({ strategy: 'pgc_verify', isOnce: false, isTeachable: true }),
    'cited afterwards',
    table({ strategy: 'pgc_cite', isOnce: false, isTeachable: true }),
    'not grounded, with effects',
    table({ strategy: 'none', isOnce: true, isTeachable: true }),
  ].join('\n');
  await expect(whole).toMatchFileSnapshot('delegation.worker.txt');
});

test.each([
  [true, 'blocked'],
  [false, 'beginning'],
])('an action that was interrupted, and may run once only (%s), ends %s', (isOnce, expected) => {
  let now = start(workerMachine, { strategy: 'none', isOnce, isTeachable: false }).snapshot;
  for (const type of ['slot.given', 'claim.granted', 'begin.stored'] as const)
    now = step(workerMachine, now, { type }).snapshot;
  expect(stateName(now)).toBe('acting');
  const kept = JSON.parse(JSON.stringify(stored(now))) as ReturnType<typeof stored>;
  let again = step(workerMachine, restored(workerMachine, kept), { type: 'executor.restarted' });
  again = step(workerMachine, again.snapshot, { type: 'slot.given' });
  again = step(workerMachine, again.snapshot, { type: 'claim.granted' });
  expect(stateName(again.snapshot)).toBe(expected);
});
