import { expect, test } from 'vitest';
import { pipelineMachine, type PipelineEvent } from '../../src/critic/review/pipeline.machine.js';
import { restored, start, stateName, step, stored, type Snapshot } from '../../src/machine/step.js';
import { transitionTable } from './walk.js';

const over = (at: number, more: Partial<PipelineEvent> = {}): PipelineEvent =>
  ({
    type: 'mode.ended',
    at,
    status: 'complete',
    abort: '',
    isSpent: false,
    ...more,
  }) as PipelineEvent;

const events: PipelineEvent[] = [
  over(0),
  over(1),
  over(0, { status: 'failed' }),
  over(0, { isSpent: true }),
  over(1, { isSpent: true }),
  over(0, { abort: 'GOVERNANCE_VIOLATION' }),
  over(0, { abort: 'HARD_RULE_CONTRADICTED' }),
  over(0, { abort: 'HARD_RULE_BROKEN' }),
  { type: 'timer.due', timer: 'mode' },
  { type: 'timer.due', timer: 'grace' },
  { type: 'review.stopped', reason: 'REVIEW_TIMED_OUT', isNow: false },
  { type: 'review.stopped', reason: 'CANCELLED', isNow: true },
  { type: 'critic.restarted' },
];

const label = (snapshot: Snapshot<typeof pipelineMachine>): string => {
  const { at, begins, cutReason, stopReason } = snapshot.context;
  const marks = [`at ${at}`, begins > 1 ? `begun ${begins}` : '', cutReason, stopReason];
  const state = stateName(snapshot);
  return snapshot.status === 'active' ? `${state}(${marks.filter(Boolean).join(', ')})` : state;
};

test('critic.pipeline', async () => {
  const table = (isGoverned: boolean): string =>
    transitionTable(
      pipelineMachine,
      { modes: ['steelman', 'llm-as-judge'], modeMs: 60_000, isGoverned },
      events,
      label,
    );
  const none = transitionTable(
    pipelineMachine,
    { modes: [], modeMs: 60_000, isGoverned: false },
    [],
    label,
  );
  const whole = ['C3 and C4', table(true), 'C1 and C2', table(false), 'without a mode', none];
  await expect(whole.join('\n')).toMatchFileSnapshot('critic.pipeline.txt');
});

test('from wherever it is kept and read again, what is left runs, and nothing else', () => {
  const modes = ['steelman', 'inversion', 'llm-as-judge'] as const;
  const input = { modes, modeMs: 1_000, isGoverned: true };
  let now = start(pipelineMachine, input);
  for (const [at] of modes.entries()) {
    const kept = JSON.parse(JSON.stringify(stored(now.snapshot))) as ReturnType<typeof stored>;
    now = step(pipelineMachine, restored(pipelineMachine, kept), { type: 'critic.restarted' });
    const begun = now.effects.filter(({ type }) => type === 'mode.begin');
    expect(begun).toEqual([{ type: 'mode.begin', at, mode: modes[at] }]);
    now = step(pipelineMachine, now.snapshot, over(at));
  }
  expect(now.effects.at(-1)).toEqual({ type: 'review.end', outcome: 'complete', reason: '' });
});
