import { expect, test } from 'vitest';
import { SparseTrace, sparseMs } from '../../../src/base/sparse-trace.js';
import { VirtualClock } from '../../support/virtual-clock.js';

test('what others can cause without end is told once in a while, with how often it was not', async () => {
  const clock = new VirtualClock();
  const told: unknown[] = [];
  const trace = new SparseTrace(
    (level, what, fields) => void told.push([level, what, fields]),
    clock,
  );
  for (let count = 0; count < 1_000; count += 1) trace.tell('warn', 'corrupt', { part: 'head' });
  trace.tell('warn', 'another thing');
  await clock.advance(sparseMs - 1);
  trace.tell('warn', 'corrupt', { part: 'body' });
  expect(told).toEqual([
    ['warn', 'corrupt', { part: 'head' }],
    ['warn', 'another thing', {}],
  ]);
  await clock.advance(1);
  trace.tell('warn', 'corrupt', { part: 'envelope' });
  expect(told.at(-1)).toEqual(['warn', 'corrupt', { part: 'envelope', untold: 1_000 }]);
});
