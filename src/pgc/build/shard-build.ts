import { createHash } from 'node:crypto';
import { asBusError } from '../../errors/bus-error.js';
import { linesOf, ownerOf } from '../plan/planned-shards.js';
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
import { segmentFormat } from '../format/container/segment-file.js';
import { openBuilders, type ShardBuilder } from './shard-builders.js';
import type { MinedFile, ShardHead } from './shard-files.js';
import { changesOf, withDelta, withoutDelta, type Changes } from './shard-delta.js';
import type { FileRow } from '../format/shard-index.js';
import type { SourceMining } from './source-mining.js';
import type { RoleMarks } from '../source/role.js';

/** Files whose facts are in memory at once, for each shard being written. */
const factsBatch = 64;

/** What this version of the program writes. */
export const formatsOfShards = `${minerVersion} ${segmentFormat} ${overlayFormat} ${wordsFormat} ${boundFormat}`;

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
  shard: ShardHead;
  files: readonly FileRow[];
  /** Only what has changed is written, beside the files of this shard. */
  delta: Changes | undefined;
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
  const wanted = open.flatMap(({ files, delta }) => delta?.changed ?? files);
  const lines = linesOf(wanted);
  await job.run.complete(wanted);
  await using builders = openBuilders(
    Math.min(job.run.writers, open.length),
    lines,
    job.run.writerHeapMegabytes,
  );
  await builders.all(open, async (builder, task) => {
    job.run.throwIfAborted();
    job.run.progress('write', shards.size, tasks.length);
    const built = (await withChanges(job, builder, task)) ?? (await whole(job, builder, task));
    shards.set(task.shard.alias, built);
  });
  job.run.progress('write', tasks.length, tasks.length);
  return tasks.flatMap(({ shard }) => shards.get(shard.alias) ?? []);
}

async function whole(
  job: BuildJob,
  builder: ShardBuilder,
  { shard, kept, layers, files, delta }: ShardTask,
): Promise<ManifestShard> {
  const { place, digests } = job;
  const stays = kept === undefined ? undefined : { shard: kept, rebuilt: layers };
  // Seen to before, unless only what has changed was to be written.
  if (delta !== undefined) await job.run.complete(files);
  return builder.build({ place, digests, shard, kept: stays }, minedFiles(job, files), (file) =>
    job.run.mineAgain(file),
  );
}

/** Undefined: the shard is to be written as a whole. */
async function withChanges(
  job: BuildJob,
  builder: ShardBuilder,
  { shard, files, delta }: ShardTask,
): Promise<ManifestShard | undefined> {
  if (delta === undefined) return undefined;
  const { place, digests } = job;
  const { head, buckets, changed, hides } = delta;
  const write = async (): Promise<ManifestShard> => {
    if (changed.length + hides.length === 0) return withoutDelta(place, shard, files, delta);
    const built = await builder.build(
      { place, digests, shard: head, kept: undefined, buckets },
      minedFiles(job, changed),
      (file) => job.run.mineAgain(file),
    );
    return withDelta(place, shard, files, delta, built);
  };
  return write().catch((error: unknown) => {
    // The other files are damaged.
    if (/^INDEX_(?:CORRUPT|MISSING)$/.test(asBusError(error).code)) return undefined;
    throw error;
  });
}

/** Overlays that failed or are missing are built again. */
async function taskOf(
  job: BuildJob,
  { alias, scope }: Pick<ManifestShard, 'alias' | 'scope'>,
  files: readonly FileRow[],
): Promise<ShardTask> {
  const made_with = madeWith(files, job);
  const version = versionOf(files, made_with);
  const shard = {
    ...{ alias, scope, version, base: version, made_with },
    segment: `${alias}-${version}.seg`,
  };
  const isForced = job.layers.some((name) => name === 'O1' || name === 'O3');
  const known = isForced ? undefined : job.before?.shards.find((each) => each.alias === alias);
  const isKept = known?.version === version && (await isSound(job, known));
  const kept = isKept ? { ...known, scope } : undefined;
  const layers = filedOverlays.filter(
    (name) => job.layers.includes(name) || kept?.overlays[name]?.state !== 'ready',
  );
  // An overlay of a shard in two parts is rebuilt with all of it.
  if (kept?.delta !== undefined && layers.length > 0)
    return { shard, files, delta: undefined, kept: undefined, layers: filedOverlays };
  const isOther = known !== undefined && known.version !== shard.version;
  const delta =
    isOther && job.layers.length === 0 && (await isSound(job, known))
      ? await changesOf(job.place, known, shard, files)
      : undefined;
  return { shard, files, delta, kept, layers };
}

/** `sigma index` repairs damaged files, so what is kept is read. */
async function isSound(
  { place, isChecked }: Pick<BuildJob, 'place' | 'isChecked'>,
  known: ManifestShard,
): Promise<boolean> {
  if (!isChecked) return true;
  const files = await checkShard(place, known);
  return files.every(({ problem }) => problem === '');
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
function versionOf(files: readonly FileRow[], made_with: string): string {
  const digest = createHash('sha256').update(`${made_with}\n`);
  for (const { path, blob } of files) digest.update(`${path}\0${blob}\n`);
  return digest.digest('hex').slice(0, 20);
}

/** Digest of everything but the texts that a segment depends on. */
function madeWith(
  files: readonly FileRow[],
  { digests, marksOf }: Pick<BuildJob, 'digests' | 'marksOf'>,
): string {
  const digest = createHash('sha256').update(`${formatsOfShards}\n`);
  for (const { path } of files) {
    const marks = marksOf(path);
    if (Object.keys(marks).length > 0) digest.update(`${path}\0${JSON.stringify(marks)}\n`);
  }
  for (const language of [...new Set(files.map((file) => file.language))].sort())
    if (digests[language] !== undefined) digest.update(`${language}\0${digests[language]}\n`);
  return digest.digest('hex').slice(0, 20);
}
