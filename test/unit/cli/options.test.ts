import { expect, test } from 'vitest';
import { size } from '../../../services/cli/options.js';

test.each([
  ['800m', 800 * 1024 * 1024],
  ['2g', 2 * 1024 ** 3],
  ['1.5G', 1.5 * 1024 ** 3],
  ['64kb', 64 * 1024],
  ['1TiB', 1024 ** 4],
])('%s is a size', (text, bytes) => expect(size(text)).toBe(bytes));

test.each(['', '12', 'm', '-1g', '1e9m', '2 g', '1gg'])('%j is none', (text) =>
  expect(() => size(text)).toThrow('It must be a size like 800m or 2g.'),
);
