import fc from 'fast-check';
import { expect, test } from 'vitest';
import { similarityMax, similarityOf } from '../../../../src/pgc/search/similarity.js';

const score = fc.double({ min: -1, max: 5, noNaN: true });

test('similarity is a probability and never certainty', () => {
  fc.assert(
    fc.property(score, (each) => {
      expect(similarityOf(each)).toBeGreaterThan(0);
      expect(similarityOf(each)).toBeLessThanOrEqual(similarityMax);
    }),
  );
  expect(similarityOf(100)).toBe(similarityMax);
});

test('what ranks higher is never less similar', () => {
  fc.assert(
    fc.property(score, score, (one, other) => {
      const [lower, higher] = [Math.min(one, other), Math.max(one, other)];
      expect(similarityOf(higher)).toBeGreaterThanOrEqual(similarityOf(lower));
    }),
  );
});
