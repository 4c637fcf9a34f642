import fc from 'fast-check';
import { expect, test } from 'vitest';
import { partOf, type Weighted } from '../../../../src/pgc/serve/shard-partition.js';

const plans = fc
  .uniqueArray(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 60 })
  .chain((aliases) =>
    fc
      .array(fc.integer({ min: 0, max: 100_000 }), {
        minLength: aliases.length,
        maxLength: aliases.length,
      })
      .map((lines) => aliases.map((alias, at): Weighted => ({ alias, lines: lines[at] }))),
  );
const counts = fc.integer({ min: 1, max: 8 });
const parts = (plan: readonly Weighted[], of: number): Set<string>[] =>
  Array.from({ length: of }, (_, at) => partOf(plan, { part: at + 1, of }));

test('every shard is in exactly one part', () => {
  fc.assert(
    fc.property(plans, counts, (plan, of) => {
      const all = parts(plan, of).flatMap((part) => [...part]);
      expect(all.sort()).toEqual(plan.map(({ alias }) => alias).sort());
    }),
  );
});

test('no two parts differ by more than the heaviest shard', () => {
  fc.assert(
    fc.property(plans, counts, (plan, of) => {
      const lines = new Map(plan.map((each) => [each.alias, Math.max(1, each.lines ?? 0)]));
      const loads = parts(plan, of).map((part) =>
        [...part].reduce((sum, alias) => sum + (lines.get(alias) ?? 0), 0),
      );
      expect(Math.max(...loads) - Math.min(...loads)).toBeLessThanOrEqual(
        Math.max(...lines.values()),
      );
    }),
  );
});

test('the order of the plan makes no difference', () => {
  fc.assert(
    fc.property(plans, counts, (plan, of) => {
      expect(parts([...plan].reverse(), of)).toEqual(parts(plan, of));
    }),
  );
});

test('a plan of an earlier version, without lines, is dealt out evenly', () => {
  const plan = Array.from({ length: 10 }, (_, at) => ({ alias: `s${at}` }));
  expect(parts(plan, 4).map((part) => part.size)).toEqual([3, 3, 2, 2]);
});
