import type { OpenedTree } from '../open-index.js';
import { graphOf } from './blast-radius.js';
import { cyclesIn, type Cycle } from './cycles.js';
import { fileUses, type FileUse } from './dependency-edges.js';
import { layeringOf, pairKey, type Layering } from './layers.js';

/** Two folders with fewer uses between them say nothing about which of them is above. */
export const pairUsesMin = 20;
/** Below this share of a pair's uses the rarer direction is against the rule. */
export const minorityShare = 0.1;
/** Sites kept of one direction of one pair; all are counted. */
export const sitesPerPairMax = 2_000;
export const violationsDefault = 100;
export const violationsLimit = 10_000;

export interface LayerPair {
  from: string;
  to: string;
  uses: number;
  verdict: 'allowed' | 'violation' | 'undecided';
}

export interface LayerViolation {
  from_layer: string;
  to_layer: string;
  from_symbol: string;
  to_symbol: string;
  /** Of the site. */
  file_path: string;
  line: number;
  to_path: string;
  type: FileUse['type'];
}

export interface DependencyPatterns {
  filter: 'dependencies';
  mode: Layering['mode'];
  layers: string[];
  /** Every direction between two layers, most uses first. */
  pairs: LayerPair[];
  violations: LayerViolation[];
  violations_total: number;
  cycles: Cycle[];
  /** Uses from or to files that belong to no layer; they are not judged. */
  uses_outside: number;
  /** `violations` does not hold all. */
  truncated: boolean;
}

/**
 * Uses that go against the layers of a tree. Layers are declared in `.sigma/layers.json`, and then every use
 * between two layers that `allowed` does not name is a violation. Otherwise they are the folders, and the
 * direction is inferred pair by pair: of two folders with at least `pairUsesMin` uses between them, the
 * direction with fewer uses is a violation when it has less than `minorityShare` of them. Both folders may
 * still use each other as equals, or in a ring: what is left without the violations is searched for cycles.
 * Throws CONFIG_INVALID.
 */
export async function dependencyPatterns(
  tree: OpenedTree,
  { limit = violationsDefault }: { limit?: number } = {},
): Promise<DependencyPatterns> {
  const layering = await layeringOf(tree.root, tree.shards);
  const table = new PairTable(layering);
  for (const use of fileUses(graphOf(tree), layering.layerOf)) table.add(use);
  const pairs = table.pairs();
  const violating = pairs.filter(({ verdict }) => verdict === 'violation');
  const violations = violating.flatMap((pair) => table.sites(pair));
  return {
    filter: 'dependencies',
    mode: layering.mode,
    layers: [...new Set(pairs.flatMap(({ from, to }) => [from, to]))].sort(),
    pairs,
    violations: violations.slice(0, limit),
    violations_total: violating.reduce((sum, { uses }) => sum + uses, 0),
    cycles: cyclesIn(adjacency(pairs.filter(({ verdict }) => verdict !== 'violation'))),
    uses_outside: table.outside,
    truncated:
      violating.reduce((sum, { uses }) => sum + uses, 0) > Math.min(limit, violations.length),
  };
}

class PairTable {
  outside = 0;
  readonly #byPair = new Map<string, { from: string; to: string; uses: number; kept: FileUse[] }>();

  constructor(readonly layering: Layering) {}

  add(use: FileUse): void {
    const from = this.layering.layerOf(use.from_path);
    const to = this.layering.layerOf(use.to_path);
    if (from === undefined || to === undefined) this.outside += 1;
    if (from === undefined || to === undefined || from === to) return;
    const key = pairKey(from, to);
    let pair = this.#byPair.get(key);
    if (pair === undefined) this.#byPair.set(key, (pair = { from, to, uses: 0, kept: [] }));
    pair.uses += 1;
    if (pair.kept.length < sitesPerPairMax) pair.kept.push(use);
  }

  pairs(): LayerPair[] {
    return [...this.#byPair.values()]
      .map(({ from, to, uses }) => ({ from, to, uses, verdict: this.#verdict(from, to, uses) }))
      .sort(
        (one, other) =>
          other.uses - one.uses || compare(one.from, other.from) || compare(one.to, other.to),
      );
  }

  /** In order of path and line. */
  sites({ from, to }: LayerPair): LayerViolation[] {
    const kept = this.#byPair.get(pairKey(from, to))?.kept ?? [];
    return kept
      .map(({ from_path, line, from_symbol, to_path, to_symbol, type }) => ({
        ...{ from_layer: from, to_layer: to, from_symbol, to_symbol },
        ...{ file_path: from_path, line, to_path, type },
      }))
      .sort(
        (one, other) =>
          compare(one.file_path, other.file_path) ||
          one.line - other.line ||
          compare(one.to_symbol, other.to_symbol),
      );
  }

  #verdict(from: string, to: string, uses: number): LayerPair['verdict'] {
    if (this.layering.mode === 'declared')
      return this.layering.allowed.has(pairKey(from, to)) ? 'allowed' : 'violation';
    const back = this.#byPair.get(pairKey(to, from))?.uses ?? 0;
    if (uses + back < pairUsesMin) return 'undecided';
    const share = uses / (uses + back);
    if (share < minorityShare) return 'violation';
    return 1 - share < minorityShare ? 'allowed' : 'undecided';
  }
}

function adjacency(pairs: readonly LayerPair[]): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { from, to } of pairs) edges.set(from, (edges.get(from) ?? new Set()).add(to));
  return edges;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
