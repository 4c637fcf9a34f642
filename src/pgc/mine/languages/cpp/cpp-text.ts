/** Rewrites C++ that the passes for C and the grammar cannot read. Offsets stay. */
import { Edits } from '../edits.js';
import { withoutMarks } from './cpp-marks.js';

/** A list of parameters is no longer than this. */
const listCharsMax = 1_000;

const mark = '[A-Z][A-Z0-9]*_[A-Z0-9_]+';
const alone = new RegExp(`^(${mark})(?=[ \\t]*\\r?$)(?!\\s*[(,=])`, 'gm');
/** Names of marks that hold what is between them. */
const pairs = [
  ['BEGIN', 'END'],
  ['OPEN', 'CLOSE'],
  ['START', 'END'],
] as const;
/** `f(API_MOVE_ARG(Type) a, …`: the mark stays, as a type. */
const ofParameter = new RegExp(
  `(?:[(,]|\\btypedef\\b)\\s*(?:const\\s+)?${mark}(\\([^(){};]{0,300}\\))(?=\\s{0,50}(?:&{1,2}\\s{0,50})?[A-Za-z_]\\w*\\s{0,50}[,)=;])`,
  'g',
);
/** `enable_if<…>::type * = 0`, a parameter without a name: to the grammar a pointer has one. */
const unnamed = /(?:::\s*\w+|>)\s*(\*)(?=\s*=\s*(?:0|nullptr)\s*[,)>])/g;
/** The passes for C drop the branch of `#if __cplusplus`. */
const condition = /^[ \t]*#[ \t]*(?:el)?if[^\n]*__cplusplus\b[^\n]*/gm;
const macroCall = new RegExp(`^[ \\t]*${mark}[ \\t]*\\(`, 'gm');
const typeArgument =
  /(?<=[(,]\s{0,20})(?:void|bool|char|short|int|long|float|double)(?=\s{0,20}[,)])/g;

/** The text as the passes for C take it. */
export function prepared(text: string): string {
  const edits = new Edits();
  const unmarked = withoutMarks(text);
  for (const pattern of [ofParameter, unnamed])
    for (const found of unmarked.matchAll(pattern)) blankLast(edits, found);
  // The grammar wants a value where a macro takes a type.
  for (const { 0: head, index } of unmarked.matchAll(macroCall)) {
    const open = index + head.length - 1;
    const list = unmarked.slice(open, listEnd(unmarked, open + 1));
    for (const { 0: word, index: at } of list.matchAll(typeArgument))
      edits.replace(open + at, open + at + word.length, '0'.repeat(word.length));
  }
  const plain = edits.applied(unmarked);
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
  for (const found of source.matchAll(/(?:^[ \t]*|\)\s*:\s*|\}\s*)(\w+)\s*\(/gm)) {
    if (!found[0].startsWith(')') && found[1] !== 'catch' && !records.has(found[1])) continue;
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
