import { randomBytes } from 'node:crypto';
import type { Client } from '../client/client.js';
import type { Config } from '../config/config.js';
import { BusError } from '../errors/bus-error.js';
import { isListening } from '../transport/probe.js';
import { personOf, remoteIdentity } from './identity.js';

/** A broker that accepts connections greets within this, or something is wrong with it. */
const greetingMsMax = 3_000;

export interface ClientOptions {
  /** Over ipc; over tcp the identity file names the role. */
  localRole?: string | undefined;
  /** Rejects when the work is to end early. */
  interrupted?: Promise<never>;
}

/**
 * Runs `work` with a connected client: over tcp as the agent of the identity file, else under a name of
 * its own. Throws NO_BROKER at once when no broker listens, KEYS_MISSING, KEY_FILE_INVALID.
 */
export async function withClient<T>(
  config: Config,
  work: (client: Client) => Promise<T>,
  { localRole = 'client', interrupted }: ClientOptions = {},
): Promise<T> {
  const remote = remoteIdentity(config);
  const { agent, role } = remote ?? {
    agent: `cli-${process.pid}-${randomBytes(4).toString('hex')}`,
    role: localRole,
  };
  if (!(await isListening(config.bus))) throw new BusError('NO_BROKER', { address: config.bus });
  // Loaded only once a broker listens: it is half of what a command takes to start.
  const { openClient } = await import('./open-client.js');
  const person = personOf(config);
  const client = openClient(config, { agent, role, isEphemeral: remote === undefined, person });
  const done = client.ready({ withinMs: greetingMsMax }).then(() => work(client));
  try {
    return await (interrupted === undefined ? done : Promise.race([done, interrupted]));
  } finally {
    // After an interruption no caller is left for how the work ends.
    done.catch(() => undefined);
    await client.close();
  }
}
