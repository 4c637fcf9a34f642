import { expect, test } from 'vitest';
import { cycleMachine, type CycleEvent } from '../../src/critic/cycle/cycle.machine.js';
import type { Round } from '../../src/critic/cycle/cycle-verdict.js';
import { stateName } from '../../src/machine/step.js';
import { transitionTable } from './walk.js';

/** Of another version each time, as if creator and critic never said the same twice. */
const round = (id: string, change: Partial<Round>): Round => ({
  ...{ iteration: 0, critique: id, digest: id, score: null, verdict: 'REVISE' },
  ...{ findings: [], is_hard: false, needs_person: '', disputed: [] },
  ...change,
});

test('critic.cycle', async () => {
  const events: CycleEvent[] = [
    { type: 'artifact.made' },
    { type: 'creator.blocked', reason: 'NO_WORKER' },
    { type: 'critique.done', round: round('good', { score: 0.95, verdict: 'PASS' }) },
    { type: 'critique.done', round: round('fair', { score: 0.87 }) },
    { type: 'critique.done', round: round('poor', { score: 0.6, verdict: 'REJECTED' }) },
    { type: 'critique.done', round: round('none', { verdict: 'UNSCORED' }) },
    { type: 'critique.done', round: round('hard', { score: 0.95, verdict: 'ABORTED' }) },
    { type: 'critic.absent', reason: 'NO_RESPONDER' },
    { type: 'person.judged', judgement: 'accept' },
    { type: 'person.judged', judgement: 'refuse' },
    { type: 'person.judged', judgement: 'revise' },
    { type: 'timer.due', timer: 'ratification' },
    { type: 'cycle.cancelled', reason: 'CANCELLED' },
  ];
  const tables = (['C1', 'C2', 'C4'] as const).map((criticality) => {
    const input = { criticality, isAdversarial: true, iterationsMax: 3, iterationsCap: 4 };
    const table = transitionTable(cycleMachine, input, events, (snapshot) => {
      const { iteration, rounds } = snapshot.context;
      const last = rounds.at(-1)?.digest ?? '';
      const state = stateName(snapshot);
      return snapshot.status === 'active' ? `${state}#${iteration} ${last}`.trim() : state;
    });
    return `${criticality}\n\n${table}`;
  });
  await expect(tables.join('\n')).toMatchFileSnapshot('critic.cycle.txt');
});
