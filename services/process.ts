import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { systemClock } from '../src/base/clock.js';
import type { Trace } from '../src/base/trace.js';
import { Client, type Identity } from '../src/client/client.js';
import type { Config } from '../src/config/config.js';
import { readSecret } from '../src/config/secrets.js';
import type { Logger } from '../src/observe/log.js';
import { ZeromqLink } from '../src/transport/zeromq.js';

/** What every process of the product does the same way. */

const packageFile = new URL('../../package.json', import.meta.url);
export const version = (JSON.parse(readFileSync(packageFile, 'utf8')) as { version: string })
  .version;

/**
 * Resolves with the signal that asks for an orderly end. A second one ends the process at once with 1.
 * A process started by `sigma up` also ends when that parent is gone, however it went.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let isStopping = false;
    const stop = (why: string): void => {
      if (isStopping) process.exit(1);
      isStopping = true;
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

/** A client of the configured broker for this process; it connects in the background. */
export function openClient(config: Config, identity: Identity, trace?: Trace): Client {
  return Client.connect({
    link: new ZeromqLink(config.bus),
    identity,
    clock: systemClock,
    random: Math.random,
    secretOf: () => readSecret(config.home, identity.role),
    heartbeatMs: config.heartbeatMs,
    ...(trace === undefined ? {} : { trace }),
  });
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
