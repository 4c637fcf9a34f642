import { BusError } from '../errors/bus-error.js';

/** A rule of thumb that holds for code and English, and errs on the safe side for both. */
export const charsPerToken = 4;

/** Characters that a text counts for. One that is not ASCII is a token of its own, or more than one. */
export function charsIn(text: string): number {
  // oxlint-disable-next-line no-control-regex
  const others = text.match(/[^\u0000-\u007f]/g)?.length ?? 0;
  return text.length + (charsPerToken - 1) * others;
}
/** Of one answer, its structure and its text together. */
export const answerTokens = { min: 500, default: 6_000, max: 25_000 } as const;

/** One string may take this part of an answer; where that is not enough, less. */
const stringShares = [1 / 4, 1 / 16, 1 / 64] as const;

export interface Cut<V> {
  /** Rows of the longest list. */
  rows(value: V): number;
  /** The same with at most so many rows in each list. */
  keep(value: V, rows: number): V;
}

/** The lists of an answer that may be shortened, by name. */
export function listsOf<V extends object>(...names: (keyof V)[]): Cut<V> {
  const listIn = (value: V, name: keyof V): unknown[] => value[name] as unknown[];
  return {
    rows: (value) => Math.max(0, ...names.map((name) => listIn(value, name).length)),
    keep: (value, rows) => ({
      ...value,
      ...Object.fromEntries(names.map((name) => [name, listIn(value, name).slice(0, rows)])),
    }),
  };
}

export interface Drafted {
  /** Empty where only the text is wanted. */
  structured: Record<string, unknown>;
  text: string;
}

/**
 * As much of an answer as fits into so many characters: long strings are cut, then rows are left out from
 * the end. `draft` writes it down; `isCut` says that something is missing. Throws INTERNAL when not even
 * its empty lists fit, which would be an answer with too many fields.
 */
export function fitted<V extends object>(
  whole: V,
  cut: Cut<V>,
  charsMax: number,
  draft: (value: V, isCut: boolean) => Drafted,
): Drafted {
  for (const share of stringShares) {
    const { value, isCut } = clipped(whole, Math.floor(charsMax * share));
    const rows = cut.rows(value);
    const drafted = (kept: number): Drafted =>
      draft(kept === rows ? value : cut.keep(value, kept), isCut || kept < rows);
    const all = drafted(rows);
    if (charsOf(all) <= charsMax) return all;
    // One whole row says more than long strings and none; with the shortest strings, none will do.
    for (const least of share === stringShares.at(-1) ? [1, 0] : [1]) {
      const first = drafted(least);
      if (rows < least || charsOf(first) > charsMax) continue;
      return longest(rows, charsMax, { rows: least, draft: first }, drafted);
    }
  }
  throw new BusError('INTERNAL', { detail: `an answer does not fit into ${charsMax} characters` });
}

/** The draft with the most rows that fits, by bisection. `least` fits, that with all rows does not. */
function longest(
  rows: number,
  charsMax: number,
  least: { rows: number; draft: Drafted },
  drafted: (kept: number) => Drafted,
): Drafted {
  let best = least.draft;
  let fits = least.rows;
  let exceeds = rows;
  while (exceeds - fits > 1) {
    const middle = (fits + exceeds) >> 1;
    const candidate = drafted(middle);
    if (charsOf(candidate) > charsMax) exceeds = middle;
    else {
      fits = middle;
      best = candidate;
    }
  }
  return best;
}

export function charsOf({ structured, text }: Drafted): number {
  return charsIn(JSON.stringify(structured)) + charsIn(text);
}

/** The beginning of a text that counts for at most so many characters; never half of a surrogate pair. */
export function beginningOf(text: string, charsMax: number): string {
  if (text.length * charsPerToken <= charsMax || charsIn(text) <= charsMax) return text;
  let end = 0;
  for (let left = charsMax; end < text.length; end += 1) {
    left -= text.charCodeAt(end) < 0x80 ? 1 : charsPerToken;
    if (left < 0) break;
  }
  const isSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1));
  return text.slice(0, isSplit ? end - 1 : end);
}

const mark = '…';

/** Every string in it, however deep, with at most so many characters, as `charsIn` counts. What is short enough stays as it is. */
export function clipped<V>(whole: V, charsMax: number): { value: V; isCut: boolean } {
  const counted = { cuts: 0 };
  const value = clip(whole, charsMax, counted) as V;
  return { value: counted.cuts > 0 ? value : whole, isCut: counted.cuts > 0 };
}

function clip(value: unknown, charsMax: number, counted: { cuts: number }): unknown {
  if (typeof value === 'string') {
    if (charsIn(value) <= charsMax) return value;
    counted.cuts += 1;
    return beginningOf(value, charsMax - charsIn(mark)) + mark;
  }
  if (Array.isArray(value)) return value.map((each) => clip(each, charsMax, counted));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, clip(each, charsMax, counted)]),
  );
}
