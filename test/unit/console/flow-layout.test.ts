import { expect, test } from 'vitest';
import { flowGraph } from '../../../services/console/page/pages/ask/flow-graph.js';
import { placed } from '../../../services/console/page/pages/ask/flow-layout.js';
import type { FlowEdge } from '../../../src/pgc/shapes.js';

const calls = (from: string, to: string, line: number): FlowEdge => ({
  ...{ from, to, site: `lib/run.ts:${line}`, definition: '', evidence: line, agent: 'lib' },
  ...{ kind: 'call', certainty: 'outside' },
});

test('callers stand above what they call, whatever their names are', () => {
  const names = ['toString', 'constructor', '__proto__', 'run', 'hasOwnProperty'];
  const graph = flowGraph(names.map((name, at) => calls('main', name, at + 1)));
  const { nodes, lines } = placed(graph);
  const main = nodes.find(({ name }) => name === 'main')!;
  const called = nodes.filter(({ name }) => name !== 'main');
  expect(new Set(called.map(({ name }) => name))).toEqual(new Set(names));
  for (const { y } of called) expect(y).toBeGreaterThan(main.y);
  for (const { points } of lines) expect(points.length).toBeGreaterThan(1);
});
