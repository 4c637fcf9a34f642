import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { cardPath, makeCard, placedCard, readCard, writeCard } from '../search/card/card-file.js';
import { Excerpts } from '../source/excerpt.js';
import {
  filesOf,
  placeOf,
  readManifest,
  servedVersion,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from '../plan/manifest.js';
import { OpenFiles } from '../format/container/section-file.js';
import { wordsOf } from './open-shards.js';
import { partOf, type Part, type Weighted } from './shard-partition.js';
import type { ShardIndex } from '../format/shard-index.js';
import { openShard } from '../plan/open-shard.js';
import { ShardOverlays } from '../overlay/shard-overlays.js';
import { Shard } from './shard.js';
import type { Opened } from './shard-pool.js';
import { realRoot } from '../source/source-tree.js';

/**
 * Bytes that an open shard takes besides its files: tables of names and lengths made by the first search, and cached
 * answers. A safe estimate: after 300 questions over Linux 6.1 each of four hosts held 400 MB for its 31 shards.
 */
const openBytes = 512 * 1024;
/** Memory that a search adds, as a share of the segment's bytes. */
const searchShare = 0.35;

/** A shard as the manifest describes it: enough to register it without opening its files. */
export interface ServedShard {
  alias: string;
  project: string;
  /** Absolute, without links. */
  root: string;
  scope: string[];
  /** Changes whenever the shard could answer differently. */
  version: string;
  /** Version of its files. */
  indexVersion: string;
  /** Items per ready overlay. */
  overlays: Record<string, number>;
  /** Memory it takes when open. */
  bytes: number;
}

/** The shards of an index to serve: a part by weight, named ones, or all. */
export type Share = Part | ReadonlySet<string> | 'all';

interface Served {
  shards: ReadonlyMap<string, ServedShard>;
  treeBytes: number;
}

/** A built index whose shards are opened one by one. A newer index needs another instance. */
export class ShardSource {
  readonly shards: ReadonlyMap<string, ServedShard>;
  readonly root: string;
  readonly project: string;
  /** All shards of the index, also those served elsewhere. */
  readonly aliases: readonly string[];
  /** As they were when the plan was made. */
  readonly weights: readonly Weighted[];
  /** Memory of all shards of the index open at once. */
  readonly treeBytes: number;
  readonly #place: IndexPlace;
  readonly #manifest: Manifest;
  readonly #excerpts: Excerpts;
  readonly #onWarning: (warning: string) => void;
  /** Serialises the making of cards. */
  #making: Promise<unknown> = Promise.resolve();

  private constructor(
    place: IndexPlace,
    manifest: Manifest,
    { shards, treeBytes }: Served,
    onWarning: (warning: string) => void,
  ) {
    this.shards = shards;
    this.treeBytes = treeBytes;
    this.root = manifest.root;
    this.project = manifest.project;
    this.aliases = manifest.shards.map(({ alias }) => alias);
    this.weights = manifest.plan.shards;
    this.#place = place;
    this.#manifest = manifest;
    this.#excerpts = new Excerpts(manifest.root);
    this.#onWarning = onWarning;
  }

  /**
   * `onWarning`: called when a shard turns out to lack
   * something, with a sentence. Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT, USAGE for unknown shard names.
   */
  static async open(
    folder: string,
    home: string,
    options: { share?: Share; onWarning?: (warning: string) => void },
  ): Promise<ShardSource> {
    const root = await realRoot(folder);
    const place = placeOf(root, home);
    const manifest = await readManifest(place, root);
    const wanted = aliasesOf(manifest, options.share ?? 'all');
    const shards = new Map<string, ServedShard>();
    let treeBytes = 0;
    for (const shard of manifest.shards) {
      treeBytes += openBytes + (await segmentBytes(place, shard)) * (1 + searchShare);
      if (wanted.has(shard.alias)) shards.set(shard.alias, await servedOf(place, manifest, shard));
    }
    const { onWarning = () => undefined } = options;
    return new ShardSource(place, manifest, { shards, treeBytes }, onWarning);
  }

  /** Throws INDEX_MISSING when a run has replaced the index, INDEX_CORRUPT. */
  async openShard(alias: string): Promise<Opened<Shard>> {
    const known = this.#known(alias);
    const files = new OpenFiles();
    const close = (): void => files[Symbol.dispose]();
    const index = await this.#segment(known, files).catch((error: unknown) => {
      close();
      throw error;
    });
    const overlays = new ShardOverlays(this.#place, known, files);
    const words = wordsOf(this.#place, this.#manifest, alias, this.#excerpts, files);
    const parts = [index, overlays, this.#excerpts, systemClock, undefined, words] as const;
    return { value: new Shard(...parts), close };
  }

  /** Of which state the answers of an open shard are: of this one, unless a newer version of the shard is here. */
  stateOf(alias: string, { version }: Shard): string {
    return this.shards.get(alias)?.version === version ? this.#manifest.digest : version;
  }

  /**
   * The encoded card of a shard: the stored one, or a new one, which is then stored. Making a card opens the shard.
   * Throws as `openShard`.
   */
  async card(alias: string): Promise<Buffer> {
    const known = this.#known(alias);
    const path = cardPath(this.#place, known);
    const kept = readCard(path) ?? (await this.#inTurn(() => this.#make(known, path)));
    const { root, project } = this;
    const index_version = servedVersion(known);
    return placedCard(kept, {
      agent: alias,
      alias,
      project,
      root,
      scope: known.scope,
      index_version,
    });
  }

  async #make(shard: ManifestShard, path: string): Promise<Buffer> {
    using files = new OpenFiles();
    const card = makeCard(await this.#segment(shard, files));
    await writeCard(path, card).catch((error: unknown) =>
      this.#onWarning(`the card of ${shard.alias} is not stored: ${asBusError(error).message}`),
    );
    return Buffer.from(card.message);
  }

  /** One card at a time: all are requested at once, and each holds a shard open. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#making.then(work);
    this.#making = turn.catch(() => undefined);
    return turn;
  }

  #segment(shard: ManifestShard, files: OpenFiles): Promise<ShardIndex> {
    const { alias, scope } = shard;
    const { root, project } = this;
    const version = servedVersion(shard);
    const place = { agent: alias, alias, scope, version, project, root };
    return openShard(this.#place, shard, place, files);
  }

  #known(alias: string): ManifestShard {
    const known = this.#manifest.shards.find((each) => each.alias === alias);
    if (known === undefined) throw new BusError('INDEX_MISSING', { path: `${this.root} ${alias}` });
    return known;
  }
}

function aliasesOf(manifest: Manifest, share: Share): ReadonlySet<string> {
  const aliases = manifest.shards.map(({ alias }) => alias);
  if (share === 'all') return new Set(aliases);
  if ('part' in share) return partOf(manifest.plan.shards, share);
  const unknown = [...share].filter((alias) => !aliases.includes(alias));
  if (unknown.length > 0)
    throw new BusError('USAGE', { detail: `there is no shard ${unknown.join(', ')}` });
  return share;
}

async function servedOf(
  place: IndexPlace,
  { project, root }: Manifest,
  shard: ManifestShard,
): Promise<ServedShard> {
  const { alias, scope } = shard;
  const indexVersion = servedVersion(shard);
  const overlays = new ShardOverlays(place, shard);
  const ready = await readyOf(place, shard);
  const items = Object.fromEntries(ready.map(([name, overlay]) => [name, overlay.items]));
  const segment = await segmentBytes(place, shard);
  // Words are opened by the first report and then kept.
  const sizes = await Promise.all(
    filesOf(shard)
      .filter((file) => !/\.seg$/.test(file))
      .map((file) => bytesOf(place, file)),
  );
  return {
    ...{ alias, project, root, scope, indexVersion, overlays: items },
    version: `${indexVersion}.${overlays.version}`,
    bytes: sizes.reduce((sum, size) => sum + size, 0) + openBytes + segment * (1 + searchShare),
  };
}

async function segmentBytes(place: IndexPlace, { segment, delta }: ManifestShard): Promise<number> {
  return (await bytesOf(place, segment)) + (await bytesOf(place, delta?.segment ?? ''));
}

/** Ready overlays whose file is still there. */
async function readyOf(
  place: IndexPlace,
  { overlays }: ManifestShard,
): Promise<[string, ManifestShard['overlays'][string]][]> {
  const ready = Object.entries(overlays).filter(([, { state }]) => state === 'ready');
  const there = await Promise.all(
    ready.map(async ([, { file }]) => file === '' || (await bytesOf(place, file)) > 0),
  );
  return ready.filter((_, at) => there[at]);
}

/** 0 for a missing file; opening it reports the error. */
async function bytesOf(place: IndexPlace, file: string): Promise<number> {
  if (file === '') return 0;
  return stat(join(place.segments, file)).then(
    ({ size }) => size,
    () => 0,
  );
}
