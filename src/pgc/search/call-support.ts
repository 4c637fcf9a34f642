import type { ShardIndex } from '../format/shard-index.js';

/** Share of the best neighbour's score: chosen on the questions that are fitted on, see test/bench/retrieval. */
const neighbourShare = 0.2;

/**
 * What each of these symbols gains from the best of the others that calls it or that it calls, by name: a question
 * is rarely about one function alone. `symbol` is undefined for items. Gains in the order of `found`, 0 or more.
 */
export function callSupport(
  index: ShardIndex,
  found: readonly { symbol?: number | undefined; score: number }[],
): number[] {
  const named = new Map<string, number[]>();
  for (const [at, { symbol }] of found.entries()) {
    if (symbol === undefined) continue;
    const name = index.nameAt(index.outline(symbol).name);
    const same = named.get(name);
    if (same === undefined) named.set(name, [at]);
    else same.push(at);
  }
  const best = found.map(() => 0);
  const meet = (at: number, other: number): void => {
    best[at] = Math.max(best[at] ?? 0, found[other]?.score ?? 0);
  };
  for (const [at, { symbol }] of found.entries()) {
    if (symbol === undefined) continue;
    for (const { callee } of index.callsFrom(symbol))
      for (const other of named.get(callee) ?? []) {
        if (other === at) continue;
        meet(at, other);
        meet(other, at);
      }
  }
  return best.map((score) => neighbourShare * score);
}
