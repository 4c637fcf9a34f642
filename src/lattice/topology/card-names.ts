import { Wanted, WantedNames, type NameList } from '../../pgc/search/card/name-list.js';
import type { CardLists } from '../../pgc/search/card/packed-card.js';
import type { Card } from '../../pgc/shapes.js';

/** Limit of names whose holders are cached; at the limit the cache is cleared. */
const rememberedMax = 500_000;

/** The names of one card. `open`: only for packed cards, where it is free. */
type Names = Omit<CardLists, 'open'> & Partial<Pick<CardLists, 'open'>>;

/** Positions of the cards that define a name: with a real definition, and with a stand-in only. */
export interface Holders {
  real: readonly number[];
  standIns: readonly number[];
}

const noHolders: Holders = { real: [], standIns: [] };

/**
 * Looks up names and terms in the packed cards themselves: decoded tables of a hundred cards would take more memory and seconds to make.
 */
export class CardNames {
  readonly #names: readonly Names[];
  readonly #holders = new Map<string, Holders>();
  /** By position, shared: nearly every name has a single holder. */
  readonly #soles: readonly Holders[];

  constructor(cards: readonly Card[]) {
    this.#names = cards.map(namesOf);
    this.#soles = cards.map((_, at) => ({ real: [at], standIns: [] }));
  }

  /** Documents with the term, by position of the card. */
  documentsWith(term: string): number[] {
    const wanted = new Wanted(term);
    return this.#names.map(({ terms }) => terms.numberOf(wanted));
  }

  /** Positions of the cards of shards with a file or folder of this name, in lower case. */
  placesOf(name: string): number[] {
    const wanted = new Wanted(name);
    return this.#names.flatMap(({ places }, at) => (places.has(wanted) ? [at] : []));
  }

  /** Of these names, those that the shard of a card calls and does not define itself; undefined: only the shard knows. */
  openAmong(at: number, wanted: WantedNames): string[] | undefined {
    const open = this.#names[at]?.open;
    return open && [...open.among(wanted)].map(({ text }) => text);
  }

  holdersOf(name: string): Holders {
    const known = this.#holders.get(name);
    if (known !== undefined) return known;
    const wanted = new Wanted(name);
    const having = this.#names.flatMap(({ defines }, at) => (defines.has(wanted) ? [at] : []));
    return this.#remember(wanted, having);
  }

  /** Finds the holders of many names in one pass over all cards. */
  learn(names: Iterable<string>): void {
    const wanted = new WantedNames(names);
    const found = new Map<Wanted, number[]>();
    this.#names.forEach(({ defines }, at) => {
      for (const name of defines.among(wanted)) {
        const having = found.get(name);
        if (having === undefined) found.set(name, [at]);
        else having.push(at);
      }
    });
    for (const name of wanted)
      if (!this.#holders.has(name.text)) this.#remember(name, found.get(name) ?? []);
  }

  #remember(name: Wanted, having: readonly number[]): Holders {
    const isStandIn = (at: number): boolean => this.#names[at]?.standIns.has(name) === true;
    const real = having.filter((at) => !isStandIn(at));
    const standIns = having.filter((at) => isStandIn(at));
    const sole = having.length === 1 ? this.#soles[real[0] ?? -1] : undefined;
    const holders = having.length === 0 ? noHolders : (sole ?? { real, standIns });
    if (this.#holders.size >= rememberedMax) this.#holders.clear();
    this.#holders.set(name.text, holders);
    return holders;
  }
}

function hasLists(card: Card): card is Card & { lists: CardLists } {
  return 'lists' in card;
}

/** For a card made in this process, each list is made when it is first needed. */
function namesOf(card: Card): Names {
  if (hasLists(card)) return card.lists;
  let terms: NameList | undefined;
  let defines: NameList | undefined;
  let standIns: NameList | undefined;
  let places: NameList | undefined;
  return {
    get terms() {
      return (terms ??= new ListedNames(
        card.terms,
        ({ term }) => term,
        ({ documents }) => documents,
      ));
    },
    get defines() {
      return (defines ??= namesIn(card.defines));
    },
    get standIns() {
      return (standIns ??= namesIn(card.stand_ins));
    },
    get places() {
      return (places ??= namesIn(card.places ?? []));
    },
  };
}

function namesIn(names: readonly string[]): NameList {
  return new ListedNames(
    names,
    (name) => name,
    () => 0,
  );
}

/** The names of a card that was made in this process. */
class ListedNames<T> implements NameList {
  readonly #sorted: readonly T[];
  readonly #nameOf: (each: T) => string;
  readonly #numberOf: (each: T) => number;

  constructor(list: readonly T[], nameOf: (each: T) => string, numberOf: (each: T) => number) {
    this.#nameOf = nameOf;
    this.#numberOf = numberOf;
    // Cards are sorted when they are made; cards of tests may not be.
    const isSorted = list.every((each, at) => {
      const before = list[at - 1];
      return before === undefined || nameOf(before) <= nameOf(each);
    });
    this.#sorted = isSorted ? list : list.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  }

  get size(): number {
    return this.#sorted.length;
  }

  has(name: Wanted): boolean {
    return this.#find(name) !== undefined;
  }

  numberOf(name: Wanted): number {
    const found = this.#find(name);
    return found === undefined ? 0 : this.#numberOf(found);
  }

  *among(wanted: WantedNames): Generator<Wanted> {
    for (const each of this.#sorted) {
      const found = wanted.named(this.#nameOf(each));
      if (found !== undefined) yield found;
    }
  }

  #find({ text }: Wanted): T | undefined {
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const each = this.#sorted[middle];
      if (each !== undefined && this.#nameOf(each) < text) low = middle + 1;
      else high = middle;
    }
    const found = this.#sorted[low];
    return found !== undefined && this.#nameOf(found) === text ? found : undefined;
  }
}
