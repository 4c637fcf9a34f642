import { expect, test } from 'vitest';
import { SparseTrace, sparseMs } from '../../../src/base/sparse-trace.js';
import { VirtualClock } from '../../support/virtual-clock.js';

test('what others can cause without end is logged once in a while, with how often it was not', async () => {
  const clock = new VirtualClock();
  const logged: unknown[] = [];
  const trace = new SparseTrace(
    (level, what, fields) => void logged.push([level, what, fields]),
    clock,
  );
  for (let count = 0; count < 1_000; count += 1) trace.log('warn', 'corrupt', { part: 'head' });
  trace.log('warn', 'another thing');
  await clock.advance(sparseMs - 1);
  trace.log('warn', 'corrupt', { part: 'body' });
  expect(logged).toEqual([
    ['warn', 'corrupt', { part: 'head' }],
    ['warn', 'another thing', {}],
  ]);
  await clock.advance(1);
  trace.log('warn', 'corrupt', { part: 'envelope' });
  expect(logged.at(-1)).toEqual(['warn', 'corrupt', { part: 'envelope', suppressed: 1_000 }]);
});
