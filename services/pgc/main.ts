import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Config } from '../../src/config/config.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { openLog, traceTo, type Logger } from '../../src/observe/log.js';
import { placeOf } from '../../src/pgc/manifest.js';
import { openShards } from '../../src/pgc/open-shards.js';
import type { Shard } from '../../src/pgc/shard.js';
import { notifySystemd, openClient, untilStopped } from '../process.js';
import { agentIdOf, HostedShard, recordOf } from './hosted-shard.js';

/** How often the host looks whether a newer index was swapped in. */
const indexPollMs = 1_000;

/** `sigma agent pgc REPO`: serves every shard of a built index, until it is told to stop. Throws INDEX_*. */
export async function runPgc(config: Config, folder: string): Promise<void> {
  const log = openLog(config, { service: 'pgc' });
  const stopped = untilStopped();
  const host = new Host(config, folder, log);
  await host.load();
  const polling = setInterval(() => void host.reloadIfNewer(), indexPollMs);
  await host.whenRegistered();
  await notifySystemd('READY=1');
  log.info({ why: await stopped }, 'stopping');
  void notifySystemd('STOPPING=1');
  clearInterval(polling);
  await host.close();
}

class Host {
  readonly #config: Config;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #hosted = new Map<string, HostedShard>();
  #registrations: Promise<void>[] = [];
  #manifest = '';
  #seenMs = 0;
  #isLoading = false;

  constructor(config: Config, folder: string, log: Logger) {
    this.#config = config;
    this.#folder = folder;
    this.#log = log;
  }

  async load(): Promise<void> {
    const { root, project, shards } = await openShards(this.#folder, this.#config.home);
    this.#manifest = placeOf(root, this.#config.home).manifest;
    this.#seenMs = this.#changedMs();
    const planVersion = planVersionOf(shards);
    const wanted = new Map(shards.map((shard) => [agentIdOf(shard), shard]));
    for (const [id, hosted] of this.#hosted) {
      if (wanted.has(id)) continue;
      this.#hosted.delete(id);
      await hosted.close();
    }
    for (const [id, shard] of wanted) this.#host(id, shard, planVersion);
    this.#log.info({ project, shards: shards.length, root }, 'serving');
  }

  /** The old index is served until the new one is open; a broken one changes nothing. */
  async reloadIfNewer(): Promise<void> {
    if (this.#isLoading || this.#changedMs() === this.#seenMs) return;
    this.#isLoading = true;
    try {
      await this.load();
    } catch (error) {
      this.#seenMs = this.#changedMs();
      this.#log.error(
        { code: asBusError(error).code },
        'a newer index cannot be served; the old one still is',
      );
    } finally {
      this.#isLoading = false;
    }
  }

  async whenRegistered(): Promise<void> {
    await Promise.all(this.#registrations);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.close()));
  }

  #host(id: string, shard: Shard, planVersion: string): void {
    const running = this.#hosted.get(id);
    if (running?.version === shard.index.info.version) shard.index.close();
    else running?.exchange(shard);
    const hosted = running ?? this.#open(id, shard);
    this.#registrations.push(this.#register(hosted, recordOf(shard, planVersion)));
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

  async #register(hosted: HostedShard, record: ReturnType<typeof recordOf>): Promise<void> {
    // The broker may come later than we do; the client keeps trying, and we wait as long as it takes.
    while (hosted.client.state !== 'closed') {
      try {
        await hosted.client.ready({ withinMs: 5_000 });
        await hosted.client.register(record);
        return;
      } catch (error) {
        const { code, retryable } = asBusError(error);
        if (code === 'CANCELLED') return;
        this.#log.warn({ code, agent: hosted.client.identity.agent }, 'not registered yet');
        if (!retryable) throw error;
      }
    }
  }

  #changedMs(): number {
    return statSync(this.#manifest, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  }
}

function planVersionOf(shards: Shard[]): string {
  const aliases = shards.map((shard) => shard.agent).sort();
  return createHash('sha256').update(aliases.join('\0')).digest('hex').slice(0, 8);
}
