import { mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../base/clock.js';
import { Scope } from '../base/scope.js';
import { BusError } from '../errors/bus-error.js';
import {
  parseShardRequest,
  planShards,
  validRequest,
  type PlannedShard,
  type ShardPlan,
  type ShardRequest,
} from './shard-plan.js';
import { factsLayout } from '../store/layouts.js';
import { LevelStore } from '../store/level-store.js';
import { isBelow } from './confined-reader.js';
import { FactStore } from './fact-store.js';
import {
  placeOf,
  readManifest,
  writeManifest,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from './manifest.js';
import { writeAtomically } from './segment-file.js';
import type { History } from './lineage/history.js';
import { historyOf } from './lineage/read-history.js';
import { buildCoherence } from './overlays/coherence.js';
import { buildLineage } from './overlays/lineage.js';
import { RevisionTree } from './revision-tree.js';
import { buildShards, membersOf } from './shard-build.js';
import type { FileRow } from './shard-index.js';
import type { OverlayName } from './shapes.js';
import { SourceMining, type MiningRequest } from './source-mining.js';
import { SourceTree, type LeftOut, type ReadableTree, type SourceFile } from './source-tree.js';

export interface IndexRequest extends MiningRequest {
  root: string;
  /** SIGMA_HOME. */
  home: string;
  /** Absent: as in the last run, `auto` in the first. */
  shards?: ShardRequest;
  /** A revision of git to be read instead of the work tree; nothing that is newer is seen. */
  asOf?: string;
  /** Overlays that are made anew though nothing has changed. */
  layers?: readonly OverlayName[];
  /** Forget what was mined from contents that no file has any more: of other branches, of earlier versions. */
  collects?: boolean;
}

/** What `sigma index --json` prints. */
export interface IndexReport {
  shards: Pick<ManifestShard, 'alias' | 'scope' | 'files' | 'lines' | 'items'>[];
  files_total: number;
  files_mined: number;
  files_reused: number;
  /** Of contents that no file has any more. */
  facts_collected: number;
  /** Of git, for O3: commits that were read, and why not all; 0 commits: there is no git. */
  history: { commits: number; is_complete: boolean; why: string };
  lines_total: number;
  elapsed_ms: number;
  peak_rss_bytes: number;
  disk_bytes: number;
  left_out: Record<string, number>;
}

/**
 * Builds or refreshes the index of a folder. Only new contents are mined, only changed shards are written;
 * the old index is served until the manifest is swapped. A killed run keeps what it mined.
 * Throws REPO_UNREADABLE, REPO_EMPTY, PATH_OUTSIDE_ROOT, SHARD_PLAN_INVALID, INDEX_BUILDING, INTERRUPTED,
 * MINER_FAILED, STORE_UNAVAILABLE.
 */
export async function indexFolder(request: IndexRequest): Promise<IndexReport> {
  const startedMs = performance.now();
  await using scope = new Scope();
  const tree = await openTree(request, scope);
  const given = request.shards === undefined ? undefined : validRequest(request.shards);
  if (typeof given === 'object') await checkInside(given.shards, tree.root);
  const place = placeOf(tree.root, request.home);
  await makeFolder(place.segments);
  await using store = await openStore(place, tree.root);
  const facts = await FactStore.open(store);
  const before = await readManifest(place, tree.root).catch(() => undefined);
  const explicit =
    given === undefined
      ? keptExplicit(before)
      : typeof given === 'object'
        ? given.shards
        : undefined;

  // A process of its own, which reads while we mine.
  const stop = new AbortController();
  scope.defer(() => stop.abort());
  const signal = AbortSignal.any([stop.signal, ...(request.signal ? [request.signal] : [])]);
  const reading = historyOf(tree.root, { asOf: request.asOf, signal });
  reading.catch(() => undefined);
  const run = new SourceMining(tree, facts, request);
  const listed = await run.list(explicit);
  if (typeof given === 'object') checkCovered(given.shards, listed);
  const files = await run.mine(listed);
  if (files.length === 0) throw new BusError('REPO_EMPTY', { path: tree.root });
  const plan = planOf(files, given, before, place.project);
  const { layers = [] } = request;
  const built = await buildShards({
    ...{ place, plan, files, before, facts, run, layers },
    root: tree.root,
  });
  const history = await reading;
  const lineage = await buildLineage(place, built, membersOf(plan, files), history, before);
  const shards = await buildCoherence(place, lineage, before, layers.includes('O7'));

  await writeLeftOut(place, run.leftOut);
  const left_out = countReasons(run.leftOut);
  run.throwIfAborted();
  const as_of = tree instanceof RevisionTree ? tree.commit : '';
  const { project } = place;
  await writeManifest(place, { project, root: tree.root, plan, shards, left_out, as_of });
  await removeOldSegments(place, shards);
  const facts_collected = request.collects === true ? await facts.collect(files) : 0;
  if (facts_collected > 0) await store.compact();
  return {
    shards: shards.map(({ alias, scope, files, lines, items }) => ({
      alias,
      scope,
      files,
      lines,
      items,
    })),
    files_total: files.length,
    files_mined: run.mined,
    files_reused: files.length - run.mined,
    facts_collected,
    history: historyNote(history),
    lines_total: files.reduce((sum, file) => sum + file.lines, 0),
    elapsed_ms: Math.round(performance.now() - startedMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    disk_bytes: await bytesBelow(place.folder),
    left_out,
  };
}

async function openTree(request: IndexRequest, scope: Scope): Promise<ReadableTree> {
  const { root, asOf, signal } = request;
  if (asOf === undefined) return SourceTree.open(root);
  return scope.own(await RevisionTree.open(root, asOf, signal));
}

function historyNote(history: History | undefined): IndexReport['history'] {
  const { commits = 0, isComplete = true, why = '' } = history ?? {};
  return { commits, is_complete: isComplete, why };
}

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
  }
}

/** `auto`, a number, or the path of a plan file. Throws SHARD_PLAN_INVALID or PATH_OUTSIDE_ROOT. */
export async function readShardRequest(argument: string): Promise<ShardRequest> {
  if (argument === 'auto' || /^\d+$/.test(argument)) return parseShardRequest(argument);
  let text: string;
  try {
    text = await readFile(argument, 'utf8');
  } catch (error) {
    const detail = `${argument} is neither auto nor a number nor a file that can be read`;
    throw new BusError('SHARD_PLAN_INVALID', { detail }, { cause: error });
  }
  return parseShardRequest(text);
}

/** Everything the last run left out, and why. Throws REPO_UNREADABLE or INDEX_MISSING. */
export async function readLeftOut(folder: string, home: string): Promise<LeftOut[]> {
  const { root } = await SourceTree.open(folder);
  try {
    const text = await readFile(placeOf(root, home).leftOut, 'utf8');
    return text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as LeftOut);
  } catch (error) {
    throw new BusError('INDEX_MISSING', { path: root }, { cause: error });
  }
}

/** A path may lead outside over a link, whatever its text says. What does not exist leads nowhere. */
async function checkInside(shards: readonly PlannedShard[], root: string): Promise<void> {
  for (const path of shards.flatMap((shard) => shard.paths)) {
    const real = await realpath(join(root, path)).catch(() => root);
    if (!isBelow(real, root)) {
      throw new BusError('PATH_OUTSIDE_ROOT', { path, root });
    }
  }
}

async function openStore(place: IndexPlace, root: string): Promise<LevelStore> {
  try {
    return await LevelStore.open(place.facts, {
      layout: factsLayout,
      clock: systemClock,
      random: Math.random,
    });
  } catch (error) {
    if (error instanceof BusError && error.code === 'STORE_LOCKED') {
      throw new BusError('INDEX_BUILDING', { path: root }, { cause: error });
    }
    throw error;
  }
}

function keptExplicit(before: Manifest | undefined): PlannedShard[] | undefined {
  return before?.plan.mode === 'explicit' ? before.plan.shards : undefined;
}

function planOf(
  files: readonly FileRow[],
  given: ShardRequest | undefined,
  before: Manifest | undefined,
  project: string,
): ShardPlan {
  if (given === undefined && before !== undefined) return before.plan;
  return planShards(files, given ?? 'auto', project);
}

/** A path that holds nothing is a slip of the pen when it was just given; later it may have been emptied. */
function checkCovered(shards: readonly PlannedShard[], files: readonly SourceFile[]): void {
  for (const { alias, paths } of shards) {
    for (const path of paths) {
      const isUsed =
        path === '.' ||
        files.some((file) => file.path === path || file.path.startsWith(`${path}/`));
      if (isUsed) continue;
      const detail = `${alias} names ${path}, which holds no source file`;
      throw new BusError('SHARD_PLAN_INVALID', { detail });
    }
  }
}

/** Also what a killed run left half written: this process holds the lock. */
async function removeOldSegments(
  place: IndexPlace,
  shards: readonly ManifestShard[],
): Promise<void> {
  const current = new Set(
    shards.flatMap((shard) => [
      shard.segment,
      shard.candidates,
      ...Object.values(shard.overlays).map(({ file }) => file),
    ]),
  );
  for (const name of await readdir(place.segments)) {
    if (!current.has(name)) await rm(join(place.segments, name), { force: true });
  }
  for (const name of await readdir(place.folder)) {
    if (name.endsWith('.tmp')) await rm(join(place.folder, name), { force: true });
  }
}

async function writeLeftOut(place: IndexPlace, leftOut: readonly LeftOut[]): Promise<void> {
  const lines = leftOut.map((each) => `${JSON.stringify(each)}\n`).join('');
  await writeAtomically(place.leftOut, [Buffer.from(lines)]);
}

function countReasons(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}

async function bytesBelow(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) sum += await bytesBelow(path);
    // LevelDB removes its files whenever it has merged them.
    else
      sum += await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
  }
  return sum;
}
