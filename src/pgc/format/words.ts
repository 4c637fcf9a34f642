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
    terms = stopWords.has(identifier.toLowerCase()) ? [] : splitTerms(identifier, particles);
    if (remembered.size >= rememberedMax) remembered.clear();
    remembered.set(identifier, terms);
  }
  return terms;
}

/** Calls `visit` for each name in `text[from, to)`. Optimised: it sees every byte of a code base. */
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
    const identifier = text.slice(start, at);
    if (kind === digitCode && isNumber(identifier)) continue;
    visit(identifier);
  }
}

/** Number literals of the supported languages. `8139too` and `64bit` are words. */
function isNumber(token: string): boolean {
  return /^(?:0x[0-9a-f_]*|0b[01_]*|[0-9_]+(?:e[0-9]*)?)(?:[ulnfjxk]|ll|ul|ull)*$/i.test(token);
}

/**
 * Splits at `_` and at a change of case. A run of capitals ends before its last letter if at least two small letters
 * follow (`DMA|Buffers`, but `IPv4`, `URLs`). Digits stay with the part before them.
 */
const camelBoundary = /(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})/;

export function partsOf(identifier: string): string[] {
  const parts: string[] = [];
  for (const chunk of identifier.split('_')) {
    if (chunk === '') continue;
    if (/[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}/.test(chunk)) parts.push(...chunk.split(camelBoundary));
    else parts.push(chunk);
  }
  return parts;
}

function splitTerms(identifier: string, stops: ReadonlySet<string>): string[] {
  const parts = partsOf(identifier);
  const terms = new Set<string>();
  if (parts.length > 1) terms.add(stem(identifier.toLowerCase()));
  for (const part of parts) {
    const lower = part.toLowerCase();
    if (lower.length >= 2 && !/^\d+$/.test(lower) && !stops.has(lower)) terms.add(stem(lower));
  }
  return [...terms];
}
