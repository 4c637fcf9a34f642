import { createHash } from 'node:crypto';
import { ownerOf } from '../plan/planned-shards.js';
import { type ShardPlan } from '../plan/shard-plan.js';
import type { BuildNotice } from '../overlay/build-notice.js';
import type { FactStore, RuleDigests } from '../mine/fact-store.js';
import { minerVersion } from '../format/facts.js';
import { checkShard } from './index-check.js';
import { filedOverlays, type FiledOverlay } from '../overlay/generators.js';
import { boundFormat } from '../format/bound-calls.js';
import { wordsFormat } from '../format/word-lists/words-file.js';
import { overlayFormat } from '../overlay/overlay-file.js';
import { overlayNames, type OverlayName } from '../shapes.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { segmentFormat } from '../format/segment-file.js';
import { openBuilders } from './shard-builders.js';
import type { MinedFile } from './shard-files.js';
import type { FileRow } from '../format/shard-index.js';
import type { SourceMining } from './source-mining.js';
import type { RoleMarks } from '../source/role.js';

/** Files whose facts are in memory at once, for each shard being written. */
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
  /** Overlays to rebuild though nothing has changed. */
  layers: readonly OverlayName[];
  /** Digests of the tree's own O2 rules. */
  digests: RuleDigests;
  /** What attributes say of a path. */
  marksOf: (path: string) => RoleMarks;
  notice: BuildNotice;
  /** Read kept shards completely, to find damage to repair. */
  isChecked: boolean;
}

/** The work for one shard. */
interface ShardTask {
  shard: Pick<ManifestShard, 'alias' | 'scope' | 'version' | 'segment'>;
  files: readonly FileRow[];
  /** The existing shard to keep; undefined: rebuild all. */
  kept: ManifestShard | undefined;
  /** Overlays to rebuild in a kept shard. */
  layers: readonly FiledOverlay[];
}

/** The shards that hold files, in the order of the plan. Unchanged ones keep their segment. */
export async function buildShards(job: BuildJob): Promise<ManifestShard[]> {
  const members = membersOf(job.plan, job.files);
  const tasks: ShardTask[] = [];
  for (const { alias, paths } of job.plan.shards) {
    job.run.throwIfAborted();
    const files = members.get(alias) ?? [];
    if (files.length > 0) tasks.push(await taskOf(job, { alias, scope: paths }, files));
  }
  await job.notice.add(
    new Map(tasks.map(({ shard, kept, layers }) => [shard.alias, kept ? layers : overlayNames])),
  );
  const shards = new Map<string, ManifestShard>();
  for (const { shard, kept, layers } of tasks)
    if (kept !== undefined && layers.length === 0) shards.set(shard.alias, kept);
  const open = tasks.filter(({ shard }) => !shards.has(shard.alias));
  const wanted = open.flatMap(({ files }) => files);
  const lines = wanted.reduce((sum, file) => sum + file.lines, 0);
  await job.run.complete(wanted);
  await using builders = openBuilders(
    Math.min(job.run.writers, open.length),
    lines,
    job.run.writerHeapMegabytes,
  );
  await builders.all(open, async (builder, { shard, kept, layers, files }) => {
    job.run.throwIfAborted();
    job.run.progress('write', shards.size, tasks.length);
    const { place, digests } = job;
    const stays = kept === undefined ? undefined : { shard: kept, rebuilt: layers };
    const built = await builder.build(
      { place, digests, shard, kept: stays },
      minedFiles(job, files),
      (file) => job.run.mineAgain(file),
    );
    shards.set(shard.alias, built);
  });
  job.run.progress('write', tasks.length, tasks.length);
  return tasks.flatMap(({ shard }) => shards.get(shard.alias) ?? []);
}

/** Overlays that failed or are missing are built again. */
async function taskOf(
  job: BuildJob,
  { alias, scope }: Pick<ManifestShard, 'alias' | 'scope'>,
  files: readonly FileRow[],
): Promise<ShardTask> {
  const version = versionOf(files, job);
  const shard = { alias, scope, version, segment: `${alias}-${version}.seg` };
  const isForced = job.layers.some((name) => name === 'O1' || name === 'O3');
  const kept = isForced ? undefined : await keptShard(job, shard);
  const layers = filedOverlays.filter(
    (name) => job.layers.includes(name) || kept?.overlays[name]?.state !== 'ready',
  );
  return { shard, files, kept, layers };
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
  { before, place, isChecked }: BuildJob,
  wanted: Pick<ManifestShard, 'alias' | 'segment' | 'scope'>,
): Promise<ManifestShard | undefined> {
  const known = before?.shards.find((each) => each.segment === wanted.segment);
  if (known === undefined) return undefined;
  if (!isChecked) return { ...known, ...wanted };
  // `sigma index` repairs damaged files, so a kept shard is read.
  const files = await checkShard(place, known);
  return files.every(({ problem }) => problem === '') ? { ...known, ...wanted } : undefined;
}

/** In batches; the next one is fetched while the current one is processed. */
async function* minedFiles(
  { facts, run, marksOf }: BuildJob,
  files: readonly FileRow[],
): AsyncGenerator<MinedFile[]> {
  const fetch = async (at: number): Promise<MinedFile[]> => {
    const batch = files.slice(at, at + factsBatch);
    const found = await facts.getMany(batch);
    return batch.map((file, position) => ({
      ...{ file, facts: found[position], marks: marksOf(file.path) },
    }));
  };
  let next = fetch(0);
  for (let at = 0; at < files.length; at += factsBatch) {
    run.throwIfAborted();
    const batch = await next;
    next = fetch(at + factsBatch);
    // A failure is reported when the batch is awaited, if ever.
    next.catch(() => undefined);
    yield batch;
  }
}

/** Digest of everything that a segment depends on. */
function versionOf(
  files: readonly FileRow[],
  { digests, marksOf }: Pick<BuildJob, 'digests' | 'marksOf'>,
): string {
  const digest = createHash('sha256').update(
    `${minerVersion} ${segmentFormat} ${overlayFormat} ${wordsFormat} ${boundFormat}\n`,
  );
  for (const { path, blob } of files) {
    const marks = marksOf(path);
    const isMarked = Object.keys(marks).length > 0;
    digest.update(`${path}\0${blob}${isMarked ? `\0${JSON.stringify(marks)}` : ''}\n`);
  }
  for (const language of [...new Set(files.map((file) => file.language))].sort())
    if (digests[language] !== undefined) digest.update(`${language}\0${digests[language]}\n`);
  return digest.digest('hex').slice(0, 20);
}
