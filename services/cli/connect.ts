import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Questions } from '../../src/lattice/questions.js';
import { withClient as withRemoteClient } from '../../src/remote/with-client.js';

/**
 * Runs `work` with a connected client, and ends with INTERRUPTED at Ctrl-C; `signal` tells the work of it. Throws NO_BROKER at once when no broker
 * listens, KEYS_MISSING, KEY_FILE_INVALID.
 */
export async function withClient<T>(
  config: Config,
  work: (client: Client, signal: AbortSignal) => Promise<T>,
  localRole?: string,
): Promise<T> {
  const over = new AbortController();
  // First of those that listen: what the work then fails with is not the reason.
  const interrupted = new Promise<never>((_, reject) => {
    over.signal.addEventListener('abort', () => reject(new BusError('INTERRUPTED')));
  });
  const onSignal = (): void => over.abort();
  process.once('SIGINT', onSignal);
  try {
    const signalled = (client: Client): Promise<T> => work(client, over.signal);
    return await withRemoteClient(config, signalled, { localRole, interrupted });
  } finally {
    process.off('SIGINT', onSignal);
  }
}

/**
 * Runs `work` with the built index of `repo`, or with the manager of the running lattice.
 */
export async function withQuestions<T>(
  config: Config,
  repo: string | undefined,
  work: (questions: Questions) => Promise<T>,
): Promise<T> {
  if (repo === undefined) {
    const { remoteQuestions } = await import('../../src/remote/questions.js');
    return withClient(config, (client) => work(remoteQuestions(client, process.cwd())));
  }
  const { withIndex } = await import('./local.js');
  return withIndex(config, repo, work);
}
