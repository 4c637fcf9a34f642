import type { Card, CardTerm } from '../pgc/shapes.js';

/** Names whose owners are remembered; at the limit the memory starts anew. */
const rememberedMax = 500_000;

/** Of one card, sorted. */
interface Names {
  terms: readonly CardTerm[];
  defines: readonly string[];
  standIns: readonly string[];
  places: readonly string[];
}

/** Positions of the cards that define a name: those with the real thing, and those with a stand-in for it alone. */
export interface Holders {
  real: readonly number[];
  standIns: readonly number[];
}

const nobody: Holders = { real: [], standIns: [] };

/**
 * The names and terms of cards, looked up in the cards as they are: tables of a hundred of them would take more room
 * than the cards, and seconds to make.
 */
export class CardNames {
  readonly #names: readonly Names[];
  readonly #holders = new Map<string, Holders>();

  constructor(cards: readonly Card[]) {
    // Read when they are wanted: who follows calls needs no terms, and they may have to be made first.
    this.#names = cards.map((card) => {
      let terms: readonly CardTerm[] | undefined;
      let defines: readonly string[] | undefined;
      let standIns: readonly string[] | undefined;
      let places: readonly string[] | undefined;
      return {
        get terms() {
          return (terms ??= inOrder(card.terms, ({ term }) => term));
        },
        get defines() {
          return (defines ??= inOrder(card.defines, (name) => name));
        },
        get standIns() {
          return (standIns ??= inOrder(card.stand_ins, (name) => name));
        },
        get places() {
          return (places ??= inOrder(card.places ?? [], (name) => name));
        },
      };
    });
  }

  /** By position of the card: documents that have the term. */
  documentsWith(term: string): number[] {
    return this.#names.map(({ terms }) => {
      const at = firstNotBelow(terms.length, (each) => (terms[each]?.term ?? '') < term);
      const found = terms[at];
      return found?.term === term ? found.documents : 0;
    });
  }

  /** Positions of the cards of shards where a file or a folder is called so, in lower case. */
  placesOf(name: string): number[] {
    return this.#names.flatMap(({ places }, at) => (holds(places, name) ? [at] : []));
  }

  holdersOf(name: string): Holders {
    const known = this.#holders.get(name);
    if (known !== undefined) return known;
    const having = this.#names.flatMap(({ defines }, at) => (holds(defines, name) ? [at] : []));
    return this.#remember(name, having);
  }

  /** Finds the holders of many names in one pass over all cards. */
  learn(names: Iterable<string>): void {
    const wanted = new Map<string, number[]>();
    for (const name of names) if (!this.#holders.has(name)) wanted.set(name, []);
    this.#names.forEach(({ defines }, at) => {
      for (const name of defines) wanted.get(name)?.push(at);
    });
    for (const [name, having] of wanted) this.#remember(name, having);
  }

  #remember(name: string, having: readonly number[]): Holders {
    const isStandIn = (at: number): boolean => holds(this.#names[at]?.standIns ?? [], name);
    const real = having.filter((at) => !isStandIn(at));
    const standIns = having.filter((at) => isStandIn(at));
    const holders = having.length === 0 ? nobody : { real, standIns };
    if (this.#holders.size >= rememberedMax) this.#holders.clear();
    this.#holders.set(name, holders);
    return holders;
  }
}

/** Cards are sorted when they are made; whoever sends others is searched all the same. */
function inOrder<T>(list: readonly T[], nameOf: (each: T) => string): readonly T[] {
  const isSorted = list.every((each, at) => {
    const before = list[at - 1];
    return before === undefined || nameOf(before) <= nameOf(each);
  });
  return isSorted ? list : list.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

function holds(sorted: readonly string[], name: string): boolean {
  return sorted[firstNotBelow(sorted.length, (each) => (sorted[each] ?? '') < name)] === name;
}

function firstNotBelow(count: number, isBelow: (position: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
