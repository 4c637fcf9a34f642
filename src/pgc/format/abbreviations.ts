import { stem } from './stem.js';

/** Abbreviations kept for one shard, most frequent first. */
const abbreviationsMax = 2_000;
/** Distinct pairs counted while a shard is read. */
const countedMax = 20_000;
const shortCharsMin = 2;
const shortCharsMax = 8;
/** Length of the long form, before or inside the brackets. */
const longCharsMax = 80;
/** A single explanation may be a slip, unless the initials spell the abbreviation. */
const timesMin = 2;

/** An abbreviation that the code base explains; both forms in lower case. */
export interface Abbreviation {
  short: string;
  long: string;
}

/**
 * Finds "long form (LF)" and "LF (long form)" in the prose of a code base. A. Schwartz, M. Hearst, "A simple
 * algorithm for identifying abbreviation definitions in biomedical text", 2003.
 */
export class AbbreviationMiner {
  readonly #times = new Map<string, number>();

  read(prose: string): void {
    if (!prose.includes('(')) return;
    for (const found of prose.matchAll(/\(([^()\n]{2,80})\)/g)) {
      const inside = (found[1] ?? '').trim();
      const before = prose.slice(Math.max(0, found.index - longCharsMax), found.index).trimEnd();
      if (isShort(inside)) this.#note(inside, longFormOf(inside, before));
      else {
        const short = /(?:^|\s)(\S{2,8})$/.exec(before)?.[1] ?? '';
        if (isShort(short) && inside.split(/\s+/).length > 1)
          this.#note(short, longFormOf(short, inside) === inside ? inside : undefined);
      }
    }
  }

  /** Most frequent first, then alphabetical. */
  found(): Abbreviation[] {
    return [...this.#times]
      .filter(([pair, times]) => times >= timesMin || isSpelled(pair))
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, abbreviationsMax)
      .map(([pair]) => {
        const [short = '', long = ''] = pair.toLowerCase().split('\t');
        return { short, long };
      });
  }

  #note(short: string, long: string | undefined): void {
    if (long === undefined) return;
    const pair = `${short}\t${long}`;
    if (this.#times.size >= countedMax && !this.#times.has(pair)) return;
    this.#times.set(pair, (this.#times.get(pair) ?? 0) + 1);
  }
}

/** The initials of the words are the abbreviation, which is no coincidence. */
function isSpelled(pair: string): boolean {
  const [short = '', long = ''] = pair.toLowerCase().split('\t');
  const initials = long.split(/[\s-]+/).map((word) => word.charAt(0));
  return short.length > 2 && initials.join('') === short;
}

function isShort(text: string): boolean {
  return (
    text.length >= shortCharsMin &&
    text.length <= shortCharsMax &&
    /^[A-Za-z][\w-]*$/.test(text) &&
    // A single ordinary word in brackets is a remark.
    /[A-Z]{2}|^[^aeiouAEIOU]+$/.test(text)
  );
}

/**
 * The shortest tail of a text that contains the letters of the abbreviation in order, the first one at the start of a
 * word; undefined when there is none, or it is no longer than the abbreviation.
 */
function longFormOf(short: string, text: string): string | undefined {
  const words = text.split(/\s+/);
  const wordsMax = Math.min(short.length + 5, short.length * 2);
  const near = words.slice(-wordsMax).join(' ');
  let at = near.length - 1;
  for (let letter = short.length - 1; letter >= 0; letter -= 1) {
    const wanted = short.charAt(letter).toLowerCase();
    if (!/\w/.test(wanted)) continue;
    const isMatch = (place: number): boolean =>
      near.charAt(place).toLowerCase() === wanted &&
      (letter > 0 || place === 0 || !/\w/.test(near.charAt(place - 1)));
    while (at >= 0 && !isMatch(at)) at -= 1;
    if (at < 0) return undefined;
    at -= 1;
  }
  const long = near.slice(at + 1);
  const isPlain = /^[A-Za-z][\w\s/-]*$/.test(long) && long.split(/[\s-]+/).length > 1;
  return isPlain && long.length > short.length ? long : undefined;
}

/** Looks up abbreviations in both directions. */
export class Abbreviations {
  readonly #longs = new Map<string, string[]>();
  /** Keyed by the stems of the words, separated by one space. */
  readonly #shorts = new Map<string, string[]>();

  constructor(known: readonly Abbreviation[]) {
    for (const { short, long } of known) {
      add(this.#longs, stem(short), long);
      add(this.#shorts, stemmed(long.split(/[\s/-]+/)), short);
    }
  }

  /** The long forms of an abbreviation. */
  longFormsOf(word: string): readonly string[] {
    return this.#longs.get(stem(word)) ?? [];
  }

  /** The abbreviations of a sequence of words. */
  shortFormsOf(words: readonly string[]): readonly string[] {
    return this.#shorts.get(stemmed(words)) ?? [];
  }
}

function stemmed(words: readonly string[]): string {
  return words.map((word) => stem(word.toLowerCase())).join(' ');
}

function add(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else if (!known.includes(value)) known.push(value);
}
