import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Client } from '../../client/client.js';
import { untilAccepted } from '../../client/registration.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { placeOf } from '../plan/manifest.js';
import { aliasOf } from '../plan/planned-shards.js';
import { ShardPool } from './shard-pool.js';
import { ShardSource, type ServedShard, type Share } from './shard-source.js';
import type { Shard } from './shard.js';
import type { Weighted } from './shard-partition.js';
import { realRoot } from '../source/source-tree.js';
import { shardBudget } from './shard-memory.js';
import { agentIdOf, HostedShard, recordOf, type AskShard } from './hosted-shard.js';
import { claim, type HostBus } from './take-over.js';

/** A refresh removes what it replaces; a shard that was just being opened then needs the new manifest. */
const openAttemptsMax = 3;

export interface HostOptions {
  /** `placed`: what `take` is told, and nothing at first. */
  share: Share | 'placed';
  memoryBytes: number;
  /** Shards that another host serves are taken over from it; else they are left alone, and it is an error. */
  takesOver: boolean;
}

export interface HostParts {
  /** Of the indexed tree. */
  folder: string;
  /** Where indexes are stored. */
  home: string;
  options: HostOptions;
  bus: HostBus;
  /** Default: from the index alone. */
  askShard?: AskShard;
  /** What its agents say besides of themselves. */
  capabilities?: readonly string[];
}

/** What hosts need to know of an index to share its shards. */
export interface Plan {
  /** Of the tree: absolute, without links. */
  root: string;
  project: string;
  shards: readonly Weighted[];
  /** The agent that serves each. */
  idOf: ReadonlyMap<string, string>;
}

/** The shards of one index, or a part of them, each an agent of its own; opened when they are asked. */
export class Host {
  readonly #parts: HostParts;
  readonly #hosted = new Map<string, HostedShard>();
  readonly #left: Promise<BusError | undefined>;
  #leave: ((trouble: BusError | undefined) => void) | undefined;
  #source: ShardSource | undefined;
  #pool: ShardPool<Shard> | undefined;
  /** Resolves when the index was read for the first time. */
  readonly #known: Promise<ShardPool<Shard>>;
  #tellKnown: ((pool: ShardPool<Shard>) => void) | undefined;
  #manifest = '';
  #seen = '';
  #loading: Promise<void> | undefined;
  #isClaimed = false;
  readonly #closing = new AbortController();
  readonly #warned = new Set<string>();

  constructor(parts: HostParts) {
    this.#parts = parts;
    this.#left = new Promise((resolve) => (this.#leave = resolve));
    this.#known = new Promise((resolve) => (this.#tellKnown = resolve));
  }

  /** Resolves when no shard is left here: others took them over, or the broker refused them for that reason. */
  get left(): Promise<BusError | undefined> {
    return this.#left;
  }

  /** Resolves when every shard is registered. Throws INDEX_*, REPO_UNREADABLE, USAGE, ALREADY_SERVED. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => (this.#loading = undefined));
    return this.#loading;
  }

  /** The old index is served until the new one is known; a broken one changes nothing. */
  async reloadIfNewer(): Promise<void> {
    if (this.#loading !== undefined || this.#stamp() === this.#seen) return;
    const stamp = this.#stamp();
    try {
      await this.load();
    } catch (error) {
      this.#seen = stamp;
      const { code } = asBusError(error);
      this.#parts.bus.trace('error', 'a newer index cannot be served; the old one still is', {
        code,
      });
    }
  }

  /**
   * Counts the tree as a whole against the memory of this process, as long as it is open beside the shards. Its size is known with
   * the index, which may be read only after the first analysis has come.
   */
  reserveTree(): Disposable {
    let isOver = false;
    let reserved: Disposable | undefined;
    void this.#known.then((pool) => {
      if (isOver) return;
      const bytes = Math.round(this.#source?.treeBytes ?? 0);
      this.#parts.bus.trace('info', 'the whole tree is open', { bytes });
      reserved = pool.reserve(bytes);
    });
    return {
      [Symbol.dispose]: () => {
        isOver = true;
        reserved?.[Symbol.dispose]();
      },
    };
  }

  /** The shards of the index that is served; undefined: none is known yet. */
  get plan(): Plan | undefined {
    const source = this.#source;
    if (source === undefined) return undefined;
    const { root, project, weights } = source;
    return { root, project, shards: weights, idOf: idsOf(source) };
  }

  /** Whether this host answers for a shard. */
  isServing(id: string): boolean {
    return this.#hosted.get(id)?.isGone === false;
  }

  /**
   * Serves these shards, too; another host that does is asked to hand them over. What others took over before is taken again.
   * Throws INTERRUPTED.
   */
  async take(
    aliases: readonly string[],
    holderOf: (id: string) => string = () => '',
  ): Promise<void> {
    const wanted = new Map<string, string>();
    for (const alias of aliases) {
      const id = this.plan?.idOf.get(alias);
      if (id !== undefined) wanted.set(id, alias);
    }
    this.#assertOpen();
    const path = this.#source?.root ?? '';
    const { signal } = this.#closing;
    const request = { ids: [...wanted.keys()], path, takesOver: true, signal, holderOf };
    await claim(this.#parts.bus, request, (id) => this.#take(id, wanted.get(id) ?? ''));
  }

  /** Another host may have taken it meanwhile: then it is that one's. */
  async #take(id: string, alias: string): Promise<void> {
    // By now the index may be another one.
    const source = this.#source;
    const shard = source?.shards.get(alias);
    if (source === undefined || shard === undefined) return;
    const before = this.#hosted.get(id);
    if (before?.isGone === true) {
      this.#hosted.delete(id);
      await before.close();
    }
    try {
      await this.#register(this.#host(id, alias), shard, planVersionOf(source));
    } catch (error) {
      if (asBusError(error).code !== 'SUPERSEDED') throw error;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#hosted.values()].map((hosted) => hosted.close()));
    this.#pool?.closeAll();
  }

  async #load(): Promise<void> {
    const { folder, home } = this.#parts;
    this.#manifest = placeOf(await realRoot(folder), home).manifest;
    // Before reading: what is swapped in meanwhile must count as newer.
    const stamp = this.#stamp();
    const source = await this.#open();
    this.#exchange(source);
    this.#seen = stamp;
    await this.#serve(source);
  }

  /** Shards whose version is another are closed, when their last answer is given; the others stay open. */
  #exchange(source: ShardSource): void {
    const pool = (this.#pool ??= this.#openPool());
    for (const [alias, { version }] of this.#source?.shards ?? [])
      if (source.shards.get(alias)?.version !== version) pool.drop(alias);
    this.#source = source;
    this.#tellKnown?.(pool);
  }

  #openPool(): ShardPool<Shard> {
    const budgetBytes = shardBudget(this.#parts.options.memoryBytes);
    this.#parts.bus.trace('info', 'memory for shards', { budget_bytes: budgetBytes });
    return new ShardPool<Shard>({
      budgetBytes,
      costOf: (alias) => this.#source?.shards.get(alias)?.bytes ?? 0,
      open: (alias) => (this.#source as ShardSource).openShard(alias),
      onOversize: (agent, bytes) =>
        this.#parts.bus.trace('warn', 'larger than the memory; alone', {
          agent,
          bytes,
          budget_bytes: budgetBytes,
        }),
    });
  }

  /** Files that are gone were replaced by a refresh that we have not noticed yet. */
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

  /** Only what is read: registering may wait for a broker, and a question waits for this. */
  async #reread(): Promise<void> {
    this.#exchange(await this.#open());
  }

  #open(): Promise<ShardSource> {
    const { folder, home } = this.#parts;
    const share = this.#share === 'placed' ? 'all' : this.#share;
    return ShardSource.open(folder, home, { share, onWarning: (warning) => this.#warn(warning) });
  }

  get #share(): HostOptions['share'] {
    return this.#parts.options.share;
  }

  async #serve(source: ShardSource): Promise<void> {
    const isWanted = (id: string): boolean => this.#share !== 'placed' || this.isServing(id);
    const all = [...source.shards.values()].map((shard) => [agentIdOf(shard), shard] as const);
    const wanted = new Map(all.filter(([id]) => isWanted(id)));
    for (const [id, hosted] of this.#hosted) {
      if (wanted.has(id)) continue;
      this.#hosted.delete(id);
      await hosted.close();
    }
    const { project, root } = source;
    this.#parts.bus.trace('info', 'serving', {
      project,
      shards: wanted.size,
      of: source.aliases.length,
      root,
    });
    const planVersion = planVersionOf(source);
    const begin = async (id: string): Promise<void> => {
      const shard = wanted.get(id);
      if (shard !== undefined)
        await this.#register(this.#host(id, shard.alias), shard, planVersion);
    };
    const ids = [...wanted.keys()];
    if (this.#isClaimed || this.#share === 'placed') {
      await Promise.all(ids.map(begin));
      return;
    }
    const { bus, options } = this.#parts;
    const { takesOver } = options;
    const { signal } = this.#closing;
    this.#assertOpen();
    await claim(bus, { ids, path: root, takesOver, signal }, begin);
    this.#isClaimed = true;
  }

  #assertOpen(): void {
    if (this.#closing.signal.aborted) throw new BusError('INTERRUPTED');
  }

  /** A shard that another host took over is not taken back. */
  #host(id: string, alias: string): HostedShard {
    const running = this.#hosted.get(id);
    if (running !== undefined) return running;
    // This host is closing: the others are closed already.
    this.#assertOpen();
    const { bus, askShard } = this.#parts;
    const client = bus.connect({ agent: id, role: 'pgc', isEphemeral: false });
    client.onState((state) => {
      if (state === 'closed') this.#onGone(id, client);
    });
    const hosted = new HostedShard(
      client,
      {
        card: () => this.#withIndex((source) => source.card(alias)),
        use: (work, signal) => this.#withIndex(() => this.#poolOf().use(alias, work, signal)),
        stateOf: (shard) => this.#source?.stateOf(alias, shard) ?? '',
      },
      askShard,
    );
    this.#hosted.set(id, hosted);
    return hosted;
  }

  #register(hosted: HostedShard, shard: ServedShard, planVersion: string): Promise<void> {
    if (hosted.isGone) return Promise.resolve();
    const { client } = hosted;
    const record = recordOf(shard, planVersion, this.#parts.capabilities);
    const longer = { ...record, alias: aliasOf(`${shard.project} ${shard.alias}`) };
    return untilAccepted(client, this.#parts.bus.trace, async () => {
      if (idsOfServices.has(shard.alias)) return client.register(longer);
      try {
        await client.register(record);
      } catch (error) {
        if (asBusError(error).code !== 'ALIAS_TAKEN') throw error;
        await client.register(longer);
      }
    });
  }

  #onGone(id: string, client: Client): void {
    // It was closed here.
    if (this.#hosted.get(id)?.client !== client) return;
    this.#parts.bus.trace('info', 'shard left', { agent: id, code: client.trouble?.code ?? '' });
    const all = [...this.#hosted.values()];
    if (!all.every((hosted) => hosted.isGone)) return;
    const troubles = all.flatMap(({ client: { trouble } }) => trouble ?? []);
    const trouble = troubles.find(({ code }) => code !== 'SUPERSEDED' && code !== 'CANCELLED');
    // More may fall to one that shares the tree.
    if (this.#share !== 'placed' || trouble !== undefined) this.#leave?.(trouble);
  }

  #poolOf(): ShardPool<Shard> {
    return (this.#pool ??= this.#openPool());
  }

  /** Each sentence once: many shards may share it. */
  #warn(warning: string): void {
    if (this.#warned.has(warning) || this.#warned.size >= warningsMax) return;
    this.#warned.add(warning);
    this.#parts.bus.trace('warn', warning, { project: this.#source?.project ?? '' });
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

/** They may come later than a shard; an alias would bar them from their id. */
const idsOfServices = new Set(['manager', 'executor', 'critic', 'operator']);

/** Sentences that are logged. */
const warningsMax = 2_048;

function idsOf({ shards }: ShardSource): Map<string, string> {
  return new Map([...shards.values()].map((shard) => [shard.alias, agentIdOf(shard)]));
}

/** The same in all processes that share a tree. */
function planVersionOf({ root, aliases }: ShardSource): string {
  const all = aliases.map((alias) => `${root}\0${alias}`).sort();
  return createHash('sha256').update(all.join('\0')).digest('hex').slice(0, 16);
}
