import type { BoundCalls, CallBinding } from '../../format/bound-calls.js';
import type { ShardIndex } from '../../format/shard-index.js';

/** What one run before has bound. */
export interface UnitBefore {
  index: ShardIndex;
  bound: BoundCalls;
}

/** More than any unit has. */
const filesMax = 2 ** 24;

export interface TextPlace {
  unit: number;
  file: number;
}

/** A text that is new (no `before`), gone (no `now`), or has another content. */
export interface ChangedText {
  path: string;
  now: TextPlace | undefined;
  before: TextPlace | undefined;
}

/** Something that a site is bound to, such as a `Definition`. */
export interface BoundPlace {
  shard: number;
  /** -1: no symbol of its own, as a member of a type whose name is that of a function elsewhere. */
  symbol: number;
  name: string;
  kind: string;
  container: string;
  /** Of a function that shares its name and container with others; else 0. */
  line?: number;
  file: { path: string };
}

/** What the binder of some languages says after a change. */
export interface BoundAnew {
  /** All sites that may mean something else than before; those of its languages in changed texts always. */
  calls: Iterable<{
    shard: number;
    call: number;
    binding: CallBinding;
    targets: readonly BoundPlace[];
  }>;
  /** These are all: any other site of its languages is not bound. */
  isWhole: boolean;
  /** All of its languages; undefined: as before. */
  implementations: ReadonlyMap<BoundPlace, readonly BoundPlace[]> | undefined;
}

/**
 * What differs between the units that were bound before and those that are bound now. A unit is an index that is written as
 * a whole: it is the same one, or its texts are looked at. Nothing is read of what is the same.
 */
export class Change {
  readonly units: readonly ShardIndex[];
  readonly before: readonly UnitBefore[];
  readonly texts: readonly ChangedText[];
  /** Of units before: which one it is now. */
  readonly #unitNow: ReadonlyMap<number, number>;
  readonly #unitBefore: ReadonlyMap<number, number>;
  /** Of texts with the same content in units that are not the same, by their path. */
  readonly #kept = new Map<string, { now: TextPlace; before: TextPlace }>();
  readonly #changed: ReadonlyMap<string, ChangedText>;
  /** See `touchedBefore`. */
  readonly #touched = new Map<number, readonly number[]>();
  #paths?: ReadonlySet<string>;
  /** Texts that are the same come in the same order: of several definitions of a name, the first one counts. */
  readonly isInOrder: boolean;

  /** `same`: pairs of a unit before and the unit now that are the same. */
  constructor(
    units: readonly ShardIndex[],
    before: readonly UnitBefore[],
    same: Iterable<readonly [before: number, now: number]>,
  ) {
    this.units = units;
    this.before = before;
    this.#unitNow = new Map(same);
    this.#unitBefore = new Map([...this.#unitNow].map(([was, is]) => [is, was]));
    const left = new Map<string, TextPlace>();
    for (const [unit, { index }] of before.entries())
      if (!this.#unitNow.has(unit))
        for (let file = 0; file < index.fileCount; file += 1)
          left.set(index.file(file).path, { unit, file });
    const changed = new Map<string, ChangedText>();
    for (const [unit, index] of units.entries()) {
      if (this.#unitBefore.has(unit)) continue;
      for (let file = 0; file < index.fileCount; file += 1) {
        const { path, blob, language } = index.file(file);
        const now = { unit, file };
        const was = left.get(path);
        left.delete(path);
        const its = was && before[was.unit]?.index.file(was.file);
        if (was !== undefined && its?.blob === blob && its.language === language)
          this.#kept.set(path, { now, before: was });
        else changed.set(path, { path, now, before: was });
      }
    }
    for (const [path, was] of left) changed.set(path, { path, now: undefined, before: was });
    this.#changed = changed;
    this.texts = [...changed.values()];
    this.isInOrder = this.#isInOrder();
  }

  /** What new texts define is looked at wherever it is mentioned, so where they stand does not count. */
  #isInOrder(): boolean {
    let last = -1;
    for (const [unit, index] of this.units.entries())
      for (const at of this.#placesBefore(unit, index)) {
        if (at < last) return false;
        last = at;
      }
    return true;
  }

  /** Where the texts of a unit were, in its order. */
  *#placesBefore(unit: number, index: ShardIndex): Generator<number> {
    const same = this.#unitBefore.get(unit);
    if (same !== undefined) {
      yield same * filesMax;
      return;
    }
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path } = index.file(file);
      const was = (this.#kept.get(path) ?? this.#changed.get(path))?.before;
      if (was !== undefined) yield was.unit * filesMax + was.file;
    }
  }

  /** Undefined: its content is as before. */
  changed(path: string): ChangedText | undefined {
    return this.#changed.get(path);
  }

  /** Ids of what a unit before is bound to in texts that are new, gone or other ones. */
  touchedBefore(before: number): readonly number[] {
    let found = this.#touched.get(before);
    if (found === undefined) {
      this.#paths ??= new Set(this.#changed.keys());
      found = [...(this.before[before]?.bound.targetsIn(this.#paths) ?? [])];
      this.#touched.set(before, found);
    }
    return found;
  }

  /** Whether it is one of the units before, as a whole. */
  isSame(unit: number): boolean {
    return this.#unitBefore.has(unit);
  }

  unitBefore(unit: number): number | undefined {
    return this.#unitBefore.get(unit);
  }

  unitNow(before: number): number | undefined {
    return this.#unitNow.get(before);
  }

  /** Of a text with the same content in a unit that is not the same. */
  kept(path: string): { now: TextPlace; before: TextPlace } | undefined {
    return this.#kept.get(path);
  }
}
