import type { Change } from './change.js';
import type { MovedSymbols } from './moved-symbols.js';

/** A site of a unit before. */
export interface SiteBefore {
  unit: number;
  site: number;
}

/** The sites of texts with the same content: where each was. */
export class KeptSites {
  readonly #change: Change;
  /** By unit: of each site. */
  readonly #from = new Map<number, readonly (SiteBefore | undefined)[]>();

  constructor(change: Change) {
    this.#change = change;
  }

  /** Undefined: its text is new, or has another content. */
  before(unit: number, site: number): SiteBefore | undefined {
    const same = this.#change.unitBefore(unit);
    return same === undefined ? this.#of(unit)[site] : { unit: same, site };
  }

  /** Sites in texts with the same content that were bound to something that is gone, or that is described otherwise. */
  *lost(moved: MovedSymbols): Generator<{ unit: number; site: number }> {
    for (const [unit, index] of this.#change.units.entries()) {
      const same = this.#change.unitBefore(unit);
      if (same === undefined) {
        for (let site = 0; site < index.siteCount; site += 1)
          if (this.#isLost(moved, unit, this.before(unit, site))) yield { unit, site };
      } else {
        const bound = this.#change.before[same]?.bound;
        for (const id of this.#change.touchedBefore(same))
          if (bound !== undefined && moved.now(same, bound.target(id), unit) === undefined)
            for (const site of bound.callsOf(id)) yield { unit, site };
      }
    }
  }

  #isLost(moved: MovedSymbols, unit: number, was: SiteBefore | undefined): boolean {
    const bound = was && this.#change.before[was.unit]?.bound;
    if (was === undefined || bound === undefined) return false;
    return bound
      .targetsOf(was.site)
      .some((id) => moved.now(was.unit, bound.target(id), unit) === undefined);
  }

  #of(unit: number): readonly (SiteBefore | undefined)[] {
    let from = this.#from.get(unit);
    if (from === undefined) this.#from.set(unit, (from = this.#find(unit)));
    return from;
  }

  #find(unit: number): (SiteBefore | undefined)[] {
    const index = this.#change.units[unit];
    if (index === undefined) return [];
    const from = Array<SiteBefore | undefined>(index.siteCount).fill(undefined);
    for (let file = 0; file < index.fileCount; file += 1) {
      const was = this.#change.kept(index.file(file).path)?.before;
      const spans = was && this.#change.before[was.unit]?.index.siteSpans(was.file);
      if (was === undefined || spans === undefined) continue;
      for (const [at, [first, end]] of index.siteSpans(file).entries()) {
        const [start = 0] = spans[at] ?? [];
        for (let site = first; site < end; site += 1)
          from[site] = { unit: was.unit, site: start + site - first };
      }
    }
    return from;
  }
}
