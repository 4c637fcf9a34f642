import { expect, test } from 'vitest';
import { watchdogMs } from '../../services/systemd.js';

test.each([
  ['a unit without a watchdog', {}, undefined],
  ['this process', { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '7' }, 60_000],
  [
    'the process that started this one',
    { WATCHDOG_USEC: '60000000', WATCHDOG_PID: '6' },
    undefined,
  ],
  ['no one process', { WATCHDOG_USEC: '60000000' }, 60_000],
])('a sign of life is due by the period that is meant for %s', (_, env, periodMs) => {
  expect(watchdogMs(env, 7)).toBe(periodMs);
});
