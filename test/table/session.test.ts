import { expect, test } from 'vitest';
import { sessionMachine } from '../../src/attention/session/session.machine.js';
import { routes } from '../../src/attention/session/shapes.js';
import { stateName } from '../../src/machine/step.js';
import { transitionTable } from './walk.js';

test('attention.session', async () => {
  const table = transitionTable(
    sessionMachine,
    { roundsMax: 2 },
    [
      { type: 'upstream.scanned', isClear: true },
      { type: 'upstream.scanned', isClear: false },
      { type: 'upstream.routed' },
      { type: 'upstream.restored' },
      { type: 'upstream.proceeded' },
      ...routes.map((route) => ({ type: 'tasks.found' as const, route, isEmpty: false })),
      { type: 'tasks.found', route: 'confirm', isEmpty: true },
      { type: 'tasks.confirmed' },
      { type: 'tasks.declined' },
      { type: 'tasks.adopted', isEmpty: true, hasTeam: false },
      { type: 'tasks.adopted', isEmpty: false, hasTeam: false },
      { type: 'tasks.adopted', isEmpty: false, hasTeam: true },
      { type: 'team.decided' },
      { type: 'roles.proposed' },
      { type: 'roles.refused' },
      { type: 'tasks.classified', checkpoint: 'none' },
      { type: 'tasks.classified', checkpoint: 'classification' },
      { type: 'tasks.classified', checkpoint: 'plan' },
      { type: 'plan.agreed' },
      { type: 'tasks.delegated' },
      { type: 'task.noticed', granularity: 'Micro', end: 'none' },
      { type: 'task.noticed', granularity: 'Meso', end: 'none' },
      { type: 'task.noticed', granularity: 'Meso', end: 'situated' },
      { type: 'task.noticed', granularity: 'Meso', end: 'unsituated' },
      { type: 'task.noticed', granularity: 'Meso', end: 'undone' },
      { type: 'session.withdrawn', reason: 'ATTEND_WITHDRAWN' },
      { type: 'withdrawal.done' },
      { type: 'session.escaped' },
    ],
    (snapshot) => {
      const { rounds, granularity } = snapshot.context;
      const state = stateName(snapshot).replace('open.', '');
      if (['scanning', 'routing', 'suspended'].includes(state)) return `${state}#${rounds}`;
      return state === 'looping' ? `${state} ${granularity}` : state;
    },
  );
  await expect(table).toMatchFileSnapshot('attention.session.txt');
});
