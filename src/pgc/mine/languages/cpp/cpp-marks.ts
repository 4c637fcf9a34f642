/**
 * Blanks macros that C++ libraries write as marks: for linkage, `noexcept`, locks, warnings. What the macros stand for is
 * not known here. A mark is told by where it stands: there, no type, value or call can. The names of such macros are in
 * capitals with an underscore, as names of types hardly are; where even that is not needed, any name in capitals will do.
 * Offsets stay.
 */
import { blanked } from '../../comment.js';

/** A list of parameters is no longer than this, or the mark behind it stays. */
const listCharsMax = 1_000;
/** Characters before parameters that hold the name of the function. */
const nameCharsMax = 40;
/** Marks that stand one behind another, each of which is told only when the next one is gone. */
const passesMax = 3;

const mark = '[A-Z][A-Z0-9]*_[A-Z0-9_]+';
const capitals = '[A-Z][A-Z0-9_]+';
const args = '\\((?:[^(){};]|\\([^(){};]{0,100}\\)){0,300}\\)';
const saying = '\\(\\s*(?:"(?:[^"\\\\\\n]|\\\\.)*"\\s*)+\\)';
const type = `(?:const\\s+)?(?!const\\b|return\\b|operator\\b)[\\w:]+(?:<[^;{}()]{0,300}>)?`;
const specifier =
  '(?:(?:static|inline|virtual|explicit|friend|extern|constexpr|template)\\b|\\[\\[[^\\]]{0,100}\\]\\])';
/** Only a declaration that has its type behind it goes on like this. */
const typed =
  '(?:static|inline|virtual|explicit|friend|constexpr|template|typename|class|struct|enum|union|void|bool|auto' +
  '|char|short|int|long|float|double|unsigned|signed)\\b';

const shapes = [
  // `class API_EXPORT Name {`, `class CAPABILITY("mutex") Name`; not `struct POINT_3D name;`.
  `\\b(?:class|struct|union)\\s+(${capitals}(?:${args})?)(?=\\s+(?:${capitals}(?:${args})?\\s+)?\\w+\\s*(?:final\\s*)?(?:\\{|:(?!:)))`,
  // `API_EXPORT template <…>`, and a mark that stands alone between definitions.
  `^[ \\t]*(${mark})(?=\\s+template\\s*<)`,
  `^(${mark})(?=[ \\t]*\\r?$)(?!\\s*[(,=])`,
  // `API_DEPRECATED("…")` before what it is said of.
  `(?:^[ \\t]*|\\btypedef\\s+)(${mark}${saying})(?=\\s{0,80}(?:[A-Za-z_~]|::))`,
  // `template <…> API_DEPRECATED(WHY) inline void f(`, `API_FORMAT(1, 2) std::string f(`.
  `^[ \\t]*(${mark}${args})(?=\\s+${typed}|[ \\t]+${type}[\\s*&]+\\w+\\s*\\()`,
  // `API_EXPORT void f(`, `API_EXPORT std::string f(`, `API_EXPORT ~Name(`, `API_EXPORT Name() : a(1)`, `UNUSED_BY_ALL T a = 1;`.
  `^[ \\t]*(?:${specifier}\\s+){0,6}(${mark})(?=\\s+(?:~|${typed}` +
    `|\\w+\\s*\\([^(){};]{0,300}\\)\\s*:(?!:)|(\\w+)(?:<[\\w\\s,:]{0,100}>)?::~?\\2\\s*\\(|(?:\\w+::){1,8}(\\w+)(?:<[\\w\\s,:]{0,100}>)?::~?\\3\\s*\\(` +
    `|${type}[\\s*&]+(?:~?(?!operator\\b)[\\w:]+(?:<[^;{}()]{0,100}>::\\w+)?\\s*[(=\\[]|(?:[\\w:<>]+::)?operator\\b)))`,
  // `int API_CALL f(`: a word too many.
  `^[ \\t]*(?:${specifier}\\s+){0,6}(?!${specifier}|else\\b|typedef\\b|new\\b|using\\b|goto\\b|case\\b|class\\b|struct\\b|union\\b|enum\\b|typename\\b|namespace\\b|throw\\b|delete\\b)` +
    `${type}[\\s*&]+(${mark})(?=\\s+(?!const\\b|final\\b|override\\b|noexcept\\b)~?[A-Za-z_][\\w:<>]*\\s*\\()`,
  // `int a[] API_NAMES;`, `int a GUARDED_BY(b);`
  `\\]\\s*(${mark})(?=\\s*[;=])`,
  `^[ \\t]*(?:mutable\\s+|static\\s+)?(?!return\\b|else\\b)${type}[\\s*&]+[a-z]\\w*\\s+(${capitals}_[A-Z0-9_]+${args})(?=\\s*[;={])`,
  // `API_TRY { … }` in a function.
  `[;{})]\\s*(${mark})(?=\\s*\\{)`,
].map((shape) => new RegExp(shape, 'gm'));
/** `f(int a) const API_NOEXCEPT {`, `void lock() ACQUIRE(a) {`. */
const behindFunction = new RegExp(
  `\\)\\s*(?:(?:const|override|final|noexcept)\\s+){0,3}(${mark}|${capitals}(?:${args}))` +
    '(?=\\s*(?:[{;]|:(?!:)|=\\s*0|const\\b|override\\b|final\\b|[A-Z][A-Z0-9]*_[A-Z0-9_]+\\s*[({;]))',
  'gm',
);
const functionName = /(?:[\w>\]]|\boperator\s*[^\w\s]{1,3}|\(\s*\))\s*$/;
const headWord = /\b(?:if|for|while|switch|return|case|sizeof|catch)\s*$/;
const plainMark = new RegExp(`^${mark}$`);
const directive = /^[ \t]*#/;

/** Whether a name is one that libraries give to macros. */
export function isMark(name: string): boolean {
  return plainMark.test(name);
}

export function withoutMarks(text: string): string {
  const proven = new Set<string>();
  let plain = text;
  for (let pass = 0; pass < passesMax; pass += 1) {
    const before = plain;
    for (const shape of shapes) plain = without(plain, shape, proven);
    plain = without(plain, behindFunction, proven, isList);
    if (plain === before) break;
  }
  return withoutProven(plain, proven);
}

/** What stood as a mark somewhere is one wherever it stands before a word: `API_EXPORT Name(int a);`. */
function withoutProven(text: string, proven: ReadonlySet<string>): string {
  if (proven.size === 0) return text;
  return text.replace(
    new RegExp(`^([ \\t]*(?:${specifier}\\s+){0,6})(${mark})(?=\\s+(?:[A-Za-z_~]|::))`, 'gm'),
    (whole: string, before: string, name: string) =>
      proven.has(name) ? before + blanked(name) : whole,
  );
}

/** `shape`: its first group ends where the whole match does. */
function without(
  text: string,
  shape: RegExp,
  proven: Set<string>,
  holds?: (text: string, at: number) => boolean,
): string {
  return text.replace(shape, (whole: string, found: string, ...rest: unknown[]) => {
    const at = Number(rest.find((each) => typeof each === 'number'));
    if (directive.test(whole) || isContinued(text, at + whole.length - found.length)) return whole;
    if (holds !== undefined && !holds(text, at)) return whole;
    if (isMark(found)) proven.add(found);
    return whole.slice(0, whole.length - found.length) + blanked(found);
  });
}

/** In the definition of a macro: where nothing is left of it, the grammar takes the next line for its body. */
function isContinued(text: string, at: number): boolean {
  const line = text.lastIndexOf('\n', at - 1);
  return line > 0 && /\\\r?$/.test(text.slice(Math.max(0, line - 2), line));
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
  // Behind a macro that is called stands another one.
  const isMacro = isMark(/(\w+)\s*$/.exec(before)?.[1] ?? '');
  return functionName.test(before) && !headWord.test(before) && !isMacro;
}
