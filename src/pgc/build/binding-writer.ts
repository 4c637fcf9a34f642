import type { BoundPointers } from '../bind/pointers/bind-pointers.js';
import type { Place } from '../bind/pointers/c-program.js';
import type { BoundProgram } from '../bind/program/bind-program.js';
import { BoundCallsWriter, type BoundTarget } from '../format/bound-calls.js';
import type { ShardIndex } from '../format/shard-index.js';
import type { PreciseBindings, SiteBinding } from '../scip/precise-bindings.js';
import type { PlacedSymbol } from '../scip/tree-symbols.js';

/** Collects what the sites of all shards are bound to, language by language, below what a layer says. */
export class BindingWriter {
  readonly #segments: readonly ShardIndex[];
  readonly #writers: readonly BoundCallsWriter[];
  readonly #layer: PreciseBindings | undefined;
  /** Of each shard: what its sites lead to. */
  readonly #called: readonly Set<string>[];
  /** Sites of the layer that no language has bound yet, by shard. */
  readonly #left: readonly Set<number>[];
  /** By what they stand for, then by themselves. */
  readonly #implementations = new Map<string, Map<string, [PlacedSymbol, PlacedSymbol]>>();

  /** Those that the layer alone knows. */
  readonly #added = new Set<string>();

  constructor(segments: readonly ShardIndex[], layer: PreciseBindings | undefined) {
    this.#segments = segments;
    this.#writers = segments.map(({ siteCount }) => new BoundCallsWriter(siteCount));
    this.#called = segments.map(() => new Set<string>());
    this.#layer = layer;
    this.#left = segments.map((_, shard) => new Set(layer?.sitesOf(shard)));
    for (const [what, by] of layer?.implementations ?? [])
      if (this.#implement(what, by)) this.#added.add(`${keyOf(what)} ${keyOf(by)}`);
  }

  add({ calls, implementations }: BoundProgram | BoundPointers): void {
    for (const [definition, all] of implementations)
      for (const by of all) {
        const [what, its] = [placed(definition), placed(by)];
        this.#implement(what, its);
        this.#added.delete(`${keyOf(what)} ${keyOf(its)}`);
      }
    for (const { shard, call, binding, targets } of calls)
      this.#write(shard, call, { binding, targets: targets.map(placed) });
  }

  /** Also of languages that are bound by a layer alone. */
  end(): readonly BoundCallsWriter[] {
    if (this.#layer !== undefined) this.#layer.counts.implementations = this.#added.size;
    for (const [shard, sites] of this.#left.entries())
      for (const site of sites) this.#write(shard, site, { binding: 'unbound', targets: [] });
    // Known where the one is called, and where either is defined.
    for (const pairs of this.#implementations.values())
      for (const [what, by] of pairs.values())
        for (const [shard, writer] of this.#writers.entries())
          if (
            what.shard === shard ||
            by.shard === shard ||
            this.#called[shard]?.has(keyOf(what)) === true
          )
            writer.implement(targetIn(shard, what), targetIn(shard, by));
    return this.#writers;
  }

  #write(shard: number, site: number, ours: SiteBinding): void {
    this.#left[shard]?.delete(site);
    const { binding, targets } =
      this.#layer?.settle(shard, site, ours, (target) => this.#isOpen(target)) ?? ours;
    if (binding === 'unbound') return;
    this.#writers[shard]?.add(
      site,
      binding,
      targets.map((each) => targetIn(shard, each)),
    );
    for (const each of targets) this.#called[shard]?.add(keyOf(each));
  }

  /** Another definition may run in its place. */
  #isOpen(target: PlacedSymbol): boolean {
    if (this.#implementations.has(keyOf(target)))
      return target.kind === 'method' || target.kind === 'function';
    const row = this.#segments[target.shard]?.symbolPlace(target.symbol);
    return row?.declaration === true && row.kind === 'method' && row.container !== '';
  }

  /** False: it was known. */
  #implement(what: PlacedSymbol, by: PlacedSymbol): boolean {
    const key = keyOf(what);
    const known = this.#implementations.get(key) ?? new Map<string, [PlacedSymbol, PlacedSymbol]>();
    this.#implementations.set(key, known);
    if (known.has(keyOf(by))) return false;
    known.set(keyOf(by), [what, by]);
    return true;
  }
}

function placed({ shard, symbol, file, container, name, kind, line = 0 }: Place): PlacedSymbol {
  return { shard, symbol, path: file.path, container, name, kind, line };
}

/** What no symbol stands for is meant by its name. */
function keyOf({ shard, symbol, path, container, name }: PlacedSymbol): string {
  return symbol < 0 ? `${shard} ${path} ${container}.${name}` : `${shard} ${symbol}`;
}

function targetIn(
  shard: number,
  { symbol, shard: its, line = 0, ...rest }: PlacedSymbol,
): BoundTarget {
  return { symbol: its === shard ? symbol : -1, line, ...rest };
}
