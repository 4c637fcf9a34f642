import type { Edits } from '../edits.js';

/** Characters behind a token that are searched for the next. */
export const aheadCharsMax = 2_000;

export function isAtMargin(text: string, at: number): boolean {
  return at === 0 || text.charCodeAt(at - 1) === 0x0a;
}

export function isComment(text: string, at: number): boolean {
  const next = text.charCodeAt(at + 1);
  return next === 0x2a || next === 0x2f;
}

export function commentEnd(text: string, at: number): number {
  const isBlock = text.charAt(at + 1) === '*';
  const end = isBlock ? text.indexOf('*/', at + 2) : text.indexOf('\n', at);
  return end < 0 ? text.length : isBlock ? end + 2 : end;
}

/** Letters, `_` and digits, as bits: what a name begins with, and what it goes on with. */
const begins = 1;
const goesOn = 2;
const nameSigns = new Uint8Array(0x80);
for (let code = 0; code < nameSigns.length; code += 1) {
  const sign = String.fromCharCode(code);
  nameSigns[code] = (/[A-Za-z_]/.test(sign) ? begins : 0) | (/\w/.test(sign) ? goesOn : 0);
}

/** Behind the name that begins at `at`; `at` itself when none does. */
export function wordEnd(text: string, at: number): number {
  if (((nameSigns[text.charCodeAt(at)] ?? 0) & begins) === 0) return at;
  let end = at + 1;
  while (((nameSigns[text.charCodeAt(end)] ?? 0) & goesOn) !== 0) end += 1;
  return end;
}

/** Behind a string or a character; one that is not closed ends with its line. */
export function literalEnd(text: string, at: number): number {
  const quote = text.charCodeAt(at);
  for (let each = at + 1; each < text.length; each += 1) {
    const code = text.charCodeAt(each);
    if (code === 0x5c) each += 1;
    else if (code === quote) return each + 1;
    else if (code === 0x0a) return each;
  }
  return text.length;
}

/** Offset of what comes after blanks and comments, or of where the search ends. */
export function nextToken(text: string, from: number): number {
  let at = from;
  for (const stop = Math.min(text.length, from + aheadCharsMax); at < stop;) {
    const code = text.charCodeAt(at);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) at += 1;
    else if (code === 0x2f && isComment(text, at)) at = commentEnd(text, at);
    else if (code > 0x7f && /\s/.test(text.charAt(at))) at += 1;
    else break;
  }
  return at;
}

/**
 * Behind the line break of a directive, with the lines it continues on. The grammar ends the text of a
 * macro at a comment, also when the macro goes on behind it: those comments are blanked.
 */
export function directiveEnd(text: string, from: number, edits: Edits): number {
  let at = from;
  while (at < text.length) {
    const sign = text.charAt(at);
    if (sign === '\\') at += text.startsWith('\r\n', at + 1) ? 3 : 2;
    else if (sign === '\n') return at + 1;
    else if (sign === '/' && text.charAt(at + 1) === '/') at = commentEnd(text, at);
    else if (sign === '/' && text.charAt(at + 1) === '*') {
      const end = commentEnd(text, at);
      edits.blank(at, end, true);
      at = end;
    } else if (sign === '"') at = literalEnd(text, at);
    else at += 1;
  }
  return text.length;
}
