import { expect, test } from 'vitest';
import type { Sample } from '../../../services/console/samples.js';
import {
  hourMs,
  isBehindGap,
  joined,
  lastOf,
  valuesOf,
} from '../../../services/console/page/pages/health/series.js';

function sample(at_ms: number, messages: number | null): Sample {
  return { at_ms, messages } as Sample;
}

test('what came live goes behind what was there, each once', () => {
  const before = [sample(1_000, 1), sample(6_000, 2)];
  const all = joined(before, [sample(11_000, 3), sample(6_000, 2)]);
  expect(all.map(({ at_ms }) => at_ms)).toEqual([1_000, 6_000, 11_000]);
});

test('older than an hour is left out, by the clock of the console', () => {
  const all = joined([sample(1_000, 1)], [sample(hourMs + 5_000, 2)]);
  expect(valuesOf(all, 'messages')).toEqual([2]);
});

test('samples that a hidden page did not hear are missed', () => {
  expect(isBehindGap([], sample(60_000, 1))).toBe(false);
  expect(isBehindGap([sample(1_000, 1)], sample(6_100, 2))).toBe(false);
  expect(isBehindGap([sample(1_000, 1)], sample(60_000, 2))).toBe(true);
});

test('a gap stays a gap, and the last figure is the last that is known', () => {
  const all = [sample(1, 4), sample(2, null)];
  expect(valuesOf(all, 'messages')).toEqual([4, null]);
  expect(lastOf(all, 'messages')).toBe(4);
  expect(lastOf([sample(1, null)], 'messages')).toBeUndefined();
  expect(lastOf([sample(1, 0)], 'messages')).toBe(0);
});
