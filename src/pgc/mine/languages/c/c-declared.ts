import { closingOf, findSign, partsOfList, skipBlanks } from './c-scan.js';

/** A name that a declaration declares, without its initializer. */
export interface Declared {
  name: string;
  at: number;
  /** As `format/expression.ts` writes it; empty: a number, or nothing that is known. */
  type: string;
  /** It may hold a function: a pointer to one, or of a type of which the text does not tell. */
  mayHold: boolean;
  /** A pointer to a function as written: its parameters with their brackets. */
  list: string | undefined;
  isPointer: boolean;
  /** Of a function that returns no pointer to one: what the function gives. */
  isPrototype: boolean;
  /** `[from, to)` of the initializer. */
  value: [from: number, to: number] | undefined;
}

const qualifiers =
  /^(?:static|const|extern|register|volatile|inline|__inline__|__inline|__extension__|_Atomic|_Thread_local|__thread|typedef|restrict|__restrict|__const)$/;
const numbers =
  /^(?:void|char|short|int|long|float|double|signed|unsigned|_Bool|bool|_Complex|__signed__|__int128)$/;
/** Types of numbers that the standard library and kernels name. */
const numberType =
  /^(?:_{0,2}(?:u|s|le|be)\d{1,3}|_{0,2}u?int(?:_least|_fast|max|ptr)?\d*_t|s?size_t|ptrdiff_t|u?off(?:64)?_t|loff_t|time_t|wchar_t|FILE|u(?:int|long|short|char)|u_(?:int|long|short|char)|u_int\d+_t|va_list)$/;
const word = /[A-Za-z_]\w*/y;
const functionPointer =
  /^[\s*]*(?:(?:const|volatile)\b[\s*]*)*\(\s*(?:[A-Za-z_]\w*\s+)?\*[\s*]*(?:(?:const|volatile|restrict)\b[\s*]*)*([A-Za-z_]\w*)\s*(?:\[[^\]]*\]\s*)*\)\s*\(/;
const plain =
  /^[\s*]*(?:(?:const|volatile|restrict|__restrict|__restrict__|_Nonnull|_Nullable)\b[\s*]*)*([A-Za-z_]\w*)/;
const headCharsMax = 400;

/** Base type of a declaration: where its declarators begin, and the body of a structure that it defines. */
interface Base {
  type: string;
  at: number;
  body: [from: number, to: number] | undefined;
  /** Nothing in the text says that it is no function. */
  isOpen: boolean;
}

/** What stands in `[from, to)`, without the semicolon. Undefined: no declaration. */
export function baseType(text: string, from: number, to: number): Base | undefined {
  let isNumber = false;
  for (let at = skipBlanks(text, from, to); at < to; at = skipBlanks(text, at, to)) {
    word.lastIndex = at;
    const name = word.exec(text)?.[0];
    if (name === undefined)
      return isNumber ? { type: '', at, body: undefined, isOpen: false } : undefined;
    const end = at + name.length;
    if (name === 'struct' || name === 'union') return recordType(text, name, end, to);
    if (name === 'enum') return enumType(text, end, to);
    if (/^_{0,2}typeof/.test(name)) {
      const open = skipBlanks(text, end, to);
      return { type: '', at: closingOf(text, open, to) + 1, body: undefined, isOpen: false };
    }
    if (qualifiers.test(name)) at = end;
    else if (numbers.test(name)) {
      isNumber = true;
      at = end;
    } else if (isNumber) return { type: '', at, body: undefined, isOpen: false };
    else {
      const type = numberType.test(name) ? '' : name;
      return { type, at: end, body: undefined, isOpen: type !== '' };
    }
  }
  return undefined;
}

function recordType(text: string, kind: string, from: number, to: number): Base {
  let at = skipBlanks(text, from, to);
  word.lastIndex = at;
  const name = word.exec(text)?.[0] ?? '';
  at = skipBlanks(text, at + name.length, to);
  const isDefined = text.charAt(at) === '{';
  const end = isDefined ? closingOf(text, at, to) : at;
  return {
    type: name === '' ? '' : `${kind} ${name}`,
    at: isDefined ? end + 1 : at,
    body: isDefined ? [at + 1, end] : undefined,
    isOpen: false,
  };
}

function enumType(text: string, from: number, to: number): Base {
  let at = skipBlanks(text, from, to);
  word.lastIndex = at;
  at = skipBlanks(text, at + (word.exec(text)?.[0].length ?? 0), to);
  if (text.charAt(at) === '{') at = closingOf(text, at, to) + 1;
  return { type: '', at, body: undefined, isOpen: false };
}

/** The names that a declaration of this base type declares. */
export function declaredIn(text: string, base: Base, to: number): Declared[] {
  return partsOfList(text, base.at, to).flatMap(([from, end]) => {
    const found = declarator(text, base, from, end);
    return found === undefined ? [] : [found];
  });
}

function declarator(text: string, base: Base, from: number, to: number): Declared | undefined {
  const start = skipBlanks(text, from, to);
  const equals = findSign(text, start, to, '=');
  const source = text.slice(start, Math.min(equals, start + headCharsMax));
  const value: Declared['value'] = equals < to ? [equals + 1, to] : undefined;
  const pointer = functionPointer.exec(source);
  if (pointer?.[1] !== undefined) {
    const at = start + pointer[0].lastIndexOf(pointer[1]);
    const open = start + pointer[0].length - 1;
    const list = text.slice(open, closingOf(text, open, to) + 1);
    const type = base.type === '' ? '$func' : `$func<${base.type}>`;
    return {
      name: pointer[1],
      at,
      type: listed(type, pointer[0]),
      mayHold: true,
      list,
      isPointer: false,
      isPrototype: false,
      value,
    };
  }
  const found = plain.exec(source);
  if (found?.[1] === undefined) return undefined;
  const rest = source.slice(found[0].length);
  const isPointer = found[0].includes('*');
  const isPrototype = /^\s*\(/.test(rest);
  return {
    ...{
      name: found[1],
      at: start + found[0].length - found[1].length,
      isPointer,
      isPrototype,
      value,
    },
    type: isPrototype ? base.type : listed(base.type, rest),
    mayHold: base.isOpen && !isPrototype,
    list: undefined,
  };
}

/** An array of it, as often as it has brackets. */
function listed(type: string, source: string): string {
  const dimensions =
    type === '' ? 0 : (/(?:\[[^\]]*\]\s*)+/.exec(source)?.[0].match(/\[/g) ?? []).length;
  return `${'$list<'.repeat(dimensions)}${type}${'>'.repeat(dimensions)}`;
}
