import { expect, test } from 'vitest';
import type { FlatAgent } from '../../../src/operations/agents.js';
import { countsBy, matching, rowsOf } from '../../../services/console/page/pages/agents/rows.js';

function agent(id: string, its: Partial<FlatAgent> = {}): FlatAgent {
  return {
    ...{ id, alias: '', role: 'client', model: '', project: '', scope: [], overlays: {} },
    ...{ capabilities: [], protocol_versions: [], state: 'online', last_seen_ms: 1, load: 0 },
    ...{ of_home: false, ...its },
  };
}

const all = { text: '', role: '', state: '' };

test('an agent has what waits in its mailbox, and not in that of its answers', () => {
  const rows = rowsOf(
    [agent('ann'), agent('bob')],
    [
      { mailbox: 'agent:ann', depth: 3, dead: 1 },
      { mailbox: 'reply:bob', depth: 9, dead: 9 },
    ],
  );
  expect(rows.map(({ depth, dead }) => [depth, dead])).toEqual([
    [3, 1],
    [0, 0],
  ]);
});

test('overlays are counted together', () => {
  const overlay = (items: number) => ({ state: 'ready', version: '1', items });
  const [row] = rowsOf([agent('x', { overlays: { O3: overlay(4), O1: overlay(2) } })], []);
  expect(row).toMatchObject({ overlays: ['O1', 'O3'], items: 6 });
});

test('what needs a look comes first, then what has most to do, then by name', () => {
  const agents = [
    agent('away', { state: 'offline' }),
    agent('b'),
    agent('busy', { load: 4 }),
    agent('a'),
    agent('lost', { state: 'stale' }),
  ];
  const sorted = matching(rowsOf(agents, []), all).map(({ id }) => id);
  expect(sorted).toEqual(['lost', 'busy', 'a', 'b', 'away']);
});

test('all words must fit, in any of the names of an agent', () => {
  const agents = [
    agent('pgc-1', { role: 'pgc', alias: 'net', scope: ['net/core'], project: 'kernel' }),
    agent('pgc-2', { role: 'pgc', alias: 'mm', scope: ['mm'], project: 'kernel' }),
  ];
  const found = (text: string, more = {}) =>
    matching(rowsOf(agents, []), { ...all, text, ...more }).map(({ name }) => name);
  expect(found('KERNEL core')).toEqual(['net']);
  expect(found('kernel')).toEqual(['mm', 'net']);
  expect(found('kernel disk')).toEqual([]);
  expect(found('', { role: 'manager' })).toEqual([]);
  expect(found('', { state: 'online' })).toHaveLength(2);
});

test('counts by a name, in order of the names', () => {
  expect(countsBy(['b', 'a', 'b'], (each) => each)).toEqual([
    ['a', 1],
    ['b', 2],
  ]);
});
