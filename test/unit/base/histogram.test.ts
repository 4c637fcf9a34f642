import { expect, test } from 'vitest';
import { Histogram, quantileOf } from '../../../src/base/histogram.js';

test('a quantile is within a quarter of the true one, over six decades', () => {
  for (const scale of [0.05, 1, 30, 700]) {
    const histogram = new Histogram();
    for (let at = 1; at <= 1_000; at += 1) histogram.record((at / 1_000) * scale * 10);
    for (const q of [0.5, 0.9, 0.99]) {
      const share = histogram.quantile(q) / (q * scale * 10);
      expect(share, `${q} at ${scale}`).toBeGreaterThan(0.75);
      expect(share, `${q} at ${scale}`).toBeLessThan(1.25);
    }
  }
});

test('buckets are cumulative, and the last one holds what is longer than any bound', () => {
  const histogram = new Histogram();
  for (const ms of [0, 1, 1.1, 1e9]) histogram.record(ms);
  const buckets = histogram.buckets();
  expect(buckets.find((each) => each.boundMs === 1)?.atMost).toBe(2);
  expect(buckets.find((each) => each.boundMs === 1.25)?.atMost).toBe(3);
  expect(buckets.at(-1)).toEqual({ boundMs: Infinity, atMost: 4 });
  expect(buckets.at(-2)?.atMost).toBe(3);
  expect(histogram.count).toBe(4);
});

test('without records there is no latency, and what is longer than all bounds counts as the last', () => {
  const histogram = new Histogram();
  expect(histogram.quantile(0.99)).toBe(0);
  histogram.record(1e9);
  expect(histogram.quantile(0.99)).toBe(8_000);
});

test('a quantile over several histograms is over all their records', () => {
  const [fast, slow] = [new Histogram(), new Histogram()];
  for (let at = 0; at < 90; at += 1) fast.record(1);
  for (let at = 0; at < 10; at += 1) slow.record(100);
  expect(quantileOf([fast, slow], 0.5)).toBeLessThanOrEqual(1);
  expect(quantileOf([fast, slow], 0.95)).toBeGreaterThan(79);
});
