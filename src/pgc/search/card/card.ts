import { referencesOf } from './references.js';
import type { Card, CardReference, CardTerm } from '../../shapes.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { candidateOf } from '../../bind/symbol-candidate.js';
import { isStandIn } from '../../bind/visibility.js';

/** Terms of a card's sketch. */
export const cardTermsMax = 20_000;
/** Names of a card: a shard of 100 000 lines defines some 15 000, one of tables of registers 75 000. */
export const cardDefinesMax = 100_000;
export const cardStandInsMax = 20_000;
export const cardReferencesMax = 50_000;
export const cardPlacesMax = 20_000;
/** Shorter names of files and folders say nothing. */
const placeCharsMin = 3;

/** The description of a shard for routing. Costs a pass over terms and calls: callers keep it per index version. */
export function cardOf(index: ShardIndex): Card {
  return { ...lazyCardOf(index) };
}

/** What takes a pass over all symbols or calls of a shard. */
export type CardParts = Pick<Card, 'defines' | 'stand_ins' | 'unresolved'>;

/**
 * The same, each long part worked out when it is first read: following calls needs neither terms nor unresolved
 * references, which take most of the time. `known`: what is known of them.
 */
export function lazyCardOf(index: ShardIndex, known: Partial<CardParts> = {}): Card {
  const { info } = index;
  const cuts = new Set<string>();
  const bounded = <T>(name: string, { kept, isCut }: Cut<T>): T[] => {
    if (isCut) cuts.add(name);
    return kept;
  };
  const long: Record<string, () => unknown> = {
    terms: () => sketch(index),
    defines: () => bounded('defines', cut(known.defines ?? index.defines(), cardDefinesMax)),
    stand_ins: () =>
      bounded('stand_ins', cut(known.stand_ins ?? standInsOf(index), cardStandInsMax)),
    places: () => bounded('places', cut(placesOf(index), cardPlacesMax)),
    unresolved: () => bounded('unresolved', cutReferences(known.unresolved ?? referencesOf(index))),
  };
  const card = {
    agent: info.agent,
    alias: info.alias,
    project: info.project,
    root: info.root,
    scope: info.scope,
    languages: info.languages,
    files: info.files,
    lines: info.lines,
    documents: index.documentCount,
    index_version: info.version,
  };
  for (const [name, work] of Object.entries(long)) {
    let value: unknown;
    Object.defineProperty(card, name, { enumerable: true, get: () => (value ??= work()) });
  }
  // Last: a copy of the card reads all other parts before it.
  Object.defineProperty(card, 'truncated', { enumerable: true, get: () => [...cuts] });
  return card as Card;
}

/** Each file's name, what it begins with (`8250_port.c` is about 8250), and each folder's. */
function placesOf(index: ShardIndex): string[] {
  const places = new Set<string>();
  for (let file = 0; file < index.fileCount; file += 1) {
    const parts = index.file(file).path.toLowerCase().split('/');
    const name = (parts.pop() ?? '').replace(/\..*$/, '');
    for (const each of [...parts, name, name.split(/[_-]/)[0] ?? ''])
      if (each.length >= placeCharsMin) places.add(each);
  }
  return [...places].sort();
}

interface Cut<T> {
  kept: T[];
  isCut: boolean;
}

/** The first of a list, and whether that is not all. */
function cut<T>(all: T[], max: number): Cut<T> {
  return { kept: all.length > max ? all.slice(0, max) : all, isCut: all.length > max };
}

/** Those with the most call sites, in their order. */
function cutReferences(all: CardReference[]): Cut<CardReference> {
  const most = all.toSorted((one, other) => other.documents - one.documents);
  const { kept, isCut } = cut(most, cardReferencesMax);
  if (!isCut) return { kept: all, isCut };
  const chosen = new Set(kept);
  return { kept: all.filter((each) => chosen.has(each)), isCut };
}

/** Names that this shard defines for others only for configurations that lack the real definition. */
function standInsOf(index: ShardIndex): string[] {
  const names: string[] = [];
  for (const [name, symbols] of index.symbolsByName())
    if (areStandIns(index, symbols)) names.push(name);
  return names;
}

/** `symbols`: all of one name. */
export function areStandIns(index: ShardIndex, symbols: readonly number[]): boolean {
  // A stand-in has its declaration beside it.
  if (symbols.length < 2) return false;
  const all = symbols.map((each) => candidateOf(index, each));
  const defined = all.filter((each) => each.exported && !each.declaration);
  return defined.length > 0 && defined.every((each) => isStandIn(each, all));
}

/**
 * The terms that tell this shard from others best: frequent here, yet not in every document. A term in
 * n of N documents is worth n · ln(N / n), what it adds to the shard's own entropy.
 */
function sketch(index: ShardIndex): CardTerm[] {
  const terms = index.terms();
  return mostWorth(terms, index.documentCount).sort((one, other) => compare(one.term, other.term));
}

function mostWorth(terms: CardTerm[], documentCount: number): CardTerm[] {
  if (terms.length <= cardTermsMax) return terms;
  const total = Math.max(1, documentCount);
  const worth = Float64Array.from(
    terms,
    ({ documents }) => documents * Math.log((total + 1) / documents),
  );
  const least = worth.toSorted()[terms.length - cardTermsMax] ?? 0;
  const most = terms.filter((_, at) => (worth[at] ?? 0) > least);
  const equal = terms.filter((_, at) => worth[at] === least);
  equal.sort((one, other) => compare(one.term, other.term));
  return [...most, ...equal.slice(0, cardTermsMax - most.length)];
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
