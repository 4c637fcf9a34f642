import { expect, test } from 'vitest';
import type { Check } from '../../../services/check.js';
import { Samples } from '../../../services/console/samples.js';
import { VirtualClock } from '../../support/virtual-clock.js';

test('what doctor found is kept for a minute, but not that it failed', async () => {
  const clock = new VirtualClock();
  const found: Check[] = [];
  let asked = 0;
  const checks = (): Promise<Check[]> => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error('no disk')) : Promise.resolve(found);
  };
  const bus = { client: () => Promise.reject(new Error('no broker')) };
  using samples = new Samples({ bus, home: '/', clock, checks } as any);
  await expect(samples.doctor()).rejects.toThrow('no disk');
  expect(await samples.doctor()).toBe(found);
  await samples.doctor();
  expect(asked).toBe(2);
  await clock.advance(60_000);
  await samples.doctor();
  expect(asked).toBe(3);
});
