import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { asBusError, BusError } from '../../src/errors/bus-error.js';
import { traceTo, type Logger } from '../../src/observe/log.js';
import { placeOf } from '../../src/pgc/plan/manifest.js';
import type { Opened } from '../../src/pgc/serve/shard-pool.js';
import { ShardPool } from '../../src/pgc/serve/shard-pool.js';
import { ShardSource, type ServedShard, type Share } from '../../src/pgc/serve/shard-source.js';
import type { Shard } from '../../src/pgc/serve/shard.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { Engine } from '../../src/pgc/search/vectors/engine.js';
import type { Prose } from '../../src/lattice/prose/port.js';
import { openClient, untilAccepted } from '../process.js';
import { proseOf } from '../prose.js';
import { shardBudget } from './host-memory.js';
import { agentIdOf, HostedShard, recordOf } from './hosted-shard.js';
import { claim } from './takeover.js';

/** A refresh removes replaced files, so opening one may fail; then the manifest is read again. */
const openAttemptsMax = 3;

export interface HostOptions {
  share: Share;
  memoryBytes: number;
  /** Takes shards over from another host; else a shard served elsewhere is an error. */
  takesOver: boolean;
}

/** Serves the shards of one index, or a part of them, each as an agent of its own; shards are opened on demand. */
export class Host {
  readonly #config: Config;
  readonly #folder: string;
  readonly #options: HostOptions;
  readonly #log: Logger;
  readonly #hosted = new Map<string, HostedShard>();
  readonly #left: Promise<BusError | undefined>;
  #leave: ((trouble: BusError | undefined) => void) | undefined;
  #source: ShardSource | undefined;
  #pool: ShardPool<Shard> | undefined;
  /** Resolves when the index has been read for the first time. */
  readonly #known: Promise<ShardPool<Shard>>;
  #tellKnown: ((pool: ShardPool<Shard>) => void) | undefined;
  #engine: Engine | undefined;
  #manifest = '';
  #seen = '';
  #loading: Promise<void> | undefined;
  #isClaimed = false;
  readonly #closing = new AbortController();
  readonly #warned = new Set<string>();
  readonly #prose: Prose;

  constructor(config: Config, folder: string, options: HostOptions, log: Logger) {
    this.#config = config;
    this.#folder = folder;
    this.#options = options;
    this.#log = log;
    this.#prose = proseOf(config);
    this.#left = new Promise((resolve) => (this.#leave = resolve));
    this.#known = new Promise((resolve) => (this.#tellKnown = resolve));
  }

  /**
   * Resolves when no shard is left here, because other hosts took them over or the broker refused them as taken over.
   */
  get left(): Promise<BusError | undefined> {
    return this.#left;
  }

  /** Resolves when every shard is registered. Throws INDEX_*, REPO_UNREADABLE, USAGE, ALREADY_SERVED. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** The old index is served until the new one has been read; a damaged one changes nothing. */
  async reloadIfNewer(): Promise<void> {
    if (this.#loading !== undefined || this.#stamp() === this.#seen) return;
    const stamp = this.#stamp();
    try {
      await this.load();
    } catch (error) {
      this.#seen = stamp;
      const { code } = asBusError(error);
      this.#log.error({ code }, 'a newer index cannot be served; the old one still is');
    }
  }

  /**
   * Counts the whole tree against the memory of this process while it is open beside the shards. Its size is known
   * once the index has been read, which may be after the first analysis request.
   */
  reserveTree(): Disposable {
    let isOver = false;
    let reserved: Disposable | undefined;
    void this.#known.then((pool) => {
      if (isOver) return;
      const bytes = Math.round(this.#source?.treeBytes ?? 0);
      this.#log.info({ bytes }, 'the whole tree is open');
      reserved = pool.reserve(bytes);
    });
    return {
      [Symbol.dispose]: () => {
        isOver = true;
        reserved?.[Symbol.dispose]();
      },
    };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.close()));
    this.#pool?.closeAll();
    await this.#engine?.[Symbol.asyncDispose]();
  }

  async #load(): Promise<void> {
    const { home } = this.#config;
    this.#manifest = placeOf(await realRoot(this.#folder), home).manifest;
    // Before reading, so that an index swapped in meanwhile counts as newer.
    const stamp = this.#stamp();
    const before = this.#engine;
    const engine = await this.#engineInForce();
    const source = await ShardSource.open(this.#folder, home, {
      share: this.#options.share,
      engine,
      onWarning: (warning) => this.#warn(warning),
    });
    this.#exchange(source, engine !== before);
    this.#seen = stamp;
    await this.#serve(source);
    // In the background, so that the first question need not wait for the model.
    void source.warm();
  }

  /** Closes shards whose version has changed, after their last answer; others stay open. */
  #exchange(source: ShardSource, isOtherEngine: boolean): void {
    const pool = (this.#pool ??= this.#openPool());
    for (const [alias, { version }] of this.#source?.shards ?? [])
      if (isOtherEngine || source.shards.get(alias)?.version !== version) pool.drop(alias);
    this.#source = source;
    this.#tellKnown?.(pool);
  }

  #openPool(): ShardPool<Shard> {
    const budgetBytes = shardBudget(this.#options.memoryBytes, this.#engine?.kind);
    this.#log.info({ budget_bytes: budgetBytes }, 'memory for shards');
    return new ShardPool<Shard>({
      budgetBytes,
      costOf: (alias) => this.#source?.shards.get(alias)?.bytes ?? 0,
      open: (alias) => this.#openShard(alias),
      onOversize: (agent, bytes) =>
        this.#log.warn(
          { agent, bytes, budget_bytes: budgetBytes },
          'larger than the memory; alone',
        ),
    });
  }

  async #openShard(alias: string): Promise<Opened<Shard>> {
    return this.#withIndex((source) => source.openShard(alias));
  }

  /** A missing file was replaced by a refresh that this host has not noticed yet. */
  async #withIndex<T>(work: (source: ShardSource) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (this.#source === undefined) await this.load();
        return await work(this.#source as ShardSource);
      } catch (error) {
        if (asBusError(error).code !== 'INDEX_MISSING' || attempt >= openAttemptsMax) throw error;
        await this.#reread();
      }
    }
  }

  /** Reads the index without registering: registration may wait for a broker, and a question waits for this. */
  async #reread(): Promise<void> {
    const { share } = this.#options;
    const { home } = this.#config;
    const onWarning = (warning: string): void => this.#warn(warning);
    const engine = this.#engine;
    this.#exchange(await ShardSource.open(this.#folder, home, { share, engine, onWarning }), false);
  }

  async #serve(source: ShardSource): Promise<void> {
    const wanted = new Map([...source.shards.values()].map((shard) => [agentIdOf(shard), shard]));
    for (const [id, hosted] of this.#hosted) {
      if (wanted.has(id)) continue;
      this.#hosted.delete(id);
      await hosted.close();
    }
    const { project, root } = source;
    this.#log.info({ project, shards: wanted.size, of: source.aliases.length, root }, 'serving');
    const planVersion = planVersionOf(source);
    const begin = async (id: string): Promise<void> => {
      const shard = wanted.get(id);
      if (shard !== undefined)
        await this.#register(this.#host(id, shard.alias), shard, planVersion);
    };
    const ids = [...wanted.keys()];
    if (this.#isClaimed) {
      await Promise.all(ids.map(begin));
      return;
    }
    const { takesOver } = this.#options;
    const { signal } = this.#closing;
    this.#assertOpen();
    await claim(this.#config, this.#log, { ids, path: root, takesOver, signal }, begin);
    this.#isClaimed = true;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BusError('INTERRUPTED');
  }

  /** A shard that another host took over is not taken back. */
  #host(id: string, alias: string): HostedShard {
    const running = this.#hosted.get(id);
    if (running !== undefined) return running;
    // `close` does not see shards that are added after it ran.
    this.#assertOpen();
    const client = openClient(
      this.#config,
      { agent: id, role: 'pgc', isEphemeral: false },
      traceTo(this.#log),
    );
    client.onState((state) => {
      if (state === 'closed') this.#onGone(id, client);
    });
    const hosted = new HostedShard(
      client,
      {
        card: () => this.#withIndex((source) => source.card(alias)),
        use: (work, signal) => this.#poolOf().use(alias, work, signal),
      },
      this.#prose,
    );
    this.#hosted.set(id, hosted);
    return hosted;
  }

  #register(hosted: HostedShard, shard: ServedShard, planVersion: string): Promise<void> {
    if (hosted.isGone) return Promise.resolve();
    const { client } = hosted;
    return untilAccepted(client, this.#log, () => client.register(recordOf(shard, planVersion)));
  }

  #onGone(id: string, client: Client): void {
    // It was closed by this host.
    if (this.#hosted.get(id)?.client !== client) return;
    this.#log.info({ agent: id, code: client.trouble?.code ?? '' }, 'shard left');
    const all = [...this.#hosted.values()];
    if (!all.every((hosted) => hosted.isGone)) return;
    const troubles = all.flatMap(({ client: { trouble } }) => trouble ?? []);
    this.#leave?.(troubles.find(({ code }) => code !== 'SUPERSEDED' && code !== 'CANCELLED'));
  }

  #poolOf(): ShardPool<Shard> {
    return (this.#pool ??= this.#openPool());
  }

  /** A run of the indexer may have installed what was missing before. */
  async #engineInForce(): Promise<Engine> {
    if (this.#engine?.embedder !== undefined) return this.#engine;
    await this.#engine?.[Symbol.asyncDispose]();
    const { home, embedding: settings } = this.#config;
    this.#engine = await Engine.open({ home, settings, env: process.env });
    return this.#engine;
  }

  /** Logs each sentence once: many shards may report the same. */
  #warn(warning: string): void {
    if (this.#warned.has(warning) || this.#warned.size >= warningsMax) return;
    this.#warned.add(warning);
    this.#log.warn({ project: this.#source?.project ?? '' }, warning);
  }

  #stamp(): string {
    try {
      const stat = statSync(this.#manifest);
      return `${stat.ino}:${stat.mtimeMs}`;
    } catch {
      // Removed or not readable: the open index is served on.
      return this.#seen;
    }
  }
}

/** Limit for distinct logged warnings. */
const warningsMax = 2_048;

/** The same in all processes that share a tree. */
function planVersionOf({ root, aliases }: ShardSource): string {
  const all = aliases.map((alias) => `${root}\0${alias}`).sort();
  return createHash('sha256').update(all.join('\0')).digest('hex').slice(0, 16);
}
