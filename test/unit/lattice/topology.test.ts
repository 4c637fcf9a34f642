import fc from 'fast-check';
import { expect, test } from 'vitest';
import { adjacencyOf, pathBetween, topologyOf } from '../../../src/lattice/topology.js';
import type { Card } from '../../../src/pgc/shapes.js';

/** The topology of the delegation document. */
const kernel = new Map([
  ['net', ['drivers', 'kernel']],
  ['drivers', ['kernel', 'mm']],
  ['kernel', ['mm', 'fs']],
  ['mm', []],
]);

function card(agent: string, defines: string[], unresolved: Record<string, number>): Card {
  return {
    agent,
    alias: agent,
    project: 'p',
    root: '/p',
    scope: [agent],
    languages: ['c'],
    files: 1,
    lines: 1,
    documents: 1,
    index_version: `${agent}-1`,
    terms: [],
    defines,
    stand_ins: [],
    unresolved: Object.entries(unresolved).map(([term, documents]) => ({
      term,
      documents,
      modules: [],
      container: '',
    })),
    modules: [],
  };
}

test('the shortest route from net to mm goes through drivers alone', () => {
  expect(pathBetween(kernel, 'net', 'mm')).toEqual(['net', 'drivers', 'mm']);
});

test('a route to oneself is oneself', () => {
  expect(pathBetween(kernel, 'mm', 'mm')).toEqual(['mm']);
});

test('no route, too many agents and an unknown agent have three codes', () => {
  const code = (run: () => unknown): unknown => {
    try {
      return run();
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  expect(code(() => pathBetween(kernel, 'mm', 'net'))).toBe('NO_ROUTE');
  expect(code(() => pathBetween(kernel, 'net', 'mm', 2))).toBe('MAX_HOPS_EXCEEDED');
  expect(pathBetween(kernel, 'net', 'mm', 3)).toHaveLength(3);
  expect(code(() => pathBetween(kernel, 'net', 'sound'))).toBe('UNKNOWN_AGENT');
});

test('a shard depends on those that define what it calls and lacks, the strongest first', () => {
  const topology = topologyOf([
    card('net', ['netif_rx'], { kmalloc: 9, dma_map: 20 }),
    card('mm', ['kmalloc'], {}),
    card('dma', ['dma_map'], { kmalloc: 3 }),
  ]);
  expect(topology.edges).toEqual([
    { from: 'dma', to: 'mm', references: 3, symbols: ['kmalloc'] },
    { from: 'net', to: 'dma', references: 20, symbols: ['dma_map'] },
    { from: 'net', to: 'mm', references: 9, symbols: ['kmalloc'] },
  ]);
  expect(pathBetween(adjacencyOf(topology), 'net', 'mm')).toEqual(['net', 'mm']);
});

test('a name that several shards define counts little, one that all define counts nothing', () => {
  const owners = Array.from({ length: 12 }, (_, at) =>
    card(`s${at}`, at < 2 ? ['init', 'open'] : ['init'], {}),
  );
  const { edges } = topologyOf([...owners, card('user', [], { init: 500, open: 40 })]);
  expect(edges).toEqual([
    { from: 'user', to: 's0', references: 10, symbols: ['open'] },
    { from: 'user', to: 's1', references: 10, symbols: ['open'] },
  ]);
});

test('the version changes with an index version and not with the order of cards', () => {
  const [one, other] = [card('a', [], {}), card('b', [], {})];
  expect(topologyOf([one, other]).version).toBe(topologyOf([other, one]).version);
  expect(topologyOf([one, { ...other, index_version: 'b-2' }]).version).not.toBe(
    topologyOf([one, other]).version,
  );
});

test('every route found is made of edges, and no shorter one exists', () => {
  const graph = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 8, maxLength: 8 });
  fc.assert(
    fc.property(graph, (lists) => {
      const adjacency = new Map(lists.map((list, at) => [String(at), list.map(String)]));
      const reachable = levels(adjacency, '0');
      for (const [goal, distance] of reachable) {
        const path = pathBetween(adjacency, '0', goal);
        expect(path).toHaveLength(distance + 1);
        for (let at = 1; at < path.length; at += 1) {
          expect(adjacency.get(path[at - 1] ?? '')).toContain(path[at]);
        }
      }
    }),
  );
});

/** Distances by relaxation, another way than the search under test. */
function levels(adjacency: Map<string, string[]>, from: string): Map<string, number> {
  const distance = new Map([[from, 0]]);
  for (let round = 0; round < adjacency.size; round += 1) {
    for (const [node, next] of adjacency) {
      const here = distance.get(node);
      if (here === undefined) continue;
      for (const each of next) {
        if ((distance.get(each) ?? Infinity) > here + 1) distance.set(each, here + 1);
      }
    }
  }
  return distance;
}
