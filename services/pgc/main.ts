import { Scope } from '../../src/base/scope.js';
import type { Config } from '../../src/config/config.js';
import { openLog } from '../../src/observe/log.js';
import { notifySystemd, untilStopped } from '../process.js';
import { Host, type HostOptions } from './host.js';
import { serveTree } from './tree-agent.js';

/** How often the host checks whether a newer index was swapped in. */
const indexPollMs = 250;

/**
 * `sigma agent pgc REPO`: serves all or some shards of a built index until it is stopped or other processes have taken
 * all of them over. Throws INDEX_*, USAGE, ALREADY_SERVED.
 */
export async function runPgc(config: Config, folder: string, options: HostOptions): Promise<void> {
  const log = openLog(config, { service: 'pgc' });
  const stopped = untilStopped();
  await using scope = new Scope();
  const host = new Host(config, folder, options, log);
  scope.defer(() => host.close());
  const loaded = host.load();
  // Unhandled when the process is stopped before it has loaded.
  loaded.catch(() => undefined);
  const { memoryBytes } = options;
  const reserve = (): Disposable => host.reserveTree();
  const analyser = await serveTree(config, folder, { memoryBytes, reserve }, log);
  scope.defer(() => analyser.close());
  const polling = setInterval(() => void host.reloadIfNewer(), indexPollMs);
  scope.defer(() => clearInterval(polling));
  // The broker may start later, and a stop must not wait for it.
  const first = await Promise.race([loaded.then(() => 'registered'), stopped]);
  if (first === 'registered') await notifySystemd('READY=1');
  const why = await Promise.race([stopped, host.left]);
  log.info({ why: typeof why === 'string' ? why : 'no agent is left' }, 'stopping');
  void notifySystemd('STOPPING=1');
  if (typeof why === 'object') throw why;
}
