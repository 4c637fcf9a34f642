import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { Locals } from '../../locals.js';
import { declaredBy } from './cpp-declarator.js';
import { CppScopes } from './cpp-scopes.js';
import { rootName } from './cpp-types.js';
import { cppExpression } from './cpp-values.js';

/** Longer bodies are programs of their own. */
const bodyCharsMax = 4_000;
const word = '[A-Za-z_]\\w*';
/** `NAME(a, b)` and nothing else. */
const isCall = new RegExp(`^\\s*${word}\\s*\\(.*\\)\\s*$`, 's');

/**
 * Says what stands where a macro is written: `returned`, what it is worth; by the name `made`, the macros that it is made of;
 * by the name `base`, what the class is based on whose method it opens (`class A##_T : public A {…}; void A##_T::run()`).
 */
export class CppMacros {
  constructor(
    readonly draft: Draft,
    readonly grammar: Grammar,
  ) {}

  say(symbol: SymbolDraft, parameters: readonly string[], written: string): void {
    if (written.length > bodyCharsMax) return;
    const body = plain(written);
    const found = [
      ...this.#basesOf(body).map((each) => ['base', each] as const),
      ...this.#valueOf(body, parameters),
    ];
    if (found.length === 0) return;
    for (const each of parameters) this.draft.type(symbol, 'bound', each, unknown);
    for (const [name, text] of found) this.draft.type(symbol, 'returned', name, text);
  }

  #valueOf(body: string, parameters: readonly string[]): (readonly [name: string, text: string])[] {
    const value = valueIn(body);
    if (value === '') return [];
    const found: string[] = [];
    this.grammar.captures(`auto x = ${value};`, (capture, node) => {
      const declarator = node.childForFieldName('declarator');
      if (capture === 'declaration' && found.length === 0 && !node.hasError)
        found.push(cppExpression(declarator?.childForFieldName('value'), nowhere()));
    });
    const text = found[0] ?? unknown;
    const root = new RegExp(`^\\{?(${word}|\\${rootName})`).exec(text)?.[1];
    if (root === undefined || parameters.includes(root)) return [];
    const isMacro = isCall.test(body) && !text.includes('.') && text.startsWith(root);
    if (isMacro) return [['made', text.replace(/\(\)$/, '')]];
    // Where a macro is written, a name that stands alone may mean something else than here.
    const isFixed = root === rootName || /^[A-Z][A-Z0-9_]+$/.test(root);
    return isFixed ? [['', text]] : [];
  }

  /** Of the class whose method the last lines open. */
  #basesOf(body: string): string[] {
    if (!/\)[\s\w]*$/.test(body) || !/\b(?:class|struct)\b/.test(body)) return [];
    const bases = new Map<string, string[]>();
    let opened = '';
    this.grammar.captures(`${body} {}`, (capture, node) => {
      if (capture === 'class' || capture === 'struct')
        bases.set(node.childForFieldName('name')?.text ?? '', basesIn(node));
      if (capture !== 'function' || node.endIndex < body.length) return;
      const declarator = node.childForFieldName('declarator');
      opened = (declarator && declaredBy(declarator, `${body} {}`)?.scope) ?? '';
    });
    return bases.get(opened) ?? [];
  }
}

/** Without continued lines and what makes a text or one name of its parameters. */
function plain(body: string): string {
  return body
    .replaceAll(/\\\r?\n/g, ' ')
    .replaceAll(/\s*##\s*/g, '')
    .replaceAll(new RegExp(`#\\s*${word}`, 'g'), '""')
    .trim();
}

/** What stands behind the first `=`, else all, unless there are several statements. */
function valueIn(body: string): string {
  let depth = 0;
  let start = 0;
  for (const { 0: sign, index } of body.matchAll(/"(?:[^"\\]|\\.)*"|[()[\]{};=<>!]=?/g)) {
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    if (depth > 0) continue;
    if (sign === ';' || sign === '{' || sign === '}') return '';
    if (sign === '=' && start === 0) start = index + 1;
  }
  return body.slice(start).trim();
}

function basesIn(node: Node): string[] {
  const clause = node.namedChildren.find(({ type }) => type === 'base_class_clause');
  return (clause?.namedChildren ?? []).flatMap((each) => {
    if (/specifier|virtual|comment/.test(each.type)) return [];
    const type = nowhere().typeOf(each);
    return type === unknown ? [] : [bounded(`{${type}}`)];
  });
}

/** Outside of all that a text defines. */
function nowhere(): CppScopes {
  return new CppScopes(new Locals());
}
