import { expect, test } from 'vitest';
import { stateName } from '../../src/machine/step.js';
import {
  agentMachine,
  type AgentEvent,
  type AgentInput,
} from '../../src/prompt/agent/agent.machine.js';
import { transitionTable } from './walk.js';

const events: AgentEvent[] = [
  { type: 'begun', hasModel: true },
  { type: 'begun', hasModel: false },
  { type: 'command.done' },
  { type: 'command.refused', code: 'SPAWN_DEPTH' },
  { type: 'model.answered', calls: 0, isLast: false },
  { type: 'model.answered', calls: 2, isLast: false },
  { type: 'model.answered', calls: 2, isLast: true },
  { type: 'model.delayed', pauseMs: 1_000 },
  { type: 'model.failed', code: 'MODEL_REFUSED' },
  { type: 'pause.over' },
  { type: 'call.done', isInvalid: false },
  { type: 'call.done', isInvalid: true },
  { type: 'result.came' },
  { type: 'results.over' },
  { type: 'index.answered' },
  { type: 'index.failed', code: 'PGC_FAILED' },
];

test('prompt.agent', async () => {
  const table = (input: AgentInput): string =>
    transitionTable(agentMachine, input, events, (snapshot) => {
      const { place, at, isAllInvalid, invalidAnswers, hasModel } = snapshot.context;
      const state = stateName(snapshot);
      const where = state === 'setup' || state === 'teardown' ? [`command ${place}`] : [];
      const calling =
        state === 'calling'
          ? [`call ${at}`, ...(isAllInvalid && at > 0 ? ['all invalid'] : [])]
          : [];
      const invalid = invalidAnswers > 0 ? [`${invalidAnswers} invalid`] : [];
      const model = state === 'setup' && !hasModel ? ['no model'] : [];
      // A pause leads to another try, however many there were.
      const marks = [...where, ...calling, ...invalid, ...model];
      return snapshot.status === 'active' && marks.length > 0
        ? `${state}(${marks.join(', ')})`
        : state;
    });
  const whole = [
    'commands, content, teardown',
    table({ commands: 2, teardown: 2, hasContent: true }),
    'content alone',
    table({ commands: 0, teardown: 0, hasContent: true }),
    'commands alone',
    table({ commands: 1, teardown: 0, hasContent: false }),
  ].join('\n');
  await expect(whole).toMatchFileSnapshot('prompt.agent.txt');
});
