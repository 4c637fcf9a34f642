/** A shard to be assigned to a host. */
export interface Weighted {
  alias: string;
  /** Lines when the plan was made; absent in plans of earlier versions. */
  lines?: number | undefined;
}

/** Part number `part` of `of` parts, from 1. */
export interface Part {
  part: number;
  of: number;
}

/** Limit for the processes that share a tree. */
export const partsMax = 64;

/**
 * The aliases of one part of a plan: shards are assigned heaviest first to the part with the least weight (Graham,
 * "Bounds on Multiprocessing Timing Anomalies", 1969), so that no two parts differ by more than one shard. The result
 * depends on the plan alone: every process computes the same, however files have changed, so that each shard is served
 * exactly once.
 */
export function partOf(shards: readonly Weighted[], { part, of }: Part): Set<string> {
  const weighted = shards
    .map(({ alias, lines }) => ({ alias, lines: lines ?? 1 }))
    .sort((a, b) => b.lines - a.lines || (a.alias < b.alias ? -1 : 1));
  const loads = new Array<number>(of).fill(0);
  const aliases = new Set<string>();
  for (const { alias, lines } of weighted) {
    const lightest = loads.indexOf(Math.min(...loads));
    // An empty shard has a weight, too, so that empty ones are spread.
    loads[lightest] = (loads[lightest] ?? 0) + Math.max(1, lines);
    if (lightest === part - 1) aliases.add(alias);
  }
  return aliases;
}
