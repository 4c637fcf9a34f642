import type { Change } from './change.js';
import type { MovedSymbols } from './moved-symbols.js';

/** Sites of texts with the same content, which follow each other before and now. */
export interface KeptRun {
  /** In which they were, from `start` on. */
  before: number;
  start: number;
  /** The first of them now. */
  first: number;
  length: number;
}

/** The sites of texts with the same content: where each was. */
export class KeptSites {
  readonly #change: Change;
  /** By unit, in order of the sites now. */
  readonly #runs = new Map<number, readonly KeptRun[]>();

  constructor(change: Change) {
    this.#change = change;
  }

  /** Sites in texts with the same content that were bound to something that is gone, or that is described otherwise. */
  *lost(moved: MovedSymbols): Generator<{ unit: number; site: number }> {
    for (const unit of this.#change.units.keys()) {
      const same = this.#change.unitBefore(unit);
      if (same === undefined) {
        yield* this.#lostIn(unit, moved);
        continue;
      }
      const bound = this.#change.before[same]?.bound;
      for (const id of this.#change.touchedBefore(same))
        if (bound !== undefined && moved.now(same, bound.target(id), unit) === undefined)
          for (const site of bound.callsOf(id)) yield { unit, site };
    }
  }

  *#lostIn(unit: number, moved: MovedSymbols): Generator<{ unit: number; site: number }> {
    const known = new Map<number, boolean[]>();
    for (const { before, start, first, length } of this.runs(unit)) {
      const bound = this.#change.before[before]?.bound;
      if (bound === undefined) continue;
      const isLost = known.get(before) ?? [];
      known.set(before, isLost);
      for (const { site, targets } of bound.boundIn(start, start + length))
        for (const id of targets)
          if ((isLost[id] ??= moved.now(before, bound.target(id), unit) === undefined)) {
            yield { unit, site: first + site - start };
            break;
          }
    }
  }

  /** Of a unit that is not the same. */
  runs(unit: number): readonly KeptRun[] {
    let runs = this.#runs.get(unit);
    if (runs === undefined) this.#runs.set(unit, (runs = this.#find(unit)));
    return runs;
  }

  #find(unit: number): KeptRun[] {
    const index = this.#change.units[unit];
    const found: KeptRun[] = [];
    for (let file = 0; file < (index?.fileCount ?? 0); file += 1) {
      const was = this.#change.kept(index?.file(file).path ?? '')?.before;
      const spans = was && this.#change.before[was.unit]?.index.siteSpans(was.file);
      if (was === undefined || spans === undefined) continue;
      for (const [at, [first, end]] of (index?.siteSpans(file) ?? []).entries())
        if (first < end)
          found.push({ before: was.unit, start: spans[at]?.[0] ?? 0, first, length: end - first });
    }
    return joined(found.sort((one, other) => one.first - other.first));
  }
}

/** Neighbours that continue each other become one. */
function joined(runs: readonly KeptRun[]): KeptRun[] {
  const found: KeptRun[] = [];
  for (const run of runs) {
    const last = found.at(-1);
    const isNext =
      last?.before === run.before &&
      last.first + last.length === run.first &&
      last.start + last.length === run.start;
    if (isNext) last.length += run.length;
    else found.push({ ...run });
  }
  return found;
}
