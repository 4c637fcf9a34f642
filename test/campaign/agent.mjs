import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../../dist/src/base/clock.js';
import { Client } from '../../dist/src/client/client.js';
import { loadConfig } from '../../dist/src/config/config.js';
import { readSecret } from '../../dist/src/config/keys.js';
import { openClient } from '../../dist/src/remote/open-client.js';
import { isNats } from '../../dist/src/transport/address.js';
import { ZeromqLink } from '../../dist/src/transport/zeromq.js';

/** Where the broker of this home listens, unless it is told otherwise. */
export const addressOf = (home) => `ipc://${path.join(home, 'run/bus.sock')}`;

/**
 * A client of that broker, connecting in the background; of the bus on NATS, where the environment names one. `parts` replace what
 * a client is made of.
 */
export function connectTo(home, agent, { role = 'tester', isEphemeral = false, ...parts } = {}) {
  const identity = { agent, role, isEphemeral };
  if (isNats(process.env.SIGMA_BUS ?? '')) return openClient(loadConfig(process.env), identity);
  return Client.connect({
    link: parts.link ?? new ZeromqLink(addressOf(home)),
    identity,
    clock: systemClock,
    random: Math.random,
    secretOf: () => readSecret(home, role),
    ...parts,
  });
}

/** A public record; whoever has one has a mailbox, also while it is away. */
export function recordOf(alias) {
  return {
    ...{ alias, model: '', project: 'campaign', scope: [], overlays: {}, capabilities: [] },
    protocol_versions: ['1'],
  };
}

/** Again until it holds or `withinMs` are over; then its last failure is thrown. */
export async function until(claim, withinMs, pauseMs = 50) {
  const endMs = performance.now() + withinMs;
  while (true) {
    try {
      const value = await claim();
      if (value !== undefined && value !== false) return value;
      if (performance.now() > endMs) throw new Error(`not within ${withinMs} ms: ${claim}`);
    } catch (error) {
      if (performance.now() > endMs) throw error;
    }
    await new Promise((resolve) => systemClock.after(pauseMs, resolve));
  }
}

/** Milliseconds since 1970 on which all processes of a machine agree, and that do not jump. */
export const nowMs = () => performance.timeOrigin + performance.now();

/** Again as long as trying again is worth it. Throws what is not. */
export async function untilTaken(work, pauseMs = 200) {
  while (true) {
    try {
      return await work();
    } catch (error) {
      if (error.retryable !== true) throw error;
    }
    await new Promise((resolve) => systemClock.after(pauseMs, resolve));
  }
}

/** For a worker: ends when whoever started it is gone. */
export function endWithParent() {
  process.on('disconnect', () => process.exit(0));
  return JSON.parse(process.argv[2] ?? '{}');
}
