import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Timeline } from '../../../src/broker/mail/schedule.js';

test('whatever was added comes out in the order of its time, and not before it', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000)), fc.nat(1_000), (times, nowMs) => {
      const timeline = new Timeline<number>();
      for (const atMs of times) timeline.add(atMs, atMs);
      const out: number[] = [];
      for (let each = timeline.take(nowMs); each !== undefined; each = timeline.take(nowMs))
        out.push(each);
      expect(out).toEqual(times.filter((atMs) => atMs <= nowMs).sort((a, b) => a - b));
      expect(timeline.size).toBe(times.length - out.length);
    }),
  );
});

test('what is not wanted any more is dropped', () => {
  const timeline = new Timeline<number>();
  for (const at of [5, 3, 8, 1]) timeline.add(at, at);
  timeline.prune((item) => item !== 3);
  expect([timeline.take(9), timeline.take(9), timeline.take(9), timeline.take(9)]).toEqual([
    1,
    5,
    8,
    undefined,
  ]);
});
