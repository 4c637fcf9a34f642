import { expect, test } from 'vitest';
import { flowGraph, nodesMax } from '../../../services/console/page/pages/ask/flow-graph.js';
import type { FlowEdge } from '../../../src/pgc/shapes.js';

const edge = (from: string, to: string, its: Partial<FlowEdge> = {}): FlowEdge => ({
  ...{ from, to, site: 'a.ts:1', kind: 'call', certainty: 'exact', agent: 'pgc-1' },
  ...{ evidence: 0, definition: '' },
  ...its,
});

test('what is called and then calls is one node', () => {
  const { nodes, lines } = flowGraph([
    edge('main', 'open', { site: 'main.ts:3', definition: 'bus.ts:10', evidence: 1 }),
    edge('open', 'connect', { site: 'bus.ts:12', definition: 'net.ts:4', evidence: 2 }),
  ]);
  expect(nodes.map(({ id }) => id)).toEqual(['main.ts#main', 'bus.ts:10', 'net.ts:4']);
  expect(lines.map(({ from, to }) => [from, to])).toEqual([
    ['main.ts#main', 'bus.ts:10'],
    ['bus.ts:10', 'net.ts:4'],
  ]);
  expect(nodes[1]).toMatchObject({ name: 'open', path: 'bus.ts', evidence: [2] });
});

test('functions of one name in two files are two nodes', () => {
  const { nodes } = flowGraph([
    edge('run', 'open', { site: 'a.ts:1', definition: 'x.ts:1' }),
    edge('run', 'open', { site: 'b.ts:1', definition: 'y.ts:1' }),
  ]);
  expect(nodes).toHaveLength(4);
});

test('calls at several places are one line with all of them, unless they differ in certainty', () => {
  const { lines } = flowGraph([
    edge('run', 'open', { site: 'a.ts:1', evidence: 1 }),
    edge('run', 'open', { site: 'a.ts:5', evidence: 2 }),
    edge('run', 'open', { site: 'a.ts:9', certainty: 'possible' }),
  ]);
  expect(lines.map(({ sites, evidence, certainty }) => ({ sites, evidence, certainty }))).toEqual([
    { sites: ['a.ts:1', 'a.ts:5'], evidence: [1, 2], certainty: 'exact' },
    { sites: ['a.ts:9'], evidence: [], certainty: 'possible' },
  ]);
});

test('a large flow is drawn in part, and no line leads to what is not drawn', () => {
  const flow = Array.from({ length: 3 * nodesMax }, (_, at) => edge('run', `callee${at}`));
  const { nodes, lines, left } = flowGraph(flow);
  expect([nodes.length, left]).toEqual([nodesMax, 2 * nodesMax + 1]);
  const ids = new Set(nodes.map(({ id }) => id));
  expect(lines.every(({ from, to }) => ids.has(from) && ids.has(to))).toBe(true);
});

test('what is drawn has a line, and a call that is said twice is not one that is left out', () => {
  const pairs = Array.from({ length: nodesMax }, (_, at) => edge(`from${at}`, `to${at}`));
  const one = edge('run', 'to0');
  const { nodes, lines, left } = flowGraph([one, one, ...pairs]);
  const ends = new Set(lines.flatMap(({ from, to }) => [from, to]));
  expect(nodes.filter(({ id }) => !ends.has(id))).toEqual([]);
  expect([nodes.length, left]).toEqual([nodesMax - 1, nodesMax - 19]);
});
