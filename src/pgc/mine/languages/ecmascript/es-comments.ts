import type { Node } from 'web-tree-sitter';
import { expressionCharsMax, unknown } from '../../../format/expression.js';
import type { ImportDraft } from '../../draft.js';
import { splitList } from '../../signature.js';
import { namedType, unionOf, writtenType } from './es-types.js';

/** Longer comments are not read. */
const commentCharsMax = 4_000;
/** Types in types that are read. */
const depthMax = 6;

/** What a comment says of the types of what stands below it. */
interface Said {
  parameters: ReadonlyMap<string, string>;
  result: string;
  /** Of a variable or a field. */
  type: string;
}

const nothing: Said = { parameters: new Map(), result: unknown, type: unknown };
const tag = /@(param|arg|argument|returns?|type)\s+\{/g;

/** Types in the comments of scripts, which have no other place for them. */
export class CommentTypes {
  readonly #known = new Map<number, Said>();

  /** `imports`: takes what types of other modules are named. */
  constructor(readonly imports: ImportDraft[]) {}

  /** Of a function, a variable, a field or an assignment: in the comment above its statement or member. */
  of(node: Node): Said {
    const comment = statementOf(node).previousSibling;
    if (comment?.type !== 'comment') return nothing;
    let said = this.#known.get(comment.id);
    if (said === undefined) this.#known.set(comment.id, (said = this.#read(comment)));
    return said;
  }

  #read(comment: Node): Said {
    const text = comment.text.slice(0, commentCharsMax);
    if (!text.startsWith('/**')) return nothing;
    const parameters = new Map<string, string>();
    let [result, type] = [unknown, unknown];
    for (const found of text.matchAll(tag)) {
      const from = found.index + found[0].length;
      const written = inBraces(text, from);
      const its = this.#type(written, comment.startIndex, 0);
      const name = /^\}\s*\[?\s*([\w$]+)(?!\.|[\w$])/.exec(text.slice(from + written.length))?.[1];
      if (found[1] === 'type') type = its;
      else if (found[1]?.startsWith('return') === true) result = its;
      else if (name !== undefined) parameters.set(name, its);
    }
    return { parameters, result, type };
  }

  /** A type as it is written in a comment. */
  #type(written: string, at: number, depth: number): string {
    const text = written.replace(/\*(?!\w)|\s+/g, ' ').trim();
    const plain = text.replace(/^(?:\.\.\.)?[?!]?\s*|\s*=?$/g, '');
    const inner = (of: string): string => this.#type(of, at, depth + 1);
    if (depth > depthMax || plain.length > expressionCharsMax) return unknown;
    const parts = splitAt(plain, '|');
    if (parts.length > 1) return unionOf(parts.map(inner));
    const around = /^\(([^()]*)\)$/.exec(plain)?.[1];
    if (around !== undefined) return inner(around);
    if (plain.endsWith('[]')) return `$list<${inner(plain.slice(0, -2))}>`;
    const [, module, member = ''] =
      /^import\(\s*['"]([^'"]+)['"]\s*\)(?:\.([\w$]+))?$/.exec(plain) ?? [];
    if (module !== undefined) return this.#imported(module, member, at);
    const [, name, args] = /^([\w$.]+?)\.?(?:<(.*)>)?$/.exec(plain) ?? [];
    if (name === undefined) return unknown;
    return args === undefined ? writtenType(name) : namedType(name, splitList(args).map(inner));
  }

  /** The name of another module in this one. */
  module(target: string, at: number): string {
    return this.#imported(target, '', at);
  }

  /** `import('./x').Name`; without a name, what the module is. */
  #imported(target: string, name: string, at: number): string {
    const alias = `${name || 'default'}$${this.imports.length}`;
    this.imports.push({ target, names: [`${name || '*'}:${alias}`], at });
    return alias;
  }
}

/** What a comment stands above. */
function statementOf(node: Node): Node {
  let outer = node;
  while (
    outer.parent !== null &&
    outer.previousNamedSibling?.type !== 'comment' &&
    /^(?:variable_declarator|assignment_expression|lexical_declaration|variable_declaration|expression_statement|export_statement|pair|field_definition|public_field_definition)$/.test(
      outer.parent.type,
    )
  )
    outer = outer.parent;
  return outer;
}

/** Up to the brace that closes the one before `from`. */
function inBraces(text: string, from: number): string {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    if (text.charAt(at) === '{') depth += 1;
    else if (text.charAt(at) === '}') depth -= 1;
    if (depth === 0) return text.slice(from, at);
  }
  return '';
}

/** At a sign outside of all brackets. */
function splitAt(text: string, sign: string): string[] {
  return splitList(text.replaceAll(',', '\u0000').replaceAll(sign, ',')).map((each) =>
    each.replaceAll(',', sign).replaceAll('\u0000', ','),
  );
}
