import { isConstructor } from '../bind/visibility.js';
import type { CallBinding } from '../format/bound-calls.js';
import type { CallRow } from '../format/shard-index.js';
import { meaningOf, type LayerDocument, type LayerTarget, type Meaning } from './layer.js';
import { TreeSymbols, type PlacedSymbol } from './tree-symbols.js';

/** What is known of one call or use. */
export interface SiteBinding {
  binding: CallBinding;
  targets: readonly PlacedSymbol[];
}

/**
 * What a layer did. Of sites: `added`: we had no edge · `corrected`: ours led elsewhere · `denied`: ours left nothing, as the
 * name is of a library · `same` · `settled`: we knew nothing, and there is no edge. `implementations`: that we did not have.
 */
export interface LayerCounts {
  added: number;
  corrected: number;
  denied: number;
  same: number;
  settled: number;
  implementations: number;
  /** Documents whose file is not there, or has changed since. */
  stale: number;
}

type Said = readonly PlacedSymbol[] | Extract<Meaning, string>;
type Site = Pick<CallRow, 'id' | 'kind'>;

/** A layer over the shards as they are now. */
export class PreciseBindings {
  readonly counts: LayerCounts = {
    ...{ added: 0, corrected: 0, denied: 0, same: 0, settled: 0 },
    ...{ implementations: 0, stale: 0 },
  };
  /** Definitions that others may stand for. */
  readonly implementations: [what: PlacedSymbol, by: PlacedSymbol][] = [];
  readonly #symbols: TreeSymbols;
  /** By shard, then by site. */
  readonly #said: Map<number, Said>[];

  constructor(symbols: TreeSymbols, documents: readonly LayerDocument[]) {
    this.#symbols = symbols;
    this.#said = symbols.shards.map(() => new Map<number, Said>());
    const current = documents.filter(({ path, blob }) => symbols.file(path)?.blob === blob);
    this.counts.stale = documents.length - current.length;
    const sites = this.#sitesIn(current);
    for (const document of current) this.#apply(document, sites);
  }

  /** Whether it speaks of any site, or implementation, of a shard. */
  speaksOf(shard: number): boolean {
    return (
      (this.#said[shard]?.size ?? 0) > 0 ||
      this.implementations.some(([what, by]) => what.shard === shard || by.shard === shard)
    );
  }

  /** Sites that the layer speaks of. */
  sitesOf(shard: number): IterableIterator<number> {
    return (this.#said[shard] ?? new Map<number, Said>()).keys();
  }

  /** What a site is bound to, where `ours` was found without the layer. `isOpen`: others may run in place of a definition. */
  settle(
    shard: number,
    site: number,
    ours: SiteBinding,
    isOpen: (target: PlacedSymbol) => boolean,
  ): SiteBinding {
    const index = this.#symbols.shards[shard];
    const said = this.#said[shard]?.get(site);
    if (said === undefined || index === undefined) return ours;
    const hasEdge = ours.targets.length > 0;
    const row = index.site(site);
    if (said === 'value') {
      // It says which variable it is, not what it holds, which we may know. A member may be that of a type that fits.
      if (hasEdge || ours.binding === 'value' || !isPlainName(row)) return ours;
      this.counts.settled += 1;
      return { binding: 'value', targets: [] };
    }
    // What we found in the type of a receiver is a member: an indexer that names none has not looked at the receiver.
    if (said === 'outer' && row.kind === 'member' && ours.targets.some(isMethod)) return ours;
    if (said === 'outside' || said === 'outer') {
      if (hasEdge) this.counts.denied += 1;
      else if (ours.binding !== 'outside') this.counts.settled += 1;
      return { binding: 'outside', targets: [] };
    }
    const targets = this.#withConstructors(row, said);
    if (ours.targets.some((each) => targets.some((other) => isSameName(each, other)))) {
      this.counts.same += 1;
      return ours;
    }
    // Of `{ run }` indexers name the property that is set; ours is what it is set to.
    const isShorthand = row.kind === 'value' && isPlainName(row) && targets.every(isMethod);
    if (hasEdge && isShorthand) return ours;
    if (hasEdge) this.counts.corrected += 1;
    else this.counts.added += 1;
    const isCalled = row.kind === 'direct' || row.kind === 'member';
    const isDispatch = isCalled && !ofBase.test(index.expressionOf(site)) && targets.some(isOpen);
    return { binding: isDispatch ? 'dispatch' : 'exact', targets };
  }

  #apply(
    document: LayerDocument,
    sites: ReadonlyMap<string, ReadonlyMap<string, readonly Site[]>>,
  ): void {
    const { path, targets, implementations } = document;
    const placed = targets.map((each) => this.#symbols.placed(each));
    const placeOf = new Map(targets.map((each, at) => [each, placed[at]]));
    const said = this.#said[this.#symbols.file(path)?.shard ?? -1];
    for (const [line, name, ...means] of document.sites) {
      const meaning = this.#saidBy(meaningOf(document, means), placeOf);
      if (meaning === undefined) continue;
      for (const { id } of sites.get(path)?.get(`${line} ${name}`) ?? []) said?.set(id, meaning);
    }
    for (const [what, by] of implementations) {
      const [one, other] = [placed[what], placed[by]];
      if (one !== undefined && other !== undefined && !isSame(one, other))
        this.implementations.push([one, other]);
    }
  }

  /** Undefined: a definition that is meant is not there any more. */
  #saidBy(
    meaning: ReturnType<typeof meaningOf>,
    placeOf: ReadonlyMap<LayerTarget, PlacedSymbol | undefined>,
  ): Said | undefined {
    if (typeof meaning === 'string') return meaning;
    const found = meaning.flatMap((each) => placeOf.get(each) ?? []);
    return found.length < meaning.length || found.length === 0 ? undefined : found;
  }

  /** By path, then by line and name. */
  #sitesIn(documents: readonly LayerDocument[]): Map<string, Map<string, Site[]>> {
    const found = new Map(documents.map(({ path }) => [path, new Map<string, Site[]>()]));
    for (const index of this.#symbols.shards) {
      const its = Array.from({ length: index.fileCount }, (_, file) =>
        found.get(index.file(file).path),
      );
      if (its.every((each) => each === undefined)) continue;
      for (const sites of [index.calls(), index.uses()])
        for (const { id, kind, file, line, callee } of sites) {
          const ofFile = its[file];
          if (ofFile === undefined) continue;
          const key = `${line} ${callee}`;
          const known = ofFile.get(key);
          if (known === undefined) ofFile.set(key, [{ id, kind }]);
          else known.push({ id, kind });
        }
    }
    return found;
  }

  /** As we bind what is constructed: to the type, and to what runs then. */
  #withConstructors({ kind }: CallRow, said: readonly PlacedSymbol[]): readonly PlacedSymbol[] {
    if (kind === 'value' || kind === 'type') return said;
    const added = said.flatMap((each) =>
      kind === 'construct' && isConstructor(each.name)
        ? this.#typeOf(each)
        : this.#constructorsOf(each),
    );
    return [...said, ...added.filter((each) => !said.some((other) => isSame(each, other)))];
  }

  #typeOf({ path, container }: PlacedSymbol): PlacedSymbol[] {
    return this.#named(path, (each) => each.name === container && each.kind !== 'method');
  }

  #constructorsOf({ path, name, kind }: PlacedSymbol): PlacedSymbol[] {
    if (kind === 'method' || kind === 'function') return [];
    return this.#named(path, (each) => each.container === name && isConstructor(each.name));
  }

  #named(path: string, isWanted: (symbol: PlacedSymbol) => boolean): PlacedSymbol[] {
    const its = this.#symbols.file(path);
    const index = this.#symbols.shards[its?.shard ?? -1];
    if (its === undefined || index === undefined) return [];
    return index
      .symbolsOf(its.file)
      .map((symbol): PlacedSymbol => {
        const { container, name, kind } = index.symbolPlace(symbol);
        return { shard: its.shard, symbol, path, container, name, kind };
      })
      .filter(isWanted);
  }
}

/** A method of what the own type is based on: nothing runs in its place. */
const ofBase = /\.\$super\.[^.]*$/;

function isMethod({ kind }: PlacedSymbol): boolean {
  return kind === 'method';
}

/** Overloads have one name. */
function isSameName(one: PlacedSymbol, other: PlacedSymbol): boolean {
  return one.path === other.path && one.container === other.container && one.name === other.name;
}

function isPlainName({ kind, receiver }: CallRow): boolean {
  return receiver === '' && (kind === 'direct' || kind === 'value');
}

function isSame(one: PlacedSymbol, other: PlacedSymbol): boolean {
  return one.shard === other.shard && one.symbol === other.symbol;
}
