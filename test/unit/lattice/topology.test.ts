import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  adjacencyOf,
  edgesMax,
  pathBetween,
  TopologyKeeper,
} from '../../../src/lattice/topology/topology.js';
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
      files: [],
      container: '',
    })),
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
  const topology = new TopologyKeeper().of([
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
  const { edges } = new TopologyKeeper().of([...owners, card('user', [], { init: 500, open: 40 })]);
  expect(edges).toEqual([
    { from: 'user', to: 's0', references: 10, symbols: ['open'] },
    { from: 'user', to: 's1', references: 10, symbols: ['open'] },
  ]);
});

test('the version changes with an index version and not with the order of cards', () => {
  const [one, other] = [card('a', [], {}), card('b', [], {})];
  expect(new TopologyKeeper().of([one, other]).version).toBe(
    new TopologyKeeper().of([other, one]).version,
  );
  expect(new TopologyKeeper().of([one, { ...other, index_version: 'b-2' }]).version).not.toBe(
    new TopologyKeeper().of([one, other]).version,
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

test('a name of several owners belongs to the one that the shard needs anyway', () => {
  const { edges } = new TopologyKeeper().of([
    card('include', ['GENMASK', 'kmalloc'], {}),
    card('tools', ['GENMASK', 'perror'], {}),
    card('arch', [], { GENMASK: 40, kmalloc: 2 }),
  ]);
  expect(edges).toEqual([
    { from: 'arch', to: 'include', references: 42, symbols: ['GENMASK', 'kmalloc'] },
  ]);
});

test('after any changes the rows that were kept say what a fresh topology says', () => {
  const name = fc.constantFrom('a', 'b', 'c', 'd', 'e');
  const shard = fc.record({
    defines: fc.uniqueArray(name, { maxLength: 3 }),
    stands: fc.boolean(),
    calls: fc.dictionary(name, fc.integer({ min: 1, max: 50 }), { maxKeys: 3 }),
    speaks: fc.boolean(),
  });
  const states = fc.array(fc.array(fc.tuple(fc.nat(5), shard), { minLength: 1, maxLength: 3 }), {
    minLength: 1,
    maxLength: 8,
  });
  fc.assert(
    fc.property(states, fc.nat(5), (changes, leaver) => {
      const keeper = new TopologyKeeper();
      const cards = new Map<string, Card>();
      for (const [step, change] of changes.entries()) {
        for (const [at, { defines, stands, calls, speaks }] of change) {
          const agent = `s${at}`;
          const its = card(agent, defines.sort(), calls);
          cards.set(agent, {
            ...its,
            stand_ins: stands ? defines.slice(0, 1) : [],
            languages: speaks ? ['c'] : ['python'],
            index_version: `${agent}-${step}`,
          });
        }
        if (step === 3) cards.delete(`s${leaver}`);
        expect(keeper.of([...cards.values()])).toEqual(
          new TopologyKeeper().of([...cards.values()]),
        );
      }
    }),
  );
});

test('one shard that changes costs its own row and those of whoever calls what it began or ceased to define', () => {
  const keeper = new TopologyKeeper();
  const mm = card('mm', ['kmalloc', 'vmalloc'], {});
  const others = [card('net', [], { kmalloc: 1 }), card('fs', [], { vmalloc: 1 })];
  const first = keeper.of([mm, ...others]);
  expect(keeper.worked).toBe(3);
  expect(keeper.of([...others, mm])).toBe(first);
  keeper.of([{ ...mm, index_version: 'mm-2' }, ...others]);
  expect(keeper.worked).toBe(4);
  keeper.of([{ ...mm, index_version: 'mm-3', defines: ['kmalloc'] }, ...others]);
  expect(keeper.worked).toBe(6);
});

test('of more edges than an answer holds it has the strongest, and says so', () => {
  const count = 150;
  const names = Array.from({ length: count }, (_, at) => `f${at}`);
  const cards = names.map((own, at) =>
    card(
      `s${at}`,
      [own],
      Object.fromEntries(names.filter((each) => each !== own).map((each, n) => [each, n + 1])),
    ),
  );
  const { edges, truncated } = new TopologyKeeper().of(cards);
  expect([edges.length, truncated]).toEqual([edgesMax, true]);
  const weakest = Math.min(...edges.map(({ references }) => references));
  expect(weakest).toBe(count - Math.ceil(edgesMax / count));
});
