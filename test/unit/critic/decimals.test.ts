import { expect, test } from 'vitest';
import { atLeast, figure, shortFigure } from '../../../src/critic/score/decimals.js';

test.each([0.91999, 0.919_999_999, 0.9195, 0.849_99])(
  '%d is not shown as a score that passes',
  (score) => {
    const threshold = score > 0.9 ? 0.92 : 0.85;
    expect(atLeast(score, threshold)).toBe(false);
    expect(atLeast(Number(shortFigure(score)), threshold)).toBe(false);
    expect(figure(score)).toBe(String(score));
  },
);

test.each([
  [0.92, '0.92', '0.92'],
  [0.9199999999999999, '0.92', '0.92'],
  [0.7, '0.70', '0.7'],
  [0, '0.00', '0'],
  [1, '1.00', '1'],
])('%d is what it is compared as', (score, short, whole) => {
  expect([shortFigure(score), figure(score)]).toEqual([short, whole]);
});
