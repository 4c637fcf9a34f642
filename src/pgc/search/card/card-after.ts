import { isCFamily } from '../../format/facts.js';
import { sortedByBytes } from '../../format/joined/joined-terms.js';
import type { CallRow, FileRow, ShardIndex } from '../../format/shard-index.js';
import type { Card, CardReference } from '../../shapes.js';
import { areStandIns, type CardParts } from './card.js';
import { boundReferences, openAmong, openSites } from './references.js';

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
  const left = new Set([...change.symbols, ...change.calls.keys()]);
  for (const { term, container, documents } of card.unresolved) {
    if (container !== '') continue;
    const before = documents - known.sitesOf(term, container);
    const sites = left.delete(term) ? change.openSites(term, before) : before;
    if (sites > 0) found.add(term, container, sites);
  }
  for (const name of left) {
    const sites = change.openSites(name, 0);
    if (sites > 0) found.add(name, '', sites);
  }
  return found.sorted();
}

/** What differs between two states of a shard, by name. */
class ShardChange {
  /** Names of symbols in texts that are new, gone or other ones. */
  readonly symbols = new Set<string>();
  /** By name, calls in such texts, and those that a binder has seen in one state alone. */
  readonly calls = new Map<string, { gone: CallRow[]; come: CallRow[] }>();
  /** Headers may be found elsewhere. */
  isElsewhere = false;

  readonly #before: ShardIndex;
  readonly #now: ShardIndex;

  constructor(before: ShardIndex, now: ShardIndex) {
    this.#before = before;
    this.#now = now;
    const left = new Map(filesOf(before).map((file, at) => [file.path, { file, at }]));
    for (const [at, file] of filesOf(now).entries()) {
      const was = left.get(file.path);
      left.delete(file.path);
      const isKept = was?.file.blob === file.blob && was.file.language === file.language;
      if (isKept) this.#compare(was.at, at);
      else {
        this.#note(now, at, 'come');
        if (was !== undefined) this.#note(before, was.at, 'gone');
        if (!isCFamily(file.language) && !(was !== undefined && isCFamily(was.file.language)))
          continue;
        if (was === undefined || includesOf(before, was.at) !== includesOf(now, at))
          this.isElsewhere = true;
      }
    }
    for (const { file, at } of left.values()) {
      this.#note(before, at, 'gone');
      if (isCFamily(file.language)) this.isElsewhere = true;
    }
    if (!this.isElsewhere) this.isElsewhere = farHeadersOf(before) !== farHeadersOf(now);
  }

  /** See `openSites`; `before`: as many as there were. */
  openSites(name: string, before: number): number {
    const now = this.#now;
    const symbols = now.symbolsNamed(name);
    const { gone = [], come = [] } = this.calls.get(name) ?? {};
    const isWanted =
      symbols.every((each) => now.outline(each).declaration) ||
      (before > 0 && come.some(({ caller }) => caller >= 0));
    // All others are what they were.
    return isWanted && !this.symbols.has(name)
      ? before + openAmong(now, come).length - openAmong(this.#before, gone).length
      : openSites(now, name, now.callsTo(name));
  }

  #note(index: ShardIndex, file: number, as: 'gone' | 'come'): void {
    for (const symbol of index.symbolsOf(file)) this.symbols.add(index.symbolPlace(symbol).name);
    for (const [first, end] of callSpans(index, file))
      for (let site = first; site < end; site += 1)
        this.#call(index.site(site))[as].push(index.site(site));
  }

  #compare(before: number, file: number): void {
    const [was, now] = [this.#before, this.#now];
    const spans = callSpans(was, before);
    for (const [at, [first, end]] of callSpans(now, file).entries())
      for (let site = first; site < end; site += 1) {
        const its = (spans[at]?.[0] ?? 0) + site - first;
        if (isBound(now, site) === isBound(was, its)) continue;
        const { gone, come } = this.#call(now.site(site));
        gone.push(was.site(its));
        come.push(now.site(site));
      }
  }

  #call({ callee }: CallRow): { gone: CallRow[]; come: CallRow[] } {
    let known = this.calls.get(callee);
    if (known === undefined) this.calls.set(callee, (known = { gone: [], come: [] }));
    return known;
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
