import type { Client } from '../src/client/client.js';
import { whenClosed } from '../src/client/registration.js';
import type { Logger } from '../src/observe/log.js';
import { reportStopping } from './systemd.js';

/** Signals closer together than this are one. */
const secondSignalMs = 500;

/** What every process of the product does the same way. */

/**
 * Resolves with the signal that asks for an orderly end. A second one ends the process at once with 1.
 * A process started by `sigma up` also ends when its parent is gone, however that happened.
 */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    let stoppingSinceMs: number | undefined;
    const stop = (why: string): void => {
      const nowMs = performance.now();
      stoppingSinceMs ??= nowMs;
      // npm and shells pass a Ctrl-C on that has reached us already: only a later one means impatience.
      if (nowMs - stoppingSinceMs > secondSignalMs) process.exit(1);
      reportStopping();
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

/**
 * Resolves when this process should end: it got a signal, or newer processes took over all its agents.
 * Throws what made the broker refuse them for good, so that the supervisor learns of it.
 */
export async function endOf(
  stopped: Promise<string>,
  clients: Client[],
  log: Logger,
): Promise<void> {
  const why = await Promise.race([stopped, Promise.all(clients.map(whenClosed))]);
  log.info({ why: typeof why === 'string' ? why : 'no agent is left' }, 'stopping');
  const trouble = clients.find((client) => client.state === 'closed')?.trouble;
  if (typeof why !== 'string' && trouble !== undefined && trouble.code !== 'SUPERSEDED')
    throw trouble;
}
