import { mkdir, rm } from 'node:fs/promises';
import { Scope } from '../../base/scope.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { BuildNotice } from '../overlay/build-notice.js';
import type { RuleDigests } from '../mine/fact-store.js';
import { inherit, rememberTree, takenFrom } from './kin.js';
import { SeenTree } from './seen-tree.js';
import { CheckedFiles } from './checked-files.js';
import { historyNote, languagesOf, type IndexReport } from './index-report.js';
import { rulesOf } from '../mine/items/rule-file.js';
import { countReasons, writeLeftOut } from './left-out-files.js';
import {
  keptPlan,
  manifestIn,
  placeOf,
  writeManifest,
  type IndexPlace,
  type Manifest,
  type ManifestShard,
} from '../plan/manifest.js';
import { openFacts } from './open-facts.js';
import { buildCoherence } from '../overlay/coherence.js';
import { FileLineage } from '../overlay/file-lineage.js';
import { generatorVersion } from '../overlay/generators.js';
import { buildLineage } from '../overlay/lineage.js';
import { linesOf } from '../plan/planned-shards.js';
import { RunPlan } from './run-plan.js';
import { RevisionTree } from '../source/revision-tree.js';
import { bytesBelow, RunBudget, type BudgetRequest } from './run-budget.js';
import { settle } from '../format/container/segment-file.js';
import { overlayNames, type OverlayName } from '../shapes.js';
import { bindShards, type BoundShards } from './binding/bind-shards.js';
import { buildShards, formatsOfShards, membersOf, type BuildJob } from './shard-build.js';
import type { ShardRequest } from '../plan/shard-plan.js';
import { SourceMining, type MiningRequest } from './source-mining.js';
import { readRoleMarks } from '../source/role-marks.js';
import { SourceTree, type ReadableTree } from '../source/source-tree.js';
import { IndexCleaner } from './index-cleaner.js';
import { keyOf } from './shard-key.js';
import { checkScip, type LayerRequest } from './binding/precise-layer.js';

export type { IndexReport } from './index-report.js';

/** Estimate of disk space per line: drivers of the kernel take 27, tables less. */
const lineBytesMin = 8;

export interface IndexRequest extends Omit<MiningRequest, 'budget'>, BudgetRequest {
  root: string;
  /** SIGMA_HOME. */
  home: string;
  /** Absent: the last run's plan, or `auto` in the first run. */
  shards?: ShardRequest;
  /** A git revision to read instead of the work tree; nothing newer is seen. */
  asOf?: string;
  /** Overlays to rebuild though nothing has changed. */
  layers?: readonly OverlayName[];
  /**
   * The files, and folders, that may have changed since the last run, as reported by a watcher. No other file is
   * looked at, nor are the files of unchanged shards. Absent: everything is checked.
   */
  changed?: ReadonlySet<string>;
  /** Delete facts of contents that no file has any more, such as those of other branches or earlier versions. */
  collects?: boolean;
  /** SCIP indexes, which have the last word on what is called; `none`: without them; absent: as before. */
  scip?: LayerRequest;
}

/** The tree may come from other people, and its rules may switch shipped ones off. */
const ownRulesNote = 'rules of .sigma/security.json are in force; sigma overlay rules lists them';

/**
 * Builds or refreshes the index of a folder. Only new contents are mined, and only changed shards are written. The old
 * index is served until the manifest is swapped. A killed run keeps what it mined. A failed overlay is marked as
 * failed, and the others are served. Throws CONFIG_INVALID (the rule file of the tree), REPO_UNREADABLE, REPO_EMPTY,
 * PATH_OUTSIDE_ROOT, SHARD_PLAN_INVALID, INDEX_BUILDING, INTERRUPTED, MINER_FAILED, USAGE (a budget that is too
 * small), TOO_LARGE (memory), STORE_UNAVAILABLE.
 */
export async function indexFolder(request: IndexRequest): Promise<IndexReport> {
  const startedMs = performance.now();
  await checkScip(request.scip);
  await using scope = new Scope();
  const tree = await openTree(request, scope);
  const rules = await rulesOf(tree);
  const wanted = await RunPlan.of(request.shards, tree.root);
  const place = placeOf(tree.root, request.home);
  await inherit(place, tree.root, request.home);
  await makeFolder(place.segments);
  using budget = new RunBudget(place.folder, request);
  await using opened = await openFacts(place, tree.root, rules.digests);
  const { store, facts } = opened;
  const before = await servedBefore(place, tree.root);
  const taken = await takenFrom(place, before, { ...request, root: tree.root });
  const kept = before?.plan ?? (await keptPlan(place));
  await using cleaner = await IndexCleaner.begin(place, before);
  await using notice = await BuildNotice.begin(place);
  const { layers = [] } = request;
  // A watcher tells what has changed in this tree, not how it differs from the one whose index it begins with.
  const changed = before?.root === tree.root ? request.changed : undefined;
  const stale = outdated(before, layers, rules.digests);
  await notice.add(stale);
  const checked = await CheckedFiles.read(place, before);
  const signal = endOf(request, budget, scope);
  const lineage = await FileLineage.begin(
    tree.root,
    { asOf: request.asOf, signal },
    place,
    layers.includes('O3') ? undefined : before,
  );
  const { digests } = rules;
  const seen =
    tree instanceof SourceTree
      ? await SeenTree.read(place.seen, tree, { changed, digests })
      : undefined;
  await using run = new SourceMining(tree, facts, { ...request, signal, budget }, rules, seen);
  const listed = await run.list(wanted.explicit(kept));
  wanted.check(listed);
  const files = await run.mine(listed);
  if (files.length === 0) throw new BusError('REPO_EMPTY', { path: tree.root });
  const report = async (
    served: Pick<Manifest, 'shards' | 'left_out'>,
    more: Pick<IndexReport, 'history' | 'facts_collected' | 'sites_bound' | 'scip'>,
  ): Promise<IndexReport> => ({
    project: place.project,
    shards: served.shards.map(({ alias, scope: paths, files: count, lines, items }) => ({
      ...{ alias, scope: paths, files: count, lines, items },
    })),
    ...{ files_total: files.length, files_mined: run.mined },
    ...{ files_reused: files.length - run.mined, lines_total: linesOf(files) },
    languages: languagesOf(served.shards),
    elapsed_ms: Math.round(performance.now() - startedMs),
    peak_rss_bytes: process.resourceUsage().maxRSS * 1024,
    disk_bytes: await bytesBelow(place.folder),
    left_out: served.left_out,
    notes: [
      ...(opened.note === '' ? [] : [opened.note]),
      ...(taken === undefined ? [] : [taken]),
      ...(Object.keys(digests).length === 0 ? [] : [ownRulesNote]),
      ...run.notes,
    ],
    ...more,
  });
  const isServed =
    before !== undefined &&
    isRefresh(request) &&
    checked.areSound &&
    [...stale.values()].every((names) => names.length === 0) &&
    before.as_of === '' &&
    before.root === tree.root &&
    seen?.isAsBefore(servedAs(before.digest)) === true &&
    (await lineage.isAsIn(before));
  if (isServed) {
    if (seen.isOutdated) await seen.write(place.seen, servedAs(before.digest));
    return await report(before, {
      history: historyNote(before.history),
      facts_collected: 0,
      sites_bound: 0,
    });
  }
  const plan = wanted.planFor(files, place.project, kept);
  const marksOf = await readRoleMarks(tree, run.leftOut);
  // Only for a first run: a refresh may write next to nothing.
  if (before === undefined) await budget.expectDisk(linesOf(files) * lineBytesMin);
  const isChecked = changed === undefined && !checked.areSound;
  const { shards, scip, bound_by, layer, sites } = await madeShards(request, lineage, {
    ...{ place, plan, files, before, facts, run, layers, notice },
    ...{ root: tree.root, digests, marksOf, isChecked },
  });
  checkWritten(place, shards);
  await budget.expectDisk(0);
  await writeLeftOut(place, run.leftOut);
  const left_out = countReasons(run.leftOut);
  const history = await lineage.mark();
  run.throwIfAborted();
  await settle(place.segments, cleaner.written({ shards, scip }));
  // A swap that throws may still have happened.
  cleaner.keepAll();
  const digest = await writeManifest(place, {
    ...{ project: place.project, root: tree.root, plan, shards, left_out },
    as_of: tree instanceof RevisionTree ? tree.commit : '',
    ...(history === undefined || history.why === 'broken' ? {} : { history }),
    ...(bound_by === undefined ? {} : { bound_by }),
    ...(scip === undefined ? {} : { scip }),
  });
  await cleaner.setServed({ shards, scip });
  await seen?.write(place.seen, servedAs(digest));
  await checked.write({ shards, scip }, isChecked);
  await rememberTree(place, tree.root);
  const facts_collected = request.collects === true ? await facts.collect(files) : 0;
  // Else LevelDB frees the space only when it rewrites neighbouring keys, which may never happen.
  if (facts_collected + facts.removed > 0) await store.compact();
  return await report(
    { shards, left_out },
    {
      ...{ history: historyNote(history), facts_collected, sites_bound: sites },
      ...(layer === undefined ? {} : { scip: layer }),
    },
  );
}

/** Of the same tree, another version of this program makes another index. */
function servedAs(digest: string): string {
  return `${digest} ${formatsOfShards}`;
}

/** Whether nothing is asked for but that the index be up to date. */
function isRefresh({ shards, asOf, layers = [], scip, collects }: IndexRequest): boolean {
  const others = [shards, asOf, scip].every((each) => each === undefined);
  return others && layers.length === 0 && collects !== true;
}

/**
 * Makes the shards to serve: segments and overlays of single shards, then histories from git, then O7, which needs all
 * shards. Throws as `indexFolder`.
 */
async function madeShards(
  request: IndexRequest,
  lineage: FileLineage,
  job: BuildJob,
): Promise<BoundShards> {
  const { place, plan, files, before, run, layers, notice } = job;
  try {
    const {
      shards: built,
      scip,
      bound_by,
      layer,
      sites,
    } = await bindShards(
      {
        ...{ ...job, scip: request.scip, textOf: (file) => run.textOf(file) },
        complete: (manifests) => run.complete(manifests),
        throwIfAborted: () => run.throwIfAborted(),
        ...{ writers: run.writers, heapMegabytes: run.writerHeapMegabytes },
      },
      await buildShards(job),
    );
    run.progress('history', 0, 0);
    const members = membersOf(plan, files);
    const ofHistory = layers.includes('O3') ? undefined : before;
    const traced = await buildLineage(place, built, members, lineage, ofHistory, notice);
    run.throwIfAborted();
    const shards = isAsBefore(request, built, before)
      ? traced
      : await buildCoherence(place, traced, before, layers.includes('O7'), notice);
    return { shards, scip, bound_by, layer, sites };
  } catch (error) {
    // If the run was ended, that is the cause, not the error that followed.
    run.throwIfAborted();
    // What was believed is damaged: the next run reads all of it.
    if (/^INDEX_(?:CORRUPT|MISSING)$/.test(asBusError(error).code))
      await rm(place.checked, { force: true });
    throw error;
  }
}

/** Aborted when the caller cancels, a budget is spent, or the run has failed. */
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

/** Undefined when there is no readable index: then everything is rebuilt. */
export async function servedBefore(place: IndexPlace, root: string): Promise<Manifest | undefined> {
  return manifestIn(place, root).catch((error: unknown) => {
    const { code } = asBusError(error);
    if (code === 'INDEX_MISSING' || code === 'INDEX_CORRUPT') return undefined;
    throw error;
  });
}

/** Overlays that are rebuilt in any case, by shard. */
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

/** A full disk is no failure of a single overlay: the old index stays, and the next run may find space. */
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

async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    throw new BusError('STORE_UNAVAILABLE', { path, detail }, { cause: error });
  }
}

/** A watcher also reports files that are not read. If all shards are unchanged, O7 is still valid. */
function isAsBefore(
  { changed, layers = [] }: IndexRequest,
  built: readonly ManifestShard[],
  before: Manifest | undefined,
): boolean {
  if (changed === undefined || layers.length > 0) return false;
  const served = new Map(before?.shards.map((shard) => [keyOf(shard), shard]));
  return (
    built.length === served.size &&
    built.every((shard) => {
      const { overlays } = shard;
      const { O7 } = served.get(keyOf(shard))?.overlays ?? {};
      return O7?.state === 'ready' && O7.file === overlays.O7?.file;
    })
  );
}
