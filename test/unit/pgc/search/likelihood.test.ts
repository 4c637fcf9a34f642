import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  confidenceAt,
  foundFrom,
  likelihoodOf,
  signNames,
  signsOf,
  type Signs,
} from '../../../../src/pgc/search/likelihood.js';

const share = fc.double({ min: 0, max: 4, noNaN: true });
const signs = fc.record({
  ...{ held: share, called: share, near: share, known: share },
  isWhole: fc.boolean(),
});

test('the likelihood is a probability, and grows with each sign', () => {
  fc.assert(
    fc.property(signs, fc.constantFrom(...signNames), share, (its, name, more) => {
      const likelihood = likelihoodOf(its);
      expect(likelihood).toBeGreaterThan(0);
      expect(likelihood).toBeLessThanOrEqual(1);
      expect(likelihoodOf({ ...its, [name]: its[name] + more })).toBeGreaterThanOrEqual(likelihood);
    }),
  );
});

test('what holds nearly all of the question is found, however few words it has', () => {
  const hit = (held: number): { held: number } => ({ held });
  const of = (held: number, concepts: number): Signs =>
    signsOf([hit(0), hit(held), hit(0), hit(9)], { known: 0 }, concepts);
  expect(of(3, 4).isWhole).toBe(true);
  expect(of(2, 4).isWhole).toBe(false);
  expect(likelihoodOf(of(3, 4))).toBe(foundFrom);
  expect(likelihoodOf(of(2, 4))).toBeLessThan(foundFrom);
  // Only the best three speak for it; of no hits nothing does.
  expect(of(0, 4).isWhole).toBe(false);
  expect(signsOf([], { known: 1 }, 0).isWhole).toBe(false);
});

test('a confidence says how many of such answers are right', () => {
  const levels = [0, 0.49, 0.5, 0.79, 0.8, 1].map((each) => confidenceAt(each));
  expect(levels).toEqual(['low', 'low', 'medium', 'medium', 'high', 'high']);
  // What another process makes of it is no reason to be sure.
  expect(confidenceAt(NaN)).toBe('low');
});
