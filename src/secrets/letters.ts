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
  for (const { at, end } of rows(text, isBase64, encodedChars)) {
    if (!isText.test(decoded(text.slice(at, at + probeChars)))) continue;
    yield { at, end, inside: decoded(text.slice(at, end)) };
  }
}

/** What has the form of a token of today: `mark_` and many letters, small ones, large ones and digits. */
export function* markedTokens(text: string): Generator<Row> {
  for (const { at, end } of rows(text, isToken, markedChars)) {
    const token = text.slice(at, end);
    const mark = marked.exec(token)?.[0];
    if (mark !== undefined && kinds.every((each) => each.test(token.slice(mark.length))))
      yield { at, end };
  }
}

function* rows(
  text: string,
  isPart: (code: number) => boolean,
  { min, max }: { min: number; max: number },
): Generator<Row> {
  let count = 0;
  for (let at = 0; at < text.length && count < rowsMax; at += 1) {
    if (!isPart(text.charCodeAt(at))) continue;
    let end = at + 1;
    while (end < text.length && isPart(text.charCodeAt(end))) end += 1;
    if (end - at >= min && end - at <= max) {
      count += 1;
      yield { at, end };
    }
    at = end;
  }
}

function isBase64(code: number): boolean {
  return isLetter(code) || code === 0x2b || code === 0x2f;
}

function isToken(code: number): boolean {
  return isLetter(code) || code === 0x2d || code === 0x5f;
}

/** Or a digit. */
function isLetter(code: number): boolean {
  const small = code | 0x20;
  return (small >= 0x61 && small <= 0x7a) || (code >= 0x30 && code <= 0x39);
}

function decoded(letters: string): string {
  return Buffer.from(letters, 'base64').toString('latin1');
}
