import { afterAll, beforeAll, expect, test } from 'vitest';
import { callSupport } from '../../../../src/pgc/search/call-support.js';
import type { ShardIndex } from '../../../../src/pgc/format/shard-index.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const source = `
static int leaf(int x) { return x; }
static int middle(int x) { return leaf(x) + leaf(x); }
int top(int x) { return middle(x); }
int alone(int x) { return alone(x - 1); }
struct leaf { int field; };
`;
let tree: IndexedTree;
let index: ShardIndex;
beforeAll(async () => {
  tree = await indexedTree({ 'lib/all.c': source }, ['lib']);
  index = tree.shards[0]!.index;
});
afterAll(async () => tree[Symbol.asyncDispose]());

/** Gains by name; `outside` is what is no symbol. */
function gains(scores: Record<string, number>): Record<string, number> {
  const found = Object.entries(scores).map(([name, score]) => ({
    score,
    symbol: name === 'outside' ? undefined : index.symbolsNamed(name)[0]!,
  }));
  const gained = callSupport(index, found);
  return Object.fromEntries(Object.keys(scores).map((name, at) => [name, gained[at]!]));
}

test('a hit gains a fifth of the best that it calls or that calls it', () => {
  expect(gains({ top: 1, middle: 0.5, leaf: 0.8 })).toEqual({
    top: expect.closeTo(0.1),
    middle: expect.closeTo(0.2),
    leaf: expect.closeTo(0.1),
  });
});

test('nothing is gained over two calls, from itself, or by what is no symbol', () => {
  expect(gains({ top: 1, leaf: 0.8, alone: 0.9, outside: 0.7 })).toEqual({
    ...{ top: 0, leaf: 0, alone: 0, outside: 0 },
  });
});

test('a hit that scores below nothing takes nothing away', () => {
  expect(gains({ top: -0.5, middle: 0.5 })).toEqual({ top: expect.closeTo(0.1), middle: 0 });
});

test('of two hits with the same words the one that the best hit calls comes first', async () => {
  const twins = `/* Tallies the parcels. */
int tally_east(int n) { return n; }
/* Tallies the parcels. */
int tally_west(int n) { return n; }
/* Sorts parcels for the tally. */
int sort_parcels(int n) { return tally_west(n); }
`;
  await using two = await indexedTree({ 'post/a.c': twins }, ['post']);
  const { evidence } = await two.shards[0]!.ask({
    question: 'How are parcels sorted for the tally?',
    overlays: ['O1'],
    top_k: 3,
  });
  const order = evidence.map(({ symbol }) => symbol);
  expect(order.indexOf('tally_west')).toBeGreaterThanOrEqual(0);
  expect(order.indexOf('tally_west')).toBeLessThan(order.indexOf('tally_east'));
});
