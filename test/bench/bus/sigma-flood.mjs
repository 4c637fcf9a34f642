// A peer that asks for as much as it may, always: a window as wide as the broker grants.
//
//     sigma-flood.mjs ADDRESS SERVICE BYTES
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { clientLimits } from '../../../dist/src/client/limits.js';
import { serveSwitch } from './load.mjs';
import { echoType, openClient } from './sigma-client.mjs';

/** Between a refusal and the next attempt, as the broker asks; a frame is made for each attempt. */
const refusedPauseMs = 250;

const [address, service, bytes] = process.argv.slice(2);
const body = randomBytes(Number(bytes));
const client = await openClient(address, 'bench-flood');
let isOn = false;
let lanes = [];
let startedMs = 0;
let count = 0;
let refused = 0;

async function lane() {
  while (isOn) {
    try {
      await client.request(`service:${service}`, echoType, body);
      count += 1;
    } catch {
      refused += 1;
      await wait(refusedPauseMs);
    }
  }
}

serveSwitch({
  on() {
    [isOn, count, refused, startedMs] = [true, 0, 0, performance.now()];
    lanes = Array.from({ length: clientLimits.requestsMax }, lane);
  },
  async off() {
    const seconds = (performance.now() - startedMs) / 1_000;
    const figures = { perSecond: count / seconds, refusedPerSecond: refused / seconds };
    isOn = false;
    await Promise.all(lanes);
    return figures;
  },
});
