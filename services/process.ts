import { execFile } from 'node:child_process';
import { backoffMs } from '../src/base/backoff.js';
import { systemClock } from '../src/base/clock.js';
import type { Trace } from '../src/base/trace.js';
import { Client, type Identity } from '../src/client/client.js';
import type { Config } from '../src/config/config.js';
import { readSecret } from '../src/config/keys.js';
import { asBusError } from '../src/errors/bus-error.js';
import type { Logger } from '../src/observe/log.js';
import { ZeromqLink } from '../src/transport/zeromq.js';
import { linkKeysOf, remoteIdentityOf } from '../src/remote/identity.js';

/** Signals closer together than this are one. */
const secondSignalMs = 500;

/**
 * Over a hundred shards the manager computes for seconds at a time, on a busy machine for many; a broker that takes it
 * for lost meanwhile gives up every question. The next manager takes its name at once, so nobody waits for this.
 */
const computingRole = 'manager';
const computingPatience = 5;
const heartbeatMsMax = 30_000;

/** What every process of the product does the same way. */

/**
 * Resolves with the signal that asks for an orderly end. A second one ends the process at once with 1.
 * A process started by `sigma up` also ends when that parent is gone, however it went.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;
    const stop = (why: string): void => {
      const nowMs = performance.now();
      stoppingSinceMs ??= nowMs;
      // npm and shells pass a Ctrl-C on that has reached us already: only a later one means impatience.
      if (nowMs - stoppingSinceMs > secondSignalMs) process.exit(1);
      resolve(why);
    };
    process.on('SIGTERM', () => stop('SIGTERM'));
    process.on('SIGINT', () => stop('SIGINT'));
    if (process.channel !== undefined) {
      process.on('disconnect', () => stop('parent gone'));
      // Listening to it must not keep a process alive that has finished.
      process.channel.unref();
      // Ctrl-C reaches the whole group of a terminal; the parent decides in which order its children end.
      process.removeAllListeners('SIGINT');
      process.on('SIGINT', () => undefined);
    }
  });
}

/** Tells systemd, where it asked to be told (Type=notify). Node has no Unix datagrams, hence the helper. */
export function notifySystemd(...states: string[]): Promise<void> {
  if (process.env.NOTIFY_SOCKET === undefined) return Promise.resolve();
  return new Promise((resolve) => {
    execFile('systemd-notify', [`--pid=${process.pid}`, ...states], () => resolve());
  });
}

/**
 * A client of the configured broker for this process; it connects in the background.
 * Throws SOCKET_PATH, and over tcp KEYS_MISSING, KEY_FILE_INVALID.
 */
export function openClient(config: Config, identity: Identity, trace?: Trace): Client {
  const keys = remoteIdentityOf(config, identity);
  return Client.connect({
    link: new ZeromqLink(config.bus, keys && linkKeysOf(keys)),
    identity,
    clock: systemClock,
    random: Math.random,
    secretOf: () =>
      keys === undefined ? readSecret(config.home, identity.role) : Buffer.from(keys.secret, 'hex'),
    heartbeatMs: heartbeatMsOf(config, identity.role),
    ...(trace === undefined ? {} : { trace }),
  });
}

function heartbeatMsOf({ heartbeatMs }: Config, role: string): number {
  if (role !== computingRole) return heartbeatMs;
  return Math.min(heartbeatMsMax, heartbeatMs * computingPatience);
}

/**
 * Resolves when this process should end: it was told to, or newer processes took over all its agents.
 * Throws what made the broker refuse them for good, so that whoever supervises hears of it.
 */
export async function endOf(
  stopped: Promise<string>,
  clients: Client[],
  log: Logger,
): Promise<void> {
  const why = await Promise.race([stopped, Promise.all(clients.map(whenClosed))]);
  log.info({ why: typeof why === 'string' ? why : 'no agent is left' }, 'stopping');
  void notifySystemd('STOPPING=1');
  const trouble = clients.find((client) => client.state === 'closed')?.trouble;
  if (typeof why !== 'string' && trouble !== undefined && trouble.code !== 'SUPERSEDED')
    throw trouble;
}

/** Between two attempts to register; a broker whose store fails must not be asked without a pause. */
const registerBackoff = { baseMs: 250, capMs: 5_000 };

/**
 * Runs `work` with a live client until it succeeds once. Resolves early when the client is closed.
 * Throws what trying again does not help.
 */
export async function untilAccepted(
  client: Client,
  log: Logger,
  work: () => Promise<void>,
): Promise<void> {
  const { agent } = client.identity;
  for (let attempt = 0; client.state !== 'closed'; attempt += 1) {
    try {
      await client.ready({ withinMs: 5_000 });
      return await work();
    } catch (error) {
      const { code, retryable } = asBusError(error);
      log.warn({ code, agent }, 'not registered yet');
      if (!retryable) throw error;
    }
    const waitMs = registerBackoff.baseMs + backoffMs(registerBackoff, attempt, Math.random());
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}

/** Resolves when a client has ended for good: refused, superseded or closed by us. */
function whenClosed(client: Client): Promise<void> {
  return new Promise((resolve) => {
    if (client.state === 'closed') return resolve();
    const watching = client.onState((state) => {
      if (state !== 'closed') return;
      watching[Symbol.dispose]();
      resolve();
    });
  });
}
