import { BusError } from '../../errors/bus-error.js';
import { keptPlan, placeOf, projectOf } from './manifest.js';
import { SourceTree } from '../source/source-tree.js';
import { ownerOf, type PlannedFile, type PlannedShard } from './planned-shards.js';
import { planShards, type PlanMode, type ShardRequest } from './shard-plan.js';

export interface FolderPlan {
  mode: PlanMode;
  shards: (PlannedShard & Counted)[];
  /** The paths in the plan, in order, each with the files that it owns. */
  folders: ({ path: string; alias: string } & Counted)[];
  files_total: number;
  lines_total: number;
  /** Files outside an explicit plan. */
  left_out: Counted;
}

interface Counted {
  files: number;
  lines: number;
}

/**
 * How a tree would be cut into shards, without mining or writing anything. `home`: for the current plan, which `auto`
 * keeps where it can. Throws REPO_UNREADABLE, REPO_EMPTY, SHARD_PLAN_INVALID.
 */
export async function planFolder(
  folder: string,
  request: ShardRequest,
  home: string,
): Promise<FolderPlan> {
  const tree = await SourceTree.open(folder);
  const files: PlannedFile[] = [];
  for (const file of (await tree.list()).files) {
    const source = await tree.read(file);
    if ('lines' in source) files.push({ path: source.path, lines: source.lines });
  }
  if (files.length === 0) throw new BusError('REPO_EMPTY', { path: tree.root });
  const before = await keptPlan(placeOf(tree.root, home));
  const { mode, shards } = planShards(files, request, projectOf(tree.root), before);
  return { mode, ...countFiles(files, shards) };
}

/** Counts the files and lines of each shard and each of its paths. */
function countFiles(
  files: readonly PlannedFile[],
  planned: readonly PlannedShard[],
): Omit<FolderPlan, 'mode'> {
  const shards = planned.map((shard) => ({ ...shard, ...nothing }));
  const folders = planned.flatMap(({ alias, paths }, shard) =>
    paths.map((path) => ({ path, alias, ...nothing, shard })),
  );
  const owner = ownerOf(folders.map(({ path }) => ({ alias: '', paths: [path] })));
  const leftOut = { ...nothing };
  for (const { path, lines } of files) {
    const folder = folders[owner(path) ?? -1];
    for (const each of folder === undefined ? [leftOut] : [folder, shards[folder.shard]]) {
      if (each === undefined) continue;
      each.files += 1;
      each.lines += lines;
    }
  }
  return {
    shards,
    folders: folders
      .map(({ path, alias, files: count, lines }) => ({ path, alias, files: count, lines }))
      .sort((one, other) => compare(one.path, other.path)),
    files_total: shards.reduce((sum, shard) => sum + shard.files, 0),
    lines_total: shards.reduce((sum, shard) => sum + shard.lines, 0),
    left_out: leftOut,
  };
}

const nothing: Counted = { files: 0, lines: 0 };

/** A folder before its content, and that before the next folder. */
function compare(one: string, other: string): number {
  if (one === other) return 0;
  if (one === '.') return -1;
  if (other === '.') return 1;
  return one.replaceAll('/', '\0') < other.replaceAll('/', '\0') ? -1 : 1;
}
