/**
 * Rewrites TypeScript that the grammar cannot parse, in a text of the same length, so that offsets hold for the
 * original as well.
 */
import { Edits } from '../edits.js';

/** A comment between two members of a type is no longer than this, or its members stay as they are. */
const betweenCharsMax = 10_000;
/** The longest of `notAnEnd`. */
const wordCharsMax = 12;

/** A line that begins with type parameters: `<A>(`, `<A, `, `<A = `, `<A extends `, `<const A`. */
const parametersFirst =
  /\n[ \t]+<(?=(?:[ \t]*\r?\n\s*)?(?:const\s+)?[A-Za-z_$][\w$]*(?:\s*[,>=]|\s+extends\b))/g;
/** The end of a line whose expression or type goes on in the next. */
const notAnEnd = /(?:=>|\b(?:extends|implements|satisfies|keyof|new|as|is|async|function))$/;
/** `<in A>`, `<out A>`, `<in out A extends …>` (TypeScript 4.7). */
const variance =
  /([<,]\s*)(in\s+out|in|out)(?=\s+[A-Z_$][\w$]*\s*[,>=]|\s+[A-Z_$][\w$]*\s+extends\b)/g;
/** An escape, whole: what follows an escaped backslash is not escaped. */
const escaped = /\\([\s\S])/g;
/** `export type * from '…'` (TypeScript 5.0). */
const typeOfAll = /(\bexport\s+)type(?=\s*\*)/g;

export function readable(text: string): string {
  const edits = new Edits();
  for (const pattern of [variance, typeOfAll]) {
    for (const found of text.matchAll(pattern)) {
      const from = found.index + (found[1]?.length ?? 0);
      edits.blank(from, found.index + found[0].length);
    }
  }
  // A backtick in the type of a text, to the grammar, is its end.
  if (text.includes('\\`')) {
    for (const { 1: sign, index } of text.matchAll(escaped))
      if (sign === '`') edits.blank(index, index + 2);
  }
  // Where a member ends without a semicolon, the grammar takes the list for arguments of its type:
  // `{ <A>(a: A): Option⏎ <B>(b: B): void }`.
  for (const found of text.matchAll(parametersFirst)) {
    const at = found.index + found[0].length - 1;
    if (endsBefore(text, found.index)) edits.replace(at - 1, at, ';');
  }
  return edits.applied(text);
}

/** Whether a member or statement may end above offset `at`, blank lines and comments aside. */
function endsBefore(text: string, at: number): boolean {
  const stop = Math.max(0, at - betweenCharsMax);
  let end = at;
  while (end > stop) {
    const sign = text.charAt(end - 1);
    if (/\s/.test(sign)) end -= 1;
    else if (text.startsWith('*/', end - 2))
      end = stop + Math.max(0, text.slice(stop, end).lastIndexOf('/*'));
    else {
      const line = text.lastIndexOf('\n', end - 1) + 1;
      if (line > stop && /^[ \t]*\/\//.test(text.slice(line, end))) end = line;
      else
        return (
          /[\w$)\]}>"'`]/.test(sign) &&
          !notAnEnd.test(text.slice(Math.max(0, end - wordCharsMax), end))
        );
    }
  }
  return false;
}
