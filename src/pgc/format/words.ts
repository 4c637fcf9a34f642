import { stem } from './stem.js';

/** Longer runs of letters are encoded data, not words. */
export const wordCharsMax = 64;
/** Size of each cache; a full one is cleared. */
const rememberedMax = 150_000;

const wordCode = 1;
const digitCode = 2;

/** Letters, digits and `_`; beyond ASCII the letters of Latin, Greek, Cyrillic, related scripts, and CJK. */
const codeOf = new Uint8Array(0x10000);
for (let code = 0; code < codeOf.length; code += 1) {
  const isAscii = code === 0x5f || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
  const isOther = (code >= 0xc0 && code <= 0x1fff) || (code >= 0x3040 && code <= 0xd7ff);
  if (isAscii || isOther) codeOf[code] = wordCode;
  if (code >= 0x30 && code <= 0x39) codeOf[code] = digitCode;
}

/** Words without meaning for search when they stand alone: English function words, keywords. */
const stopWords = new Set(
  (
    'a about after all also an and any are as at be because been before being but by can could did do ' +
    'does each either else for from had has have here how however if in into is it its just may might ' +
    'must no not of on only or other our out over same shall should since so some such than that the ' +
    'their them then there these they this those thus to too under until up upon us use used uses using ' +
    'very via was we were what when where whether which while who whose why will with within without ' +
    'would yet you your ' +
    'async await bool boolean break case char class const constexpr continue def default double elif ' +
    'endif enum except export extends extern false finally float function goto ifdef ifndef implements ' +
    'import include inline instanceof int interface let long new nil none null pass private protected ' +
    'public raise return self short signed sizeof static string struct super switch throw true try typedef ' +
    'typeof undef undefined union unsigned var void volatile yield'
  ).split(' '),
);
const stopCharsMax = Math.max(...[...stopWords].map((word) => word.length));
/** Inside a name a keyword has a meaning (`context_switch`); only the smallest words do not. */
const particles = new Set('a an and as at by for from if in is it of on or the to with'.split(' '));

/** All names and words of a text, in order, as written. Plain numbers are left out. */
export function identifiersOf(text: string): string[] {
  const found: string[] = [];
  eachIdentifier(text, 0, text.length, (identifier) => found.push(identifier));
  return found;
}

/**
 * Distinct index terms of an identifier or a text: each name of several parts in lower case, and its stemmed parts of
 * at least two characters. `dma_alloc_coherent` gives itself, `dma`, `alloc`, `coher…`; `DMABuffers` gives
 * `dmabuffer`, `dma`, `buffer`; `e1000` stays.
 */
export function wordsOf(text: string): string[] {
  const words = new Set<string>();
  for (const identifier of identifiersOf(text)) {
    for (const term of termsOf(identifier)) words.add(term);
  }
  return [...words];
}

const noStops: ReadonlySet<string> = new Set();
const remembered = new Map<string, readonly string[]>();
const rememberedWhole = new Map<string, readonly string[]>();

/** All terms, including stop words. */
function termsOf(identifier: string): readonly string[] {
  let terms = rememberedWhole.get(identifier);
  if (terms === undefined) {
    terms = splitTerms(identifier, noStops);
    if (rememberedWhole.size >= rememberedMax) rememberedWhole.clear();
    rememberedWhole.set(identifier, terms);
  }
  return terms;
}

/** Index terms for the body of a document: as `wordsOf`, without stop words. */
export function bodyTermsOf(identifier: string): readonly string[] {
  let terms = remembered.get(identifier);
  if (terms === undefined) {
    terms = newBodyTermsOf(identifier);
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(identifier, terms);
  }
  return terms;
}

/** The same for a caller that remembers the identifier itself. */
export function newBodyTermsOf(identifier: string): string[] {
  const isStop = identifier.length <= stopCharsMax && stopWords.has(identifier.toLowerCase());
  return isStop ? [] : splitTerms(identifier, particles);
}

/** Calls `visit` for each name in `text[from, to)`. */
export function eachIdentifier(
  text: string,
  from: number,
  to: number,
  visit: (identifier: string) => void,
): void {
  for (let at = from; at < to; at += 1) {
    const kind = codeOf[text.charCodeAt(at)];
    if (kind === 0) continue;
    const start = at;
    while (at < to && codeOf[text.charCodeAt(at)] !== 0) at += 1;
    const length = at - start;
    if (length < 2 || length > wordCharsMax) continue;
    if (kind === digitCode && isNumber(text, start, at)) continue;
    visit(text.slice(start, at));
  }
}

const hashFactor = 0x01000193;

/**
 * A value for each identifier, made when it is first seen. It is found by its characters in the text: a string of each
 * would take more time than all the rest, because the miner sees every byte of a code base.
 */
export class IdentifierTable<Value> {
  readonly #valueOf: (identifier: string) => Value;
  readonly #values: Value[] = [];
  readonly #identifiers: string[] = [];
  /** By slot: place of the identifier, from 1, and its hash. A slot that is taken is passed over. */
  #places = new Int32Array(1 << 10);
  #hashes = new Int32Array(1 << 10);

  constructor(valueOf: (identifier: string) => Value) {
    this.#valueOf = valueOf;
  }

  get size(): number {
    return this.#values.length;
  }

  /** Calls `visit` with the value of each name in `text[from, to)`. */
  each(text: string, from: number, to: number, visit: (value: Value) => void): void {
    for (let at = from; at < to; at += 1) {
      let code = text.charCodeAt(at);
      const kind = codeOf[code];
      if (kind === 0) continue;
      const start = at;
      let hash = 0;
      do {
        hash = Math.imul(hash ^ code, hashFactor);
        at += 1;
        if (at === to) break;
        code = text.charCodeAt(at);
      } while (codeOf[code] !== 0);
      const length = at - start;
      if (length < 2 || length > wordCharsMax) continue;
      if (kind === digitCode && isNumber(text, start, at)) continue;
      visit(this.#at(text, start, length, hash ^ (hash >>> 15)));
    }
  }

  #at(text: string, start: number, length: number, hash: number): Value {
    const mask = this.#places.length - 1;
    let slot = hash & mask;
    for (let place = this.#places[slot]; place; place = this.#places[slot]) {
      if (this.#hashes[slot] === hash && isAt(text, start, length, this.#identifiers[place - 1]))
        return this.#values[place - 1] as Value;
      slot = (slot + 1) & mask;
    }
    // A copy: a slice would keep the whole text in memory.
    const identifier = Buffer.from(text.slice(start, start + length)).toString();
    const value = this.#valueOf(identifier);
    this.#identifiers.push(identifier);
    this.#places[slot] = this.#values.push(value);
    this.#hashes[slot] = hash;
    if (this.#values.length * 2 > this.#places.length) this.#grow();
    return value;
  }

  #grow(): void {
    const [places, hashes] = [this.#places, this.#hashes];
    this.#places = new Int32Array(places.length * 2);
    this.#hashes = new Int32Array(places.length * 2);
    const mask = this.#places.length - 1;
    places.forEach((place, from) => {
      if (place === 0) return;
      const hash = hashes[from] ?? 0;
      let slot = hash & mask;
      while (this.#places[slot] !== 0) slot = (slot + 1) & mask;
      this.#places[slot] = place;
      this.#hashes[slot] = hash;
    });
  }
}

function isAt(text: string, start: number, length: number, identifier = ''): boolean {
  if (identifier.length !== length) return false;
  for (let at = 0; at < length; at += 1)
    if (text.charCodeAt(start + at) !== identifier.charCodeAt(at)) return false;
  return true;
}

/** Number literals of the supported languages. `8139too` and `64bit` are words. */
const numberPattern = /^(?:0x[0-9a-f_]*|0b[01_]*|[0-9_]+(?:e[0-9]*)?)(?:[ulnfjxk]|ll|ul|ull)*$/i;

function isNumber(text: string, start: number, end: number): boolean {
  // Most have nothing but digits.
  let at = start;
  while (at < end && codeOf[text.charCodeAt(at)] === digitCode) at += 1;
  return at === end || numberPattern.test(text.slice(start, end));
}

/**
 * Splits at `_` and at a change of case. A run of capitals ends before its last letter if at least two small letters
 * follow (`DMA|Buffers`, but `IPv4`, `URLs`). Digits stay with the part before them.
 */
export function partsOf(identifier: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < identifier.length; at += 1) {
    const code = identifier.charCodeAt(at);
    if (code !== underscore && !(isCapital(code) && at > from && isBoundary(identifier, at)))
      continue;
    if (at > from) parts.push(identifier.slice(from, at));
    from = code === underscore ? at + 1 : at;
  }
  if (from < identifier.length) parts.push(identifier.slice(from));
  return parts;
}

const underscore = 0x5f;

/** Before a capital that is not the first letter of its part. */
function isBoundary(identifier: string, at: number): boolean {
  const before = identifier.charCodeAt(at - 1);
  if (isSmall(before) || codeOf[before] === digitCode) return true;
  return (
    isCapital(before) &&
    isSmall(identifier.charCodeAt(at + 1)) &&
    isSmall(identifier.charCodeAt(at + 2))
  );
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

function isSmall(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

function splitTerms(identifier: string, stops: ReadonlySet<string>): string[] {
  const parts = partsOf(identifier);
  const terms: string[] = [];
  const add = (term: string): void => {
    if (!terms.includes(term)) terms.push(term);
  };
  if (parts.length > 1) add(stem(identifier.toLowerCase()));
  for (const each of parts) {
    const part = each.toLowerCase();
    if (part.length >= 2 && !stops.has(part) && !isDigits(part)) add(stemOfPart(part));
  }
  return terms;
}

function isDigits(part: string): boolean {
  return codeOf[part.charCodeAt(0)] === digitCode && /^\d+$/.test(part);
}

/** Names are made of some thousand words. */
const stems = new Map<string, string>();

function stemOfPart(part: string): string {
  let known = stems.get(part);
  if (known === undefined) {
    known = stem(part);
    if (stems.size >= rememberedMax) stems.clear();
    stems.set(part, known);
  }
  return known;
}
