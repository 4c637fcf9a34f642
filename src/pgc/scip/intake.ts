import { BusError } from '../../errors/bus-error.js';
import {
  LayerDocumentWriter,
  type LayerDocument,
  type LayerTarget,
  type Meaning,
} from './layer.js';
import type { ScipDocument } from './read-index.js';
import { isLocal, isMember, parseSymbol } from './symbol-text.js';
import { namedPlaces, unclearNames, type Misfit, type NamedPlace } from './text-ranges.js';

/** All documents together: each takes about 20 bytes in memory. */
const occurrencesMax = 30_000_000;
/** Distinct ones; each takes about 300 bytes. */
const symbolsMax = 4_000_000;
const symbolCharsMax = 4_096;

/** A file of the tree, as an indexer may have seen it. */
export interface TextOfTree {
  path: string;
  blob: string;
  text: string;
}

/** Our definition of this name at a place: the same object whenever it is found. */
export type FindDefinition = (
  path: string,
  line: number,
  name: string,
  isLocal: boolean,
) => LayerTarget | undefined;

/** Why a document is left out. */
export type LeftOutDocument = Misfit | 'name too long';

interface Taken {
  path: string;
  blob: string;
  /** Sorted by line, name and place. */
  references: { line: number; name: string; character: number; symbol: number }[];
}

interface Defined {
  path: string;
  line: number;
  name: string;
}

/** Takes the documents of SCIP indexes one by one, then says what each name means that they speak of. */
export class Intake {
  /** Of symbols by their text; those of one document carry its number. */
  readonly #symbols = new Map<string, number>();
  readonly #texts: string[] = [];
  readonly #defined = new Map<number, Defined[]>();
  readonly #packages = new Set<string>();
  readonly #implemented: [symbol: number, by: number][] = [];
  readonly #documents: Taken[] = [];
  readonly #paths = new Set<string>();
  #occurrences = 0;

  /** `path`: of the index, for messages. Throws SCIP_TOO_LARGE. */
  add(document: ScipDocument, file: TextOfTree, index: string): LeftOutDocument | undefined {
    if (document.occurrences.some(({ symbol }) => symbol.length > symbolCharsMax))
      return 'name too long';
    const places = namedPlaces(document, file.text);
    if (typeof places === 'string') return places;
    if (isOfAnother(places)) return 'changed';
    this.#occurrences += places.length;
    if (this.#occurrences > occurrencesMax)
      throw new BusError('SCIP_TOO_LARGE', {
        path: index,
        what: 'occurrences',
        limit: occurrencesMax,
      });
    const number = this.#documents.length;
    const id = (symbol: string): number => this.#id(symbol, number, index);
    const references: Taken['references'] = [];
    const unclear = unclearNames(places, file.text);
    for (const { line, name, symbol, character, isDefinition } of places) {
      if (isDefinition) this.#define(id(symbol), { path: file.path, line, name });
      else if (name !== '' && !unclear.has(`${line} ${name}`))
        references.push({ line, name, character, symbol: id(symbol) });
    }
    for (const { symbol, relationships } of document.symbols)
      for (const each of relationships)
        if (each.is_implementation) this.#implemented.push([id(each.symbol), id(symbol)]);
    this.#paths.add(file.path);
    this.#documents.push({ path: file.path, blob: file.blob, references });
    return undefined;
  }

  get count(): number {
    return this.#documents.length;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  *layer(find: FindDefinition): Generator<LayerDocument> {
    const meant = new Map<number, readonly LayerTarget[]>();
    const targetsOf = (symbol: number): readonly LayerTarget[] => {
      let targets = meant.get(symbol);
      if (targets === undefined) meant.set(symbol, (targets = this.#targets(symbol, find)));
      return targets;
    };
    const isBase = new Set(this.#implemented.map(([symbol]) => symbol));
    const outside = (symbol: number): boolean =>
      !this.#defined.has(symbol) && !isBase.has(symbol) && this.#isForeign(symbol);
    const implemented = new Map<string, [LayerTarget, LayerTarget][]>();
    for (const pair of this.#implementations(targetsOf)) {
      const [, { path }] = pair;
      implemented.set(path, [...(implemented.get(path) ?? []), pair]);
    }
    for (const { path, blob, references } of this.#documents) {
      const writer = new LayerDocumentWriter(path, blob);
      for (const same of groupsOf(references, sameName)) {
        const meanings = [...groupsOf(same, samePlace)].map((its) =>
          this.#meaning(its, targetsOf, outside),
        );
        const [meaning] = meanings;
        const [{ line, name } = { line: 0, name: '' }] = same;
        // A line that has the name twice, with two meanings, does not say which of our sites is which.
        if (meaning !== undefined && meanings.every((each) => isSame(each, meaning)))
          writer.add(line, name, meaning);
      }
      for (const [what, by] of implemented.get(path) ?? []) writer.implement(what, by);
      yield writer.document;
    }
  }

  #meaning(
    at: Taken['references'],
    targetsOf: (symbol: number) => readonly LayerTarget[],
    isOutside: (symbol: number) => boolean,
  ): Meaning | undefined {
    const symbols = at.map(({ symbol }) => symbol);
    const targets = symbols.flatMap(targetsOf);
    if (targets.length > 0) return [...new Set(targets)];
    if (symbols.every(isOutside))
      return symbols.every((each) => isMember(this.#texts[each] ?? '')) ? 'outside' : 'outer';
    // A field may hold what a type of ours has as a method: only a variable is known to be nothing else.
    return symbols.every((each) => this.#defined.has(each) && this.#isLocal(each))
      ? 'value'
      : undefined;
  }

  #targets(symbol: number, find: FindDefinition): LayerTarget[] {
    const places = this.#defined.get(symbol) ?? [];
    const isInner = this.#isLocal(symbol);
    return [
      ...new Set(places.flatMap(({ path, line, name }) => find(path, line, name, isInner) ?? [])),
    ];
  }

  *#implementations(
    targetsOf: (symbol: number) => readonly LayerTarget[],
  ): Generator<[LayerTarget, LayerTarget]> {
    for (const [symbol, by] of this.#implemented)
      for (const what of targetsOf(symbol)) for (const its of targetsOf(by)) yield [what, its];
  }

  #define(symbol: number, place: Defined): void {
    const known = this.#defined.get(symbol);
    if (known === undefined) this.#defined.set(symbol, [place]);
    else known.push(place);
    const its = this.#isLocal(symbol) ? undefined : parseSymbol(this.#texts[symbol] ?? '');
    if (its !== undefined) this.#packages.add(its.package);
  }

  /** Of a package whose text is not here: what a package of ours lacks may be in a document that is left out. */
  #isForeign(symbol: number): boolean {
    const its = this.#isLocal(symbol) ? undefined : parseSymbol(this.#texts[symbol] ?? '');
    return its !== undefined && !this.#packages.has(its.package);
  }

  #isLocal(symbol: number): boolean {
    return isLocal(this.#texts[symbol] ?? '');
  }

  #id(symbol: string, document: number, index: string): number {
    const key = isLocal(symbol) ? `${symbol} ${document}` : symbol;
    let id = this.#symbols.get(key);
    if (id === undefined) {
      id = this.#symbols.size;
      if (id >= symbolsMax)
        throw new BusError('SCIP_TOO_LARGE', { path: index, what: 'symbols', limit: symbolsMax });
      this.#symbols.set(key, id);
      this.#texts.push(key);
    }
    return id;
  }
}

/**
 * Most definitions are not where their names stand: this is the text of another version. Some names are made up: `<init>`,
 * `cause0` for the second `cause` of a file.
 */
function isOfAnother(places: readonly NamedPlace[]): boolean {
  let there = 0;
  let absent = 0;
  for (const { name, symbol, isDefinition } of places) {
    if (!isDefinition || name === '' || isLocal(symbol)) continue;
    const wanted = parseSymbol(symbol)?.name ?? '';
    if (!/^\w+$/.test(wanted)) continue;
    if (wanted.includes(name)) there += 1;
    else absent += 1;
  }
  return absent > there;
}

type Reference = Taken['references'][number];

const sameName = (one: Reference, other: Reference): boolean =>
  one.line === other.line && one.name === other.name;
const samePlace = (one: Reference, other: Reference): boolean => one.character === other.character;

/** Runs of neighbours, after sorting. */
function* groupsOf(
  references: readonly Reference[],
  isSameGroup: (one: Reference, other: Reference) => boolean,
): Generator<Reference[]> {
  let group: Reference[] = [];
  for (const each of references.toSorted(byPlace)) {
    const [first] = group;
    if (first !== undefined && !isSameGroup(first, each)) {
      yield group;
      group = [];
    }
    group.push(each);
  }
  if (group.length > 0) yield group;
}

function byPlace(one: Reference, other: Reference): number {
  return (
    one.line - other.line ||
    (one.name < other.name ? -1 : one.name > other.name ? 1 : one.character - other.character)
  );
}

function isSame(one: Meaning | undefined, other: Meaning): boolean {
  if (one === undefined || typeof one === 'string' || typeof other === 'string')
    return one === other;
  return one.length === other.length && one.every((each) => other.includes(each));
}
