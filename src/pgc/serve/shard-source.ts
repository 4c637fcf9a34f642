import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../base/clock.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { cardPath, makeCard, placedCard, readCard, writeCard } from '../search/card/card-file.js';
import { Excerpts } from '../source/excerpt.js';
import {
  placeOf,
  readManifest,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from '../plan/manifest.js';
import { wordsOf } from './open-shards.js';
import { partOf, type Part } from './shard-parts.js';
import { Segment } from '../format/segment.js';
import { ShardOverlays } from '../overlay/shard-overlays.js';
import type { OverlayName } from '../shapes.js';
import { Shard } from './shard.js';
import type { Opened } from './shard-pool.js';
import { realRoot } from '../source/source-tree.js';
import type { Engine } from '../search/vectors/engine.js';
import { Semantics } from '../search/vectors/semantics.js';
import { servedVersion } from '../search/vectors/vector-file.js';

/**
 * What an open shard takes besides its files, in bytes: tables of names and lengths that are made when it is first
 * searched, and its last answers. An estimate, on the safe side: after 300 questions over Linux 6.1 each of four hosts
 * held 400 MB for its 31 shards.
 */
const openBytes = 512 * 1024;
/** Of the bytes of its segment: what a search makes of them. */
const searchShare = 0.35;

/** What the manifest says of a shard: enough to register it, without opening any of its files. */
export interface ServedShard {
  alias: string;
  project: string;
  /** Absolute, without links. */
  root: string;
  scope: string[];
  /** Of everything that its answers come from. */
  version: string;
  /** Of its files, with their vectors. */
  indexVersion: string;
  /** Items per ready overlay. */
  overlays: Record<string, number>;
  /** What it takes when it is open. */
  bytes: number;
}

/** Which of the shards of an index: a part of them by weight, some by name, or all. */
export type Share = Part | ReadonlySet<string> | 'all';

interface Served {
  shards: ReadonlyMap<string, ServedShard>;
  treeBytes: number;
}

/** A built index, of which shards are opened one by one. A newer version of it is another one. */
export class ShardSource {
  readonly shards: ReadonlyMap<string, ServedShard>;
  readonly root: string;
  readonly project: string;
  /** Of all its shards, whoever serves them. */
  readonly aliases: readonly string[];
  /** What all its shards take that are open at once, without their vectors. */
  readonly treeBytes: number;
  readonly #place: IndexPlace;
  readonly #manifest: Manifest;
  readonly #engine: Engine | undefined;
  readonly #excerpts: Excerpts;
  readonly #onWarning: (warning: string) => void;
  /** The card that is being made, or the last one. */
  #making: Promise<unknown> = Promise.resolve();

  private constructor(
    place: IndexPlace,
    manifest: Manifest,
    { shards, treeBytes }: Served,
    engine: Engine | undefined,
    onWarning: (warning: string) => void,
  ) {
    this.shards = shards;
    this.treeBytes = treeBytes;
    this.root = manifest.root;
    this.project = manifest.project;
    this.aliases = manifest.shards.map(({ alias }) => alias);
    this.#place = place;
    this.#manifest = manifest;
    this.#engine = engine;
    this.#excerpts = new Excerpts(manifest.root);
    this.#onWarning = onWarning;
  }

  /**
   * `engine`: what reads questions by their meaning; it stays the caller's to close. `onWarning`: what a shard cannot
   * do, in a sentence, when that is found. Throws REPO_UNREADABLE, INDEX_MISSING, INDEX_CORRUPT, USAGE for a share
   * that names what is not there.
   */
  static async open(
    folder: string,
    home: string,
    options: { share?: Share; engine?: Engine | undefined; onWarning?: (warning: string) => void },
  ): Promise<ShardSource> {
    const root = await realRoot(folder);
    const place = placeOf(root, home);
    const manifest = await readManifest(place, root);
    const ours = aliasesOf(manifest, options.share ?? 'all');
    const shards = new Map<string, ServedShard>();
    let treeBytes = 0;
    for (const shard of manifest.shards) {
      treeBytes += openBytes + (await bytesOf(place, shard.segment)) * (1 + searchShare);
      if (ours.has(shard.alias)) shards.set(shard.alias, await servedOf(place, manifest, shard));
    }
    const { engine, onWarning = () => undefined } = options;
    return new ShardSource(place, manifest, { shards, treeBytes }, engine, onWarning);
  }

  /** Throws INDEX_MISSING where a run has replaced it meanwhile, INDEX_CORRUPT. */
  async openShard(alias: string): Promise<Opened<Shard>> {
    const known = this.#known(alias);
    const index = await this.#segment(known);
    const overlays = new ShardOverlays(this.#place, known);
    const semantics =
      this.#engine && (await Semantics.open(this.#place, this.#manifest, [index], this.#engine));
    for (const warning of semantics?.warnings ?? []) this.#onWarning(warning);
    const [manifest, excerpts, engine] = [this.#manifest, this.#excerpts, this.#engine] as const;
    const words = wordsOf(this.#place, manifest, alias, excerpts, engine);
    const parts = [index, overlays, excerpts, systemClock, semantics, undefined, words] as const;
    return { value: new Shard(...parts), close: () => index.close() };
  }

  /**
   * The encoded card of a shard, from beside the index or else made and kept there; that opens the shard for as long
   * as it takes. Throws as `openShard`.
   */
  async card(alias: string): Promise<Buffer> {
    const known = this.#known(alias);
    const path = cardPath(this.#place, known);
    const kept = (await readCard(path)) ?? (await this.#inTurn(() => this.#make(known, path)));
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
    const card = makeCard(await this.#segment(shard));
    await writeCard(path, card).catch((error: unknown) =>
      this.#onWarning(`the card of ${shard.alias} is not kept: ${asBusError(error).message}`),
    );
    return card;
  }

  /** One after the other: all of them are wanted at once, and each holds a shard open for as long as it is made. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#making.then(work);
    this.#making = turn.catch(() => undefined);
    return turn;
  }

  /** Starts the model, which takes half a second that the first question need not wait. */
  async warm(): Promise<void> {
    if (this.#engine?.kind === 'bundled')
      await this.#engine.judge?.embed(['a']).catch(() => undefined);
  }

  #segment(shard: ManifestShard): Promise<Segment> {
    const { alias, scope, segment } = shard;
    const { root, project } = this;
    const version = servedVersion(shard);
    const place = { agent: alias, alias, scope, version, project, root };
    return Segment.open(join(this.#place.segments, segment), place);
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
  const items = Object.fromEntries(ready.map(([name, its]) => [name, its.items]));
  const others = [
    shard.vectors?.file ?? '',
    // Opened by the first report, and then kept like the rest.
    shard.words,
    ...ready.map(([name]) => shard.overlays[name as OverlayName]?.file ?? ''),
  ];
  const segment = await bytesOf(place, shard.segment);
  const whole = await Promise.all(others.map((file) => bytesOf(place, file)));
  return {
    ...{ alias, project, root, scope, indexVersion, overlays: items },
    version: `${indexVersion}.${overlays.version}`,
    bytes: whole.reduce((sum, each) => sum + each, 0) + openBytes + segment * (1 + searchShare),
  };
}

/** Overlays that can be served: those whose file somebody has taken away are not. */
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

/** What is absent takes nothing; whoever opens it says that it is. */
async function bytesOf(place: IndexPlace, file: string): Promise<number> {
  if (file === '') return 0;
  return stat(join(place.segments, file)).then(
    ({ size }) => size,
    () => 0,
  );
}
