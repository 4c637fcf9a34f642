import type { Plain, sigma } from '../../wire/codec.js';
import { pathOf } from '../bind/index-cache.js';
import type { OpenedTree } from '../search/open-index.js';
import type { ShardIndex } from '../format/shard-index.js';
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

export type LayerPair = Plain<
  sigma.pgc.LayerPair,
  { verdict: 'allowed' | 'violation' | 'undecided' }
>;
export type LayerViolation = Plain<sigma.pgc.LayerViolation, { type: FileUse['type'] }>;
export type DependencyPatterns = Plain<
  sigma.pgc.DependencyPatterns,
  {
    filter: 'dependencies';
    mode: Layering['mode'];
    pairs: LayerPair[];
    violations: LayerViolation[];
    cycles: Cycle[];
  }
>;

export interface PatternsOptions {
  limit?: number;
  /** A symbol, or a part of a path: only violations that touch it are listed, and where it lies is looked at first. */
  target?: string;
  /** No time is left: what was counted is the answer. */
  isOver?: () => boolean;
}

/**
 * Uses that go against the layers of a tree. Layers are declared in `.sigma/layers.json`, and then every use
 * between two layers that `allowed` does not name is a violation. Otherwise they are the folders, and the
 * direction is inferred pair by pair: of two folders with at least `pairUsesMin` uses between them, the
 * direction with fewer uses is a violation when it has less than `minorityShare` of them. Both folders may
 * still use each other as equals, or in a ring: what is left without the violations is searched for cycles.
 * Shards whose time does not come are named; an inferred direction with a layer that lies in one of them is undecided.
 * Throws CONFIG_INVALID.
 */
export async function dependencyPatterns(
  tree: OpenedTree,
  { limit = violationsDefault, target = '', isOver = () => false }: PatternsOptions = {},
): Promise<DependencyPatterns> {
  const layering = await layeringOf(tree.root, tree.shards);
  const plan = new ShardOrder(tree.shards, layering.layerOf);
  const order = plan.from(target);
  const table = new PairTable(layering);
  let counted = 0;
  while (counted < order.length && countIn(tree, order[counted] ?? 0, table, isOver)) counted += 1;
  const left = order.slice(counted);
  const pairs = table.pairs(plan.layersIn(left));
  const violating = pairs.filter(({ verdict }) => verdict === 'violation');
  const violations_total = violating.reduce((sum, { uses }) => sum + uses, 0);
  const known = violating.flatMap((pair) => table.sites(pair));
  const violations = known.filter((each) => touches(each, target));
  return {
    filter: 'dependencies',
    mode: layering.mode,
    layers: [...new Set(pairs.flatMap(({ from, to }) => [from, to]))].sort(),
    pairs,
    violations: violations.slice(0, limit),
    violations_total,
    cycles: cyclesIn(adjacency(pairs.filter(({ verdict }) => verdict !== 'violation'))),
    uses_outside: table.outside,
    truncated: left.length > 0 || violations_total > known.length || violations.length > limit,
    warnings: warningsOf(
      tree,
      left,
      layering.mode === 'inferred' ? plan.layersIn(left) : new Set(),
    ),
  };
}

/** Whether there was time for all of it. */
function countIn(
  tree: OpenedTree,
  shard: number,
  table: PairTable,
  isOver: () => boolean,
): boolean {
  if (isOver()) return false;
  for (const use of fileUses(graphOf(tree), shard, table.layering.layerOf)) {
    table.add(use);
    if (isOver()) return false;
  }
  return true;
}

function touches(
  { file_path, to_path, from_symbol, to_symbol }: LayerViolation,
  target: string,
): boolean {
  if (target === '') return true;
  return (
    [file_path, to_path].some((each) => each.includes(target)) ||
    [from_symbol, to_symbol].includes(target)
  );
}

/** Characters of the names in one warning. */
const namesCharsMax = 4_000;

function warningsOf(
  { shards }: OpenedTree,
  left: readonly number[],
  undecided: ReadonlySet<string>,
): string[] {
  if (left.length === 0) return [];
  const aliases = left.map((each) => shards[each]?.info.alias ?? '').sort();
  const of = `${shards.length - left.length} of ${shards.length} shards`;
  return [
    `The time was up: uses were counted in all of ${of}; left out, or in part: ${listed(aliases)}.`,
    ...(undecided.size > 0
      ? [`Undecided for that reason is what concerns the layers ${listed([...undecided].sort())}.`]
      : []),
  ];
}

function listed(names: readonly string[]): string {
  const whole = names.join(', ');
  if (whole.length <= namesCharsMax) return whole;
  const shown = whole.slice(0, whole.lastIndexOf(', ', namesCharsMax)).split(', ').length;
  return `${names.slice(0, shown).join(', ')} and ${names.length - shown} more`;
}

/** In which order shards are looked at, should there be no time for all. */
class ShardOrder {
  readonly #shards: readonly ShardIndex[];
  readonly #layers: ReadonlySet<string>[];
  /** Shards that a layer lies in. */
  readonly #spread = new Map<string, number>();

  constructor(shards: readonly ShardIndex[], layerOf: Layering['layerOf']) {
    this.#shards = shards;
    this.#layers = shards.map((index) => {
      const layers = new Set<string>();
      for (let file = 0; file < index.fileCount; file += 1) {
        const layer = layerOf(pathOf(index, file));
        if (layer !== undefined) layers.add(layer);
      }
      return layers;
    });
    for (const each of this.#layers.flatMap((layers) => [...layers]))
      this.#spread.set(each, (this.#spread.get(each) ?? 0) + 1);
  }

  /** The shards of the target's layers, then those whose layers are soonest complete. */
  from(target: string): number[] {
    const near = new Set(
      target === '' ? [] : this.#holding(target).flatMap((each) => [...(this.#layers[each] ?? [])]),
    );
    const isFar = (layers: ReadonlySet<string>): boolean =>
      ![...layers].some((each) => near.has(each));
    const costOf = (layers: ReadonlySet<string>): number =>
      Math.max(0, ...[...layers].map((each) => this.#spread.get(each) ?? 0));
    return this.#layers
      .map((layers, shard) => ({ shard, isFar: isFar(layers), cost: costOf(layers) }))
      .sort((one, other) => Number(one.isFar) - Number(other.isFar) || one.cost - other.cost)
      .map(({ shard }) => shard);
  }

  layersIn(shards: readonly number[]): ReadonlySet<string> {
    return new Set(shards.flatMap((each) => [...(this.#layers[each] ?? [])]));
  }

  #holding(target: string): number[] {
    const holds = (index: ShardIndex): boolean =>
      index.symbolsNamed(target).some((id) => !index.symbol(id).declaration) ||
      Array.from({ length: index.fileCount }, (_, file) => file).some((file) =>
        pathOf(index, file).includes(target),
      );
    return this.#shards.flatMap((index, shard) => (holds(index) ? [shard] : []));
  }
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

  /** `partial`: layers that are not counted in full, so that no direction can be inferred. */
  pairs(partial: ReadonlySet<string>): LayerPair[] {
    return [...this.#byPair.values()]
      .map(({ from, to, uses }) => {
        const isPartial = partial.has(from) || partial.has(to);
        return { from, to, uses, verdict: this.#verdict(from, to, { uses, isPartial }) };
      })
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

  #verdict(
    from: string,
    to: string,
    { uses, isPartial }: { uses: number; isPartial: boolean },
  ): LayerPair['verdict'] {
    if (this.layering.mode === 'declared')
      return this.layering.allowed.has(pairKey(from, to)) ? 'allowed' : 'violation';
    if (isPartial) return 'undecided';
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
