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
      const slot = slotOf(word, 0);
      this.#isHead[slot] = 1;
      const here = this.#byHead.get(slot) ?? [];
      this.#byHead.set(slot, here);
      const same = here.find((each) => each.word === word);
      if (same === undefined) here.push({ word, values: [value] });
      else same.values.push(value);
    }
  }

  /** Where the words of each value stand, in order. */
  placesIn(text: string): Map<T, number[]> {
    const found = new Map<T, number[]>();
    const last = text.length - headChars;
    for (let at = 0; at <= last; at += 1) {
      const slot = slotOf(text, at);
      if (this.#isHead[slot] === 0) continue;
      for (const { word, values } of this.#byHead.get(slot) ?? [])
        if (isAt(text, at, word)) for (const value of values) add(found, value, at);
    }
    return found;
  }
}

function add<T>(found: Map<T, number[]>, value: T, at: number): void {
  const places = found.get(value);
  if (places === undefined) found.set(value, [at]);
  else if (places.length < placesMax) places.push(at);
}

function slotOf(text: string, at: number): number {
  const [one, two, three] = [small(text, at), small(text, at + 1), small(text, at + 2)];
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
