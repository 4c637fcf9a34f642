import { expect, test } from 'vitest';
import { Budget, estimatedTokens, levelOf } from '../../../src/model/budget.js';

test.each([
  [0, 'EXHAUST'],
  [4_999, 'EXHAUST'],
  [5_000, 'CONST'],
  [20_000, 'CONST'],
  [20_001, 'FULL'],
  [undefined, 'CONST'],
] as const)('%s tokens left is %s', (left, level) => {
  expect(levelOf(left)).toBe(level);
});

test('a budget falls from level to level, and is refused at its end, not before', () => {
  const budget = new Budget(25_000);
  const levels = [budget.level];
  for (const tokens of [5_000, 15_001, 4_998]) {
    budget.spend(tokens);
    levels.push(budget.level);
  }
  expect(levels).toEqual(['FULL', 'CONST', 'EXHAUST', 'EXHAUST']);
  budget.assertLeft();
  budget.spend(10);
  expect([budget.left, budget.spent]).toEqual([0, 25_009]);
  expect(() => budget.assertLeft()).toThrow('25009 of 25000');
});

test('a budget goes on where it was', () => {
  expect(new Budget(100, 60).left).toBe(40);
});

test('four characters are a token', () => {
  expect([0, 1, 4, 5].map(estimatedTokens)).toEqual([0, 1, 1, 2]);
});
