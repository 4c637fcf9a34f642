import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cyclesIn } from '../../../../src/pgc/analyse/cycles.js';

const graph = (...edges: [string, string][]): Map<string, Set<string>> => {
  const map = new Map<string, Set<string>>();
  for (const [from, to] of edges) map.set(from, (map.get(from) ?? new Set()).add(to));
  return map;
};

test('a ring and a pair are two cycles, each with its shortest way round', () => {
  const edges = graph(['a', 'b'], ['b', 'c'], ['c', 'a'], ['c', 'd'], ['d', 'e'], ['e', 'd']);
  expect(cyclesIn(edges)).toEqual([
    { layers: ['a', 'b', 'c'], path: ['a', 'b', 'c', 'a'] },
    { layers: ['d', 'e'], path: ['d', 'e', 'd'] },
  ]);
});

test('what has no ring has no cycle', () => {
  expect(cyclesIn(graph(['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd']))).toEqual([]);
});

test('two nodes share a cycle just when each can reach the other', () => {
  const node = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  fc.assert(
    fc.property(fc.array(fc.tuple(node, node), { maxLength: 14 }), (pairs) => {
      const edges = graph(...pairs.filter(([from, to]) => from !== to));
      const reach = (from: string): Set<string> => {
        const seen = new Set<string>();
        const open = [from];
        for (let at = open.pop(); at !== undefined; at = open.pop())
          for (const to of edges.get(at) ?? [])
            if (!seen.has(to)) {
              seen.add(to);
              open.push(to);
            }
        return seen;
      };
      const cycles = cyclesIn(edges);
      for (const one of 'abcdef')
        for (const other of 'abcdef') {
          if (one === other) continue;
          const isTogether = cycles.some(
            ({ layers }) => layers.includes(one) && layers.includes(other),
          );
          expect(isTogether).toBe(reach(one).has(other) && reach(other).has(one));
        }
      for (const { layers, path } of cycles) {
        expect(path[0]).toBe(path.at(-1));
        for (const [at, step] of path.slice(1).entries())
          expect(edges.get(path[at]!)?.has(step)).toBe(true);
        expect(layers).toEqual(expect.arrayContaining(path));
      }
    }),
  );
});
