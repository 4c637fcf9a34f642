import { expect, test } from 'vitest';
import { AcceptLatency } from '../../../src/broker/mail/accept-latency.js';

test('what was slow long ago is forgotten in the recent latency and kept in the total', () => {
  const latency = new AcceptLatency();
  for (let at = 0; at < 1_000; at += 1) latency.record(500);
  expect(latency.recent(0.5)).toBeGreaterThan(300);
  for (let at = 0; at < 10_000; at += 1) latency.record(1);
  expect(latency.recent(0.99)).toBeLessThanOrEqual(1);
  expect(latency.total.count).toBe(11_000);
  expect(latency.total.quantile(0.99)).toBeGreaterThan(300);
});
