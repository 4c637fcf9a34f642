import { expect, test } from 'vitest';
import { OverlayMaker } from '../../../src/manager/overlay-maker.js';
import { loadConfig } from '../../../src/config/config.js';
import { openLog } from '../../../src/observe/log.js';
import { eventually } from '../../support/eventually.js';

/** One whose children are promises of the test. */
function maker(): {
  maker: OverlayMaker;
  runs: { layers: string; end: (isMade: boolean) => void; signal: AbortSignal }[];
} {
  const config = loadConfig({}, { log: 'silent' });
  const runs: ReturnType<typeof maker>['runs'] = [];
  const its = new OverlayMaker({
    log: openLog(config, { service: 'test' }),
    roots: () => Promise.resolve(['/tree']),
    make: (_, layers, signal) =>
      new Promise((resolve) => {
        runs.push({ layers, end: resolve, signal });
        signal.addEventListener('abort', () => resolve(false));
      }),
  });
  return { maker: its, runs };
}
const never = new AbortController().signal;

test('many that want the same overlays wait for one run', async () => {
  const { maker: its, runs } = maker();
  const one = its.generate(['O4', 'O5'], never);
  const two = its.generate(['O5', 'O4', 'O5'], never);
  const three = its.generate(['O6'], never);
  await eventually(() => expect(runs.map(({ layers }) => layers)).toEqual(['O4,O5', 'O6']));
  runs[0]?.end(true);
  await Promise.all([one, two]);
  runs[1]?.end(false);
  await expect(three).rejects.toMatchObject({ code: 'OVERLAYS_MISSING' });
  void its.generate(['O6'], never).catch(() => undefined);
  await eventually(() => expect(runs).toHaveLength(3));
  await its[Symbol.asyncDispose]();
});

test('who leaves is let go at once; the run ends when nobody waits any more', async () => {
  const { maker: its, runs } = maker();
  const [first, second] = [new AbortController(), new AbortController()];
  const one = its.generate(['O4'], first.signal);
  const two = its.generate(['O4'], second.signal);
  await eventually(() => expect(runs).toHaveLength(1));
  first.abort();
  await expect(one).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(runs[0]?.signal.aborted).toBe(false);
  second.abort();
  await expect(two).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(runs[0]?.signal.aborted).toBe(true);
});

test('at the end nothing runs any more, and nothing begins', async () => {
  const { maker: its, runs } = maker();
  const one = its.generate(['O4'], never);
  void one.catch(() => undefined);
  await eventually(() => expect(runs).toHaveLength(1));
  await its[Symbol.asyncDispose]();
  expect(runs[0]?.signal.aborted).toBe(true);
  await expect(one).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(its.generate(['O4'], never)).rejects.toMatchObject({ code: 'CANCELLED' });
});
