import { generateAgentCardSignature } from '@a2a-js/sdk';
import type { Config } from '../../src/config/config.js';
import { openLog } from '../../src/observe/log.js';
import { Bus } from '../bus.js';
import { untilStopped } from '../process.js';
import { ensureToken, tokenFile } from '../token.js';
import { ensureCardKey } from './card-key.js';
import { A2aHttp } from './http.js';

export interface A2aOptions {
  /** 0: any. */
  port: number;
  /** The agent's name; otherwise it follows from the working directory. */
  as?: string;
}

/**
 * `sigma a2a`: the agents of the bus for all programs of this machine that have the token. Ends at a signal.
 * Throws SERVER_ADDRESS, KEY_FILE_INVALID.
 */
export async function runA2a(config: Config, { port, as }: A2aOptions): Promise<void> {
  const log = openLog(config, { service: 'a2a' });
  const stopped = untilStopped();
  const { key, published } = ensureCardKey(config.home);
  const { alg, kid } = published;
  // The manager keeps what became of tasks; a message about it would wait for ever.
  const its = { folder: process.cwd(), as, role: 'a2a', reads: false };
  await using bus = new Bus({ config, log, ...its });
  await using server = await A2aHttp.open({
    ...{ port, bus, log, published },
    token: ensureToken(config.home, 'a2a'),
    sign: generateAgentCardSignature(key, { alg, kid, typ: 'JOSE' }),
  });
  process.stdout.write(`ready ${server.url}\ntoken in ${tokenFile(config.home, 'a2a')}\n`);
  await stopped;
}
