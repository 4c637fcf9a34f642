import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ownerOf, type ShardPlan } from './shard-plan.js';
import type { FactStore } from './fact-store.js';
import {
  decodeFacts,
  isCode,
  minerVersion,
  type FileFacts,
  type ItemFact,
  type SymbolFact,
} from './facts.js';
import {
  filedOverlays,
  generators,
  overlayNumber,
  type FiledOverlay,
} from './overlays/generators.js';
import { overlayFormat, OverlayFile, OverlayWriter } from './overlays/overlay-file.js';
import type { OverlayName } from './shapes.js';
import type { IndexPlace, Manifest, ManifestShard } from './manifest.js';
import { corrupt, segmentFormat, segmentLayout, writeSections } from './segment-file.js';
import { SegmentWriter } from './segment-writer.js';
import { Segment } from './segment.js';
import type { FileRow, ShardInfo } from './shard-index.js';
import type { SourceMining } from './source-mining.js';

/** Facts decoded at once while a segment is written. */
const factsBatch = 64;

export interface BuildJob {
  place: IndexPlace;
  root: string;
  plan: ShardPlan;
  /** In order of the paths. */
  files: readonly FileRow[];
  before: Manifest | undefined;
  facts: FactStore;
  run: SourceMining;
  /** Overlays that are made anew though nothing has changed. */
  layers: readonly OverlayName[];
}

/** Shards that hold files, in the order of the plan; those whose content is unchanged keep their segment. */
export async function buildShards(job: BuildJob): Promise<ManifestShard[]> {
  const members = membersOf(job.plan, job.files);
  const shards: ManifestShard[] = [];
  for (const [index, { alias, paths }] of job.plan.shards.entries()) {
    job.run.throwIfAborted();
    job.run.progress('write', index, job.plan.shards.length);
    const files = members.get(alias) ?? [];
    if (files.length === 0) continue;
    const version = versionOf(files);
    const segment = `${alias}-${version}.seg`;
    const kept = await keptShard(job, { alias, segment, scope: paths });
    if (kept === undefined || job.layers.some((name) => name === 'O1' || name === 'O3'))
      shards.push(await buildShard(job, { alias, scope: paths, version, segment }, files));
    else {
      const layers = filedOverlays.filter((name) => job.layers.includes(name));
      shards.push(layers.length === 0 ? kept : await rebuildOverlays(job, kept, files, layers));
    }
  }
  job.run.progress('write', job.plan.shards.length, job.plan.shards.length);
  return shards;
}

/** The files of each shard, by its alias. */
export function membersOf(plan: ShardPlan, files: readonly FileRow[]): Map<string, FileRow[]> {
  const owner = ownerOf(plan.shards);
  const members = new Map<string, FileRow[]>(plan.shards.map(({ alias }) => [alias, []]));
  for (const file of files) {
    const shard = owner(file.path);
    if (shard !== undefined) members.get(plan.shards[shard]?.alias ?? '')?.push(file);
  }
  return members;
}

async function keptShard(
  { before, place }: BuildJob,
  wanted: Pick<ManifestShard, 'alias' | 'segment' | 'scope'>,
): Promise<ManifestShard | undefined> {
  const known = before?.shards.find((each) => each.segment === wanted.segment);
  if (known === undefined) return undefined;
  try {
    // Reads it whole: `index` is what repairs a damaged segment.
    await Segment.open(join(place.segments, wanted.segment));
    for (const file of [
      known.candidates,
      ...Object.values(known.overlays).map((each) => each.file),
    ])
      if (file !== '') await OverlayFile.open(join(place.segments, file));
    return { ...known, ...wanted };
  } catch {
    return undefined;
  }
}

async function buildShard(
  job: BuildJob,
  shard: Pick<ManifestShard, 'alias' | 'scope' | 'version' | 'segment'>,
  files: readonly FileRow[],
): Promise<ManifestShard> {
  const { place, root } = job;
  const writer = new SegmentWriter();
  const overlays = new OverlayWriters(filedOverlays);
  const candidates = new OverlayWriter();
  await eachFacts(job, files, (file, facts) => {
    if (isCode(file.language)) writer.add(file, facts);
    const items = anchored(facts);
    overlays.add(file, items);
    candidates.add(file.path, file.blob, of('O7', items));
  });
  const { O1, O3 } = writer.items;
  const states: ManifestShard['overlays'] = {
    O1: stateOf('O1', O1, ''),
    O3: stateOf('O3', O3, ''),
    ...(await overlays.write(place, shard)),
  };
  const items = countsOf(states);
  const candidatesFile = `${shard.alias}-${shard.version}.candidates.ovl`;
  await candidates.write(join(place.segments, candidatesFile), {
    ...{ overlay: 'O7', alias: shard.alias, generator: 'candidates' },
    version: generators.O7.version,
  });
  const lines = files.reduce((sum, file) => sum + file.lines, 0);
  const info: ShardInfo = {
    agent: shard.alias,
    alias: shard.alias,
    project: place.project,
    root,
    scope: shard.scope,
    languages: [...new Set(files.map((file) => file.language))].sort(),
    files: files.length,
    lines,
    version: shard.version,
    overlays: items,
  };
  await writeSections(join(place.segments, shard.segment), segmentLayout, writer.finish(info));
  const read = { files: files.length, lines, items, calls: O3 };
  return { ...shard, ...read, candidates: candidatesFile, overlays: states };
}

/** Only these overlays of a shard whose sources have not changed. */
async function rebuildOverlays(
  job: BuildJob,
  shard: ManifestShard,
  files: readonly FileRow[],
  layers: readonly FiledOverlay[],
): Promise<ManifestShard> {
  const writers = new OverlayWriters(layers);
  await eachFacts(job, files, (file, facts) => writers.add(file, anchored(facts)));
  const overlays = { ...shard.overlays, ...(await writers.write(job.place, shard)) };
  return { ...shard, items: { ...shard.items, ...countsOf(overlays) }, overlays };
}

/** Writers of several overlays of one shard. */
class OverlayWriters {
  readonly #writers: Map<FiledOverlay, OverlayWriter>;

  constructor(layers: readonly FiledOverlay[]) {
    this.#writers = new Map(layers.map((name) => [name, new OverlayWriter()]));
  }

  add(file: FileRow, items: readonly Anchored[]): void {
    for (const [name, writer] of this.#writers) writer.add(file.path, file.blob, of(name, items));
  }

  async write(
    place: IndexPlace,
    { alias, version: ofShard }: Pick<ManifestShard, 'alias' | 'version'>,
  ): Promise<ManifestShard['overlays']> {
    const states: ManifestShard['overlays'] = {};
    for (const [name, writer] of this.#writers) {
      const file = `${alias}-${ofShard}.${name}.ovl`;
      const { version, name: generator } = generators[name];
      await writer.write(join(place.segments, file), { overlay: name, alias, generator, version });
      states[name] = stateOf(name, writer.items, file);
    }
    return states;
  }
}

async function eachFacts(
  { facts, place }: BuildJob,
  files: readonly FileRow[],
  visit: (file: FileRow, facts: FileFacts) => void,
): Promise<void> {
  for (let at = 0; at < files.length; at += factsBatch) {
    const batch = files.slice(at, at + factsBatch);
    const found = await facts.getMany(batch);
    for (const [position, file] of batch.entries())
      visit(file, await decoded(facts, file, found[position], place));
  }
}

type Anchored = ItemFact & { symbol: string };

function of(overlay: OverlayName, items: readonly Anchored[]): Anchored[] {
  return items.filter((item) => item.overlay === overlayNumber(overlay));
}

function countsOf(overlays: ManifestShard['overlays']): Record<string, number> {
  return Object.fromEntries(Object.entries(overlays).map(([name, { items }]) => [name, items]));
}

export function stateOf(
  overlay: OverlayName,
  items: number,
  file: string,
): ManifestShard['overlays'][string] {
  const { name: generator, version } = generators[overlay];
  return { state: 'ready', generator, version, items, file };
}

/** Items with the name of the innermost symbol around each. */
function anchored(facts: FileFacts): Anchored[] {
  const open: SymbolFact[] = [];
  let next = 0;
  const symbols = [...facts.symbols].sort(
    (a, b) => a.line_start - b.line_start || b.line_end - a.line_end,
  );
  return [...facts.items]
    .sort((a, b) => a.line_start - b.line_start)
    .map((item) => {
      for (; next < symbols.length; next += 1) {
        const symbol = symbols[next];
        if (symbol === undefined || symbol.line_start > item.line_start) break;
        open.push(symbol);
      }
      while (open.length > 0 && (open.at(-1)?.line_end ?? 0) < item.line_start) open.pop();
      const around = open.findLast((symbol) => symbol.line_end >= item.line_start);
      return { ...plainItem(item), symbol: around?.name ?? '' };
    });
}

/** Defaults of the decoder stand on its prototype, which a spread does not copy. */
function plainItem(item: ItemFact): ItemFact {
  const { overlay, rule, line_start, line_end, text, subject, severity, cwe } = item;
  return { overlay, rule, line_start, line_end, text, subject, severity, cwe };
}

/** Facts that cannot be read are forgotten, so that the next run mines them again. */
async function decoded(
  facts: FactStore,
  file: FileRow,
  bytes: Buffer | undefined,
  place: IndexPlace,
): Promise<FileFacts> {
  try {
    if (bytes !== undefined) return decodeFacts(bytes);
  } catch {
    await facts.remove(file);
  }
  throw corrupt(place.facts, `facts of ${file.path}`);
}

/** Digest of everything that goes into a segment. */
function versionOf(files: readonly FileRow[]): string {
  const digest = createHash('sha256').update(`${minerVersion} ${segmentFormat} ${overlayFormat}\n`);
  for (const { path, blob } of files) digest.update(`${path}\0${blob}\n`);
  return digest.digest('hex').slice(0, 20);
}
