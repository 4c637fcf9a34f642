import { expect, test } from 'vitest';
import { assignmentMachine } from '../../src/delegation/manager/manager.machine.js';
import { stateName } from '../../src/machine/step.js';
import { taskMachine } from '../../src/task/life/task.machine.js';
import { transitionTable } from './walk.js';

test('delegation.manager', async () => {
  const events = [
    { type: 'worker.claimed' },
    { type: 'worker.progressed' },
    { type: 'worker.answered' },
    { type: 'worker.lost', reason: 'WORKER_LOST' },
    { type: 'lease.expired' },
    { type: 'assignment.withdrawn', reason: 'CANCELLED' },
  ] as const;
  const capable = transitionTable(
    assignmentMachine,
    { worker: 'one', attempt: 1, isCapable: true },
    [...events],
  );
  const legacy = transitionTable(
    assignmentMachine,
    { worker: 'old', attempt: 1, isCapable: false },
    [...events],
  );
  const table = `a worker that knows leases\n\n${capable}\na legacy worker\n\n${legacy}`;
  await expect(table).toMatchFileSnapshot('delegation.manager.txt');
});

test('task, with a critic', async () => {
  const table = transitionTable(
    taskMachine,
    { timeoutMs: 1_000, triesMax: 2, decisionMs: 1_000, isCritiqued: true },
    [
      { type: 'task.ready' },
      { type: 'attention.passed' },
      { type: 'worker.completed' },
      { type: 'worker.failed', reason: 'ACTION_FAILED' },
      { type: 'review.done', verdict: 'accepted', reason: '' },
      { type: 'review.done', verdict: 'warned', reason: '' },
      { type: 'review.done', verdict: 'undecided', reason: 'CONFIDENCE_LOW' },
      { type: 'critique.done', outcome: 'accepted', reason: '' },
      { type: 'critique.done', outcome: 'revise', reason: 'CRITIQUE_REFUSED' },
      { type: 'critique.done', outcome: 'person', reason: 'CRITIQUE_CONDITIONAL' },
      { type: 'revision.prepared' },
      { type: 'decision.made', judgement: 'accept' },
      { type: 'decision.made', judgement: 'refuse' },
      { type: 'decision.made', judgement: 'revise' },
      { type: 'decision.made', judgement: 'halt' },
      { type: 'timer.due', timer: 'whole' },
      { type: 'timer.due', timer: 'decision' },
      { type: 'task.cancelled', reason: 'CANCELLED' },
    ],
    (snapshot) => {
      const { tries, reason } = snapshot.context;
      const state = stateName(snapshot).replace('open.', '');
      return snapshot.status === 'active' ? `${state}#${tries} ${reason}`.trim() : state;
    },
  );
  await expect(table).toMatchFileSnapshot('task.critiqued.txt');
});

test('task', async () => {
  const table = transitionTable(
    taskMachine,
    { timeoutMs: 1_000, triesMax: 2, decisionMs: 1_000, isQueued: true },
    [
      { type: 'task.released', timeoutMs: 0 },
      { type: 'task.released', timeoutMs: 500 },
      { type: 'task.ready' },
      { type: 'dependency.failed', reason: 'DEPENDENCY_FAILED' },
      { type: 'attention.passed' },
      { type: 'attention.gated', reason: 'GATE_DETECTED', expiresMs: 2_000 },
      ...(['granted', 'modified', 'halted', 'withdrawn'] as const).map((outcome) => ({
        type: 'gate.judged' as const,
        outcome,
        reason: 'JUDGED',
      })),
      { type: 'worker.chosen', worker: 'one', isCapable: true },
      { type: 'worker.absent', reason: 'NO_WORKER' },
      { type: 'worker.accepted' },
      { type: 'worker.completed' },
      { type: 'worker.failed', reason: 'ACTION_FAILED' },
      { type: 'worker.failed', reason: 'ACTION_FAILED', isFinal: true },
      { type: 'worker.failed', reason: 'DEADLINE_EXCEEDED', isRetried: true },
      { type: 'worker.blocked', reason: 'PGC_FAILED' },
      { type: 'worker.gated', reason: 'GATE_DETECTED' },
      { type: 'worker.asked' },
      { type: 'worker.lost', reason: 'WORKER_LOST' },
      { type: 'task.declined', reason: 'NOT_DONE' },
      { type: 'review.done', verdict: 'accepted', reason: '' },
      { type: 'review.done', verdict: 'warned', reason: '' },
      { type: 'review.done', verdict: 'refused', reason: 'EVIDENCE_REFUSED' },
      { type: 'review.done', verdict: 'undecided', reason: 'CONFIDENCE_LOW' },
      { type: 'revision.prepared' },
      { type: 'clarification.given' },
      { type: 'block.resolved' },
      { type: 'result.kept' },
      { type: 'outcome.reported', outcome: 'done' },
      { type: 'outcome.reported', outcome: 'failed' },
      { type: 'decision.made', judgement: 'accept' },
      { type: 'decision.made', judgement: 'refuse' },
      { type: 'decision.made', judgement: 'revise' },
      { type: 'decision.made', judgement: 'halt' },
      { type: 'timer.due', timer: 'whole' },
      { type: 'timer.due', timer: 'decision' },
      { type: 'timer.due', timer: 'block' },
      { type: 'timer.due', timer: 'gate' },
      { type: 'timer.due', timer: 'queue' },
      { type: 'task.cancelled', reason: 'CANCELLED' },
    ],
    (snapshot) => {
      const { tries, isAttended, isGated } = snapshot.context;
      const state = stateName(snapshot).replace('open.', '');
      return snapshot.status === 'active'
        ? `${state}#${tries}${isAttended ? '' : ' unattended'}${isGated ? ' gated' : ''}`
        : state;
    },
  );
  await expect(table).toMatchFileSnapshot('task.txt');
});
