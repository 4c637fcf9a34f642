import type { Node } from 'web-tree-sitter';
import type { Draft, SymbolDraft } from '../draft.js';
import type { Grammar } from '../grammar.js';
import { membersIn, parametersOf, ScopedMiner, textOf } from '../scoped-draft.js';
import { compact, renderSignature, splitList, type Properties } from '../signature.js';

export const rustQuery = `
(use_declaration) @use
(extern_crate_declaration) @crate
(mod_item) @module
(function_item) @function
(function_signature_item) @function
[(struct_item) (union_item)] @struct
(enum_item) @enum
(enum_variant) @variant
(trait_item) @trait
(impl_item) @impl
[(type_item) (associated_type)] @type
(const_item) @constant
(static_item) @static
(macro_definition) @macro
(call_expression function: (identifier) @call)
(call_expression function: (scoped_identifier) @path)
(call_expression function: (field_expression) @member)
(call_expression function: (generic_function function: (identifier) @call))
(call_expression function: (generic_function function: (scoped_identifier) @path))
(call_expression function: (generic_function function: (field_expression) @member))
(struct_expression name: [(type_identifier) (scoped_type_identifier)] @construct)
(macro_invocation) @invocation
(expression_statement (call_expression function: (_) @unused))
(ERROR) @error
`;

export function mineRust(grammar: Grammar, text: string): Draft {
  return new RustMiner(text).mine(grammar);
}

class RustMiner extends ScopedMiner {
  protected readonly visitors: Record<string, (node: Node) => void> = {
    use: (node) => this.#use(node),
    crate: (node) => this.#crate(node),
    module: (node) => this.#module(node),
    function: (node) => this.#function(node),
    struct: (node) => this.#record(node.type === 'union_item' ? 'union' : 'struct', node),
    enum: (node) => this.#opened('enum', node, { constants: membersIn(node, 'enum_variant') }),
    variant: (node) => this.#variant(node),
    trait: (node) =>
      this.#opened('interface', node, { extends: textOf(node, 'bounds').replace(/^:\s*/, '') }),
    impl: (node) => this.#impl(node),
    type: (node) => this.#named('type', node, { is: textOf(node, 'type').slice(0, 120) }),
    constant: (node) => this.#named('constant', node, { type: textOf(node, 'type') }),
    static: (node) => this.#named('variable', node, { type: textOf(node, 'type'), static: true }),
    macro: (node) => this.#named('macro', node, {}),
    call: (node) => this.draft.call(node.text, node.startIndex, kindOfCall(node.text)),
    path: (node) => this.#path(node),
    member: (node) => this.#member(node),
    construct: (node) =>
      this.draft.callOn(node, node.childForFieldName('name') ?? node, 'construct'),
    invocation: (node) => this.#invocation(node),
  };

  #use(node: Node): void {
    const argument = node.childForFieldName('argument');
    if (argument === null) return;
    for (const { target, name } of usesOf(compact(argument.text)))
      this.draft.imports.push({ target, names: [name], at: node.startIndex });
  }

  #crate(node: Node): void {
    const name = textOf(node, 'name');
    const alias = textOf(node, 'alias') || name;
    this.draft.imports.push({ target: name, names: [`*:${alias}`], at: node.startIndex });
  }

  #module(node: Node): void {
    const name = textOf(node, 'name');
    if (node.childForFieldName('body') === null) {
      // `mod name;` is another file, below this one or beside it.
      const names = [`*:${name}`];
      this.draft.imports.push({ target: `self::${name}`, names, at: node.startIndex });
      this.#named('module', node, {}).declaration = true;
      return;
    }
    this.#opened('module', node, {});
  }

  #function(node: Node): void {
    const name = textOf(node, 'name');
    const { scope } = this.draft;
    const kind = scope?.kind === 'impl' || scope?.kind === 'interface' ? 'method' : 'function';
    const { list, tail } = parametersOf(node);
    const counted = list.filter(
      (each, at) => at > 0 || !/^(?:&\s*(?:'\w+\s+)?)?(?:mut\s+)?self\b/.test(each),
    );
    const modifiers =
      node.namedChildren.find((each) => each.type === 'function_modifiers')?.text ?? '';
    const signature = renderSignature(
      kind,
      name,
      {
        params: counted.length,
        returns: textOf(node, 'return_type'),
        async: /\basync\b/.test(modifiers),
        unsafe: /\bunsafe\b/.test(modifiers),
      },
      tail,
    );
    this.draft.open(node, {
      ...{ name, kind, signature, exported: this.#isExported(node) },
      declaration: node.type === 'function_signature_item',
      from: attributesStart(node),
    });
  }

  #record(kind: 'struct' | 'union', node: Node): void {
    this.#opened(kind, node, { fields: membersIn(node, 'field_declaration') });
  }

  #variant(node: Node): void {
    const name = textOf(node, 'name');
    const owner = this.draft.scope;
    const signature = renderSignature('constant', name, { enum: owner?.name });
    const exported = owner?.symbol?.exported ?? false;
    this.draft.define(node, { name, kind: 'constant', signature, exported });
  }

  #impl(node: Node): void {
    const type = /^(?:dyn\s+|&\s*(?:'\w+\s+)?(?:mut\s+)?)?(?:\w+::)*(\w+)/.exec(
      textOf(node, 'type'),
    );
    this.draft.enter(type?.[1] ?? '', 'impl', node);
  }

  /** A symbol whose members come next. */
  #opened(kind: string, node: Node, properties: Properties): void {
    const symbol = this.#named(kind, node, properties);
    this.draft.enter(symbol.name, kind, node, symbol);
  }

  #named(kind: string, node: Node, properties: Properties): SymbolDraft {
    const name = textOf(node, 'name');
    return this.draft.define(node, {
      ...{ name, kind, signature: renderSignature(kind, name, properties) },
      exported: this.#isExported(node),
      from: attributesStart(node),
    });
  }

  /** By `pub`; members of a trait are seen where it is, and so are those that implement one. */
  #isExported(node: Node): boolean {
    if (this.draft.isLocal) return false;
    if (node.type === 'macro_definition') return /macro_export/.test(attributesOf(this.text, node));
    if (node.namedChildren.some((each) => each.type === 'visibility_modifier')) return true;
    const { scope } = this.draft;
    if (scope?.kind === 'interface') return scope.symbol?.exported ?? false;
    return scope?.kind === 'impl' && node.parent?.parent?.childForFieldName('trait') !== null;
  }

  #path(node: Node): void {
    const name = node.childForFieldName('name');
    const isConstructed = name !== null && kindOfCall(name.text) === 'construct';
    this.draft.callOn(node, name, isConstructed ? 'construct' : 'member');
  }

  #member(node: Node): void {
    const field = node.childForFieldName('field');
    if (field?.type === 'field_identifier') this.draft.callOn(node, field);
  }

  /** The grammar does not parse the arguments of a macro; calls in them are found by a pattern. */
  #invocation(node: Node): void {
    const macro = node.childForFieldName('macro');
    if (macro === null) return;
    const name = macro.childForFieldName('name') ?? macro;
    this.draft.call(name.text, name.startIndex, 'direct');
    const tree = node.namedChildren.find((each) => each.type === 'token_tree');
    if (tree === undefined) return;
    const source = blankStrings(tree.text);
    for (const found of source.matchAll(
      /(\.\s*|\b\w+\s*::\s*)?\b([A-Za-z_]\w*)\s*(?:(!)\s*)?\(/g,
    )) {
      const [, before = '', callee = '', bang] = found;
      if (rustKeywords.has(callee)) continue;
      const at = tree.startIndex + found.index + before.length;
      const receiver = before.replace(/\s*::\s*$/, '').replace(/^\..*/, '');
      const kind = before !== '' && bang === undefined ? 'member' : kindOfCall(callee);
      this.draft.call(callee, at, kind, receiver);
    }
  }
}

const rustKeywords = new Set(
  'as break const continue else enum extern fn for if impl in let loop match mod move mut pub ref return static struct trait type unsafe use where while async await dyn box'.split(
    ' ',
  ),
);

/** Tuple structs and variants are called like functions; their names are written in capitals. */
function kindOfCall(name: string): 'direct' | 'construct' {
  return /^[A-Z]/.test(name) ? 'construct' : 'direct';
}

/** Attributes stand before an item, as nodes of their own, and belong to it. */
function attributesStart(node: Node): number {
  let start = node.startIndex;
  for (
    let before = node.previousNamedSibling;
    before !== null;
    before = before.previousNamedSibling
  ) {
    if (before.type === 'attribute_item') start = before.startIndex;
    // A comment between attributes and item is one of the item.
    else if (before.type !== 'line_comment' && before.type !== 'block_comment') break;
    else if (before.previousNamedSibling?.type !== 'attribute_item') break;
  }
  return start;
}

function attributesOf(text: string, node: Node): string {
  return text.slice(attributesStart(node), node.startIndex);
}

function blankStrings(source: string): string {
  return source.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (each) => ' '.repeat(each.length));
}

/** `a::{b, c::d as e, self}` → `a::b`, `a::c::d` as `e`, `a`. Names are as in `ImportFact`. */
export function usesOf(source: string): { target: string; name: string }[] {
  const brace = source.indexOf('{');
  if (brace < 0) return [useOf(source)];
  const prefix = source.slice(0, brace);
  const inner = source.slice(brace + 1, source.lastIndexOf('}'));
  return splitList(inner).flatMap((each) =>
    each === 'self' || each.startsWith('self as ')
      ? [useOf(prefix.replace(/::\s*$/, '') + each.slice('self'.length))]
      : usesOf(prefix + each),
  );
}

function useOf(source: string): { target: string; name: string } {
  const [path = '', alias] = source.split(/\s+as\s+/);
  const parts = path.split('::').map((part) => part.trim());
  const last = parts.pop() ?? '';
  const target = parts.join('::');
  if (last === '*') return { target, name: '*' };
  return { target, name: alias === undefined ? last : `${last}:${alias}` };
}
