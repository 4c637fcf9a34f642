import { expect, test } from 'vitest';
import { duration, relativeTime } from '../../../services/console/page/parts/time-text.js';

test('how long ago, in the largest unit that fits', () => {
  const now = Date.UTC(2026, 0, 10);
  expect(relativeTime(now - 1_000, now)).toBe('now');
  expect(relativeTime(now - 59_000, now)).toBe('59s ago');
  expect(relativeTime(now - 3_599_000, now)).toBe('59m ago');
  expect(relativeTime(now - 3 * 86_400_000, now)).toBe('3d ago');
  expect(relativeTime(now + 7_200_000, now)).toBe('in 2h');
});

test('a time as it is said', () => {
  expect(duration(12.4)).toBe('12 ms');
  expect(duration(2_340)).toBe('2.3 s');
  expect(duration(42_000)).toBe('42 s');
  expect(duration(200_000)).toBe('3 min 20 s');
  expect(duration(7_200_000)).toBe('2 h');
});
