import { cKeywords } from './c-macros.js';
import { closingOf, findSign, skipBlanks } from './c-scan.js';

/** A name that an initializer puts somewhere. */
export interface Held {
  name: string;
  at: number;
  /** What it is put into, as `format/expression.ts` writes it. */
  target: string;
}

/** Initializers in each other. */
const depthMax = 16;
/** Of one initializer: a longer table is generated, and its functions are found by their designators. */
export const heldMax = 20_000;
const word = /[A-Za-z_]\w*/y;
const literalType = /^\(\s*(?:const\s+)?(?:(struct|union)\s+)?([A-Za-z_]\w*)\s*(\[[^\]]*\])?\s*\)$/;

/**
 * The names in the initializer whose brace opens at `open`. `target`: what it initializes. A place without a designator is a
 * member named by its number, which counts from 0.
 */
export function heldIn(text: string, open: number, end: number, target: string): Held[] {
  const held: Held[] = [];
  list(text, { open, end, target }, held, 0);
  return held;
}

interface List {
  open: number;
  end: number;
  target: string;
}

function list(text: string, { open, end, target }: List, held: Held[], depth: number): void {
  const close = closingOf(text, open, end);
  let position = 0;
  for (let at = skipBlanks(text, open + 1, close); at < close;) {
    const designated = designator(text, at, close);
    const place = designated?.path ?? `.${position}`;
    position += 1;
    const from = skipBlanks(text, designated?.at ?? at, close);
    const to = findSign(text, from, close, ',');
    item(text, { open: from, end: to, target: `${target}${place}` }, held, depth);
    at = skipBlanks(text, to + 1, close);
    if (held.length >= heldMax) return;
  }
}

function item(text: string, { open, end, target }: List, held: Held[], depth: number): void {
  const sign = text.charAt(open);
  if (sign === '{') {
    if (depth < depthMax) list(text, { open, end, target }, held, depth + 1);
    return;
  }
  if (sign === '(') {
    const close = closingOf(text, open, end);
    const next = skipBlanks(text, close + 1, end);
    const [, tag, name, isList] = literalType.exec(text.slice(open, close + 1)) ?? [];
    // A compound literal is of its own type.
    if (name !== undefined && text.charAt(next) === '{') {
      const type = tag === undefined ? name : `${tag} ${name}`;
      const its = isList === undefined ? `{${type}}` : `{$list<${type}>}`;
      if (depth < depthMax) list(text, { open: next, end, target: its }, held, depth + 1);
      return;
    }
  }
  const found = nameAlone(text, open, end);
  if (found !== undefined) held.push({ ...found, target });
}

/** `.open =`, `.ops.open =`, `[3] =`, `[A ... B].open =`, `open:` */
function designator(
  text: string,
  from: number,
  end: number,
): { path: string; at: number } | undefined {
  let path = '';
  let at = from;
  for (;;) {
    const sign = text.charAt(at);
    if (sign === '[') {
      path += '.0';
      at = skipBlanks(text, closingOf(text, at, end) + 1, end);
    } else if (sign === '.') {
      word.lastIndex = skipBlanks(text, at + 1, end);
      const name = word.exec(text)?.[0] ?? '';
      if (name === '') return undefined;
      path += `.${name}`;
      at = skipBlanks(text, word.lastIndex, end);
    } else break;
  }
  if (path === '') {
    word.lastIndex = at;
    const name = word.exec(text)?.[0];
    const colon = name === undefined ? at : skipBlanks(text, at + name.length, end);
    return name !== undefined && text.charAt(colon) === ':'
      ? { path: `.${name}`, at: colon + 1 }
      : undefined;
  }
  return text.charAt(at) === '=' ? { path, at: at + 1 } : undefined;
}

/**
 * A name that is all there is: behind an address or casts, or the argument of a macro, because what is initialized before
 * the program runs calls nothing.
 */
export function nameAlone(
  text: string,
  from: number,
  to: number,
  isStatic = true,
): { name: string; at: number } | undefined {
  let at = skipBlanks(text, from, to);
  for (let depth = 0; depth < depthMax; depth += 1) {
    const sign = text.charAt(at);
    if (sign === '&') at = skipBlanks(text, at + 1, to);
    else if (sign === '(') {
      const close = closingOf(text, at, to);
      const next = skipBlanks(text, close + 1, to);
      if (next < to) at = next;
      else return nameAlone(text, at + 1, close, isStatic);
    } else break;
  }
  word.lastIndex = at;
  const name = at < to ? word.exec(text)?.[0] : undefined;
  if (name === undefined || cKeywords.has(name) || name === 'NULL') return undefined;
  const next = skipBlanks(text, at + name.length, to);
  if (next >= to) return { name, at };
  if (!isStatic || text.charAt(next) !== '(') return undefined;
  const close = closingOf(text, next, to);
  return skipBlanks(text, close + 1, to) >= to ? nameAlone(text, next + 1, close) : undefined;
}
