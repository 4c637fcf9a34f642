/** A shard as it is dealt out. */
export interface Weighted {
  alias: string;
  /** Lines when the plan was made; absent in plans of earlier versions. */
  lines?: number | undefined;
}

/** Part `part` of `of`, both from 1. */
export interface Part {
  part: number;
  of: number;
}

/** More processes than this share no tree. */
export const partsMax = 64;

/**
 * The aliases of one part of a plan: the heaviest first, each to the part that has least so far (Graham, "Bounds on
 * Multiprocessing Timing Anomalies", 1969), so that no two parts differ by more than one shard. A function of the plan
 * alone: whoever computes it, and however the files have changed since, nobody serves a shard twice or none.
 */
export function partOf(shards: readonly Weighted[], { part, of }: Part): Set<string> {
  const weighted = shards
    .map(({ alias, lines }) => ({ alias, lines: lines ?? 1 }))
    .sort((a, b) => b.lines - a.lines || (a.alias < b.alias ? -1 : 1));
  const loads = new Array<number>(of).fill(0);
  const ours = new Set<string>();
  for (const { alias, lines } of weighted) {
    const lightest = loads.indexOf(Math.min(...loads));
    // One that holds nothing is dealt out, too.
    loads[lightest] = (loads[lightest] ?? 0) + Math.max(1, lines);
    if (lightest === part - 1) ours.add(alias);
  }
  return ours;
}
