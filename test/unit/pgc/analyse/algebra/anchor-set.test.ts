import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnchorSet } from '../../../../../src/pgc/analyse/algebra/anchor-set.js';

const ids = fc.uniqueArray(fc.nat(200));

function setOf(members: readonly number[]): AnchorSet {
  const set = new AnchorSet();
  for (const id of members) set.add(id);
  return set;
}

const ascending = (members: Iterable<number>): number[] => [...members].sort((a, b) => a - b);

test('is what a set of numbers is, whatever the sizes of the two', () => {
  fc.assert(
    fc.property(ids, ids, fc.nat(250), fc.nat(250), (a, b, from, end) => {
      const [A, B] = [setOf(a), setOf(b)];
      expect([...A.ids()]).toEqual(ascending(a));
      expect(A.count).toBe(a.length);
      expect([...A.ids(from, end)]).toEqual(ascending(a.filter((id) => id >= from && id < end)));
      expect([...A.union(B).ids()]).toEqual(ascending(new Set([...a, ...b])));
      expect([...A.intersection(B).ids()]).toEqual(ascending(a.filter((id) => b.includes(id))));
      expect([...A.difference(B).ids()]).toEqual(ascending(a.filter((id) => !b.includes(id))));
    }),
  );
});

test('all below an end are in it, and nothing else', () => {
  fc.assert(
    fc.property(fc.nat(130), (end) => {
      const set = AnchorSet.below(end);
      expect([...set.ids()]).toEqual(Array.from({ length: end }, (_, id) => id));
      expect([set.count, set.has(end)]).toEqual([end, false]);
    }),
  );
});
