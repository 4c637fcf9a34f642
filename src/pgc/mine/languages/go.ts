import type { Node } from 'web-tree-sitter';
import type { Draft } from '../draft.js';
import type { Grammar } from '../grammar.js';
import { parametersOf, ScopedMiner, textOf } from '../scoped-draft.js';
import { renderSignature } from '../signature.js';

export const goQuery = `
(import_spec) @import
(function_declaration) @function
(method_declaration) @method
(source_file (type_declaration [(type_spec) (type_alias)] @type))
(source_file (const_declaration (const_spec) @const))
(source_file (var_declaration (var_spec) @var))
(source_file (var_declaration (var_spec_list (var_spec) @var)))
(interface_type (method_elem) @element)
(call_expression function: (identifier) @call)
(call_expression function: (selector_expression) @member)
(call_expression function: (parenthesized_expression) @parenthesized)
(type_conversion_expression type: (generic_type type: (type_identifier) @call))
(type_conversion_expression type: (generic_type type: (qualified_type) @callMember))
(composite_literal type: (type_identifier) @construct)
(composite_literal type: (generic_type type: (type_identifier) @construct))
(composite_literal type: (qualified_type) @constructMember)
(expression_statement (call_expression function: (_) @unused))
(ERROR) @error
`;

export function mineGo(grammar: Grammar, text: string): Draft {
  return new GoMiner(text).mine(grammar);
}

class GoMiner extends ScopedMiner {
  protected readonly visitors: Record<string, (node: Node) => void> = {
    import: (node) => this.#import(node),
    function: (node) => this.#function('function', node),
    method: (node) => this.#function('method', node),
    type: (node) => this.#type(node),
    const: (node) => this.#values('constant', node),
    var: (node) => this.#values('variable', node),
    element: (node) => this.#element(node),
    call: (node) => this.draft.call(node.text, node.startIndex, 'direct'),
    member: (node) => this.draft.callOn(node, node.childForFieldName('field')),
    parenthesized: (node) => {
      const plain = /^\(\*?([A-Za-z_]\w*)\)$/.exec(node.text)?.[1] ?? '';
      this.draft.call(plain, node.startIndex, 'direct');
    },
    callMember: (node) => this.draft.callOn(node, node.childForFieldName('name')),
    construct: (node) => this.draft.call(node.text, node.startIndex, 'construct'),
    constructMember: (node) => this.draft.callOn(node, node.childForFieldName('name'), 'construct'),
  };

  #import(node: Node): void {
    const target = node.childForFieldName('path')?.text.slice(1, -1) ?? '';
    const alias = node.childForFieldName('name')?.text;
    const names = alias === '.' ? ['*'] : [`*:${alias ?? packageNameOf(target)}`];
    this.draft.imports.push({ target, names, at: node.startIndex });
  }

  #function(kind: 'function' | 'method', node: Node): void {
    const name = textOf(node, 'name');
    const container = receiverType(node.childForFieldName('receiver')?.text ?? '');
    this.draft.open(node, {
      name,
      kind,
      signature: functionSignature(kind, name, node),
      exported: isExported(name),
      declaration: node.childForFieldName('body') === null,
      container,
    });
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
    this.draft.open(node, {
      ...{ name, kind, signature, exported: isExported(name) },
      ...(before?.type === 'type' && { from: before.startIndex }),
    });
  }

  #values(kind: 'constant' | 'variable', node: Node): void {
    const type = textOf(node, 'type');
    for (const [at, each] of node.childrenForFieldName('name').entries()) {
      const name = each.text;
      if (name === '_' || each.type !== 'identifier') continue;
      const signature = renderSignature(kind, name, { type });
      // Several names in one line: the first has the text that they share.
      const before = node.previousSibling;
      const isAlone = at === 0 && (before?.type === 'const' || before?.type === 'var');
      const found = { name, kind, signature, exported: isExported(name) };
      this.draft.define(at === 0 ? node : each, {
        ...found,
        ...(isAlone && { from: before.startIndex }),
      });
    }
  }

  #element(node: Node): void {
    const owner = this.draft.scope;
    if (owner?.kind !== 'interface') return;
    const name = textOf(node, 'name');
    this.draft.define(node, {
      name,
      kind: 'method',
      signature: functionSignature('method', name, node),
      exported: isExported(name),
      declaration: true,
    });
  }
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
