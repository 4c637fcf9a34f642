import { autoShardsMax, cutFiles, shardLinesMax } from './shard-plan-cut.js';
import { linesOf, ownerOf, type PlannedFile, type PlannedShard } from './planned-shards.js';
import { shardNames, type WeighedPath } from './shard-names.js';

/** A shard is cut when it has this many times the lines of the largest shard of a new plan. */
const heaviestShare = 1.25;
/** When more than this share of the shards would change, a new plan is better. */
const changedShareMax = 0.25;
/** So it is when the tree has this many times the lines, or this many times fewer. */
const grownMax = 2;

interface Filled extends PlannedShard {
  files: PlannedFile[];
  lines: number;
}

/**
 * The current plan with as few changes as possible: a shard that has grown too large is cut along its folders, and its
 * largest part keeps the alias; a shard without files is merged into the one with the nearest path. Undefined when a
 * new plan would be better.
 */
export function refitted(
  files: readonly PlannedFile[],
  before: readonly PlannedShard[],
  project: string,
): PlannedShard[] | undefined {
  const filled = fill(files, before);
  if (filled === undefined) return undefined;
  const lines = filled.reduce((sum, shard) => sum + shard.lines, 0);
  const mean = lines / filled.length;
  // Many small shards are left over from a larger tree.
  if (filled.length > 1 && mean < shardLinesMax / grownMax ** 2) return undefined;
  const budget = Math.max(shardLinesMax, (lines / autoShardsMax) * grownMax);
  const taken = new Set(filled.map(({ alias }) => alias));
  const empty = filled.filter((shard) => shard.files.length === 0).map(({ alias }) => alias);
  const cut = filled.map((shard) => {
    if (shard.lines <= budget * heaviestShare) return [shard];
    const others = filled.flatMap((each) => (each === shard ? [] : each.paths));
    return cutAnew(shard, budget, { project, taken, others });
  });
  const changed = empty.length + cut.filter((parts) => parts.length > 1).length;
  if (changed > Math.max(1, filled.length * changedShareMax)) return undefined;
  const shards = merged(cut.flat(), new Set(empty));
  return shards.length > autoShardsMax ? undefined : shards;
}

/** Whether the plan's heaviest shard is not much heavier than that of a new plan, and no shard is empty. */
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

/** Distributes the shard's paths and the new ones, also those without files, to the parts that own them. */
function cutAnew(
  shard: Filled,
  budget: number,
  naming: Parameters<typeof shardNames>[1],
): PlannedShard[] {
  const parts = cutFiles(shard.files, budget).map((paths) => ({ alias: '', paths }));
  const weighed = fill(shard.files, parts) ?? [];
  const largest = weighed.reduce((a, b) => (b.lines > a.lines ? b : a));
  const owner = ownerOf(parts);
  const inside = parts.flatMap(({ paths }) => paths.filter((path) => isWithin(path, shard.paths)));
  const all = [...new Set([...shard.paths, ...inside])];
  const owned = weighed
    .map((part, at) => ({ part, paths: all.filter((path) => owner(path) === at) }))
    .filter(({ paths }) => paths.length > 0);
  const kept = owned.find(({ part }) => part === largest)?.paths ?? [];
  const fresh = owned.filter(({ part }) => part !== largest);
  const names = shardNames(
    fresh.map(({ part, paths }) => weighedPaths(part.files, paths)),
    { ...naming, others: [...(naming.others ?? []), ...kept].map(plain) },
  );
  return owned.map((each) => ({
    alias: each.part === largest ? shard.alias : (names[fresh.indexOf(each)] ?? ''),
    paths: each.paths,
  }));
}

function weighedPaths(files: readonly PlannedFile[], paths: readonly string[]): WeighedPath[] {
  const owner = ownerOf(paths.map((path) => ({ alias: '', paths: [path] })));
  return paths.map((path, at) => ({
    path: plain(path),
    lines: linesOf(files.filter((file) => owner(file.path) === at)),
  }));
}

function plain(path: string): string {
  return path === '.' ? '' : path;
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

/** The largest number of leading folders that two of their paths share. */
function nearness(one: PlannedShard, other: PlannedShard): number {
  const [first = ''] = one.paths;
  const names = first.split('/');
  return Math.max(
    ...other.paths.map((path) => {
      const otherNames = path.split('/');
      const at = names.findIndex((name, n) => name !== otherNames[n]);
      return at < 0 ? names.length : at;
    }),
  );
}
