import { expect, test } from 'vitest';
import {
  strengthOf,
  tileText,
  treeOf,
  valueOf,
  valueText,
} from '../../../services/console/page/pages/map/tree-model.js';
import type { Measure } from '../../../src/pgc/analyse/measures.js';

const measure = (path: string, its: Partial<Measure> = {}): Measure => ({
  ...{ path, is_file: false, files: 1, lines: 0, weaknesses: 0, grave: 0, commits: 0, changed: '' },
  ...its,
});

test('rows in any order are a tree below the folder that was asked about', () => {
  const rows = [measure('src/a/x.ts'), measure('src/b'), measure('src/a'), measure('src/a/y.ts')];
  const tree = treeOf(measure('src'), rows);
  expect(tree.children.map(({ name }) => name).sort()).toEqual(['a', 'b']);
  const a = tree.children.find(({ name }) => name === 'a');
  expect(a?.children.map(({ name }) => name)).toEqual(['x.ts', 'y.ts']);
});

test('a row whose folder was cut off stands below the whole', () => {
  const tree = treeOf(measure(''), [measure('deep/er/x.ts')]);
  expect(tree.children.map(({ measure: its }) => its.path)).toEqual(['deep/er/x.ts']);
});

test('the numbers behind the tints', () => {
  const today = Date.parse('2026-03-01');
  const its = measure('a', {
    lines: 2_000,
    weaknesses: 5,
    files: 4,
    commits: 10,
    changed: '2026-02-01',
  });
  expect(valueOf(its, 'weaknesses', today)).toBe(2.5);
  expect(valueOf(its, 'churn', today)).toBe(2.5);
  expect(valueOf(its, 'staleness', today)).toBe(28);
  expect(valueOf(measure('b'), 'staleness', today)).toBeUndefined();
  expect(valueOf(measure('b', { files: 0 }), 'churn', today)).toBe(0);
});

test('values are said, and what is not known is not zero', () => {
  expect(valueText(2.5, 'weaknesses')).toBe('2.5 weaknesses per 1,000 lines');
  expect(valueText(28, 'staleness')).toBe('last changed 28 days ago');
  expect(valueText(undefined, 'staleness')).toBe('not known');
  expect(tileText(0, 'weaknesses')).toBe('');
  expect(tileText(300, 'staleness')).toBe('10 months');
});

test('a tint grows with its value and ends at the largest', () => {
  expect(strengthOf(0, 10)).toBe(0);
  expect(strengthOf(10, 10)).toBe(1);
  expect(strengthOf(20, 10)).toBe(1);
  expect(strengthOf(5, 10)).toBeGreaterThan(0.5);
  expect(strengthOf(undefined, 10)).toBe(0);
  expect(strengthOf(1, 0)).toBe(0);
});
