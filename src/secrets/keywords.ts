/** Characters of a keyword that are looked up at once; none is shorter. */
const headChars = 3;
const slots = 1 << 15;
/** Places of one rule in one text; behind them it is searched to its end. */
export const placesMax = 1_000;

/** Finds many words in one pass over a text, in any case. */
export class KeywordIndex<T> {
  readonly #isHead = new Uint8Array(slots);
  readonly #byHead = new Map<number, { word: string; values: T[] }[]>();

  constructor(entries: Iterable<{ word: string; value: T }>) {
    for (const { word, value } of entries) {
      if (word.length < headChars) throw new Error(`bug: the keyword ${word} is too short`);
      const slot = slotOf(small(word, 0), small(word, 1), small(word, 2));
      this.#isHead[slot] = 1;
      const here = this.#byHead.get(slot) ?? [];
      this.#byHead.set(slot, here);
      const same = here.find((each) => each.word === word);
      if (same === undefined) here.push({ word, values: [value] });
      else same.values.push(value);
    }
  }

  /** Where the words of each value stand, in order. Sees every byte of a code base. */
  placesIn(text: string): Map<T, number[]> {
    const found = new Map<T, number[]>();
    let one = small(text, 0);
    let two = small(text, 1);
    for (let end = headChars - 1; end < text.length; end += 1) {
      const three = small(text, end);
      const slot = slotOf(one, two, three);
      if (this.#isHead[slot] !== 0) this.#look(text, end + 1 - headChars, slot, found);
      one = two;
      two = three;
    }
    return found;
  }

  #look(text: string, at: number, slot: number, found: Map<T, number[]>): void {
    for (const { word, values } of this.#byHead.get(slot) ?? [])
      if (isAt(text, at, word)) for (const value of values) add(found, value, at);
  }
}

function add<T>(found: Map<T, number[]>, value: T, at: number): void {
  const places = found.get(value);
  if (places === undefined) found.set(value, [at]);
  else if (places.length < placesMax) places.push(at);
}

function slotOf(one: number, two: number, three: number): number {
  return (one * 961 + two * 31 + three) & (slots - 1);
}

function isAt(text: string, at: number, word: string): boolean {
  if (at + word.length > text.length) return false;
  for (let offset = 0; offset < word.length; offset += 1)
    if (small(text, at + offset) !== word.charCodeAt(offset)) return false;
  return true;
}

/** Of ASCII, which is all that keywords have. */
function small(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
