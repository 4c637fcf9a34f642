/** Rows of letters that are longer than words: texts in base64, tokens. */

const encodedChars = { min: 20, max: 20_000 };
/** Fewer letters are a text by chance. */
const encodedMin = 8;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
const markedChars = { min: 36, max: 400 };
/** Of one text. */
const rowsMax = 1_000;
/** So much tells whether it is text that was encoded. */
const probeChars = 20;
const base64Letters = alphabet('+/');
const tokenLetters = alphabet('-_');
const isText = /^[\t\n\r\x20-\x7e]+$/;
/** A mark of letters, perhaps of several words, and behind it letters without a sign between them. */
const marked = /^(?!sha\d)[A-Za-z]{2,10}(?:[_-][a-z0-9]{1,12}){0,3}[_-](?=[A-Za-z0-9]{32})/;
const kinds = [/(?:[a-z].*?){3}/, /(?:[A-Z].*?){3}/, /(?:[0-9].*?){3}/];

interface Row {
  at: number;
  end: number;
}

/** The text that is encoded in these letters. */
export function textOf(letters: string): string | undefined {
  if (letters.length < encodedMin || !base64.test(letters)) return undefined;
  const inside = decoded(letters);
  return isText.test(inside) ? inside : undefined;
}

/** Rows of base64 in which a text is encoded, with the text. */
export function* encodedTexts(text: string): Generator<Row & { inside: string }> {
  for (const { at, end } of rows(text, base64Letters, encodedChars)) {
    if (!isText.test(decoded(text.slice(at, at + probeChars)))) continue;
    yield { at, end, inside: decoded(text.slice(at, end)) };
  }
}

/** What has the form of a token of today: `mark_` and many letters, small ones, large ones and digits. */
export function* markedTokens(text: string): Generator<Row> {
  for (const { at, end } of rows(text, tokenLetters, markedChars)) {
    const token = text.slice(at, end);
    const mark = marked.exec(token)?.[0];
    if (mark !== undefined && kinds.every((each) => each.test(token.slice(mark.length))))
      yield { at, end };
  }
}

/** Of rows, which letters are part of one; of those beyond ASCII all or none. */
export interface Alphabet {
  ascii: Uint8Array;
  others: boolean;
}

/** `others`: also of those that a pattern takes for a letter when it does not look at case. */
export const plainLetters = alphabet('', true);
/** All signs that tokens are written in. */
export const tokenSigns = alphabet('+/=_.~-', true);

function alphabet(signs: string, others = false): Alphabet {
  const ascii = new Uint8Array(0x80);
  for (let code = 0; code < ascii.length; code += 1)
    ascii[code] = /[A-Za-z0-9]/.test(String.fromCharCode(code)) ? 1 : 0;
  for (const sign of signs) ascii[sign.charCodeAt(0)] = 1;
  return { ascii, others };
}

function isPart({ ascii, others }: Alphabet, code: number): boolean {
  return code < ascii.length ? ascii[code] === 1 : others;
}

/** Whether so many of these letters stand together. */
export function hasRow(text: string, letters: Alphabet, length: number): boolean {
  for (let at = 0; at + length <= text.length;) {
    const from = rowStart(text, at, at + length, letters);
    if (from === at) return true;
    at = from;
  }
  return false;
}

/** Of the row that ends at `to`, where it begins in `[from, to]`: as a rule near its end, so that most of a text is not looked at. */
function rowStart(text: string, from: number, to: number, letters: Alphabet): number {
  let at = to;
  while (at > from && isPart(letters, text.charCodeAt(at - 1))) at -= 1;
  return at;
}

function* rows(text: string, letters: Alphabet, { min, max }: typeof encodedChars): Generator<Row> {
  let count = 0;
  // No row goes on to `at`.
  for (let at = 0; at + min <= text.length && count < rowsMax;) {
    const from = rowStart(text, at, at + min, letters);
    if (from > at) {
      at = from;
      continue;
    }
    let end = at + min;
    while (end < text.length && isPart(letters, text.charCodeAt(end))) end += 1;
    if (end - at <= max) {
      count += 1;
      yield { at, end };
    }
    at = end + 1;
  }
}

function decoded(letters: string): string {
  return Buffer.from(letters, 'base64').toString('latin1');
}
