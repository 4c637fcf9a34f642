import { BusError } from '../errors/bus-error.js';
import { projectOf } from './manifest.js';
import { SourceTree } from './source-tree.js';
import {
  ownerOf,
  planShards,
  type PlannedFile,
  type PlannedShard,
  type ShardRequest,
} from './shard-plan.js';

export interface FolderPlan {
  shards: (PlannedShard & { files: number; lines: number })[];
  files_total: number;
  lines_total: number;
}

/** How a tree would be cut, without mining or writing anything. Throws REPO_UNREADABLE, REPO_EMPTY, SHARD_PLAN_INVALID. */
export async function planFolder(folder: string, request: ShardRequest): Promise<FolderPlan> {
  const tree = await SourceTree.open(folder);
  const files: PlannedFile[] = [];
  for (const file of (await tree.list()).files) {
    const source = await tree.read(file);
    if ('lines' in source) files.push({ path: source.path, lines: source.lines });
  }
  if (files.length === 0) throw new BusError('REPO_EMPTY', { path: tree.root });
  const plan = planShards(files, request, projectOf(tree.root));
  const shards = plan.shards.map((shard) => ({ ...shard, files: 0, lines: 0 }));
  const owner = ownerOf(plan.shards);
  for (const { path, lines } of files) {
    const shard = shards[owner(path) ?? -1];
    if (shard === undefined) continue;
    shard.files += 1;
    shard.lines += lines;
  }
  return {
    shards,
    files_total: shards.reduce((sum, shard) => sum + shard.files, 0),
    lines_total: shards.reduce((sum, shard) => sum + shard.lines, 0),
  };
}
