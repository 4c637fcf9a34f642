import { expect, test } from 'vitest';
import { confidenceOf } from '../../../src/base/confidence.js';

test('confidence is the mean of the similarities: above .85 high, from .70 medium', () => {
  expect(confidenceOf([0.85])).toBe('medium');
  expect(confidenceOf([0.8, 0.92])).toBe('high');
  expect(confidenceOf([0.7])).toBe('medium');
  expect(confidenceOf([0.69])).toBe('low');
});

test('without sources confidence is low', () => {
  expect(confidenceOf([])).toBe('low');
});
