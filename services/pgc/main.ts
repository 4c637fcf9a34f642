import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { placeOf } from '../../src/pgc/manifest.js';
import { realRoot } from '../../src/pgc/source-tree.js';
import { openShards } from '../../src/pgc/open-shards.js';
import type { Shard } from '../../src/pgc/shard.js';
import { Engine } from '../../src/pgc/vectors/engine.js';
import { endOf, notifySystemd, openClient, untilAccepted, untilStopped } from '../process.js';
import { agentIdOf, HostedShard, recordOf } from './hosted-shard.js';
import { openTreeDesk } from './tree-desk.js';

/** How often the host looks whether a newer index was swapped in. */
const indexPollMs = 1_000;

/** `sigma agent pgc REPO`: serves every shard of a built index, until it is told to stop. Throws INDEX_*. */
export async function runPgc(config: Config, folder: string): Promise<void> {
  const log = openLog(config, { service: 'pgc' });
  const stopped = untilStopped();
  const host = new Host(config, folder, log);
  const registered = host.load();
  const desk = await openTreeDesk(config, folder, log);
  const polling = setInterval(() => void host.reloadIfNewer(), indexPollMs);
  try {
    // The broker may come later than we do; being told to stop must not wait for it.
    const first = await Promise.race([registered.then(() => 'registered'), stopped]);
    if (first === 'registered') await notifySystemd('READY=1');
    await endOf(stopped, host.clients, log);
  } finally {
    clearInterval(polling);
    await desk.close();
    await host.close();
  }
}

/** The shards of one index, each an agent of its own. */
class Host {
  readonly #config: Config;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #hosted = new Map<string, HostedShard>();
  #manifest = '';
  #seen = '';
  #isLoading = false;
  #engine: Engine | undefined;

  constructor(config: Config, folder: string, log: Logger) {
    this.#config = config;
    this.#folder = folder;
    this.#log = log;
  }

  get clients(): Client[] {
    return [...this.#hosted.values()].map((hosted) => hosted.client);
  }

  /** Opens the index and resolves when every shard is registered. Throws INDEX_*. */
  async load(): Promise<void> {
    this.#isLoading = true;
    try {
      const { home } = this.#config;
      this.#manifest = placeOf(await realRoot(this.#folder), home).manifest;
      // Before opening: what is swapped in meanwhile must count as newer.
      const stamp = this.#stamp();
      const engine = await this.#engineInForce();
      const { root, project, shards, semantics } = await openShards(this.#folder, home, engine);
      for (const warning of semantics?.warnings ?? []) this.#log.warn({ project }, warning);
      // The first question shall not wait for the model, nor do without it.
      await semantics?.warm();
      this.#seen = stamp;
      const planVersion = planVersionOf(shards);
      const wanted = new Map(shards.map((shard) => [agentIdOf(shard.index.info), shard]));
      for (const [id, hosted] of this.#hosted) {
        if (wanted.has(id)) continue;
        this.#hosted.delete(id);
        await hosted.close();
      }
      const hosted = [...wanted].map(([id, shard]) => this.#host(id, shard));
      this.#log.info({ project, shards: shards.length, root }, 'serving');
      await Promise.all(hosted.map((each) => this.#register(each, planVersion)));
    } finally {
      this.#isLoading = false;
    }
  }

  /** The old index is served until the new one is open; a broken one changes nothing. */
  async reloadIfNewer(): Promise<void> {
    if (this.#isLoading) return;
    const stamp = this.#stamp();
    if (stamp === this.#seen) return;
    try {
      await this.load();
    } catch (error) {
      this.#seen = stamp;
      this.#log.error(
        { code: asBusError(error).code },
        'a newer index cannot be served; the old one still is',
      );
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.close()));
    await this.#engine?.[Symbol.asyncDispose]();
  }

  /** A run of the indexer may have made what the first one found missing. */
  async #engineInForce(): Promise<Engine> {
    if (this.#engine?.embedder !== undefined) return this.#engine;
    await this.#engine?.[Symbol.asyncDispose]();
    const { home, embedding: settings } = this.#config;
    this.#engine = await Engine.open({ home, settings, env: process.env });
    return this.#engine;
  }

  #host(id: string, shard: Shard): HostedShard {
    const running = this.#hosted.get(id);
    if (running === undefined) return this.#open(id, shard);
    if (running.shard.version === shard.version) shard.index.close();
    else running.exchange(shard);
    return running;
  }

  #open(id: string, shard: Shard): HostedShard {
    const client = openClient(
      this.#config,
      { agent: id, role: 'pgc', isEphemeral: false },
      traceTo(this.#log),
    );
    const hosted = new HostedShard(client, shard);
    this.#hosted.set(id, hosted);
    return hosted;
  }

  #register({ client, shard }: HostedShard, planVersion: string): Promise<void> {
    return untilAccepted(client, this.#log, () => client.register(recordOf(shard, planVersion)));
  }

  #stamp(): string {
    try {
      const stat = statSync(this.#manifest);
      return `${stat.ino}:${stat.mtimeMs}`;
    } catch {
      // Removed, or no longer ours to read: what is open is served on.
      return this.#seen;
    }
  }
}

function planVersionOf(shards: Shard[]): string {
  const aliases = shards.map((shard) => `${shard.index.info.root}\0${shard.agent}`).sort();
  return createHash('sha256').update(aliases.join('\0')).digest('hex').slice(0, 16);
}
