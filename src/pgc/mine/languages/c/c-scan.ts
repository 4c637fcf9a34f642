import { commentEnd, isComment, literalEnd } from './c-tokens.js';

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };
const closes = new Set(Object.values(closing));

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

/** Offset of the bracket that closes the one at `at`; `end` when there is none before it. */
export function closingOf(text: string, at: number, end: number): number {
  let depth = 0;
  for (let each = at; each < end;) {
    const sign = text.charAt(each);
    if (sign === '"' || sign === "'") {
      each = literalEnd(text, each);
      continue;
    }
    if (sign === '/' && isComment(text, each)) {
      each = commentEnd(text, each);
      continue;
    }
    if (sign in closing) depth += 1;
    else if (closes.has(sign)) {
      depth -= 1;
      if (depth === 0) return each;
    }
    each += 1;
  }
  return end;
}

/** Offset of the first of `signs` outside of brackets, strings and comments; `end` when there is none. */
export function findSign(text: string, from: number, end: number, signs: string): number {
  for (let at = from; at < end;) {
    const sign = text.charAt(at);
    if (signs.includes(sign)) return at;
    if (sign in closing) at = closingOf(text, at, end) + 1;
    else if (closes.has(sign)) return at;
    else if (sign === '"' || sign === "'") at = literalEnd(text, at);
    else if (sign === '/' && isComment(text, at)) at = commentEnd(text, at);
    else at += 1;
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
