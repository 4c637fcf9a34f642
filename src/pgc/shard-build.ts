import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { ownerOf, type ShardPlan } from './shard-plan.js';
import type { FactStore } from './fact-store.js';
import { decodeFacts, minerVersion, type FileFacts } from './facts.js';
import type { IndexPlace, Manifest, ManifestShard } from './manifest.js';
import { corrupt, segmentFormat, writeSegment } from './segment-file.js';
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
}

/** Shards that hold files, in the order of the plan; those whose content is unchanged keep their segment. */
export async function buildShards(job: BuildJob): Promise<ManifestShard[]> {
  const owner = ownerOf(job.plan.shards);
  const members = job.plan.shards.map((): FileRow[] => []);
  for (const file of job.files) {
    const shard = owner(file.path);
    if (shard !== undefined) members[shard]?.push(file);
  }
  const shards: ManifestShard[] = [];
  for (const [index, { alias, paths }] of job.plan.shards.entries()) {
    job.run.throwIfAborted();
    job.run.progress('write', index, job.plan.shards.length);
    const files = members[index] ?? [];
    if (files.length === 0) continue;
    const version = versionOf(files);
    const segment = `${alias}-${version}.seg`;
    const kept = await keptShard(job, { alias, segment, scope: paths });
    shards.push(kept ?? (await buildShard(job, { alias, scope: paths, version, segment }, files)));
  }
  job.run.progress('write', job.plan.shards.length, job.plan.shards.length);
  return shards;
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
    return { ...known, ...wanted };
  } catch {
    return undefined;
  }
}

async function buildShard(
  { place, root, facts }: BuildJob,
  shard: Pick<ManifestShard, 'alias' | 'scope' | 'version' | 'segment'>,
  files: readonly FileRow[],
): Promise<ManifestShard> {
  const writer = new SegmentWriter();
  for (let at = 0; at < files.length; at += factsBatch) {
    const batch = files.slice(at, at + factsBatch);
    const found = await facts.getMany(batch);
    for (const [position, file] of batch.entries()) {
      writer.add(file, await decoded(facts, file, found[position], place));
    }
  }
  const { counts } = writer;
  const info: ShardInfo = {
    agent: shard.alias,
    alias: shard.alias,
    project: place.project,
    root,
    scope: shard.scope,
    languages: counts.languages,
    files: counts.files,
    lines: counts.lines,
    version: shard.version,
    overlays: counts.items,
  };
  await writeSegment(join(place.segments, shard.segment), writer.finish(info));
  return { ...shard, files: counts.files, lines: counts.lines, items: counts.items };
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
  const digest = createHash('sha256').update(`${minerVersion} ${segmentFormat}\n`);
  for (const { path, blob } of files) digest.update(`${path}\0${blob}\n`);
  return digest.digest('hex').slice(0, 20);
}
