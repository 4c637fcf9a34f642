import type { BoundPointers } from '../../bind/pointers/bind-pointers.js';
import type { Place } from '../../bind/pointers/c-program.js';
import type { BoundProgram } from '../../bind/program/bind-program.js';
import { BoundCallsWriter, type BoundTarget } from '../../format/bound-calls.js';
import type { ShardIndex } from '../../format/shard-index.js';
import type { PreciseBindings, SiteBinding } from '../../scip/precise-bindings.js';
import type { PlacedSymbol } from '../../scip/tree-symbols.js';

/** Collects what the sites of all shards are bound to, language by language, below what a layer says. */
export class BindingWriter {
  readonly #segments: readonly ShardIndex[];
  readonly #writers: readonly BoundCallsWriter[];
  readonly #layer: PreciseBindings | undefined;
  readonly #symbols = new NumberedSymbols();
  /** Of each shard: what its sites lead to. */
  readonly #called: readonly Set<number>[];
  /** Sites of the layer that no language has bound yet, by shard. */
  readonly #left: readonly Set<number>[];
  /** By what they stand for. */
  readonly #implementations = new Map<number, Set<number>>();

  /** Those that the layer alone knows. */
  readonly #added = new Set<string>();

  constructor(segments: readonly ShardIndex[], layer: PreciseBindings | undefined) {
    this.#segments = segments;
    this.#writers = segments.map(({ siteCount }) => new BoundCallsWriter(siteCount));
    this.#called = segments.map(() => new Set<number>());
    this.#layer = layer;
    this.#left = segments.map((_, shard) => new Set(layer?.sitesOf(shard)));
    for (const [what, by] of layer?.implementations ?? []) {
      const pair = [this.#symbols.numberOf(what), this.#symbols.numberOf(by)] as const;
      if (this.#implement(...pair)) this.#added.add(pair.join(' '));
    }
  }

  add({ calls, implementations }: BoundProgram | BoundPointers): void {
    for (const [definition, all] of implementations) {
      const what = this.#symbols.numberOfPlace(definition);
      for (const each of all) {
        const by = this.#symbols.numberOfPlace(each);
        this.#implement(what, by);
        this.#added.delete(`${what} ${by}`);
      }
    }
    for (const { shard, call, binding, targets } of calls)
      this.#write(shard, call, { binding, targets: targets.map(placed) });
  }

  /** Headers of other shards that a shard sees. */
  include(shard: number, headers: ReadonlyMap<string, readonly string[]>): void {
    for (const [header, targets] of headers) this.#writers[shard]?.include(header, targets);
  }

  /** Also of languages that are bound by a layer alone. */
  end(): readonly BoundCallsWriter[] {
    if (this.#layer !== undefined) this.#layer.counts.implementations = this.#added.size;
    for (const [shard, sites] of this.#left.entries())
      for (const site of sites) this.#write(shard, site, { binding: 'unbound', targets: [] });
    // Known where the one is called, and where either is defined.
    for (const [number, all] of this.#implementations) {
      const what = this.#symbols.at(number);
      const calling = this.#called.flatMap((called, shard) => (called.has(number) ? [shard] : []));
      for (const each of all) {
        const by = this.#symbols.at(each);
        for (const shard of new Set([...calling, what.shard, by.shard]))
          this.#writers[shard]?.implement(targetIn(shard, what), targetIn(shard, by));
      }
    }
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
    for (const each of targets) this.#called[shard]?.add(this.#symbols.numberOf(each));
  }

  /** Another definition may run in its place. */
  #isOpen(target: PlacedSymbol): boolean {
    if (this.#implementations.has(this.#symbols.numberOf(target)))
      return target.kind === 'method' || target.kind === 'function';
    const row = this.#segments[target.shard]?.symbolPlace(target.symbol);
    return row?.declaration === true && row.kind === 'method' && row.container !== '';
  }

  /** False: it was known. */
  #implement(what: number, by: number): boolean {
    const known = this.#implementations.get(what);
    if (known === undefined) this.#implementations.set(what, new Set([by]));
    else if (known.has(by)) return false;
    else known.add(by);
    return true;
  }
}

/** A number for each symbol: pairs of them are many. */
class NumberedSymbols {
  readonly #all: PlacedSymbol[] = [];
  readonly #byKey = new Map<string, number>();
  readonly #byPlace = new Map<Place, number>();

  at(number: number): PlacedSymbol {
    return this.#all[number] as PlacedSymbol;
  }

  numberOf(symbol: PlacedSymbol): number {
    const key = keyOf(symbol);
    let number = this.#byKey.get(key);
    if (number === undefined) {
      this.#byKey.set(key, (number = this.#all.length));
      this.#all.push(symbol);
    }
    return number;
  }

  numberOfPlace(place: Place): number {
    let number = this.#byPlace.get(place);
    if (number === undefined) this.#byPlace.set(place, (number = this.numberOf(placed(place))));
    return number;
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
