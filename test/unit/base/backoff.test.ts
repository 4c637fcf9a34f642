import fc from 'fast-check';
import { expect, test } from 'vitest';
import { backoffMs } from '../../../src/base/backoff.js';

const policy = { baseMs: 100, capMs: 10_000 };

test('the ceiling doubles up to the cap and the wait is anywhere below it', () => {
  expect([0, 1, 2, 10, 1_000].map((attempt) => backoffMs(policy, attempt, 0.999999))).toEqual([
    99, 199, 399, 9_999, 9_999,
  ]);
  fc.assert(
    fc.property(
      fc.nat(2_000),
      fc.double({ min: 0, max: 0.9999, noNaN: true }),
      (attempt, random) => {
        const wait = backoffMs(policy, attempt, random);
        expect(wait).toBeGreaterThanOrEqual(0);
        expect(wait).toBeLessThan(policy.capMs);
      },
    ),
  );
});
