import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactly, type Edge } from '../../../../src/pgc/analyse/edges.js';
import { pathTo, spread } from '../../../../src/pgc/analyse/breadth-first.js';

const neighboursIn =
  (edges: readonly (readonly [number, number])[]) =>
  (node: number): Edge[] =>
    edges
      .filter(([from]) => from === node)
      .map(([, to]) => ({
        node: to,
        type: 'calls',
        site_path: 'a.c',
        site_line: to,
        ...exactly,
        sites: 1,
      }));

const depths = (reached: ReadonlyMap<number, { depth: number }>): [number, number][] =>
  [...reached].map(([node, { depth }]) => [node, depth]);

test('a node that a long way reaches first still has its least depth', () => {
  // 0 to 3 by 1 and 2, and at once; 4 behind it is within two steps.
  const neighbours = neighboursIn([
    [0, 1],
    [1, 2],
    [2, 3],
    [0, 3],
    [3, 4],
  ]);
  const { reached, truncated } = spread([0], neighbours, { depthMax: 2, nodesMax: 10 });
  expect(depths(reached)).toEqual([
    [0, 0],
    [1, 1],
    [3, 1],
    [2, 2],
    [4, 2],
  ]);
  expect(pathTo(reached.get(4)!)).toEqual([0, 3, 4]);
  expect(truncated).toBe(false);
});

test('the limit of nodes counts what was found, not the starts', () => {
  const neighbours = neighboursIn([
    [0, 2],
    [1, 3],
    [3, 4],
  ]);
  const limits = { depthMax: 16, nodesMax: 2 };
  const { reached, truncated } = spread([0, 1], neighbours, limits);
  expect([...reached.keys()]).toEqual([0, 1, 2, 3]);
  expect(truncated).toBe(true);
  expect(spread([0, 1], neighbours, { depthMax: 1, nodesMax: 2 }).truncated).toBe(false);
});

test('what was reached when the time is up is the answer, and it says so', () => {
  const neighbours = neighboursIn([
    [0, 1],
    [1, 2],
    [2, 3],
  ]);
  let looks = 0;
  const limits = { depthMax: 16, nodesMax: 100, isOver: () => (looks += 1) > 2 };
  const { reached, truncated, isLate } = spread([0], neighbours, limits);
  expect([...reached.keys()]).toEqual([0, 1, 2]);
  expect([truncated, isLate]).toEqual([true, true]);
});

test('depths are the shortest distances, and paths are as long and real', () => {
  const node = fc.integer({ min: 0, max: 8 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(node, node), { maxLength: 24 }),
      fc.integer({ min: 0, max: 6 }),
      (edges, depthMax) => {
        const { reached } = spread([0], neighboursIn(edges), { depthMax, nodesMax: 100 });
        // Bellman and Ford: relax every edge as often as there are nodes.
        const distance = new Map([[0, 0]]);
        for (let round = 0; round <= 9; round += 1)
          for (const [from, to] of edges) {
            const through = (distance.get(from) ?? Infinity) + 1;
            if (through < (distance.get(to) ?? Infinity)) distance.set(to, through);
          }
        const near = [...distance].filter(([, depth]) => depth <= depthMax);
        const byNode = (one: [number, number], other: [number, number]): number =>
          one[0] - other[0];
        expect(depths(reached).sort(byNode)).toEqual(near.sort(byNode));
        for (const end of reached.values()) {
          const path = pathTo(end);
          expect(path).toHaveLength(end.depth + 1);
          for (const [at, to] of path.slice(1).entries())
            expect(edges).toContainEqual([path[at], to]);
        }
      },
    ),
  );
});
