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
  ...{ isOpen: fc.boolean(), isOneWord: fc.boolean() },
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

test('one plain word asks nothing, however much of it is held', () => {
  const its = { held: 0.7, called: 1, near: 2, known: 1, isOpen: true };
  expect(confidenceAt(likelihoodOf({ ...its, isOneWord: false }))).toBe('high');
  expect(confidenceAt(likelihoodOf({ ...its, isOneWord: true }))).toBe('low');
  const sizes = { symbols: 1e4, isBrief: true };
  expect(
    [1, 2].map((concepts) => signsOf([], { known: 1 }, { ...sizes, concepts }).isOneWord),
  ).toEqual([true, false]);
});

const of = (held: number, known = 0, symbols = 1e4, isBrief = false): Signs =>
  signsOf(
    [{ held: 0 }, { held }, { held: 0 }, { held: 9 }],
    { known },
    { concepts: 4, symbols, isBrief },
  );

test('what holds nearly all of the question is found, however few words it has', () => {
  expect(of(3).isOpen).toBe(true);
  expect(of(2).isOpen).toBe(false);
  expect(likelihoodOf(of(3))).toBe(foundFrom);
  expect(likelihoodOf(of(2))).toBeLessThan(foundFrom);
  // Only the best three speak for it.
  expect(of(0).isOpen).toBe(false);
});

test('of a small code base it is not said that there is nothing where most words are known', () => {
  expect([of(2, 0.6, 100), of(2, 0.5, 100), of(2, 0.6, 300)].map(({ isOpen }) => isOpen)).toEqual([
    true,
    false,
    false,
  ]);
});

test('a few words say too little to deny what most of them are known of', () => {
  expect([of(0, 0.6, 1e4, true), of(0, 0.5, 1e4, true)].map(({ isOpen }) => isOpen)).toEqual([
    true,
    false,
  ]);
});

test('a confidence says how many of such answers are right', () => {
  const levels = [0, 0.49, 0.5, 0.79, 0.8, 1].map((each) => confidenceAt(each));
  expect(levels).toEqual(['low', 'low', 'medium', 'medium', 'high', 'high']);
  // What another process makes of it is no reason to be sure.
  expect(confidenceAt(NaN)).toBe('low');
});
