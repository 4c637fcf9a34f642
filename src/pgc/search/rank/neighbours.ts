import { targetsOfCall } from '../../bind/call-graph.js';
import type { ShardIndex } from '../../format/shard-index.js';

/** Calls of one symbol that are looked at: a longer function says no more by them. */
const callsMax = 120;
/** Targets of one call: what may run any of many says nothing of each. */
const targetsMax = 8;
/** Steps of the walk, and how often it begins anew (PageRank's constant is .15; here near is better). */
const steps = 8;
const restart = 0.3;

export interface Neighbour {
  document: number;
  /** How much of the call is meant for it, 0 to 1. */
  share: number;
}

/** What calls what, among some symbols of a shard and those that they call. */
export class Neighbours {
  readonly #callees = new Map<number, Neighbour[]>();
  readonly #callers = new Map<number, Neighbour[]>();

  constructor(index: ShardIndex, documents: readonly number[]) {
    for (const document of documents) {
      if (document >= index.symbolCount || this.#callees.has(document)) continue;
      const its = calleesOf(index, document);
      this.#callees.set(document, its);
      for (const { document: callee, share } of its) {
        const callers = this.#callers.get(callee);
        if (callers === undefined) this.#callers.set(callee, [{ document, share }]);
        else callers.push({ document, share });
      }
    }
  }

  callees(document: number): readonly Neighbour[] {
    return this.#callees.get(document) ?? [];
  }

  callers(document: number): readonly Neighbour[] {
    return this.#callers.get(document) ?? [];
  }

  /**
   * Personalised PageRank in both directions (L. Page et al., 1999), damped by the square root of the degree: what
   * many good hits call, or what calls them. `seeds`: document → weight. Shares that sum to 1.
   */
  walk(seeds: ReadonlyMap<number, number>): Map<number, number> {
    const total = [...seeds.values()].reduce((sum, each) => sum + each, 0) || 1;
    let mass = new Map(Array.from(seeds, ([document, weight]) => [document, weight / total]));
    const start = mass;
    const spread = new Map<number, readonly Neighbour[]>();
    for (let step = 0; step < steps; step += 1) {
      const next = new Map<number, number>();
      const add = (document: number, share: number): void =>
        void next.set(document, (next.get(document) ?? 0) + share);
      for (const [document, share] of start) add(document, restart * share);
      for (const [document, share] of mass) {
        let near = spread.get(document);
        if (near === undefined) spread.set(document, (near = this.#spread(document)));
        if (near.length === 0) add(document, (1 - restart) * share);
        for (const each of near) add(each.document, (1 - restart) * share * each.share);
      }
      mass = next;
    }
    return mass;
  }

  /** Where a walk goes from a document: shares that sum to 1, or none. */
  #spread(document: number): Neighbour[] {
    const near = [...this.callees(document), ...this.callers(document)].map((each) => ({
      document: each.document,
      share: each.share / Math.sqrt(1 + this.#degree(each.document)),
    }));
    const all = near.reduce((sum, each) => sum + each.share, 0);
    return near.map((each) => ({ ...each, share: each.share / all }));
  }

  #degree(document: number): number {
    return this.callees(document).length + this.callers(document).length;
  }
}

function calleesOf(index: ShardIndex, symbol: number): Neighbour[] {
  const shares = new Map<number, number>();
  for (const call of index.callsFrom(symbol).slice(0, callsMax)) {
    const { inside, lookups } = targetsOfCall(index, call);
    const share = 1 / Math.max(1, inside.length + lookups.length);
    for (const document of inside.slice(0, targetsMax))
      if (document !== symbol) shares.set(document, Math.max(share, shares.get(document) ?? 0));
  }
  return Array.from(shares, ([document, share]) => ({ document, share }));
}
