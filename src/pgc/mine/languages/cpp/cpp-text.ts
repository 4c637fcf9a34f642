/**
 * Blanks macros that C++ libraries write as marks: for linkage, `noexcept`, moves. Offsets stay. The names of such
 * macros are in capitals with an underscore, as names of types hardly are.
 */
import { Edits } from '../edits.js';

/** A list of parameters is no longer than this, or the mark behind it stays. */
const listCharsMax = 1_000;
/** Characters before parameters that hold the name of the function. */
const nameCharsMax = 40;

const mark = '[A-Z][A-Z0-9]*_[A-Z0-9_]+';
const type = '(?:const\\s+)?(?!const\\b)[\\w:]+(?:<[^;{}()]{0,300}>)?';

/** `class API_EXPORT Name {`, and `: public Base`. */
const beforeRecord = new RegExp(
  `\\b(?:class|struct|union)\\s+(${mark})(?=\\s+\\w+\\s*(?:final\\s*)?(?:\\{|:(?!:)))`,
  'g',
);
/** `API_EXPORT void f(`, `API_EXPORT std::string f(`, `API_EXPORT ~Name(`, `API_EXPORT Name() : a(1)`. */
const beforeFunction = new RegExp(
  `^[ \\t]*(?:(?:static|inline|virtual|explicit|friend|extern|constexpr)\\s+){0,6}(${mark})` +
    '(?=\\s+(?:~|(?:static|inline|virtual|explicit|friend|constexpr|void|bool)\\b' +
    '|\\w+\\s*\\([^(){};]{0,300}\\)\\s*:(?!:)' +
    `|(?!operator\\b|return\\b)${type}[\\s*&]+~?[\\w:]+\\s*\\())`,
  'gm',
);
/** `API_EXPORT template <…>`, and a mark that stands alone between definitions. */
const beforeTemplate = new RegExp(`^[ \\t]*(${mark})(?=\\s+template\\s*<)`, 'gm');
const alone = new RegExp(`^(${mark})(?=[ \\t]*\\r?$)(?!\\s*[(,=])`, 'gm');
/** `API_DEPRECATED("…")` on the line before what it is said of. */
const saying = new RegExp(
  `^[ \\t]*(${mark}\\("(?:[^"\\\\\\n]|\\\\.)*"\\))(?=[ \\t]*\\r?\\n\\s{0,80}[A-Za-z_~])`,
  'gm',
);
/** Names of marks that hold what is between them. */
const pairs = [
  ['BEGIN', 'END'],
  ['OPEN', 'CLOSE'],
  ['START', 'END'],
] as const;
/** `f(int a) const API_NOEXCEPT {`. */
const behindFunction = new RegExp(
  `\\)\\s*(?:(?:const|override|final)\\s+)?(${mark})(?=\\s*(?:[{;]|:(?!:)|=\\s*0|const\\b|override\\b|final\\b))`,
  'g',
);
/** `f(API_MOVE_ARG(Type) a, …`: the mark stays, as a type. */
const ofParameter = new RegExp(
  `(?:[(,]|\\btypedef\\b)\\s*(?:const\\s+)?${mark}(\\([^(){};]{0,300}\\))(?=\\s{0,50}(?:&{1,2}\\s{0,50})?[A-Za-z_]\\w*\\s{0,50}[,)=;])`,
  'g',
);
/** `enable_if<…>::type * = 0`, a parameter without a name: to the grammar a pointer has one. */
const unnamed = /(?:::\s*\w+|>)\s*(\*)(?=\s*=\s*(?:0|nullptr)\s*[,)>])/g;
/** The passes for C drop the branch of `#if __cplusplus`. */
const condition = /^[ \t]*#[ \t]*(?:el)?if[^\n]*__cplusplus\b[^\n]*/gm;
const functionName = /(?:[\w>\]]|\boperator\s*[^\w\s]{1,3}|\(\s*\))\s*$/;
const headWord = /\b(?:if|for|while|switch|return|case|sizeof|catch)\s*$/;

const wholeMark = new RegExp(`^${mark}$`);

/** Whether a name is one that libraries give to macros. */
export function isMark(name: string): boolean {
  return wholeMark.test(name);
}

export function withoutMarks(text: string): string {
  const edits = new Edits();
  for (const pattern of [
    beforeRecord,
    beforeTemplate,
    alone,
    saying,
    beforeFunction,
    ofParameter,
    unnamed,
  ]) {
    for (const found of text.matchAll(pattern)) blankLast(edits, found);
  }
  for (const found of text.matchAll(behindFunction))
    if (isList(text, found.index)) blankLast(edits, found);
  const plain = edits.applied(text);
  return plain.includes('__cplusplus')
    ? plain.replace(condition, (line) => line.replaceAll('__cplusplus', '__CPLUSPLUS'))
    : plain;
}

export interface Held {
  name: string;
  from: number;
  to: number;
}

/** What stands between two marks, of which the first may open a namespace: `API_BEGIN_NAMESPACE`. In order. */
export function heldByMarks(text: string): Held[] {
  const held: Held[] = [];
  /** The nearest one behind, by name. */
  const behind = new Map<string, number>();
  for (const { 1: name = '', index: from } of [...text.matchAll(alone)].toReversed()) {
    const pair = pairs.find(([first]) => name.includes(first));
    const to = pair && behind.get(name.replace(pair[0], pair[1]));
    if (to !== undefined) held.push({ name, from, to });
    behind.set(name, from);
  }
  return held.toReversed();
}

/**
 * The head of a constructor, and the first of its initial values, look like calls of macros: the passes
 * for C put a semicolon between them and the body. What stood there in the `source` comes back.
 */
export function withConstructors(source: string, passed: string): string {
  const records = new Set<string | undefined>();
  for (const found of source.matchAll(/\b(?:class|struct|union)\s+(\w+)/g)) records.add(found[1]);
  const edits = new Edits();
  for (const found of source.matchAll(/(?:^[ \t]*|\)\s*:\s*)(\w+)\s*\(/gm)) {
    if (!found[0].startsWith(')') && !records.has(found[1])) continue;
    const end = listEnd(source, found.index + found[0].length);
    if (passed.charAt(end) === ';') edits.replace(end, end + 1, source.charAt(end));
  }
  // In C a word before a type that is an argument of a macro is too much; here it stands before parameters.
  for (const { 0: word, index } of source.matchAll(/\b(?:un)?signed\b(?=\s+\w)/g)) {
    const next = index + word.length + source.slice(index + word.length).search(/\S/);
    if (passed.slice(index, next).trim() === '' && passed.charAt(next) === source.charAt(next))
      edits.replace(index, index + word.length, word);
  }
  return edits.applied(passed);
}

/** Offset behind the bracket that closes the list which begins at `at`; -1 when the list is too long. */
function listEnd(text: string, at: number): number {
  const stop = Math.min(text.length, at + listCharsMax);
  let depth = 1;
  for (let next = at; next < stop; next += 1) {
    const sign = text.charCodeAt(next);
    if (sign === 0x28) depth += 1;
    else if (sign === 0x29) depth -= 1;
    if (depth === 0) return next + 1;
  }
  return -1;
}

/** Blanks what the group matched: it ends where the match does. */
function blankLast(edits: Edits, found: RegExpExecArray): void {
  const end = found.index + found[0].length;
  edits.blank(end - (found[1]?.length ?? 0), end);
}

/** Whether the bracket that closes at `close` holds parameters; `(int) LIMIT_A;` and `if (x) STOP_IT;` do not. */
function isList(text: string, close: number): boolean {
  const stop = Math.max(0, close - listCharsMax);
  let depth = 1;
  let at = close;
  while (depth > 0 && at > stop) {
    at -= 1;
    const sign = text.charCodeAt(at);
    if (sign === 0x29) depth += 1;
    else if (sign === 0x28) depth -= 1;
  }
  if (depth > 0) return false;
  const before = text.slice(Math.max(0, at - nameCharsMax), at);
  return functionName.test(before) && !headWord.test(before);
}
