import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  similarityMax,
  similarityOf,
  type Evidence,
} from '../../../../src/pgc/search/similarity.js';

const share = fc.double({ min: 0, max: 1, noNaN: true });
const words = { coverage: share, context: share, exact: share, margin: share, share, known: share };
const evidence: fc.Arbitrary<Evidence> = fc.oneof(
  fc.record(words),
  fc.record({ ...words, judged: fc.double({ min: -1, max: 1, noNaN: true }) }),
);

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
    fc.property(fc.record({ ...words, judged: share }), fc.record(words), (one, more) => {
      const better: Record<string, number> = { ...one };
      for (const [name, value] of Object.entries(more))
        better[name] = Math.max(value, better[name] ?? 0);
      expect(similarityOf(better as unknown as Evidence)).toBeGreaterThanOrEqual(similarityOf(one));
      const { judged, ...unjudged } = one;
      expect(similarityOf({ ...one, judged: Math.min(1, judged + 0.1) })).toBeGreaterThanOrEqual(
        similarityOf(one),
      );
      expect(similarityOf({ ...unjudged, share: 1 })).toBeGreaterThanOrEqual(
        similarityOf(unjudged),
      );
    }),
  );
});

test('what stands alone with all words is high, what shares a third of the words is next to nothing', () => {
  const all = { coverage: 1, context: 0.9, exact: 1, margin: 0.8, share: 0.8, known: 1 };
  expect(similarityOf(all)).toBeGreaterThan(0.85);
  expect(similarityOf({ ...all, judged: 0.6 })).toBeGreaterThan(0.85);
  const little = { coverage: 0.33, context: 0.3, exact: 0, margin: 0, share: 0.1, known: 0.6 };
  expect(similarityOf(little)).toBeLessThan(0.1);
  expect(similarityOf({ ...little, judged: 0.2 })).toBeLessThan(0.1);
});
