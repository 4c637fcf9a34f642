import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RateLimit, StrangerRates } from '../../../src/broker/session/rate-limit.js';

const rate = { framesPerS: 100, bytesPerS: 10_000 };

test('over any time nobody gets more than the burst, what was earned, and one taking', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ waitMs: fc.nat(300), bytes: fc.integer({ min: 1, max: 2_000 }) })),
      (takings) => {
        const limit = new RateLimit(rate, 0);
        let nowMs = 0;
        let frames = 0;
        let bytes = 0;
        for (const taking of takings) {
          nowMs += taking.waitMs;
          if (limit.take(1, taking.bytes, nowMs) > 0) continue;
          frames += 1;
          bytes += taking.bytes;
        }
        expect(frames).toBeLessThanOrEqual(100 + nowMs * 0.1 + 1);
        expect(bytes).toBeLessThanOrEqual(10_000 + nowMs * 10 + 2_000);
      },
    ),
  );
});

test.each([
  ['frames', 250, 1],
  ['bytes', 1, 50_000],
])(
  'whoever has used up its %s and waits as long as it was told is let through',
  (_, frames, bytes) => {
    const limit = new RateLimit(rate, 0);
    expect(limit.take(frames, bytes, 0)).toBe(0);
    const waitMs = limit.take(1, 1, 0);
    expect(waitMs).toBeGreaterThan(1_000);
    expect(limit.take(1, 1, waitMs - 2)).toBeGreaterThan(0);
    expect(limit.take(1, 1, waitMs)).toBe(0);
  },
);

test('a frame larger than the burst passes and is paid for afterwards', () => {
  const limit = new RateLimit(rate, 0);
  expect(limit.take(1, 1_000_000, 0)).toBe(0);
  expect(limit.take(1, 1, 90_000)).toBeGreaterThan(0);
  expect(limit.take(1, 1, 99_001)).toBe(0);
});

test('a clock that stands or goes back earns nothing', () => {
  const limit = new RateLimit({ framesPerS: 1, bytesPerS: 1e9 }, 5_000);
  expect(limit.take(1, 1, 5_000)).toBe(0);
  expect(limit.take(1, 1, 4_000)).toBeGreaterThan(0);
  expect(limit.take(1, 1, 5_000)).toBeGreaterThan(0);
});

test('a stranger that insists is refused, another one is not, and a greeting with its proof passes', () => {
  const rates = new StrangerRates(8);
  let taken = 0;
  for (let at = 0; at < 1_000; at += 1) if (rates.take('pest', 1, 200, 0) === 0) taken += 1;
  expect(taken).toBeLessThan(50);
  expect([rates.take('guest', 1, 200, 0), rates.take('guest', 1, 200, 0)]).toEqual([0, 0]);
});

test('however many strangers come, only so many are remembered', () => {
  const rates = new StrangerRates(8);
  for (let at = 0; at < 1_000; at += 1) rates.take(`peer-${at}`, 1, 1, 0);
  expect(rates.size).toBe(8);
  rates.forget('peer-999');
  expect(rates.size).toBe(7);
});
