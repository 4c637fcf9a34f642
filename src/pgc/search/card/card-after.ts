import { isC } from '../../bind/index-cache.js';
import { isCFamily } from '../../format/facts.js';
import { sortedByBytes } from '../../format/joined/joined-terms.js';
import type { FileRow, ShardIndex } from '../../format/shard-index.js';
import type { Card, CardReference } from '../../shapes.js';
import { areStandIns, type CardParts } from './card.js';
import { boundReferences, openSites } from './references.js';

/** A shard as it was, with its card. */
export interface CardBefore {
  index: ShardIndex;
  card: Card;
}

/**
 * What a card says of names, after a change: of those that no changed text has, what it said before. What cannot be told so is left
 * out: where texts include something else, any call may mean something else; and what was cut does not say what it lacks.
 */
export function partsAfter(index: ShardIndex, before: CardBefore): Partial<CardParts> {
  const { card } = before;
  const change = new ShardChange(before.index, index);
  const wasCut = new Set(card.truncated);
  const isDefining = (symbol: number): boolean => {
    const { exported, declaration } = index.outline(symbol);
    return exported && !declaration && !index.isTest(symbol);
  };
  const named = (
    was: readonly string[],
    has: (symbols: readonly number[]) => boolean,
  ): string[] => {
    const kept = was.filter((name) => !change.symbols.has(name));
    const anew = [...change.symbols].filter((name) => has(index.symbolsNamed(name)));
    return anew.length === 0 ? kept : sortedByBytes([...kept, ...anew], (name) => name);
  };
  const parts: Partial<CardParts> = {};
  if (!wasCut.has('defines'))
    parts.defines = named(card.defines, (symbols) => symbols.some(isDefining));
  if (!wasCut.has('stand_ins'))
    parts.stand_ins = named(card.stand_ins, (symbols) => areStandIns(index, symbols));
  if (!wasCut.has('unresolved') && !change.isElsewhere)
    parts.unresolved = unresolvedAfter(index, before, change);
  return parts;
}

function unresolvedAfter(
  index: ShardIndex,
  { index: was, card }: CardBefore,
  change: ShardChange,
): CardReference[] {
  const [found, known] = [boundReferences(index), boundReferences(was)];
  const left = new Map(change.calls);
  for (const name of change.symbols) left.set(name, 0);
  const recount = (name: string): number => openSites(index, name, index.callsTo(name));
  for (const { term, container, documents } of card.unresolved) {
    if (container !== '') continue;
    const before = documents - known.sitesOf(term, container);
    const more = left.get(term);
    left.delete(term);
    const sites =
      more === undefined || change.isCounted(term) ? before + (more ?? 0) : recount(term);
    if (sites > 0) found.add(term, container, sites);
  }
  for (const [name, more] of left) {
    const sites = change.isCounted(name) ? more : recount(name);
    if (sites > 0) found.add(name, '', sites);
  }
  return found.sorted();
}

/** What differs between two states of a shard, by name. */
class ShardChange {
  /** Names of symbols in texts that are new, gone or other ones. */
  readonly symbols = new Set<string>();
  /** By name: how many more calls there are now that no binder has seen, if it is called in a changed text, or seen in one state alone. */
  readonly calls = new Map<string, number>();
  /** Headers may be found elsewhere. */
  isElsewhere = false;

  readonly #now: ShardIndex;

  constructor(before: ShardIndex, now: ShardIndex) {
    this.#now = now;
    const left = new Map(filesOf(before).map((file, at) => [file.path, { file, at }]));
    for (const [at, file] of filesOf(now).entries()) {
      const was = left.get(file.path);
      left.delete(file.path);
      const isKept = was?.file.blob === file.blob && was.file.language === file.language;
      if (isKept) this.#compare(before, was.at, at);
      else {
        this.#note(now, at, 1);
        if (was !== undefined) this.#note(before, was.at, -1);
        if (!isCFamily(file.language) && !(was !== undefined && isCFamily(was.file.language)))
          continue;
        if (was === undefined || includesOf(before, was.at) !== includesOf(now, at))
          this.isElsewhere = true;
      }
    }
    for (const { file, at } of left.values()) {
      this.#note(before, at, -1);
      if (isCFamily(file.language)) this.isElsewhere = true;
    }
    if (!this.isElsewhere) this.isElsewhere = farHeadersOf(before) !== farHeadersOf(now);
  }

  /** Without symbols of a name, each of its calls counts, wherever it stands. */
  isCounted(name: string): boolean {
    return !this.symbols.has(name) && this.#now.symbolsNamed(name).length === 0;
  }

  #note(index: ShardIndex, file: number, sign: 1 | -1): void {
    for (const symbol of index.symbolsOf(file)) this.symbols.add(index.symbolPlace(symbol).name);
    for (const [first, end] of callSpans(index, file))
      for (let site = first; site < end; site += 1) {
        const { callee, kind } = index.site(site);
        const isCounted = kind !== 'member' && isC(index, file) && !isBound(index, site);
        this.#count(callee, isCounted ? sign : 0);
      }
  }

  #compare(before: ShardIndex, fileBefore: number, file: number): void {
    const now = this.#now;
    const spans = callSpans(before, fileBefore);
    for (const [at, [first, end]] of callSpans(now, file).entries())
      for (let site = first; site < end; site += 1) {
        const is = isBound(now, site);
        if (is === isBound(before, (spans[at]?.[0] ?? 0) + site - first)) continue;
        const { callee, kind } = now.site(site);
        if (kind !== 'member' && isC(now, file)) this.#count(callee, is ? -1 : 1);
      }
  }

  #count(name: string, more: number): void {
    this.calls.set(name, (this.calls.get(name) ?? 0) + more);
  }
}

function filesOf(index: ShardIndex): FileRow[] {
  return Array.from({ length: index.fileCount }, (_, file) => index.file(file));
}

function callSpans(index: ShardIndex, file: number): readonly (readonly [number, number])[] {
  return index.siteSpans(file).slice(0, 2);
}

function isBound({ bound }: ShardIndex, site: number): boolean {
  return bound !== undefined && bound.bindingOf(site) !== 'unbound';
}

function includesOf(index: ShardIndex, file: number): string {
  return index
    .importsOf(file)
    .map(({ target }) => target)
    .join('\n');
}

function farHeadersOf({ bound }: ShardIndex): string {
  return [...(bound?.farHeaders() ?? [])].map((each) => each.flat().join('\n')).join('\n\n');
}
