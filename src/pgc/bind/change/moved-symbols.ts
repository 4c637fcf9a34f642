import type { BoundTarget } from '../../format/bound-calls.js';
import type { ShardIndex } from '../../format/shard-index.js';
import type { Change, TextPlace } from './change.js';

/** Where something that was a target is now. */
export interface PlacedTarget extends BoundTarget {
  unit: number;
}

/** Where the symbols of the units before are now. */
export class MovedSymbols {
  readonly #change: Change;
  /** By path, of texts that are the same: by how much the numbers of their symbols differ. */
  readonly #shifts = new Map<string, number>();
  /** By path, of changed texts. */
  readonly #moved = new Map<string, ReadonlyMap<number, number>>();

  constructor(change: Change) {
    this.#change = change;
  }

  /**
   * What a target of a unit before is now, as a unit of now sees it: of its own symbols the id counts. Undefined: it is gone, or
   * something else is said of it.
   */
  now(before: number, target: BoundTarget, unit: number): PlacedTarget | undefined {
    const { path, symbol } = target;
    const [kept, changed] = [this.#change.kept(path), this.#change.changed(path)];
    if (kept === undefined && changed === undefined) {
      const its = this.#change.unitNow(before) ?? -1;
      return { ...target, unit: symbol < 0 ? -1 : its };
    }
    if (kept !== undefined) {
      const of = symbol < 0 && kept.now.unit !== unit ? [] : this.#symbolsOf(target, kept.before);
      const [its] = of;
      if (its === undefined || kept.now.unit !== unit)
        return { ...target, symbol: -1, unit: kept.now.unit };
      if (symbol < 0 && of.length > 1) return undefined;
      return { ...target, unit, symbol: this.#shifted(path, its, kept) };
    }
    return (
      changed?.now &&
      changed.before &&
      this.#inChanged(target, path, unit, changed.before, changed.now)
    );
  }

  #inChanged(
    target: BoundTarget,
    path: string,
    unit: number,
    before: TextPlace,
    now: TextPlace,
  ): PlacedTarget | undefined {
    const all = this.#symbolsOf(target, before);
    const moved = this.#movedIn(path, before, now);
    const index = this.#change.units[now.unit];
    // A parameter, or a member that is no symbol: as long as that stays which it belongs to.
    if (all.length === 0 && target.symbol < 0) {
      const [owner = ''] = target.container.split('.', 1);
      const owners = this.#named(owner, before);
      const isThere = owners.length > 0 && owners.every((each) => moved.has(each));
      return isThere ? { ...target, unit: now.unit } : undefined;
    }
    const places = all.map((each) => moved.get(each));
    const [symbol] = places;
    if (index === undefined || symbol === undefined || places.includes(undefined)) return undefined;
    if (places.length > 1 && (target.line > 0 || now.unit === unit)) return undefined;
    const { line_start } = index.symbolPlace(symbol);
    const line = target.line > 0 ? line_start : 0;
    return { ...target, line, unit: now.unit, symbol: now.unit === unit ? symbol : -1 };
  }

  /** Those of a text before that a target names; it is one, unless nothing tells several of a name apart. */
  #symbolsOf(target: BoundTarget, { unit, file }: TextPlace): readonly number[] {
    if (target.symbol >= 0) return [target.symbol];
    const index = this.#change.before[unit]?.index;
    return (index?.symbolsNamed(target.name) ?? []).filter((symbol) => {
      if (index?.fileOf(symbol) !== file) return false;
      const its = index.symbolPlace(symbol);
      const isThere = target.line === 0 || its.line_start === target.line;
      return isThere && its.container === target.container && its.kind === target.kind;
    });
  }

  #named(name: string, { unit, file }: TextPlace): number[] {
    const index = this.#change.before[unit]?.index;
    return (index?.symbolsNamed(name) ?? []).filter((symbol) => index?.fileOf(symbol) === file);
  }

  #shifted(
    path: string,
    symbol: number,
    { now, before }: { now: TextPlace; before: TextPlace },
  ): number {
    let shift = this.#shifts.get(path);
    if (shift === undefined) {
      const [first = 0] = this.#change.before[before.unit]?.index.symbolsOf(before.file) ?? [];
      const [its = 0] = this.#change.units[now.unit]?.symbolsOf(now.file) ?? [];
      this.#shifts.set(path, (shift = its - first));
    }
    return symbol + shift;
  }

  #movedIn(path: string, before: TextPlace, now: TextPlace): ReadonlyMap<number, number> {
    let moved = this.#moved.get(path);
    if (moved === undefined) {
      const [one, other] = [this.#change.before[before.unit]?.index, this.#change.units[now.unit]];
      moved =
        one === undefined || other === undefined
          ? new Map<number, number>()
          : movedBetween(said(one, before.file), said(other, now.file));
      this.#moved.set(path, moved);
    }
    return moved;
  }
}

/** What a text says of its definitions, without their places: `symbol` says the same as others of the same `text`. */
export interface Said {
  symbol: number;
  text: string;
  /** Several of it may be told apart by their lines. */
  shared: string;
}

export function said(index: ShardIndex, file: number): Said[] {
  const types = new Map<number, string[]>();
  for (const { symbol, role, name, type } of index.typesOf(file)) {
    const known = types.get(symbol);
    const text = `${role} ${name} ${type}`;
    if (known === undefined) types.set(symbol, [text]);
    else known.push(text);
  }
  return index.symbolsOf(file).map((symbol) => {
    const { name, kind, container, exported, declaration } = index.symbolPlace(symbol);
    const shared = `${container}\0${name}`;
    const own = [shared, kind, exported, declaration, ...(types.get(symbol) ?? [])];
    return { symbol, shared, text: own.join('\0') };
  });
}

/** Each to the one that says the same, as far as as many say so, and as many have its name. */
function movedBetween(before: readonly Said[], now: readonly Said[]): Map<number, number> {
  const moved = new Map<number, number>();
  const [was, is] = [grouped(before, 'text'), grouped(now, 'text')];
  const [named, still] = [grouped(before, 'shared'), grouped(now, 'shared')];
  for (const [text, all] of was) {
    const others = is.get(text);
    const shared = all[0]?.shared ?? '';
    if (others?.length !== all.length) continue;
    if (named.get(shared)?.length !== still.get(shared)?.length) continue;
    for (const [at, { symbol }] of all.entries()) moved.set(symbol, others[at]?.symbol ?? -1);
  }
  return moved;
}

function grouped(all: readonly Said[], by: 'text' | 'shared'): Map<string, Said[]> {
  const found = new Map<string, Said[]>();
  for (const each of all) {
    const known = found.get(each[by]);
    if (known === undefined) found.set(each[by], [each]);
    else known.push(each);
  }
  return found;
}
