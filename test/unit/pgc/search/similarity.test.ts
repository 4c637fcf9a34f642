import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  similarityMax,
  similarityOf,
  type Evidence,
} from '../../../../src/pgc/search/similarity.js';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const evidence: fc.Arbitrary<Evidence> = fc.record({
  score: fc.double({ min: -1, max: 3, noNaN: true }),
  coverage: share,
  exact: share,
  known: share,
});

test('similarity is a probability and never certainty', () => {
  fc.assert(
    fc.property(evidence, (each) => {
      expect(similarityOf(each)).toBeGreaterThan(0);
      expect(similarityOf(each)).toBeLessThanOrEqual(similarityMax);
    }),
  );
});

test('more evidence of any kind never makes a source less similar', () => {
  fc.assert(
    fc.property(evidence, evidence, (one, other) => {
      const better = {
        score: Math.max(one.score, other.score),
        coverage: Math.max(one.coverage, other.coverage),
        exact: Math.max(one.exact, other.exact),
        known: Math.max(one.known, other.known),
      };
      expect(similarityOf(better)).toBeGreaterThanOrEqual(similarityOf(one));
    }),
  );
});

test('what the question names and covers is likelier than what shares a third of its words', () => {
  const all = { score: 1.6, coverage: 1, exact: 1, known: 1 };
  const little = { score: 0.3, coverage: 0.33, exact: 0, known: 0.6 };
  expect(similarityOf(all)).toBeGreaterThan(0.5);
  expect(similarityOf(little)).toBeLessThan(0.2);
});
