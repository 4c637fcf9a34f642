import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Schedule } from '../../../src/broker/mail/schedule.js';

test('whatever was added comes out in the order of its time, and not before it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), fc.nat(1_000), (times, nowMs) => {
      const schedule = new Schedule<number>();
      for (const atMs of times) schedule.add(atMs, atMs);
      const out: number[] = [];
      for (let each = schedule.take(nowMs); each !== undefined; each = schedule.take(nowMs))
        out.push(each);
      expect(out).toEqual(times.filter((atMs) => atMs <= nowMs).sort((a, b) => a - b));
      expect(schedule.size).toBe(times.length - out.length);
    }),
  );
});

test('what is not wanted any more is dropped', () => {
  const schedule = new Schedule<number>();
  for (const at of [5, 3, 8, 1]) schedule.add(at, at);
  schedule.prune((item) => item !== 3);
  expect([schedule.take(9), schedule.take(9), schedule.take(9), schedule.take(9)]).toEqual([
    1,
    5,
    8,
    undefined,
  ]);
});
