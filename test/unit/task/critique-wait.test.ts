import { expect, test } from 'vitest';
import { BusError } from '../../../src/errors/bus-error.js';
import { critiqueWithin } from '../../../src/task/station/critique-wait.js';
import { critiqueLimits } from '../../../src/task/station/critique-station.js';
import { critiqueOf } from '../../support/critiques.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const { waitMs, reviewMs } = critiqueLimits;
const absent = new BusError('NO_RESPONDER', { service: 'critic' });
const lost = new BusError('RESPONDER_LOST', { agent: 'critic' });

/** Each answer takes so long. */
async function waited(answers: [number, 'said' | BusError][]) {
  const clock = new VirtualClock();
  const signal = new AbortController().signal;
  const told: string[] = [];
  let asked = 0;
  const ask = async () => {
    const [ms, said] = answers[Math.min(asked, answers.length - 1)]!;
    asked += 1;
    await new Promise<void>((resolve) => void clock.after(ms, resolve));
    if (said instanceof BusError) throw said;
    return critiqueOf('one', 0.9);
  };
  let isOver = false;
  const onWaiting = (code: string) => Promise.resolve(told.push(code));
  const work = critiqueWithin(ask, { clock, signal, onWaiting }).finally(() => (isOver = true));
  const beganMs = clock.monotonicMs();
  while (!isOver) await clock.advance(500);
  return { said: await work, tookMs: clock.monotonicMs() - beganMs, told };
}

test('a critic that is not there is waited for so long', async () => {
  const { said, tookMs } = await waited([[0, absent]]);
  expect(said).toBe(absent);
  expect(tookMs).toBeGreaterThanOrEqual(waitMs);
  expect(tookMs).toBeLessThan(waitMs + 10_000);
});

test('one that is lost after a long review is waited for as well', async () => {
  const { said, told } = await waited([
    [3 * waitMs, lost],
    [0, absent],
    [waitMs, 'said'],
  ]);
  expect(said).toMatchObject({ id: 'one' });
  expect(told).toEqual(['RESPONDER_LOST', 'NO_RESPONDER']);
});

test('one that is lost again and again is given up', async () => {
  const { said, tookMs } = await waited([[10_000, lost]]);
  expect(said).toBe(lost);
  expect(tookMs).toBeLessThan(reviewMs + 2 * waitMs);
});

test('what will not pass is not tried again', async () => {
  const invalid = new BusError('REVIEW_INVALID', { detail: 'as the test wants' });
  expect(await waited([[0, invalid]])).toMatchObject({ said: invalid, told: [] });
});
