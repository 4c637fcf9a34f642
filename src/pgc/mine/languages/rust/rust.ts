import type { Node } from 'web-tree-sitter';
import { bounded, parseType, unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { membersIn, parametersOf, ScopedMiner, textOf } from '../../scoped-draft.js';
import { compact, renderSignature, type Properties } from '../../signature.js';
import { withoutMacros } from './rust-macros.js';
import {
  declarePattern,
  handedTo,
  rustBounds,
  rustExpression,
  rustResult,
  rustType,
} from './rust-types.js';
import { usesOf } from './rust-imports.js';
import { rustUse } from './rust-uses.js';

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
[(block) (if_expression) (while_expression)] @block
(closure_expression) @closure
(match_arm) @arm
(for_expression) @for
(let_declaration) @let
(let_condition) @condition
(macro_invocation) @invocation
(expression_statement (call_expression function: (_) @unused))
[(identifier) (type_identifier) (scoped_identifier)] @used
(ERROR) @error
`;

export function mineRust(grammar: Grammar, text: string): Draft {
  return new RustMiner(text, withoutMacros(grammar, text)).mine(grammar);
}

class RustMiner extends ScopedMiner {
  protected readonly visitors: Record<string, (node: Node) => void> = {
    use: (node) => this.#use(node),
    used: (node) => this.#used(node),
    crate: (node) => this.#crate(node),
    module: (node) => this.#module(node),
    function: (node) => this.#function(node),
    struct: (node) => this.#record(node.type === 'union_item' ? 'union' : 'struct', node),
    enum: (node) => this.#opened('enum', node, { constants: membersIn(node, 'enum_variant') }),
    variant: (node) => this.#variant(node),
    trait: (node) => this.#trait(node),
    impl: (node) => this.#impl(node),
    type: (node) => this.#alias(node),
    constant: (node) => this.#value('constant', node, { type: textOf(node, 'type') }),
    static: (node) => this.#value('variable', node, { type: textOf(node, 'type'), static: true }),
    macro: (node) => {
      const symbol = this.#named('macro', node, {});
      // Seen in its own crate alone.
      if (!symbol.exported) this.draft.type(symbol, 'mark', 'hidden');
    },
    call: (node) => this.#call(node),
    path: (node) => this.#path(node),
    member: (node) => this.#member(node),
    construct: (node) => {
      const name = node.childForFieldName('name') ?? node;
      this.draft.callOn(node, name, 'construct', `{${rustType(node, this.#self)}}`);
    },
    invocation: (node) => this.#invocation(node),
    block: (node) => this.draft.locals.open(node.endIndex),
    closure: (node) => this.#closure(node),
    arm: (node) => this.#arm(node),
    for: (node) => this.#for(node),
    let: (node) => this.#let(node),
    condition: (node) =>
      this.#match(node, this.#of(node.childForFieldName('value')), node.endIndex),
  };

  /** What `Self` is here; empty outside of types. */
  get #self(): string {
    const { scope } = this.draft;
    if (scope?.kind === 'method' || scope?.kind === 'function') return this.#ofMethods;
    return scope === undefined || scope.kind === 'module' ? '' : scope.name;
  }

  /** The end of the last `use`, whose names are no uses. */
  #importEnd = 0;

  /** The type around the last method. */
  #ofMethods = '';

  /** What a node stands for. */
  #of(node: Node | null | undefined): string {
    return rustExpression(node, this.draft.locals, this.#self);
  }

  #match(node: Node, expression: string, from: number): void {
    const pattern = node.childForFieldName('pattern');
    declarePattern(pattern, expression, from, this.draft.locals, this.#self);
  }

  #let(node: Node): void {
    const type = node.childForFieldName('type');
    const value = this.#of(node.childForFieldName('value'));
    this.#match(node, type === null ? value : `{${rustType(type, this.#self)}}`, node.endIndex);
  }

  #for(node: Node): void {
    this.draft.locals.open(node.endIndex);
    const over = node.childForFieldName('value');
    this.#match(
      node,
      bounded(`${this.#of(over)}.into_iter()[*]`),
      over?.endIndex ?? node.startIndex,
    );
  }

  #arm(node: Node): void {
    this.draft.locals.open(node.endIndex);
    const matched = node.parent?.parent?.childForFieldName('value');
    this.#match(node, this.#of(matched), node.startIndex);
  }

  #closure(node: Node): void {
    this.draft.locals.open(node.endIndex);
    const handed = handedTo(node, this.draft.locals, this.#self);
    this.#parameters(node.childForFieldName('parameters'), node.startIndex, handed);
  }

  /** Visible from `from` on; those without a type are what is handed to them. */
  #parameters(list: Node | null, from: number, handed = unknown): void {
    const { locals } = this.draft;
    for (const [at, each] of (list?.namedChildren ?? []).entries()) {
      if (each.type === 'self_parameter') locals.declare('self', from, `{${this.#self}}`);
      else if (each.type !== 'parameter') {
        const its = handed === unknown ? unknown : bounded(`${handed}.${at}`);
        declarePattern(each, its, from, locals, this.#self);
      } else this.#match(each, `{${rustType(each.childForFieldName('type'), this.#self)}}`, from);
    }
  }

  #call(node: Node): void {
    const { text, startIndex, endIndex } = node;
    if (this.text.charAt(endIndex) === '!') {
      this.draft.call(text, startIndex, 'direct', '', `$${text}`);
      return;
    }
    const local = this.draft.locals.find(text, startIndex);
    // A local variable of an unknown type is a function, since it is called; so is what a closure takes.
    const isFunction = local === unknown || (local !== undefined && /@\d+\.\d+$/.test(local));
    const expression = isFunction ? '{$func}' : (local ?? this.#of(node));
    this.draft.call(text, startIndex, kindOfCall(text), '', expression);
  }

  #used(node: Node): void {
    if (node.startIndex >= this.#importEnd)
      this.draft.use(rustUse(node, this.draft.locals, this.#self));
  }

  #use(node: Node): void {
    this.#importEnd = node.endIndex;
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
    const owner = kind === 'method' ? (scope?.name ?? '') : '';
    const symbol = this.draft.open(node, {
      ...{ name, kind, signature, exported: this.#isExported(node) },
      declaration: node.type === 'function_signature_item',
      test: this.#isForTests(node),
      from: attributesStart(node),
    });
    this.#ofMethods = owner;
    if (kind === 'method')
      for (const { name: bound, type } of this.#implemented)
        this.draft.type(symbol, 'bound', bound, type);
    for (const { name: bound, type } of rustBounds(node, owner))
      this.draft.type(symbol, 'bound', bound, type);
    for (const each of node.childForFieldName('parameters')?.namedChildren ?? [])
      if (each.type === 'parameter')
        this.draft.type(symbol, 'parameter', '', rustType(each.childForFieldName('type'), owner));
    for (const type of rustResult(node, owner)) this.draft.type(symbol, 'result', '', type);
    this.draft.locals.open(node.endIndex);
    this.#parameters(node.childForFieldName('parameters'), node.startIndex);
  }

  #record(kind: 'struct' | 'union', node: Node): void {
    const symbol = this.#opened(kind, node, { fields: membersIn(node, 'field_declaration') });
    this.#bounds(symbol, node);
    const body = node.childForFieldName('body');
    if (body?.type === 'ordered_field_declaration_list')
      for (const [at, type] of body.childrenForFieldName('type').entries())
        this.draft.type(symbol, 'field', String(at), rustType(type, symbol.name));
    else
      for (const each of body?.namedChildren ?? [])
        if (each.type === 'field_declaration')
          this.draft.type(
            symbol,
            'field',
            textOf(each, 'name'),
            rustType(each.childForFieldName('type'), symbol.name),
          );
  }

  #bounds(symbol: SymbolDraft, node: Node): void {
    for (const { name, type } of rustBounds(node, symbol.name))
      this.draft.type(symbol, 'bound', name, type);
  }

  #trait(node: Node): void {
    const bounds = textOf(node, 'bounds').replace(/^:\s*/, '');
    const symbol = this.#opened('interface', node, { extends: bounds });
    this.#bounds(symbol, node);
    this.#implemented = [];
    for (const each of node.childForFieldName('bounds')?.namedChildren ?? [])
      this.draft.type(symbol, 'base', '', rustType(each, symbol.name));
  }

  #alias(node: Node): void {
    const symbol = this.#named('type', node, { is: textOf(node, 'type').slice(0, 120) });
    const type = node.childForFieldName('type');
    this.#bounds(symbol, node);
    if (type !== null) this.draft.type(symbol, 'alias', '', rustType(type, this.#self));
  }

  #value(kind: string, node: Node, properties: Properties): void {
    const symbol = this.#named(kind, node, properties);
    const type = rustType(node.childForFieldName('type'), this.#self);
    this.draft.type(symbol, 'value', '', `{${type}}`);
  }

  #variant(node: Node): void {
    const name = textOf(node, 'name');
    const owner = this.draft.scope;
    const signature = renderSignature('constant', name, { enum: owner?.name });
    const exported = owner?.symbol?.exported ?? false;
    this.draft.define(node, { name, kind: 'constant', signature, exported });
  }

  #impl(node: Node): void {
    this.#isForTests(node);
    const type = /^(?:dyn\s+|&\s*(?:'\w+\s+)?(?:mut\s+)?)?(?:\w+::)*(\w+)/.exec(
      textOf(node, 'type'),
    );
    const name = type?.[1] ?? '';
    this.draft.enter(name, 'impl', node);
    const trait = node.childForFieldName('trait');
    const its = rustType(node.childForFieldName('type'), '');
    const bounds = new Map(rustBounds(node, name).map((each) => [each.name, each.type]));
    this.#implemented = (parseType(its)?.args ?? []).map((each) => {
      const parameter = each.type?.name ?? unknown;
      return { name: parameter, type: bounds.get(parameter) ?? unknown };
    });
    if (trait !== null && name !== '')
      this.draft.type(undefined, 'base', parseType(its)?.name ?? name, rustType(trait, name));
  }

  /** Type arguments of what the methods around are of, by the names that they have there. */
  #implemented: readonly { name: string; type: string }[] = [];

  /** A symbol whose members come next. */
  #opened(kind: string, node: Node, properties: Properties): SymbolDraft {
    const symbol = this.#named(kind, node, properties);
    this.draft.enter(symbol.name, kind, node, symbol);
    return symbol;
  }

  #named(kind: string, node: Node, properties: Properties): SymbolDraft {
    const name = textOf(node, 'name');
    return this.draft.define(node, {
      ...{ name, kind, signature: renderSignature(kind, name, properties) },
      exported: this.#isExported(node),
      test: this.#isForTests(node),
      from: attributesStart(node),
    });
  }

  /** Where the last item ends that is compiled for tests alone. */
  #testsEnd = 0;

  /** By its attributes, or by those of what it stands in. */
  #isForTests(node: Node): boolean {
    if (node.startIndex < this.#testsEnd) return true;
    const is = forTests.test(blankStrings(attributesOf(this.text, node)));
    if (is) this.#testsEnd = node.endIndex;
    return is;
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
    this.draft.callOn(node, name, isConstructed ? 'construct' : 'member', this.#of(node));
  }

  #member(node: Node): void {
    const field = node.childForFieldName('field');
    if (field?.type === 'field_identifier')
      this.draft.callOn(node, field, 'member', this.#of(node));
  }

  /** The grammar does not parse the arguments of a macro; calls in them are found by a pattern. */
  #invocation(node: Node): void {
    const macro = node.childForFieldName('macro');
    if (macro === null) return;
    const name = macro.childForFieldName('name') ?? macro;
    const path = macro.childForFieldName('path')?.text ?? '';
    const expression = /^(?:std|core|alloc)$/.test(path) ? `${path}.${name.text}` : `$${name.text}`;
    this.draft.call(name.text, name.startIndex, 'direct', '', expression);
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

/** Without the comments among them, which may speak of others. */
function attributesOf(text: string, node: Node): string {
  const start = attributesStart(node);
  const all: string[] = [];
  for (
    let before = node.previousNamedSibling;
    before !== null && before.startIndex >= start;
    before = before.previousNamedSibling
  )
    if (before.type === 'attribute_item')
      all.unshift(text.slice(before.startIndex, before.endIndex));
  return all.join('\n');
}

/** `#[test]`, `#[tokio::test]`, `#[bench]`, `#[cfg(test)]`, `#[cfg(all(test, unix))]`; not `#[cfg(not(test))]`. */
const forTests =
  /#\[\s*(?:(?:\w+\s*::\s*)*(?:test|bench)\b|cfg\s*\(\s*(?:all\s*\((?:[^()\]]*,)?\s*)?test\b)/;

function blankStrings(source: string): string {
  return source.replace(/"(?:[^"\\]|\\[\s\S])*"/g, (each) => ' '.repeat(each.length));
}
