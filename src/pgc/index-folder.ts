import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { Scope } from '../base/scope.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { type PlannedShard } from './planned-shards.js';
import { planShards, validRequest, type ShardPlan, type ShardRequest } from './shard-plan.js';
import { isBelow } from './confined-reader.js';
import { BuildNotice } from './build-notice.js';
import type { RuleDigests } from './fact-store.js';
import {
  keptPlan,
  placeOf,
  readManifest,
  writeManifest,
  type IndexPlace,
  type LanguageCount,
  type Manifest,
  type ManifestShard,
} from './manifest.js';
import { rulesOf } from './items/rule-file.js';
import { settle, writeAtomically } from './segment-file.js';
import type { History } from './lineage/history.js';
import { historyOf } from './lineage/read-history.js';
import { buildCoherence } from './overlays/coherence.js';
import { generatorVersion } from './overlays/generators.js';
import { buildLineage } from './overlays/lineage.js';
import { FileStamps } from './file-stamps.js';
import { openFacts } from './open-facts.js';
import { RevisionTree } from './revision-tree.js';
import { buildShards, membersOf } from './shard-build.js';
import type { FileRow } from './shard-index.js';
import { overlayNames, type OverlayName } from './shapes.js';
import { SourceMining, type MiningRequest } from './source-mining.js';
import { bytesBelow, RunBudget, type BudgetRequest } from './run-budget.js';
import { Sweeper } from './sweeper.js';
import { refreshVectors, type VectorRequest } from './vectors/build-vectors.js';
import { SourceTree, type LeftOut, type ReadableTree, type SourceFile } from './source-tree.js';

/** On disk, of each line; drivers of the kernel take 27, tables less. */
const lineBytesMin = 8;

export interface IndexRequest extends Omit<MiningRequest, 'budget'>, BudgetRequest {
  root: string;
  /** SIGMA_HOME. */
  home: string;
  /** Absent: as in the last run, `auto` in the first. */
  shards?: ShardRequest;
  /** A revision of git to be read instead of the work tree; nothing that is newer is seen. */
  asOf?: string;
  /** Overlays that are made anew though nothing has changed. */
  layers?: readonly OverlayName[];
  /**
   * Only these files, and what is below these folders, may have changed since the last run, as whoever watches the tree
   * has heard: others are not looked at, nor are files of shards that stay. Absent: everything is looked at.
   */
  changed?: ReadonlySet<string>;
  /** Forget what was mined from contents that no file has any more: of other branches, of earlier versions. */
  collects?: boolean;
  /** What makes vectors; absent: nobody said, and those that are there stay. */
  embedding?: VectorRequest;
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
  /** By language, those without a grammar too. */
  languages: Record<string, LanguageCount>;
  elapsed_ms: number;
  peak_rss_bytes: number;
  disk_bytes: number;
  left_out: Record<string, number>;
  /** What went otherwise than one would think, in sentences. */
  notes: string[];
}

/** A tree of somebody else may have switched rules off. */
const ownRulesNote = 'rules of .sigma/security.json are in force; sigma overlay rules lists them';

/**
 * Builds or refreshes the index of a folder. Only new contents are mined, only changed shards are written;
 * the old index is served until the manifest is swapped. A killed run keeps what it mined.
 * An overlay that cannot be made has failed, and the others are served. Throws CONFIG_INVALID (the rule
 * file of the tree), REPO_UNREADABLE, REPO_EMPTY, PATH_OUTSIDE_ROOT, SHARD_PLAN_INVALID, INDEX_BUILDING,
 * INTERRUPTED, MINER_FAILED, USAGE (a budget that nothing fits in), TOO_LARGE (memory), STORE_UNAVAILABLE.
 */
export async function indexFolder(request: IndexRequest): Promise<IndexReport> {
  const startedMs = performance.now();
  await using scope = new Scope();
  const tree = await openTree(request, scope);
  const rules = await rulesOf(tree);
  const given = request.shards === undefined ? undefined : validRequest(request.shards);
  const explicit = typeof given === 'object' && 'shards' in given ? given.shards : undefined;
  if (explicit !== undefined) await checkInside(explicit, tree.root);
  const place = placeOf(tree.root, request.home);
  await makeFolder(place.segments);
  using budget = new RunBudget(place.folder, request);
  await using opened = await openFacts(place, tree.root, rules.digests);
  const { store, facts } = opened;
  const before = await servedBefore(place, tree.root);
  const kept = before?.plan ?? (await keptPlan(place));
  await using sweeper = await Sweeper.begin(place, before?.shards);
  await using notice = await BuildNotice.begin(place);
  const { layers = [] } = request;
  await notice.tell(outdated(before, layers, rules.digests));
  const signal = endOf(request, budget, scope);
  // A process of its own, which reads while we mine.
  const reading = historyOf(tree.root, { asOf: request.asOf, signal });
  reading.catch(() => undefined);
  const stamps =
    tree instanceof RevisionTree
      ? undefined
      : await FileStamps.read(place.stamps, tree.root, request.changed);
  await using run = new SourceMining(tree, facts, { ...request, signal, budget }, rules, stamps);
  const listed = await run.list(explicit ?? explicitPlan(given, kept));
  if (explicit !== undefined) checkCovered(explicit, listed);
  const files = await run.mine(listed);
  if (files.length === 0) throw new BusError('REPO_EMPTY', { path: tree.root });
  const plan = withLines(planOf(files, given, kept, place.project), files);
  // A refresh may write next to nothing.
  if (before === undefined) await budget.expectDisk(linesOf(files) * lineBytesMin);
  const built = await buildShards({
    ...{ place, plan, files, before, facts, run, layers, notice },
    ...{ root: tree.root, digests: rules.digests, writers: run.writers },
    isChecked: request.changed === undefined,
  });
  run.progress('history', 0, 0);
  const history = await reading.catch((error: unknown) => {
    run.throwIfAborted();
    throw error;
  });
  const members = membersOf(plan, files);
  const ofHistory = layers.includes('O3') ? undefined : before;
  const lineage = await buildLineage(place, built, members, history, ofHistory, notice);
  run.throwIfAborted();
  const coherent = isAsBefore(request, built, before)
    ? lineage
    : await buildCoherence(place, lineage, before, layers.includes('O7'), notice);
  const vectors = await refreshVectors({
    ...{
      place,
      shards: coherent,
      before,
      home: request.home,
      embedding: request.embedding,
      signal,
      threads: run.writers,
    },
    progress: (done, total) => run.progress('write', done, total),
  }).catch((error: unknown) => {
    run.throwIfAborted();
    throw error;
  });
  const { shards } = vectors;

  checkWritten(place, shards);
  await budget.expectDisk(0);
  await writeLeftOut(place, run.leftOut);
  await stamps?.write(place.stamps);
  const left_out = countReasons(run.leftOut);
  run.throwIfAborted();
  const as_of = tree instanceof RevisionTree ? tree.commit : '';
  const { project } = place;
  await settle(place.segments, sweeper.unsettled(shards));
  // A swap that fails half-way may have been made.
  sweeper.release();
  await writeManifest(place, { project, root: tree.root, plan, shards, left_out, as_of });
  await sweeper.keep(shards);
  const facts_collected = request.collects === true ? await facts.collect(files) : 0;
  // LevelDB gives room back when it rewrites what stands beside it, which may be never.
  if (facts_collected + facts.removed > 0) await store.compact();
  return {
    shards: shards.map(({ alias, scope, files: count, lines, items }) => ({
      ...{ alias, scope, files: count, lines, items },
    })),
    ...{ files_total: files.length, files_mined: run.mined },
    ...{ files_reused: files.length - run.mined, facts_collected },
    ...{ history: historyNote(history), lines_total: linesOf(files) },
    languages: languagesOf(shards),
    elapsed_ms: Math.round(performance.now() - startedMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    disk_bytes: await bytesBelow(place.folder),
    left_out,
    notes: [
      ...(opened.note === '' ? [] : [opened.note]),
      ...(Object.keys(rules.digests).length === 0 ? [] : [ownRulesNote]),
      ...run.notes,
      ...vectors.notes,
    ],
  };
}

/** Aborted when the caller wants no more, when a budget is spent, and when the run has failed. */
function endOf({ signal }: IndexRequest, budget: RunBudget, scope: Scope): AbortSignal {
  const stop = new AbortController();
  scope.defer(() => stop.abort());
  return AbortSignal.any([stop.signal, budget.signal, ...(signal === undefined ? [] : [signal])]);
}

async function openTree(request: IndexRequest, scope: Scope): Promise<ReadableTree> {
  const { root, asOf, signal } = request;
  if (asOf === undefined) return SourceTree.open(root);
  return scope.own(await RevisionTree.open(root, asOf, signal));
}

/** Undefined when there is none, or none that can be read: then everything is written anew. */
async function servedBefore(place: IndexPlace, root: string): Promise<Manifest | undefined> {
  return readManifest(place, root).catch((error: unknown) => {
    const { code } = asBusError(error);
    if (code === 'INDEX_MISSING' || code === 'INDEX_CORRUPT') return undefined;
    throw error;
  });
}

/** What will be made anew whatever the files hold. */
function outdated(
  before: Manifest | undefined,
  layers: readonly OverlayName[],
  digests: RuleDigests,
): Map<string, OverlayName[]> {
  const isOutdated = ({ overlays, languages }: ManifestShard, name: OverlayName): boolean =>
    layers.includes(name) ||
    overlays[name]?.state !== 'ready' ||
    overlays[name].version !== generatorVersion(name, digests, Object.keys(languages));
  return new Map(
    before?.shards.map((shard) => [
      shard.alias,
      overlayNames.filter((name) => isOutdated(shard, name)),
    ]),
  );
}

/** A full disk is no failure of one overlay: the old index is served on, and the next run may find space. */
function checkWritten(place: IndexPlace, shards: readonly ManifestShard[]): void {
  const reasons = shards.flatMap(({ overlays }) =>
    Object.values(overlays).map(({ reason }) => reason),
  );
  const detail = reasons.find((reason) =>
    /^STORE_UNAVAILABLE: .*\b(?:ENOSPC|EDQUOT)\b/.test(reason),
  );
  if (detail !== undefined)
    throw new BusError('STORE_UNAVAILABLE', { path: place.segments, detail });
}

function languagesOf(shards: readonly ManifestShard[]): Record<string, LanguageCount> {
  const all: Record<string, LanguageCount> = {};
  for (const [name, its] of shards.flatMap(({ languages }) => Object.entries(languages))) {
    const sum = (all[name] ??= { files: 0, lines: 0, bytes: 0, error_bytes: 0, scanned: 0 });
    for (const key of Object.keys(sum) as (keyof LanguageCount)[]) sum[key] += its[key];
  }
  return all;
}

function linesOf(files: readonly FileRow[]): number {
  return files.reduce((sum, file) => sum + file.lines, 0);
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

/** The plan in force when it is explicit: what is outside such a plan is left out. */
function explicitPlan(
  given: ShardRequest | undefined,
  kept: ShardPlan | undefined,
): PlannedShard[] | undefined {
  if (given !== undefined) return undefined;
  return kept?.mode === 'explicit' ? kept.shards : undefined;
}

function planOf(
  files: readonly FileRow[],
  given: ShardRequest | undefined,
  kept: ShardPlan | undefined,
  project: string,
): ShardPlan {
  if (given === undefined && kept !== undefined) return kept;
  return planShards(files, given ?? 'auto', project, kept);
}

/** Whoever watches has heard of files that turned out to be nobody's: what O7 says of all shards still holds. */
function isAsBefore(
  { changed, layers = [] }: IndexRequest,
  built: readonly ManifestShard[],
  before: Manifest | undefined,
): boolean {
  if (changed === undefined || layers.length > 0) return false;
  const served = new Map(before?.shards.map((shard) => [shard.segment, shard]));
  return (
    built.length === served.size &&
    built.every(({ segment, overlays }) => {
      const { O7 } = served.get(segment)?.overlays ?? {};
      return O7?.state === 'ready' && O7.file === overlays.O7?.file;
    })
  );
}

/** What each shard weighs, once: the parts of hosts must not move with every line that is written. */
function withLines(plan: ShardPlan, files: readonly FileRow[]): ShardPlan {
  if (plan.shards.some(({ lines }) => lines !== undefined)) return plan;
  const members = membersOf(plan, files);
  const shards = plan.shards.map((shard) => ({
    ...shard,
    lines: linesOf(members.get(shard.alias) ?? []),
  }));
  return { ...plan, shards };
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

async function writeLeftOut(place: IndexPlace, leftOut: readonly LeftOut[]): Promise<void> {
  const lines = leftOut.map((each) => `${JSON.stringify(each)}\n`).join('');
  await writeAtomically(place.leftOut, [Buffer.from(lines)]);
}

function countReasons(leftOut: readonly LeftOut[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { reason } of leftOut) counts[reason] = (counts[reason] ?? 0) + 1;
  return counts;
}
