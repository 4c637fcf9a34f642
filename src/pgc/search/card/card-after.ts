import { between } from '../../format/bytes.js';
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
  const names = new Set([...change.symbols, ...change.callees]);
  for (const { term, container, documents } of card.unresolved) {
    if (container !== '' || names.has(term)) continue;
    const sites = documents - known.sitesOf(term, container);
    if (sites > 0) found.add(term, container, sites);
  }
  for (const name of names) {
    const sites = openSites(index, name, index.callsTo(name));
    if (sites > 0) found.add(name, '', sites);
  }
  return found.sorted();
}

/** What differs between two states of a shard, by name. */
class ShardChange {
  /** Names of symbols in texts that are new, gone or other ones. */
  readonly symbols = new Set<string>();
  /** Names that are called in them, and those of other calls which a binder has seen in one state alone. */
  readonly callees = new Set<string>();
  /** Headers may be found elsewhere. */
  isElsewhere = false;

  constructor(before: ShardIndex, now: ShardIndex) {
    const left = new Map(filesOf(before).map((file, at) => [file.path, { file, at }]));
    for (const [at, file] of filesOf(now).entries()) {
      const was = left.get(file.path);
      left.delete(file.path);
      const isKept = was?.file.blob === file.blob && was.file.language === file.language;
      if (isKept) this.#compare(before, was.at, now, at);
      else {
        this.#note(now, at);
        if (was !== undefined) this.#note(before, was.at);
        if (!isCFamily(file.language) && !(was !== undefined && isCFamily(was.file.language)))
          continue;
        if (was === undefined || includesOf(before, was.at) !== includesOf(now, at))
          this.isElsewhere = true;
      }
    }
    for (const { file, at } of left.values()) {
      this.#note(before, at);
      if (isCFamily(file.language)) this.isElsewhere = true;
    }
    if (!this.isElsewhere) this.isElsewhere = farHeadersOf(before) !== farHeadersOf(now);
  }

  #note(index: ShardIndex, file: number): void {
    for (const symbol of index.symbolsOf(file)) this.symbols.add(index.symbolPlace(symbol).name);
    for (const site of callsIn(index, file)) this.callees.add(index.site(site).callee);
  }

  #compare(before: ShardIndex, fileBefore: number, now: ShardIndex, file: number): void {
    const was = callsIn(before, fileBefore);
    for (const [at, site] of callsIn(now, file).entries()) {
      const isBound = now.bound !== undefined && now.bound.bindingOf(site) !== 'unbound';
      const its = was[at] ?? 0;
      const wasBound = before.bound !== undefined && before.bound.bindingOf(its) !== 'unbound';
      if (isBound !== wasBound) this.callees.add(now.site(site).callee);
    }
  }
}

function filesOf(index: ShardIndex): FileRow[] {
  return Array.from({ length: index.fileCount }, (_, file) => index.file(file));
}

function callsIn(index: ShardIndex, file: number): number[] {
  return index
    .siteSpans(file)
    .slice(0, 2)
    .flatMap((span) => between(span));
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
