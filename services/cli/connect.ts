import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { Questions } from '../../src/lattice/questions.js';
import { withClient as withRemoteClient } from '../../src/remote/with-client.js';

/**
 * Runs `work` with a connected client, and ends with INTERRUPTED at Ctrl-C. Throws NO_BROKER at once when no broker
 * listens, KEYS_MISSING, KEY_FILE_INVALID.
 */
export async function withClient<T>(
  config: Config,
  work: (client: Client) => Promise<T>,
  localRole?: string,
): Promise<T> {
  let onSignal: () => void = () => undefined;
  const interrupted = new Promise<never>((_, reject) => {
    onSignal = () => reject(new BusError('INTERRUPTED'));
  });
  process.once('SIGINT', onSignal);
  try {
    return await withRemoteClient(config, work, { localRole, interrupted });
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
    const { RemoteQuestions } = await import('../../src/remote/questions.js');
    return withClient(config, (client) => work(new RemoteQuestions(client)));
  }
  const { withIndex } = await import('./local.js');
  return withIndex(config, repo, work);
}
