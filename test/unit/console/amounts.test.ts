import { expect, test } from 'vitest';
import {
  beginning,
  bytesText,
  counted,
  countText,
} from '../../../services/console/page/parts/amounts.js';
import { scales } from '../../../services/console/page/parts/scales.js';

test('bytes in the largest unit that leaves a figure before the point', () => {
  expect([0, 900, 1_024, 1_536, 150 * 1_024, 5 * 1_024 ** 3].map(bytesText)).toEqual([
    ...['0 B', '900 B', '1.0 KiB', '1.5 KiB', '150 KiB', '5.0 GiB'],
  ]);
});

test('thousands are apart, and one is not several', () => {
  expect(countText(20_000)).toBe('20\u202f000');
  expect(counted(1, 'letter')).toBe('1 letter');
  expect(counted(0, 'letter')).toBe('0 letters');
});

test('a long text says that there is more', () => {
  expect(beginning('abcdef', 6)).toBe('abcdef');
  expect(beginning('abcdefg', 6)).toBe('abcde…');
});

test('an axis counts in round steps of its own unit, each once and growing', () => {
  for (const { steps } of Object.values(scales)) {
    const sorted = [...new Set(steps)].sort((one, other) => one - other);
    expect(steps).toEqual(sorted);
  }
  expect(scales.time.format(0.416)).toBe('0.42 ms');
  expect(scales.time.format(120_000)).toBe('2 min');
  expect(scales.rate.format(0.25)).toBe('0.3/s');
});
