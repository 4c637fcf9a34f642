import { expect, test } from 'vitest';
import { Heartbeat } from '../../../src/client/heartbeat.js';
import { VirtualClock } from '../../support/virtual-clock.js';

function beating() {
  const clock = new VirtualClock();
  const said: string[] = [];
  const heartbeat = new Heartbeat({
    ...{ clock, intervalMs: 100, isLive: () => true },
    onDue: () => said.push('ping'),
    onSilence: () => said.push('silence'),
  });
  heartbeat.start();
  return { clock, said, heartbeat };
}

test('a broker that answers no ping is silent after four of them', async () => {
  const { clock, said } = beating();
  await clock.advance(450);
  expect(said).toEqual(['ping', 'ping', 'ping', 'ping']);
  await clock.advance(100);
  expect(said.at(-1)).toBe('silence');
});

test('one that answers is not, however long', async () => {
  const { clock, said, heartbeat } = beating();
  for (let at = 0; at < 20; at += 1) {
    await clock.advance(100);
    heartbeat.heard();
  }
  expect(said).not.toContain('silence');
});

test('while this process stalls nothing can be heard, and that is no silence', async () => {
  const { clock, said } = beating();
  await clock.advance(150);
  clock.stall(10_000);
  await clock.advance(350);
  expect(said).not.toContain('silence');
  await clock.advance(100);
  expect(said.at(-1)).toBe('silence');
});
