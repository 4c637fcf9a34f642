/** Characters of a keyword that are looked up at once; none is shorter. */
const headChars = 3;
const slots = 1 << 15;
/** Places of one rule in one text; behind them it is searched to its end. */
export const placesMax = 1_000;

/** Finds many words in one pass over a text, in any case. */
export class KeywordIndex<T> {
  /** By the first letters, of what may come behind them: a bit for the five low ones of each. */
  readonly #next = new Int32Array(slots);
  readonly #byHead = new Map<number, { word: string; values: T[] }[]>();

  constructor(entries: Iterable<{ word: string; value: T }>) {
    for (const { word, value } of entries) {
      if (word.length < headChars) throw new Error(`bug: the keyword ${word} is too short`);
      const slot = slotOf(small(word, 0), small(word, 1), small(word, 2));
      const next = word.length > headChars ? 1 << small(word, headChars) : -1;
      this.#next[slot] = (this.#next[slot] as number) | next;
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
    // Of other scripts the low bytes alone; what they seem to be is looked at again.
    const bytes = Buffer.from(text, 'latin1');
    let [one, two, three] = [0, 0, smallAt(bytes, 0)];
    for (let at = -2; at <= bytes.length - headChars; at += 1) {
      const four = smallAt(bytes, at + headChars);
      const slot = slotOf(one, two, three);
      // A shift takes the five low bits.
      if (((this.#next[slot] as number) >>> four) & 1) this.#look(text, at, slot, found);
      one = two;
      two = three;
      three = four;
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

const smallByte = Uint8Array.from({ length: 0x100 }, (_, code) => smallCode(code));

/** 0 behind the end. */
function smallAt(bytes: Buffer, at: number): number {
  return at < bytes.length ? (smallByte[bytes[at] as number] as number) : 0;
}

function isAt(text: string, at: number, word: string): boolean {
  if (at < 0 || at + word.length > text.length) return false;
  for (let offset = 0; offset < word.length; offset += 1)
    if (small(text, at + offset) !== word.charCodeAt(offset)) return false;
  return true;
}

/** Of ASCII, which is all that keywords have. */
function small(text: string, at: number): number {
  return smallCode(text.charCodeAt(at));
}

function smallCode(code: number): number {
  return code >= 0x41 && code <= 0x5a ? code + 0x20 : code;
}
