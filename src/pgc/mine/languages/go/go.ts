import type { Node } from 'web-tree-sitter';
import { bounded, parseType, unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import type { Grammar } from '../../grammar.js';
import { parametersOf, ScopedMiner, textOf } from '../../scoped-draft.js';
import { renderSignature } from '../../signature.js';
import { fieldsOf, goBounds, goExpression, goParameters, goType, resultTypes } from './go-types.js';
import { goUse } from './go-uses.js';

export const goQuery = `
(import_spec) @import
(function_declaration) @function
(method_declaration) @method
(source_file (type_declaration [(type_spec) (type_alias)] @type))
(package_clause (package_identifier) @package)
(const_spec) @const
(var_spec) @var
[(func_literal) (block) (if_statement) (for_statement) (expression_switch_statement) (select_statement)
 (expression_case) (default_case) (communication_case)] @block
(type_switch_statement) @typeSwitch
(type_case) @typeCase
(short_var_declaration) @shortVar
(range_clause) @range
(receive_statement) @receive
(interface_type (method_elem) @element)
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression) @member)
(call_expression function: (index_expression operand: (identifier) @call))
(call_expression function: (index_expression operand: (selector_expression) @member))
(call_expression function: (parenthesized_expression) @parenthesized)
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type) @callMember))
(composite_literal type: (type_identifier) @construct)
(composite_literal type: (generic_type type: (type_identifier) @construct))
(composite_literal type: (qualified_type) @constructMember)
(expression_statement (call_expression function: (_) @unused))
[(identifier) (type_identifier) (selector_expression)] @use
(ERROR) @error
`;

export function mineGo(grammar: Grammar, text: string): Draft {
  return new GoMiner(text).mine(grammar);
}

class GoMiner extends ScopedMiner {
  /** Of the type switches around the present node, by their ends. */
  readonly #switched: { end: number; name: string; expression: string }[] = [];

  /** Names of imported packages. */
  readonly #packages = new Set<string>();

  /** What the names of the last declaration stand for. */
  #declared: readonly string[] = [];

  protected readonly visitors: Record<string, (node: Node) => void> = {
    import: (node) => this.#import(node),
    function: (node) => this.#function('function', node),
    method: (node) => this.#function('method', node),
    type: (node) => this.#type(node),
    const: (node) => this.#values('constant', node),
    var: (node) => this.#values('variable', node),
    element: (node) => this.#element(node),
    package: (node) => this.draft.type(undefined, 'package', node.text),
    block: (node) => this.#block(node),
    typeSwitch: (node) => this.#typeSwitch(node),
    typeCase: (node) => this.#typeCase(node),
    shortVar: (node) => this.#assigned(node),
    range: (node) => this.#range(node),
    receive: (node) => this.#assigned(node),
    call: (node) => this.#call(node),
    member: (node) =>
      this.draft.callOn(node, node.childForFieldName('field'), 'member', this.#of(node)),
    parenthesized: (node) => {
      const plain = /^\(\*?([A-Za-z_]\w*)\)$/.exec(node.text)?.[1] ?? '';
      this.draft.call(plain, node.startIndex, 'direct', '', plain);
    },
    callMember: (node) =>
      this.draft.callOn(node, node.childForFieldName('name'), 'member', goType(node)),
    use: (node) => this.draft.use(goUse(node, this.draft.locals, this.#packages)),
    construct: (node) =>
      this.draft.call(node.text, node.startIndex, 'construct', '', `{${node.text}}`),
    constructMember: (node) =>
      this.draft.callOn(node, node.childForFieldName('name'), 'construct', `{${goType(node)}}`),
  };

  /** What a node stands for. */
  #of(node: Node | null | undefined): string {
    return goExpression(node, this.draft.locals);
  }

  #call(node: Node): void {
    const { text, startIndex } = node;
    const local = this.draft.locals.find(text, startIndex);
    // A local variable of an unknown type is a function, since it is called.
    this.draft.call(
      text,
      startIndex,
      'direct',
      '',
      local === unknown ? '{$func}' : (local ?? text),
    );
  }

  #block(node: Node): void {
    this.draft.locals.open(node.endIndex);
    if (node.type === 'func_literal') this.#parameters(node);
  }

  /** Visible in the body. */
  #parameters(node: Node): void {
    const from = node.childForFieldName('body')?.startIndex;
    if (from === undefined) return;
    for (const field of ['receiver', 'parameters', 'result'])
      for (const { name, type } of goParameters(node.childForFieldName(field)))
        this.draft.locals.declare(name, from, `{${type}}`);
  }

  #assigned(node: Node): void {
    this.#declare(node.childForFieldName('left'), node.childForFieldName('right'), node.endIndex);
  }

  /** `a, b := f()` or `a, b := c, d` */
  #declare(left: Node | null, right: Node | null, from: number): void {
    const values = right === null ? [] : expressionsIn(right);
    const names = expressionsIn(left);
    for (const [at, name] of names.entries()) {
      if (name.type !== 'identifier') continue;
      this.draft.locals.declare(name.text, from, this.#valueAt(values, names.length, at));
    }
  }

  #valueAt(values: readonly Node[], names: number, at: number): string {
    const [only] = values;
    if (values.length === names || only === undefined) return this.#of(values[at]);
    // Several results of one call; else `value, ok`.
    if (only.type === 'call_expression' && at > 0)
      return this.#of(only).replace(/\(\)$/, `(${at})`);
    return at === 0 ? this.#of(only) : '{bool}';
  }

  #range(node: Node): void {
    const over = this.#of(node.childForFieldName('right'));
    const [key, value] = expressionsIn(node.childForFieldName('left'));
    const from = node.endIndex;
    if (key?.type === 'identifier')
      this.draft.locals.declare(key.text, from, bounded(`${over}[k]`));
    if (value?.type === 'identifier')
      this.draft.locals.declare(value.text, from, bounded(`${over}[]`));
  }

  #typeSwitch(node: Node): void {
    this.draft.locals.open(node.endIndex);
    const [name] = expressionsIn(node.childForFieldName('alias'));
    const expression = this.#of(node.childForFieldName('value'));
    this.#switched.push({ end: node.endIndex, name: name?.text ?? '', expression });
  }

  /** The variable of a type switch has the type of a case that names one. */
  #typeCase(node: Node): void {
    this.draft.locals.open(node.endIndex);
    while ((this.#switched.at(-1)?.end ?? Infinity) <= node.startIndex) this.#switched.pop();
    const { name = '', expression = unknown } = this.#switched.at(-1) ?? {};
    const types = node.childrenForFieldName('type');
    const its = types.length === 1 ? `{${goType(types[0])}}` : expression;
    if (name !== '') this.draft.locals.declare(name, node.startIndex, its);
  }

  #import(node: Node): void {
    const target = node.childForFieldName('path')?.text.slice(1, -1) ?? '';
    const alias = node.childForFieldName('name')?.text;
    const name = alias ?? packageNameOf(target);
    const names = alias === '.' ? ['*'] : [`*:${name}`];
    this.#packages.add(name);
    this.draft.imports.push({ target, names, at: node.startIndex });
  }

  #function(kind: 'function' | 'method', node: Node): void {
    const name = textOf(node, 'name');
    const receiver = node.childForFieldName('receiver');
    const container = receiverType(receiver?.text ?? '');
    const symbol = this.draft.open(node, {
      name,
      kind,
      signature: functionSignature(kind, name, node),
      exported: isExported(name),
      declaration: node.childForFieldName('body') === null,
      container,
    });
    this.#typesOfFunction(symbol, node);
    const own = goParameters(receiver)[0]?.type ?? '';
    for (const { type } of parseType(own)?.args ?? [])
      this.draft.type(symbol, 'bound', type?.name ?? unknown);
    this.draft.locals.open(node.endIndex);
    this.#parameters(node);
  }

  #typesOfFunction(symbol: SymbolDraft, node: Node): void {
    for (const { type } of goParameters(node.childForFieldName('parameters')))
      this.draft.type(symbol, 'parameter', '', type);
    for (const type of resultTypes(node.childForFieldName('result')))
      this.draft.type(symbol, 'result', '', type);
    this.#bounds(symbol, node);
  }

  #bounds(symbol: SymbolDraft, node: Node): void {
    for (const { name, type } of goBounds(node)) this.draft.type(symbol, 'bound', name, type);
  }

  #type(node: Node): void {
    const name = textOf(node, 'name');
    const type = node.childForFieldName('type');
    const kind = kindOfType(node, type);
    const properties =
      kind === 'struct'
        ? { fields: countOf(type, 'field_declaration_list', 'field_declaration') }
        : kind === 'interface'
          ? { methods: countOf(type, '', 'method_elem') }
          : { is: textOf(node, 'type').slice(0, 120) };
    const signature = renderSignature(kind, name, properties);
    // The keyword belongs to a type that stands alone.
    const before = node.previousSibling;
    const symbol = this.draft.open(node, {
      ...{ name, kind, signature, exported: isExported(name) },
      ...(before?.type === 'type' && { from: before.startIndex }),
    });
    this.#bounds(symbol, node);
    if (type?.type === 'struct_type')
      for (const { name: field, type: its } of fieldsOf(type))
        this.draft.type(symbol, field === '' ? 'base' : 'field', field, its);
    else if (type?.type === 'interface_type')
      for (const each of type.namedChildren.filter((child) => child.type === 'type_elem'))
        this.draft.type(symbol, 'base', '', goType(each));
    else this.draft.type(symbol, node.type === 'type_alias' ? 'alias' : 'is', '', goType(type));
  }

  #values(kind: 'constant' | 'variable', node: Node): void {
    const type = textOf(node, 'type');
    const its = node.childForFieldName('type');
    const values = expressionsIn(node.childForFieldName('value'));
    const names = node.childrenForFieldName('name').filter((each) => each.type === 'identifier');
    // A constant without type and value repeats those of the one before it.
    if (its !== null || values.length > 0)
      this.#declared = names.map((_, at) =>
        its === null ? this.#valueAt(values, names.length, at) : `{${goType(its)}}`,
      );
    for (const [at, each] of names.entries()) {
      const name = each.text;
      const expression = this.#declared[at] ?? unknown;
      if (this.draft.locals.isInside) this.draft.locals.declare(name, node.endIndex, expression);
      if (name === '_' || this.draft.locals.isInside) continue;
      const signature = renderSignature(kind, name, { type });
      // Several names in one line: the first has the text that they share.
      const before = node.previousSibling;
      const isAlone = at === 0 && (before?.type === 'const' || before?.type === 'var');
      const found = { name, kind, signature, exported: isExported(name) };
      const symbol = this.draft.define(at === 0 ? node : each, {
        ...found,
        ...(isAlone && { from: before.startIndex }),
      });
      this.draft.type(symbol, 'value', '', expression);
    }
  }

  #element(node: Node): void {
    const owner = this.draft.scope;
    if (owner?.kind !== 'interface') return;
    const name = textOf(node, 'name');
    const symbol = this.draft.define(node, {
      name,
      kind: 'method',
      signature: functionSignature('method', name, node),
      exported: isExported(name),
      declaration: true,
    });
    this.#typesOfFunction(symbol, node);
  }
}

function expressionsIn(list: Node | null): Node[] {
  if (list === null) return [];
  return list.type === 'expression_list' ? list.namedChildren : [list];
}

function functionSignature(kind: string, name: string, node: Node): string {
  const { list, tail } = parametersOf(node);
  const returns = textOf(node, 'result');
  return renderSignature(kind, name, { params: list.length, returns }, tail);
}

/** `(s *Server[T])` → `Server` */
function receiverType(receiver: string): string {
  return /([A-Za-z_]\w*)\s*(?:\[[^\]]*\])?\s*\)$/.exec(receiver)?.[1] ?? '';
}

/** The name under which a package is used is the last part of its path that is no version. */
function packageNameOf(path: string): string {
  const parts = path.split('/');
  const last = /^v\d+$/.test(parts.at(-1) ?? '') ? parts.at(-2) : parts.at(-1);
  return (last ?? path).replace(/\.v\d+$/, '');
}

function isExported(name: string): boolean {
  return /^\p{Lu}/u.test(name);
}

function kindOfType(node: Node, type: Node | null): 'struct' | 'interface' | 'type' {
  if (node.type === 'type_alias') return 'type';
  if (type?.type === 'struct_type') return 'struct';
  return type?.type === 'interface_type' ? 'interface' : 'type';
}

function countOf(type: Node | null, list: string, member: string): number {
  const holder = list === '' ? type : type?.namedChildren.find((each) => each.type === list);
  return (holder?.namedChildren ?? []).filter((each) => each.type === member).length;
}
