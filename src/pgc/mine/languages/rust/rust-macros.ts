import type { Node } from 'web-tree-sitter';
import type { Grammar } from '../../grammar.js';

/** Macros within the arguments of macros. */
const depthMax = 3;

/**
 * The text with the same offsets, in which macros look like what they hold, so that the grammar parses that: arguments in
 * round brackets become those of a call, items in braces stand by themselves. What is neither stays as it is.
 */
export function withoutMacros(grammar: Grammar, text: string): string {
  let parsed = text;
  for (let depth = 0; depth < depthMax && parsed.includes('!'); depth += 1) {
    const blanks: Blank[] = [];
    grammar.captures(parsed, (name, node) => {
      if (name === 'invocation') blanks.push(...blanksIn(node));
    });
    if (blanks.length === 0) return parsed;
    parsed = blanked(parsed, blanks);
  }
  return parsed;
}

/** What takes the place of a part of the text; spaces if nothing is named. */
type Blank = [from: number, to: number, by?: string];

function blanksIn(node: Node): Blank[] {
  const macro = node.childForFieldName('macro');
  const tree = node.namedChildren.find(({ type }) => type === 'token_tree');
  if (macro === null || tree === undefined) return [];
  const { text } = tree;
  // Patterns and variables of macros are no expressions.
  if (/^[([]/.test(text) && /=>|\$\w|;/.test(outerOf(text))) return [];
  const { startIndex: start, endIndex: end } = tree;
  if (text.startsWith('['))
    return [
      [macro.endIndex, start],
      [start, start + 1, '('],
      [end - 1, end, ')'],
    ];
  if (text.startsWith('(')) {
    const isOf = macro.type === 'identifier' && /(?:^|_)matches$/.test(macro.text);
    return [[macro.endIndex, tree.startIndex], ...(isOf ? patternIn(tree) : [])];
  }
  if (!text.startsWith('{') || !isItem(node)) return [];
  return [
    [node.startIndex, tree.startIndex + 1],
    [tree.endIndex - 1, node.endIndex],
  ];
}

/** What a value is compared with is a pattern, which calls nothing. */
function patternIn({ text, startIndex, endIndex }: Node): [number, number][] {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (sign === ',' && depth === 1) return [[startIndex + at + 1, endIndex - 1]];
  }
  return [];
}

/** What stands in no brackets but the outermost. */
function outerOf(text: string): string {
  let depth = 0;
  let outer = '';
  for (const sign of text) {
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (depth === 1) outer += sign;
  }
  return outer;
}

/** Whether it stands where items do, and not in a function. */
function isItem({ parent }: Node): boolean {
  const holder = parent?.type === 'expression_statement' ? parent.parent : parent;
  return holder?.type === 'source_file' || holder?.type === 'declaration_list';
}

function blanked(text: string, ranges: readonly Blank[]): string {
  let result = '';
  let at = 0;
  for (const [from, to, by] of ranges.toSorted(([one], [other]) => one - other)) {
    if (from < at) continue;
    result += text.slice(at, from) + (by ?? text.slice(from, to).replace(/[^\s]/g, ' '));
    at = to;
  }
  return result + text.slice(at);
}
