import { targetsOfCalls } from '../../bind/call-graph.js';
import type { Card, CardReference, CardTerm, Lookup } from '../../shapes.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
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
/** Files that define one name for a shard; beyond them it belongs to everybody. */
const referenceFilesMax = 64;

/** The description of a shard for routing. Costs a pass over terms and calls: callers keep it per index version. */
export function cardOf(index: ShardIndex): Card {
  return { ...lazyCardOf(index) };
}

/**
 * The same, each long part worked out when it is first read: following calls needs neither terms nor unresolved
 * references, which take most of the time.
 */
export function lazyCardOf(index: ShardIndex): Card {
  const { info } = index;
  const cuts = new Set<string>();
  const bounded = <T>(name: string, { kept, isCut }: Cut<T>): T[] => {
    if (isCut) cuts.add(name);
    return kept;
  };
  const long: Record<string, () => unknown> = {
    terms: () => sketch(index),
    defines: () => bounded('defines', cut(index.defines(), cardDefinesMax)),
    stand_ins: () => bounded('stand_ins', cut(standInsOf(index), cardStandInsMax)),
    places: () => bounded('places', cut(placesOf(index), cardPlacesMax)),
    unresolved: () => bounded('unresolved', cutReferences(referencesOf(index))),
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
  for (const [name, symbols] of index.symbolsByName()) {
    // A stand-in has its declaration beside it.
    if (symbols.length < 2) continue;
    const all = symbols.map((each) => candidateOf(index, each));
    const defined = all.filter((each) => each.exported && !each.declaration);
    if (defined.length > 0 && defined.every((each) => isStandIn(each, all))) names.push(name);
  }
  return names;
}

/** Calls that another shard may define, by the name it would have there. */
function referencesOf(index: ShardIndex): CardReference[] {
  const found = new Map<string, { lookup: Lookup; sites: number; files: Set<string> }>();
  const isWanted = wantedNames(index);
  for (const [name, calls] of index.callsByName()) {
    if (!isWanted(name, calls)) continue;
    for (const lookup of targetsOfCalls(index, calls).flatMap(({ lookups }) => lookups)) {
      const key = `${lookup.name} ${lookup.container}`;
      let known = found.get(key);
      if (known === undefined) found.set(key, (known = { lookup, sites: 0, files: new Set() }));
      known.sites += 1;
      if (lookup.path !== '' && known.files.size < referenceFilesMax) known.files.add(lookup.path);
    }
  }
  return [...found.values()]
    .map(({ lookup: { name, container }, sites, files }) => ({
      term: name,
      documents: sites,
      files: [...files].sort(),
      container,
    }))
    .sort((one, other) => compare(one.term, other.term) || compare(one.container, other.container));
}

/** Names of calls inside symbols, and of calls at file level that are not defined here or known to be elsewhere. */
function wantedNames(index: ShardIndex): (name: string, calls: readonly CallRow[]) => boolean {
  const open = new Set(index.unresolved().map((each) => each.name));
  const isBound = (id: number): boolean => (index.bound?.targetsOf(id).length ?? 0) > 0;
  return (name, calls) =>
    open.has(name) || calls.some(({ id, caller }) => caller >= 0 || isBound(id));
}

/**
 * The terms that tell this shard from others best: frequent here, yet not in every document. A term in
 * n of N documents is worth n · ln(N / n), what it adds to the shard's own entropy.
 */
function sketch(index: ShardIndex): CardTerm[] {
  const total = Math.max(1, index.documentCount);
  const worth = ({ documents }: CardTerm): number => documents * Math.log((total + 1) / documents);
  const terms = index.terms();
  if (terms.length > cardTermsMax) {
    terms.sort((one, other) => worth(other) - worth(one) || compare(one.term, other.term));
    terms.length = cardTermsMax;
  }
  return terms.sort((one, other) => compare(one.term, other.term));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
