import { nameHash } from '../../format/name-hash.js';
import type { ShardIndex } from '../../format/shard-index.js';
import type { BoundAnew, Change, TextPlace, UnitBefore } from '../change/change.js';
import type { MovedSymbols } from '../change/moved-symbols.js';
import { bindPointers } from './bind-pointers.js';
import { BoundBefore, callsIn, textChange, useOf, type TextChange } from './changed-text.js';
import { HarmlessRows } from './harmless-rows.js';

/** More changed texts than these are bound with everything else. */
const textsMax = 5_000;

type Call = BoundAnew['calls'] extends Iterable<infer Each> ? Each : never;

/**
 * Binds the calls of C that go through pointers after a change. Where functions are put is known for all texts together: if a
 * change may have a say in that, everything is bound anew; if not, only the calls of changed texts are, as the same ones were.
 */
export function rebindPointers(change: Change, moved: MovedSymbols): BoundAnew {
  const calls = new OwnCalls(change, moved).all();
  if (calls !== undefined) return { calls, isWhole: false, implementations: undefined };
  return { ...bindPointers(change.units), isWhole: true };
}

interface ChangedC {
  path: string;
  now: TextPlace;
  before: TextPlace;
  what: TextChange;
}

/** The calls of changed texts, if nothing else can differ. */
class OwnCalls {
  readonly #change: Change;
  readonly #moved: MovedSymbols;

  constructor(change: Change, moved: MovedSymbols) {
    this.#change = change;
    this.#moved = moved;
  }

  /** Undefined: something else may differ. */
  all(): Call[] | undefined {
    const texts = this.#texts();
    if (texts === undefined) return undefined;
    const names = new Set(texts.flatMap(({ what }) => [...what.names]));
    if (names.size > 0 && this.#areNamed(names, texts)) return undefined;
    const harmless = new HarmlessRows(this.#change);
    for (const { path, what, before } of texts)
      if (!what.rows.every((row) => harmless.has(row, path, before))) return undefined;
    const found: Call[] = [];
    for (const text of texts) {
      const calls = this.#callsOf(text, harmless);
      if (calls === undefined) return undefined;
      found.push(...calls);
    }
    return found;
  }

  /** Undefined: a text is new or gone, or includes something else. */
  #texts(): ChangedC[] | undefined {
    const found: ChangedC[] = [];
    if (!this.#change.isInOrder) return undefined;
    for (const { path, now, before } of this.#change.texts) {
      const isOurs = [this.#indexNow(now), this.#before(before)?.index].map(
        (index, at) => index?.file((at === 0 ? now : before)?.file ?? 0).language === 'c',
      );
      if (!isOurs.includes(true)) continue;
      if (now === undefined || before === undefined || isOurs.includes(false)) return undefined;
      const [one, other] = [this.#before(before)?.index, this.#indexNow(now)];
      if (one === undefined || other === undefined || found.length >= textsMax) return undefined;
      const what = textChange({ index: one, file: before.file }, { index: other, file: now.file });
      if (!what.areIncludesSame) return undefined;
      found.push({ path, now, before, what });
    }
    return found;
  }

  #indexNow(place: TextPlace | undefined): ShardIndex | undefined {
    return place && this.#change.units[place.unit];
  }

  #before(place: TextPlace | undefined): UnitBefore | undefined {
    return place && this.#change.before[place.unit];
  }

  /** Whether any other text, or what stays of a changed one, speaks of a name: by its word, because types lead to types. */
  #areNamed(names: ReadonlySet<string>, texts: readonly ChangedC[]): boolean {
    const hashes = new Set([...names].map((name) => nameHash(name)));
    const isNamed = (text: string): boolean =>
      (text.match(/\w+/g) ?? []).some((word) => names.has(word));
    for (const { what, now, before } of texts) {
      if (what.kept.some(isNamed)) return true;
      const known = new BoundBefore(this.#before(before) as UnitBefore, before.file);
      const index = this.#indexNow(now) as ShardIndex;
      for (const { id, callee } of callsIn(index, now.file)) {
        const use = useOf(index, id, callee);
        if (!use.startsWith('=') && known.call(use) !== undefined && isNamed(use)) return true;
      }
    }
    for (const [unit, index] of this.#change.units.entries()) {
      const isPut = [...names].some((name) => index.slotsOf(name).length > 0);
      if (!isPut && !index.speaksOf(hashes)) continue;
      if (this.#change.isSame(unit) || this.#isNamedIn(index, isNamed)) return true;
    }
    return false;
  }

  /** The same in a unit with changed texts, which are left out. */
  #isNamedIn(index: ShardIndex, isNamed: (text: string) => boolean): boolean {
    const isOther = Array.from(
      { length: index.fileCount },
      (_, file) => this.#change.changed(index.file(file).path) === undefined,
    );
    for (const [file, is] of isOther.entries())
      if (is)
        for (const { name, type } of index.typesOf(file))
          if (isNamed(`${name} ${type}`)) return true;
    for (const { callee, expression, file } of index.slots())
      if (isOther[file] === true && isNamed(`${callee} ${expression}`)) return true;
    for (let site = 0; site < index.siteCount; site += 1) {
      const expression = index.expressionOf(site);
      if (expression !== '' && isNamed(expression) && isOther[index.site(site).file] === true)
        return true;
    }
    return false;
  }

  /** Undefined: a call is new, and may go through a pointer. */
  #callsOf({ now, before }: ChangedC, harmless: HarmlessRows): Call[] | undefined {
    const [index, unitBefore] = [this.#indexNow(now), this.#before(before)];
    if (index === undefined || unitBefore === undefined) return undefined;
    const known = new BoundBefore(unitBefore, before.file);
    const found: Call[] = [];
    for (const { id, callee } of callsIn(index, now.file)) {
      const use = useOf(index, id, callee);
      const was = known.call(use);
      if (was === undefined) {
        if (!use.startsWith('=') || harmless.isVariable(callee)) return undefined;
        continue;
      }
      const binding = known.bound.bindingOf(was);
      if (binding === 'unbound') continue;
      const targets = known.bound
        .targetsOf(was)
        .map((target) => this.#moved.now(before.unit, known.bound.target(target), now.unit));
      if (targets.includes(undefined)) return undefined;
      found.push({
        ...{ shard: now.unit, call: id, binding },
        targets: targets.flatMap((each) =>
          each === undefined ? [] : [{ ...each, shard: each.unit, file: { path: each.path } }],
        ),
      });
    }
    return found;
  }
}
