import type { ShardIndex, SymbolPlace } from '../format/shard-index.js';
import type { LayerTarget } from './layer.js';

/** A definition, and where it is. */
export interface PlacedSymbol {
  shard: number;
  symbol: number;
  path: string;
  container: string;
  name: string;
  kind: string;
  /** See `BoundTarget`; absent: 0. */
  line?: number;
}

/** Files and definitions of all shards by their paths. */
export class TreeSymbols {
  readonly #files = new Map<string, { shard: number; file: number; blob: string }>();
  /** By shard, then by symbol. */
  readonly #targets: Map<number, LayerTarget>[];
  /** Symbols by path, then by name. */
  readonly #byName = new Map<string, Map<string, number[]>>();

  constructor(readonly shards: readonly ShardIndex[]) {
    this.#targets = shards.map(() => new Map<number, LayerTarget>());
    for (const [shard, index] of shards.entries())
      for (let file = 0; file < index.fileCount; file += 1) {
        const { path, blob } = index.file(file);
        this.#files.set(path, { shard, file, blob });
      }
  }

  file(path: string): { shard: number; file: number; blob: string } | undefined {
    return this.#files.get(path);
  }

  /**
   * The definition of this name that begins on a line; else the innermost one around it, whose decorators begin earlier,
   * unless it is inside a function. The same object whenever it is found.
   */
  find(path: string, line: number, name: string, isLocal: boolean): LayerTarget | undefined {
    const its = this.#files.get(path);
    const index = this.shards[its?.shard ?? -1];
    if (its === undefined || index === undefined) return undefined;
    const around = this.#named(path, name)
      .map((symbol) => ({ symbol, ...index.symbolPlace(symbol) }))
      .filter(({ line_start, line_end }) => line_start <= line && line <= line_end)
      .sort((one, other) => other.line_start - one.line_start);
    const [best] = around;
    if (best === undefined || (isLocal && best.line_start !== line)) return undefined;
    // Of overloads the one with a body: the others only say how it can be called.
    const whole = best.declaration
      ? this.#named(path, name).find((symbol) => isBodyOf(index.symbolPlace(symbol), best))
      : undefined;
    return this.#targetOf(its.shard, index, whole ?? best.symbol, path);
  }

  /** What a target of a layer is now: undefined where its file has no such definition any more, or several. */
  placed(target: LayerTarget): PlacedSymbol | undefined {
    const its = this.#files.get(target.path);
    const index = this.shards[its?.shard ?? -1];
    if (its === undefined || index === undefined) return undefined;
    const { path, container, name, kind } = target;
    const same = this.#named(path, name).filter((symbol) => {
      const row = index.symbolPlace(symbol);
      return row.container === container && row.kind === kind;
    });
    const there = same.filter((symbol) => index.symbolPlace(symbol).line_start === target.line);
    const [symbol, other] = there.length > 0 ? there : same;
    return symbol === undefined || other !== undefined
      ? undefined
      : { shard: its.shard, symbol, path, container, name, kind };
  }

  #named(path: string, name: string): number[] {
    let ofFile = this.#byName.get(path);
    if (ofFile === undefined) {
      ofFile = new Map<string, number[]>();
      this.#byName.set(path, ofFile);
      const its = this.#files.get(path);
      const index = this.shards[its?.shard ?? -1];
      for (const symbol of index?.symbolsOf(its?.file ?? -1) ?? []) {
        const own = index?.symbolPlace(symbol).name ?? '';
        const known = ofFile.get(own);
        if (known === undefined) ofFile.set(own, [symbol]);
        else known.push(symbol);
      }
    }
    return ofFile.get(name) ?? [];
  }

  #targetOf(shard: number, index: ShardIndex, symbol: number, path: string): LayerTarget {
    const known = this.#targets[shard]?.get(symbol);
    if (known !== undefined) return known;
    const { container, name, kind, line_start: line } = index.symbolPlace(symbol);
    const target = { path, container, name, kind, line };
    this.#targets[shard]?.set(symbol, target);
    return target;
  }
}

function isBodyOf(one: SymbolPlace, { container, kind }: SymbolPlace): boolean {
  return !one.declaration && one.container === container && one.kind === kind;
}
