import type { Node } from 'web-tree-sitter';
import type { Use } from '../../draft.js';
import type { PythonNames } from './python-types.js';

/** What is known of the names of a text where some of them are used. */
export interface UsedNames {
  names: PythonNames;
  /** What a name is called outside of functions; undefined: it is a variable of one, or of the language. */
  outside(name: string): string | undefined;
}

/** Longer annotations are not read; see `python-types.ts`. */
const annotationCharsMax = 1_000;

/** The names in a type as it is written, also in strings; `at`: where it begins. */
export function usesInType(type: string, at: number, text: UsedNames): Use[] {
  if (type.length > annotationCharsMax) return [];
  const written = type
    .replaceAll(quoted, withoutStrings)
    .replaceAll(literal, (whole, head: string) =>
      text.names.typing(head.trim()) === 'Literal' ? head.padEnd(whole.length) : whole,
    );
  return [...written.matchAll(dottedName)].flatMap((match) => {
    const { 0: path, index } = match;
    return usesOfPath(path, at + index, { text, kind: 'type' });
  });
}

const quoted = /(["'])(?:(?!\1).)*\1/g;

/** A string in a string is no type: `"Literal['a']"`. */
function withoutStrings(written: string): string {
  const inner = written.slice(1, -1).replaceAll(quoted, (each) => ' '.repeat(each.length));
  return ` ${inner} `;
}

/** `Literal[…]` holds values. */
const literal = /([\w.]*Literal\s*)\[[^[\]]*\]/g;
const dottedName = /[\p{L}_][\p{L}\p{N}_]*(?:\s*\.\s*[\p{L}_][\p{L}\p{N}_]*)*/gu;

/** `case a.B(): …`, `case a.B: …`; a name alone is a new variable. */
export function usesInPattern(pattern: Node, text: UsedNames): Use[] {
  return pattern.descendantsOfType('dotted_name').flatMap((name) => {
    const isCompared = name.namedChildCount > 1 || name.parent?.type === 'class_pattern';
    return isCompared ? usesOfPath(name.text, name.startIndex, { text, kind: 'value' }) : [];
  });
}

/** Of `a.B.c`: `a`, `a.B` and `a.B.c`. */
function usesOfPath(
  path: string,
  start: number,
  { text, kind }: { text: UsedNames; kind: Use['kind'] },
): Use[] {
  const uses: Use[] = [];
  let whole = '';
  for (const { 0: name, index } of path.matchAll(/[\p{L}_][\p{L}\p{N}_]*/gu)) {
    if (whole === '') {
      const outside = text.outside(name);
      if (outside === undefined) return [];
      whole = outside;
    } else whole += `.${name}`;
    uses.push({ name: { text: name, startIndex: start + index }, kind, expression: whole });
  }
  return uses;
}
