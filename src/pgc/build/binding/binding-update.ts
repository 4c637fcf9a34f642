import type { BoundAnew, BoundPlace, Change } from '../../bind/change/change.js';
import type { KeptRun, KeptSites } from '../../bind/change/kept-sites.js';
import type { MovedSymbols, PlacedTarget } from '../../bind/change/moved-symbols.js';
import {
  BoundCallsWriter,
  type BoundCalls,
  type BoundTarget,
  type CallBinding,
} from '../../format/bound-calls.js';

interface SiteBinding {
  binding: CallBinding;
  targets: readonly PlacedTarget[];
}

/** What may be replaced, and what replaces it. */
type Pair = readonly [what: PlacedTarget, by: PlacedTarget];

/** What sites are bound to after a change: what is bound anew, and everything else as it was. */
export class BindingUpdate {
  /** Calls and uses that were bound anew. */
  sites = 0;
  readonly #change: Change;
  readonly #kept: KeptSites;
  readonly #moved: MovedSymbols;
  /** By unit and site; of a unit that is the same only what differs. */
  readonly #anew: Map<number, SiteBinding>[];
  /** Of languages of which all were found anew; by what may be replaced, and by unit. */
  readonly #pairs = new Map<string, Pair[]>();
  readonly #pairsOf: Pair[][];
  readonly #isPaired: ((path: string) => boolean)[] = [];
  /** Of all units, if they may differ. */
  readonly #headers: ReadonlyMap<string, readonly string[]>[] = [];

  constructor(change: Change, kept: KeptSites, moved: MovedSymbols) {
    this.#change = change;
    this.#kept = kept;
    this.#moved = moved;
    this.#anew = change.units.map(() => new Map<number, SiteBinding>());
    this.#pairsOf = change.units.map(() => []);
  }

  /** `isOf`: whether the text of a path is of its languages. */
  add({ calls, isWhole, implementations }: BoundAnew, isOf: (path: string) => boolean): void {
    const seen = isWhole
      ? this.#change.units.map(({ siteCount }) => new Uint8Array(siteCount))
      : [];
    for (const { shard, call, binding, targets } of calls) {
      this.sites += 1;
      this.#note(shard, call, { binding, targets: targets.map(placed) });
      const its = seen[shard];
      if (its !== undefined) its[call] = 1;
    }
    for (const [unit, its] of seen.entries()) this.#unbind(unit, its, isOf);
    if (implementations === undefined) return;
    this.#isPaired.push(isOf);
    for (const [what, all] of implementations)
      for (const by of all) this.#pair([placed(what), placed(by)]);
  }

  #note(unit: number, site: number, its: SiteBinding): void {
    const same = this.#change.unitBefore(unit);
    const bound = same === undefined ? undefined : this.#change.before[same]?.bound;
    if (same !== undefined && bound?.bindingOf(site) === its.binding) {
      const was = bound.targetsOf(site).map((id) => this.#moved.now(same, bound.target(id), unit));
      const is = its.targets.map((each) => keyIn(targetIn(unit, each)));
      if (
        areSame(
          was.map((each) => (each ? keyIn(targetIn(unit, each)) : '')),
          is,
        )
      )
        return;
    }
    this.#anew[unit]?.set(site, its);
  }

  /** Sites of which a binder that has seen everything says nothing. */
  #unbind(unit: number, seen: Uint8Array, isOf: (path: string) => boolean): void {
    const index = this.#change.units[unit];
    const paths: (boolean | undefined)[] = [];
    for (const { id, file } of index === undefined ? [] : [...index.calls(), ...index.uses()]) {
      const isOurs = (paths[file] ??= isOf(index?.file(file).path ?? ''));
      if (isOurs && seen[id] === 0) this.#note(unit, id, { binding: 'unbound', targets: [] });
    }
  }

  #pair(pair: Pair): void {
    const [what, by] = pair;
    const known = this.#pairs.get(keyOf(what));
    if (known === undefined) this.#pairs.set(keyOf(what), [pair]);
    else known.push(pair);
    for (const unit of new Set([what.unit, by.unit])) this.#pairsOf[unit]?.push(pair);
  }

  /** See `BindingWriter`; those of a unit that is the same may be left out where they are, too. */
  include(unit: number, headers: ReadonlyMap<string, readonly string[]>): void {
    this.#headers[unit] = headers;
  }

  /** Of each unit. */
  *end(): Generator<BoundCallsWriter | 'as before'> {
    for (const unit of this.#change.units.keys())
      yield this.#isAsBefore(unit) ? 'as before' : this.#written(unit);
  }

  #written(unit: number): BoundCallsWriter {
    const { siteCount = 0 } = this.#change.units[unit] ?? {};
    const writer = new BoundCallsWriter(siteCount);
    const called = new Map<number, PlacedTarget>();
    const idOf = (each: PlacedTarget): number => {
      const id = writer.id(targetIn(unit, each));
      called.set(id, each);
      return id;
    };
    const now = this.#targetsNow(unit);
    const known = new KnownIds((before, id) => {
      const its = now.of(before, id);
      return its && idOf(its);
    });
    const anew = this.#anew[unit] ?? new Map<number, SiteBinding>();
    for (const { before, start, first, length } of this.#runsOf(unit, siteCount))
      for (const its of this.#change.before[before]?.bound.boundIn(start, start + length) ?? []) {
        const site = first + its.site - start;
        if (anew.has(site)) continue;
        const ids = its.targets.flatMap((id) => known.of(before, id) ?? []);
        writer.addIds(site, its.binding, ids);
      }
    for (const [site, { binding, targets }] of anew)
      if (binding !== 'unbound') writer.addIds(site, binding, targets.map(idOf));
    const ids = new Map<PlacedTarget, number>();
    const pairedId = (each: PlacedTarget): number => {
      const id = ids.get(each) ?? writer.id(targetIn(unit, each));
      ids.set(each, id);
      return id;
    };
    for (const [what, by] of this.#pairsIn(unit, [...called.values()], now))
      writer.implementIds(pairedId(what), pairedId(by));
    const same = this.#change.unitBefore(unit);
    const headers = same === undefined ? undefined : this.#change.before[same]?.bound.farHeaders();
    for (const [header, targets] of this.#headers[unit] ?? headers ?? [])
      writer.include(header, targets);
    return writer;
  }

  #runsOf(unit: number, length: number): readonly KeptRun[] {
    const same = this.#change.unitBefore(unit);
    return same === undefined
      ? this.#kept.runs(unit)
      : [{ before: same, start: 0, first: 0, length }];
  }

  /** What targets of units before are now: many sites and pairs have the same. */
  #targetsNow(unit: number): KnownIds<PlacedTarget> {
    return new KnownIds((before, id) => {
      const target = this.#change.before[before]?.bound.target(id);
      return target && this.#moved.now(before, target, unit);
    });
  }

  #isAsBefore(unit: number): boolean {
    const same = this.#change.unitBefore(unit);
    const bound = same === undefined ? undefined : this.#change.before[same]?.bound;
    if (same === undefined || bound === undefined) return false;
    if ((this.#anew[unit]?.size ?? 0) > 0) return false;
    for (const id of this.#change.touchedBefore(same)) {
      const target = bound.target(id);
      const now = this.#moved.now(same, target, unit);
      if (now === undefined || keyIn(targetIn(unit, now)) !== keyIn(target)) return false;
    }
    const headers = this.#headers[unit];
    if (headers !== undefined && !areHeadersSame(bound.farHeaders(), headers)) return false;
    // Texts of other languages neither call nor define what was found anew.
    if (
      this.#isPaired.length === 0 ||
      ![...this.#pathsOf(unit)].some((path) => this.#isFound(path))
    )
      return true;
    const was = [...bound.implementations()].map((ids) =>
      ids.map((id) => keyIn(bound.target(id))).join('\0\0'),
    );
    const pairs = this.#pairsIn(unit, calledIn(bound), this.#targetsNow(unit));
    const is = Array.from(pairs, (pair) =>
      pair.map((each) => keyIn(targetIn(unit, each))).join('\0\0'),
    );
    return areSame(was, is);
  }

  /** Whether what replaces what in the text of a path was found anew, as of all of its language. */
  #isFound(path: string): boolean {
    return this.#isPaired.some((isOf) => isOf(path));
  }

  /** Known where the one is called, and where either is defined; some come twice. `now`: see `#targetsNow`. */
  *#pairsIn(
    unit: number,
    called: readonly BoundTarget[],
    now: KnownIds<PlacedTarget>,
  ): Generator<Pair> {
    const isCalled = new Set(called.map((each) => keyIn(seenFrom(unit, each))));
    const has = ([what]: Pair): boolean => isCalled.has(keyIn(targetIn(unit, what)));
    yield* this.#pairsOf[unit] ?? [];
    if (this.#pairs.size > 0)
      for (const each of called)
        for (const pair of this.#pairs.get(keyOf(each)) ?? []) if (has(pair)) yield pair;
    const own = this.#pathsOf(unit);
    for (const before of this.#sourcesOf(unit))
      for (const pair of this.#pairsBefore(before, now))
        if (pair.some(({ path }) => own.has(path)) || has(pair)) yield pair;
    for (const { targets } of this.#anew[unit]?.values() ?? [])
      for (const each of targets) yield* this.#pairsOfTarget(each, now);
  }

  #pathsOf(unit: number): ReadonlySet<string> {
    const index = this.#change.units[unit];
    const { length } = { length: index?.fileCount ?? 0 };
    return new Set(Array.from({ length }, (_, file) => index?.file(file).path ?? ''));
  }

  /** The units before that have said something of its texts. */
  #sourcesOf(unit: number): ReadonlySet<number> {
    const same = this.#change.unitBefore(unit);
    if (same !== undefined) return new Set([same]);
    const all = [...this.#pathsOf(unit)].map(
      (path) => (this.#change.kept(path) ?? this.#change.changed(path))?.before?.unit,
    );
    return new Set(all.filter((each) => each !== undefined));
  }

  /** Those of languages of which not all are found anew. */
  *#pairsBefore(before: number, now: KnownIds<PlacedTarget>): Generator<Pair> {
    for (const ids of this.#change.before[before]?.bound.implementations() ?? []) {
      const pair = this.#pairNow(before, ids, now);
      if (pair !== undefined) yield pair;
    }
  }

  #pairNow(
    before: number,
    [what, by]: readonly [what: number, by: number],
    now: KnownIds<PlacedTarget>,
  ): Pair | undefined {
    const one = now.of(before, what);
    if (one === undefined || this.#isFound(one.path)) return undefined;
    const other = now.of(before, by);
    return other && [one, other];
  }

  /** What replaces something is known where that is defined. */
  *#pairsOfTarget(target: PlacedTarget, now: KnownIds<PlacedTarget>): Generator<Pair> {
    const { path, name } = target;
    const was = (this.#change.kept(path) ?? this.#change.changed(path))?.before;
    const before = was?.unit ?? this.#change.unitBefore(target.unit);
    const bound = before === undefined ? undefined : this.#change.before[before]?.bound;
    if (before === undefined || bound === undefined) return;
    for (const what of bound.targetsNamed(name))
      for (const by of bound.implementing(what)) {
        const pair = this.#pairNow(before, [what, by], now);
        if (pair !== undefined && keyOf(pair[0]) === keyOf(target)) yield pair;
      }
  }
}

/** What is found by a number of a unit before, once. */
class KnownIds<Found = number> {
  readonly #known = new Map<number, (Found | undefined)[]>();

  constructor(readonly find: (before: number, id: number) => Found | undefined) {}

  of(before: number, id: number): Found | undefined {
    let known = this.#known.get(before);
    if (known === undefined) this.#known.set(before, (known = []));
    if (!(id in known)) known[id] = this.find(before, id);
    return known[id];
  }
}

function calledIn(bound: BoundCalls): BoundTarget[] {
  const called: BoundTarget[] = [];
  for (let id = 0; id < bound.targetCount; id += 1)
    if (bound.isCalled(id)) called.push(bound.target(id));
  return called;
}

function placed(place: BoundPlace): PlacedTarget {
  const { shard, symbol, file, container, name, kind, line = 0 } = place;
  return { unit: shard, symbol, path: file.path, container, name, kind, line };
}

function targetIn(unit: number, target: PlacedTarget): BoundTarget {
  const { unit: its, symbol, path, container, name, kind, line } = target;
  return { symbol: its === unit ? symbol : -1, path, container, name, kind, line };
}

/** What is of a unit already, or of all units. */
function seenFrom(unit: number, target: BoundTarget | PlacedTarget): BoundTarget {
  return 'unit' in target ? targetIn(unit, target) : target;
}

/** Of what one unit knows it by. */
function keyIn(target: BoundTarget): string {
  return `${target.symbol}\0${keyOf(target)}`;
}

function keyOf({ path, container, name, kind, line }: Omit<BoundTarget, 'symbol'>): string {
  return `${path}\0${container}\0${name}\0${kind}\0${line}`;
}

function areSame(one: readonly string[], other: readonly string[]): boolean {
  const [all, others] = [new Set(one), new Set(other)];
  return all.size === others.size && [...all].every((each) => others.has(each));
}

function areHeadersSame(
  one: ReadonlyMap<string, readonly string[]>,
  other: ReadonlyMap<string, readonly string[]>,
): boolean {
  return (
    one.size === other.size &&
    [...one].every(([header, targets]) => areSame(targets, other.get(header) ?? []))
  );
}
