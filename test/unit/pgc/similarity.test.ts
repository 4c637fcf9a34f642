import fc from 'fast-check';
import { expect, test } from 'vitest';
import { similarityMax, similarityOf } from '../../../src/pgc/similarity.js';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const features = fc.record({ coverage: share, lead: share, exact: share });

test('similarity is a probability and never certainty', () => {
  fc.assert(
    fc.property(features, (each) => {
      expect(similarityOf(each)).toBeGreaterThan(0);
      expect(similarityOf(each)).toBeLessThanOrEqual(similarityMax);
    }),
  );
});

test('more evidence of any kind never makes a hit less similar', () => {
  fc.assert(
    fc.property(features, features, (one, other) => {
      const better = {
        coverage: Math.max(one.coverage, other.coverage),
        lead: Math.max(one.lead, other.lead),
        exact: Math.max(one.exact, other.exact),
      };
      expect(similarityOf(better)).toBeGreaterThanOrEqual(similarityOf(one));
    }),
  );
});

test('a named symbol is high, a hit that shares a third of the question is next to nothing', () => {
  expect(similarityOf({ coverage: 1, lead: 1, exact: 1 })).toBeGreaterThan(0.85);
  expect(similarityOf({ coverage: 0.33, lead: 1, exact: 0 })).toBeLessThan(0.1);
});
