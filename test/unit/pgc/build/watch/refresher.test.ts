import { expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import {
  changedMax,
  checkEveryMs,
  Refresher,
  type Changed,
} from '../../../../../src/pgc/build/watch/refresher.js';
import { VirtualClock } from '../../../../support/virtual-clock.js';

const limits = { quietMs: 400, delayMsMax: 5_000 };

function stage(refresh: (changed: Changed) => Promise<void> = () => Promise.resolve()) {
  const clock = new VirtualClock();
  const runs: { atMs: number; changed: string[] | undefined }[] = [];
  const failures: string[] = [];
  const refresher = new Refresher({
    clock,
    random: () => 0,
    limits,
    refresh: (changed) => {
      runs.push({ atMs: clock.monotonicMs(), changed: changed && [...changed].sort() });
      return refresh(changed);
    },
    onFailure: ({ code }) => failures.push(code),
  });
  return { clock, runs, failures, refresher };
}

test('a burst of changes is one refresh, after a quiet pause', async () => {
  const { clock, runs, refresher } = stage();
  refresher.onChange(['a.c']);
  await clock.advance(300);
  refresher.onChange(['b.c']);
  await clock.advance(399);
  expect(runs).toEqual([]);
  await clock.advance(1);
  expect(runs).toEqual([{ atMs: 700, changed: ['a.c', 'b.c'] }]);
});

test('under constant change the delay is bounded', async () => {
  const { clock, runs, refresher } = stage();
  for (let ms = 0; ms < 12_000; ms += 100) {
    refresher.onChange(['busy.c']);
    await clock.advance(100);
  }
  expect(runs.map(({ atMs }) => atMs)).toEqual([5_000, 10_000]);
});

test('what changes during a refresh is refreshed after it, never beside it', async () => {
  let end = (): void => undefined;
  const { clock, runs, refresher } = stage(() => new Promise((resolve) => (end = resolve)));
  refresher.onChange(['a.c']);
  await clock.advance(400);
  refresher.onChange(['b.c']);
  await clock.advance(2_000);
  expect(runs).toHaveLength(1);
  end();
  await clock.advance(0);
  expect(runs.map(({ changed }) => changed)).toEqual([['a.c'], ['b.c']]);
});

test('more changes than may be trusted, and unknown ones, are a look at everything', async () => {
  const { clock, runs, refresher } = stage();
  refresher.onChange(Array.from({ length: changedMax + 1 }, (_, at) => `${at}.c`));
  await clock.advance(400);
  refresher.onChange(['a.c']);
  refresher.onChange(undefined);
  refresher.onChange(['b.c']);
  await clock.advance(400);
  expect(runs.map(({ changed }) => changed)).toEqual([undefined, undefined]);
});

test('a refresh that fails is tried again with growing pauses, and nothing it was about is forgotten', async () => {
  let isBroken = true;
  const { clock, runs, failures, refresher } = stage(() =>
    isBroken ? Promise.reject(new BusError('REPO_UNREADABLE')) : Promise.resolve(),
  );
  refresher.onChange(['a.c']);
  await clock.advance(400 + 1_000 + 1_000);
  expect(failures.length).toBeGreaterThanOrEqual(2);
  isBroken = false;
  await clock.advance(60_000);
  expect(runs.at(-1)?.changed).toBeUndefined();
  const sofar = runs.length;
  await clock.advance(60_000);
  expect(runs).toHaveLength(sofar);
});

test('everything is looked at from time to time, whatever was told', async () => {
  const { clock, runs } = stage();
  await clock.advance(checkEveryMs * 2);
  expect(runs).toEqual([
    { atMs: checkEveryMs, changed: undefined },
    { atMs: checkEveryMs * 2, changed: undefined },
  ]);
});

test('after it is closed nothing begins', async () => {
  const { clock, runs, refresher } = stage();
  refresher.onChange(['a.c']);
  await refresher[Symbol.asyncDispose]();
  await clock.advance(checkEveryMs);
  expect([runs, clock.waiting]).toEqual([[], 0]);
});
