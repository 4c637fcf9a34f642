import { commentEnd, isComment, literalEnd } from './c-tokens.js';

/** What a sign does in a scan; everything else is passed over. */
const opens = 1;
const closes = 2;
const quotes = 3;
const slash = 4;
const kinds = new Uint8Array(0x80);
for (const [signs, kind] of [
  ['([{', opens],
  [')]}', closes],
  ['"\'', quotes],
  ['/', slash],
] as const)
  for (const sign of signs) kinds[sign.charCodeAt(0)] = kind;

/** Offset of the next token at or behind `at`, or `end`. */
export function skipBlanks(text: string, at: number, end: number): number {
  let next = at;
  while (next < end) {
    const code = text.charCodeAt(next);
    if (code === 0x20 || (code >= 0x09 && code <= 0x0d)) next += 1;
    else if (code === 0x2f && isComment(text, next)) next = commentEnd(text, next);
    // A directive, or a line that goes on.
    else if (code === 0x23 && isLineStart(text, next)) next = lineEnd(text, next);
    else if (code === 0x5c && /[\r\n]/.test(text.charAt(next + 1))) next += 1;
    else break;
  }
  return Math.min(next, end);
}

function isLineStart(text: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && (text.charAt(before) === ' ' || text.charAt(before) === '\t')) before -= 1;
  return before < 0 || text.charAt(before) === '\n';
}

function lineEnd(text: string, at: number): number {
  for (let end = text.indexOf('\n', at); ; end = text.indexOf('\n', end + 1)) {
    if (end < 0) return text.length;
    if (!/\\\r?$/.test(text.slice(Math.max(0, end - 2), end))) return end;
  }
}

/** Offset of the bracket that closes the one at `at`; `end` when there is none before it. Sees most bytes of a text of C. */
export function closingOf(text: string, at: number, end: number): number {
  let depth = 0;
  for (let each = at; each < end;) {
    switch (kinds[text.charCodeAt(each)] ?? 0) {
      case opens:
        depth += 1;
        break;
      case closes:
        depth -= 1;
        if (depth === 0) return each;
        break;
      case quotes:
        each = literalEnd(text, each);
        continue;
      case slash:
        if (!isComment(text, each)) break;
        each = commentEnd(text, each);
        continue;
    }
    each += 1;
  }
  return end;
}

/** Offset of the first `sign` outside of brackets, strings and comments; `end` when there is none. */
export function findSign(text: string, from: number, end: number, sign: string): number {
  const wanted = sign.charCodeAt(0);
  for (let at = from; at < end;) {
    const code = text.charCodeAt(at);
    if (code === wanted) return at;
    switch (kinds[code] ?? 0) {
      case opens:
        at = closingOf(text, at, end);
        break;
      case closes:
        return at;
      case quotes:
        at = literalEnd(text, at);
        continue;
      case slash:
        if (!isComment(text, at)) break;
        at = commentEnd(text, at);
        continue;
    }
    at += 1;
  }
  return end;
}

/** Ranges between commas outside of brackets. */
export function partsOfList(text: string, from: number, end: number): [from: number, to: number][] {
  const parts: [number, number][] = [];
  for (let at = from; at <= end;) {
    const to = findSign(text, at, end, ',');
    parts.push([at, to]);
    if (to >= end || text.charAt(to) !== ',') break;
    at = to + 1;
  }
  return parts;
}
