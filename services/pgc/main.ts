import { randomBytes } from 'node:crypto';
import { Scope } from '../../src/base/scope.js';
import type { Config } from '../../src/config/config.js';
import { optionsOf } from '../../src/lattice/questions.js';
import { wordsOfShard } from '../../src/lattice/prose/prose-questions.js';
import { openLog, traceTo } from '../../src/observe/log.js';
import { Host, type HostOptions } from '../../src/pgc/serve/host.js';
import type { AskShard } from '../../src/pgc/serve/hosted-shard.js';
import type { HostBus } from '../../src/pgc/serve/take-over.js';
import { serveTree } from '../../src/pgc/serve/tree-agent.js';
import { heldBy, TreeShare } from '../../src/pgc/serve/tree-share.js';
import { openClient } from '../../src/remote/open-client.js';
import { untilStopped } from '../process.js';
import { reportReady } from '../systemd.js';
import { proseOf } from '../prose.js';

/** How often the host checks for a newer index: it looks at one file. */
const indexPollMs = 250;

/**
 * `sigma agent pgc REPO`: serves the shards of a built index, or some of them, until a signal stops it or other
 * processes have taken all of them over. Throws INDEX_*, USAGE, ALREADY_SERVED.
 */
export async function runPgc(config: Config, folder: string, options: HostOptions): Promise<void> {
  const log = openLog(config, { service: 'pgc' });
  const stopped = untilStopped();
  const trace = traceTo(log);
  const bus: HostBus = { connect: (identity) => openClient(config, identity, trace), trace };
  const { home } = config;
  await using scope = new Scope();
  const agent = `pgc-share-${process.pid}-${randomBytes(4).toString('hex')}`;
  const isShared = options.share === 'placed';
  const capabilities = isShared ? [heldBy(agent)] : [];
  const askShard = askShardOf(config);
  const host = new Host({ folder, home, options, bus, askShard, capabilities });
  scope.defer(() => host.close());
  const share = new TreeShare({ host, bus, agent, roomBytes: options.memoryBytes });
  // Before its shards: the others then see that all of it is gone.
  scope.defer(() => share[Symbol.asyncDispose]());
  const ended = new AbortController();
  scope.defer(() => ended.abort());
  const load = async (): Promise<void> => {
    if (isShared) {
      const { pullMissingIndex } = await import('../bus-indexes.js');
      if (await pullMissingIndex(config, folder, { agent: 'pgc', signal: ended.signal }))
        log.info({}, 'the index was pulled from the bus');
    }
    await host.load();
    if (isShared) await share.begin();
  };
  const loaded = load();
  // A signal may come first; then its failure interests no one.
  loaded.catch(() => undefined);
  const { memoryBytes } = options;
  const memory = { memoryBytes, reserve: (): Disposable => host.reserveTree() };
  const tree = await serveTree(bus, { folder, home, memory });
  scope.defer(() => tree.close());
  const polling = setInterval(() => {
    void host.reloadIfNewer().then(() => (isShared ? share.indexChanged() : undefined));
  }, indexPollMs);
  scope.defer(() => clearInterval(polling));
  // The broker may start later than this process; a signal must not wait for it.
  const first = await Promise.race([loaded.then(() => 'registered'), stopped]);
  if (first === 'registered') await reportReady();
  const why = await Promise.race([stopped, host.left]);
  log.info({ why: typeof why === 'string' ? why : 'no agent is left' }, 'stopping');
  if (typeof why === 'object') throw why;
}

/** With the configured language model, if there is one. */
function askShardOf(config: Config): AskShard {
  const prose = proseOf(config);
  return (request, incoming, use) =>
    prose.ask(request, optionsOf(incoming), {
      answer: (wanted) => use((shard) => shard.ask(wanted)),
      known: (words) => use(async ({ index }) => wordsOfShard(index)(words)),
    });
}
