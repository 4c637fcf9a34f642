import { bounded, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';
import { cKeywords } from './c-macros.js';
import { closingOf, findSign, partsOfList, skipBlanks } from './c-scan.js';

/** Of one expression in another. */
const depthMax = 24;
const word = /[A-Za-z_]\w*/y;
const castType =
  /^\s*(?:(?:const|volatile)\s+)*(?:(struct|union)\s+(\w+)|([A-Za-z_]\w*))\s*(?:const\s*)?((?:\*\s*(?:(?:const|restrict)\b\s*)?)*)$/;
/** An argument that is a type: `container_of(p, struct page, lru)`. */
const typeArgument = /^\s*(?:const\s+)?(struct|union)\s+(\w+)\s*\**\s*$/;

/**
 * Writes values of C as `format/expression.ts` does. Pointers, addresses and elements are left out: what a structure holds is
 * meant by the name of the member, however it is reached.
 */
export class CExpressions {
  constructor(
    /** As written: types that are arguments are only there. */
    readonly text: string,
    readonly parsed: string,
    readonly locals: Locals,
  ) {}

  /** What stands in `[from, to)`. */
  of(from: number, to: number): string {
    return bounded(this.#value(from, to, 0));
  }

  #value(from: number, to: number, depth: number): string {
    if (depth > depthMax) return unknown;
    const { parsed } = this;
    const { value, at } = this.#unary(skipBlanks(parsed, from, to), to, depth);
    const next = skipBlanks(parsed, at, to);
    const sign = parsed.charAt(next);
    if (next >= to || sign === '+' || sign === '-') return value;
    if (sign === '=' && parsed.charAt(next + 1) !== '=') return value;
    return sign === '?' ? this.#choice(value, next + 1, to, depth) : unknown;
  }

  /** `a ? b : c`, `a ?: c`: the first of which something is known. */
  #choice(condition: string, from: number, to: number, depth: number): string {
    const colon = colonIn(this.parsed, from, to);
    const isShort = skipBlanks(this.parsed, from, colon) === colon;
    const first = isShort ? condition : this.#value(from, colon, depth + 1);
    return first === unknown ? this.#value(colon + 1, to, depth + 1) : first;
  }

  #unary(from: number, to: number, depth: number): { value: string; at: number } {
    const { parsed } = this;
    let at = from;
    while (at < to && '*&'.includes(parsed.charAt(at))) at = skipBlanks(parsed, at + 1, to);
    if (parsed.charAt(at) === '(') return this.#bracket(at, to, depth);
    word.lastIndex = at;
    const name = at < to ? word.exec(parsed)?.[0] : undefined;
    if (name === undefined || cKeywords.has(name)) return { value: unknown, at: to };
    const value = name === 'NULL' ? unknown : this.locals.expressionOf(name, at);
    return this.#postfix(value, at + name.length, to);
  }

  /** A cast, a compound literal, or an expression in brackets. */
  #bracket(from: number, to: number, depth: number): { value: string; at: number } {
    const { parsed } = this;
    const end = closingOf(parsed, from, to);
    const [cast, tag, structure = '', name = '', pointer = ''] =
      castType.exec(this.text.slice(from + 1, end)) ?? [];
    const next = skipBlanks(parsed, end + 1, to);
    const isFollowed = next < to && /[\w(&*{"]/.test(parsed.charAt(next));
    if (tag !== undefined && isFollowed) {
      const value = `{${tag} ${structure}}`;
      return parsed.charAt(next) === '{'
        ? this.#postfix(value, closingOf(parsed, next, to) + 1, to)
        : { value, at: this.#unary(next, to, depth + 1).at };
    }
    if (cast !== undefined && cKeywords.has(name)) return { value: unknown, at: to };
    if (cast !== undefined && isFollowed && parsed.charAt(next) === '{')
      return this.#postfix(`{${name}}`, closingOf(parsed, next, to) + 1, to);
    const isPlain = cast !== undefined && /\w/.test(parsed.charAt(next)) && isFollowed;
    if (cast !== undefined && isFollowed && (pointer !== '' || isPlain))
      return { value: `{${name}}`, at: this.#unary(next, to, depth + 1).at };
    return this.#postfix(this.#value(from + 1, end, depth + 1), end + 1, to);
  }

  #postfix(start: string, from: number, to: number): { value: string; at: number } {
    const { parsed } = this;
    let value = start;
    for (let at = from; ;) {
      at = skipBlanks(parsed, at, to);
      const sign = at < to ? parsed.charAt(at) : '';
      const isArrow = sign === '-' && parsed.charAt(at + 1) === '>';
      if (sign === '.' || isArrow) {
        const nameAt = skipBlanks(parsed, at + (isArrow ? 2 : 1), to);
        word.lastIndex = nameAt;
        const name = word.exec(parsed)?.[0];
        if (name === undefined) return { value: unknown, at: to };
        value = value === unknown ? unknown : `${value}.${name}`;
        at = nameAt + name.length;
      } else if (sign === '[') at = closingOf(parsed, at, to) + 1;
      else if (sign === '(') {
        const end = closingOf(parsed, at, to);
        const type = this.#typeIn(at + 1, end) ?? this.#given(value, at + 1, end);
        value = type ?? (value === unknown ? unknown : `${value}()`);
        at = end + 1;
      } else if ((sign === '+' || sign === '-') && parsed.charAt(at + 1) === sign) at += 2;
      else return { value, at };
    }
  }

  /** What a call by name gives may depend on the names that it takes: a macro takes types. */
  #given(name: string, from: number, to: number): string | undefined {
    if (!/^[A-Za-z_]\w*$/.test(name)) return undefined;
    const names = partsOfList(this.parsed, from, to).map((part) => this.#farName(part));
    return names.some((each) => each !== unknown)
      ? `{$macro<${[name, ...names].join(',')}>}`
      : undefined;
  }

  #farName([from, to]: [number, number]): string {
    const written = this.parsed.slice(from, to).trim();
    const isName = /^[A-Za-z_]\w*$/.test(written) && !cKeywords.has(written);
    return isName && this.locals.find(written, from) === undefined ? written : unknown;
  }

  /** What a macro that takes a type gives is of that type. */
  #typeIn(from: number, to: number): string | undefined {
    // Most calls have no such word; looking for it first is cheaper than reading the list.
    const list = this.text.slice(from, to);
    if (!/\b(?:struct|union)\b/.test(list)) return undefined;
    for (const argument of topLevel(list)) {
      const [, kind, name] = typeArgument.exec(argument) ?? [];
      if (kind !== undefined) return `{${kind} ${name}}`;
    }
    return undefined;
  }
}

function topLevel(list: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < list.length; at += 1) {
    const sign = list.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 0) {
      parts.push(list.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(list.slice(from));
  return parts;
}

/** What `a ? b : c` may be: the ranges of `b` and `c`; anything else is itself. */
export function alternatives(text: string, from: number, to: number): [number, number][] {
  const start = skipBlanks(text, from, to);
  const close = text.charAt(start) === '(' ? closingOf(text, start, to) : to;
  if (close < to && skipBlanks(text, close + 1, to) >= to)
    return alternatives(text, start + 1, close);
  const mark = findSign(text, from, to, '?');
  if (mark >= to) return [[from, to]];
  const colon = colonIn(text, mark + 1, to);
  return [
    ...alternatives(text, mark + 1, colon),
    ...(colon < to ? alternatives(text, colon + 1, to) : []),
  ];
}

/** The colon of the condition whose `?` stands before `from`. */
function colonIn(text: string, from: number, to: number): number {
  let depth = 0;
  for (let at = from; at < to; at += 1) {
    const sign = text.charAt(at);
    if (sign === '(' || sign === '[') at = closingOf(text, at, to);
    else if (sign === '?') depth += 1;
    else if (sign === ':') {
      if (depth === 0) return at;
      depth -= 1;
    }
  }
  return to;
}
