import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placed, type Room } from '../../../../src/pgc/serve/placement.js';
import type { Weighted } from '../../../../src/pgc/serve/shard-partition.js';

const gibibyte = 2 ** 30;
const shardsOf = (weights: readonly number[]): Weighted[] =>
  weights.map((lines, at) => ({ alias: `s${at}`, lines }));
const plans = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 60 });
const rooms = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 6 });
const hostsOf = (sizes: readonly number[]): Room[] =>
  sizes.map((size, at) => ({ id: `host-${at}`, bytes: size * gibibyte }));

function loadsOf(shards: readonly Weighted[], hosts: readonly Room[]): Map<string, number> {
  const places = placed(shards, hosts);
  const loads = new Map(hosts.map(({ id }) => [id, 0]));
  for (const { alias, lines } of shards) {
    const id = places.get(alias)!;
    loads.set(id, loads.get(id)! + Math.max(1, lines!));
  }
  return loads;
}

test('every shard has one host, whatever the order of shards and hosts', () => {
  fc.assert(
    fc.property(plans, rooms, (weights, sizes) => {
      const [shards, hosts] = [shardsOf(weights), hostsOf(sizes)];
      const places = placed(shards, hosts);
      expect([...places.keys()].sort()).toEqual(shards.map(({ alias }) => alias).sort());
      const other = placed([...shards].reverse(), [...hosts].reverse());
      expect(new Map([...other].sort())).toEqual(new Map([...places].sort()));
    }),
  );
});

test('no host has more than a quarter over its share, and one shard', () => {
  fc.assert(
    fc.property(plans, rooms, (weights, sizes) => {
      const [shards, hosts] = [shardsOf(weights), hostsOf(sizes)];
      const total = shards.reduce((sum, { lines }) => sum + Math.max(1, lines!), 0);
      const room = sizes.reduce((sum, size) => sum + size, 0);
      const heaviest = Math.max(...shards.map(({ lines }) => Math.max(1, lines!)));
      const loads = loadsOf(shards, hosts);
      for (const [at, { id }] of hosts.entries())
        expect(loads.get(id)).toBeLessThanOrEqual((1.25 * total * sizes[at]!) / room + heaviest);
    }),
  );
});

test('where shards are few and large, each host gets one before any gets two', () => {
  expect([...loadsOf(shardsOf([10, 10, 10]), hostsOf([1, 1, 1])).values()]).toEqual([10, 10, 10]);
  expect([...loadsOf(shardsOf([9, 9, 9, 9]), hostsOf([1, 1, 1])).values()].sort()).toEqual(
    [9, 9, 18].sort(),
  );
});

test('a host with three times the room gets about three times as much', () => {
  const loads = loadsOf(shardsOf(new Array<number>(400).fill(10)), hostsOf([1, 3]));
  const ratio = loads.get('host-1')! / loads.get('host-0')!;
  expect(ratio).toBeGreaterThan(2);
  expect(ratio).toBeLessThan(4.5);
});

test('when a host goes its shards move, and few others', () => {
  const shards = shardsOf(Array.from({ length: 120 }, (_, at) => 1_000 + at));
  const hosts = hostsOf([2, 2, 2, 2]);
  const before = placed(shards, hosts);
  const after = placed(shards, hosts.slice(1));
  const moved = [...before].filter(([alias, id]) => id !== 'host-0' && after.get(alias) !== id);
  expect(moved.length).toBeLessThan(12);
  expect([...after.values()]).not.toContain('host-0');
});

test('without hosts nothing has a place', () => {
  expect(placed(shardsOf([1, 2]), []).size).toBe(0);
});
