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

/** The names in a type as it is written, also in strings. */
export function usesInType(type: Node, text: UsedNames): Use[] {
  if (type.endIndex - type.startIndex > annotationCharsMax) return [];
  return ranges(type, text).flatMap(({ from, to }) => {
    const written = type.text.slice(from - type.startIndex, to - type.startIndex);
    return namesIn(written.replaceAll(quoted, withoutStrings), from, text);
  });
}

/** All but what is in `Literal[…]`, whose strings are no types. */
function ranges(type: Node, { names }: UsedNames): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = [];
  let from = type.startIndex;
  for (const each of type.descendantsOfType(['generic_type', 'subscript'])) {
    const head = each.childForFieldName('value') ?? each.firstNamedChild;
    if (head === null || each.startIndex < from || names.typing(head.text) !== 'Literal') continue;
    found.push({ from, to: head.endIndex });
    from = each.endIndex;
  }
  return [...found, { from, to: type.endIndex }];
}

const quoted = /(["'])(?:(?!\1).)*\1/g;

/** A string in a string is no type: `"Literal['a']"`. */
function withoutStrings(written: string): string {
  const inner = written.slice(1, -1).replaceAll(quoted, (each) => ' '.repeat(each.length));
  return ` ${inner} `;
}

const dottedName = /[\p{L}_][\p{L}\p{N}_]*(?:\s*\.\s*[\p{L}_][\p{L}\p{N}_]*)*/gu;

function namesIn(written: string, at: number, text: UsedNames): Use[] {
  return [...written.matchAll(dottedName)].flatMap((match) => {
    const { 0: path, index } = match;
    return usesOfPath(path, at + index, { text, kind: 'type' });
  });
}

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
