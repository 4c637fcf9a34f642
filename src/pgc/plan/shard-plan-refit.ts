import { autoShardsMax, cutFiles, shardLinesMax } from './shard-plan-cut.js';
import {
  freeAlias,
  ownerOf,
  titleOf,
  type PlannedFile,
  type PlannedShard,
} from './planned-shards.js';

/** A shard is cut when it has so many times the lines that the largest of a fresh plan may have. */
const heaviestShare = 1.25;
/** When more of the shards would have to change, the tree is another one, and a fresh plan is better. */
const changedShareMax = 0.25;
/** So is it when there are so many times the lines, or so many times fewer. */
const grownMax = 2;

interface Filled extends PlannedShard {
  files: PlannedFile[];
  lines: number;
}

/**
 * The plan in force, with as little changed as the tree demands: a shard that has grown too large is cut along
 * its folders and its largest part keeps the alias; one that has lost all its files joins the shard whose paths
 * are nearest. Undefined when a fresh plan would be better.
 */
export function refitted(
  files: readonly PlannedFile[],
  before: readonly PlannedShard[],
): PlannedShard[] | undefined {
  const filled = fill(files, before);
  if (filled === undefined) return undefined;
  const lines = filled.reduce((sum, shard) => sum + shard.lines, 0);
  const mean = lines / filled.length;
  // Many small shards are those of a tree that was larger.
  if (filled.length > 1 && mean < shardLinesMax / grownMax ** 2) return undefined;
  const budget = Math.max(shardLinesMax, (lines / autoShardsMax) * grownMax);
  const taken = new Set(filled.map(({ alias }) => alias));
  const empty = filled.filter((shard) => shard.files.length === 0).map(({ alias }) => alias);
  const cut = filled.map((shard) =>
    shard.lines > budget * heaviestShare ? cutAnew(shard, budget, taken) : [shard],
  );
  const changed = empty.length + cut.filter((parts) => parts.length > 1).length;
  if (changed > Math.max(1, filled.length * changedShareMax)) return undefined;
  const shards = merged(cut.flat(), new Set(empty));
  return shards.length > autoShardsMax ? undefined : shards;
}

/** Whether the heaviest shard of a plan is not much heavier than that of a fresh one, and none is empty. */
export function isAsEven(
  files: readonly PlannedFile[],
  before: readonly PlannedShard[],
  fresh: readonly PlannedShard[],
): boolean {
  const filled = fill(files, before);
  if (filled === undefined || filled.some((shard) => shard.files.length === 0)) return false;
  const heaviest = (shards: readonly Filled[]): number =>
    Math.max(...shards.map(({ lines }) => lines));
  return heaviest(filled) <= heaviest(fill(files, fresh) ?? []) * heaviestShare;
}

function fill(
  files: readonly PlannedFile[],
  shards: readonly PlannedShard[],
): Filled[] | undefined {
  const filled = shards.map((shard): Filled => ({ ...shard, files: [], lines: 0 }));
  const owner = ownerOf(shards);
  for (const file of files) {
    const shard = filled[owner(file.path) ?? -1];
    if (shard === undefined) return undefined;
    shard.files.push(file);
    shard.lines += file.lines;
  }
  return filled;
}

/** Each path of the shard, and each one at which it is cut, goes to the part that has it: also what holds nothing now. */
function cutAnew(shard: Filled, budget: number, taken: Set<string>): PlannedShard[] {
  const parts = cutFiles(shard.files, budget).map((paths) => ({ alias: '', paths }));
  const weighed = fill(shard.files, parts) ?? [];
  const largest = weighed.reduce((a, b) => (b.lines > a.lines ? b : a));
  const owner = ownerOf(parts);
  const inside = parts.flatMap(({ paths }) => paths.filter((path) => isWithin(path, shard.paths)));
  const all = [...new Set([...shard.paths, ...inside])];
  return weighed
    .map((part, at) => ({ part, paths: all.filter((path) => owner(path) === at) }))
    .filter(({ paths }) => paths.length > 0)
    .map(({ part, paths }) => ({
      alias: part === largest ? shard.alias : freeAlias(titleOf(paths), taken),
      paths,
    }));
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((each) => each === '.' || path === each || path.startsWith(`${each}/`));
}

function merged(shards: readonly PlannedShard[], empty: ReadonlySet<string>): PlannedShard[] {
  const isEmpty = ({ alias }: PlannedShard): boolean => empty.has(alias);
  const kept = shards
    .filter((each) => !isEmpty(each))
    .map(({ alias, paths }) => ({ alias, paths }));
  for (const each of shards.filter(isEmpty)) {
    const nearest = kept.reduce<PlannedShard | undefined>(
      (best, other) =>
        best === undefined || nearness(each, other) > nearness(each, best) ? other : best,
      undefined,
    );
    if (nearest === undefined) kept.push(each);
    else nearest.paths = [...nearest.paths, ...each.paths];
  }
  return kept;
}

/** Folders that the nearest two of their paths share. */
function nearness(one: PlannedShard, other: PlannedShard): number {
  const [first = ''] = one.paths;
  const names = first.split('/');
  return Math.max(
    ...other.paths.map((path) => {
      const its = path.split('/');
      const at = names.findIndex((name, n) => name !== its[n]);
      return at < 0 ? names.length : at;
    }),
  );
}
