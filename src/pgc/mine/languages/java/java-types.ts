import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';

/** By which a type of this name is meant here. */
export type LocalName = (name: string, at: number) => string;

/** A type as `expression.ts` writes it. */
export function javaType(node: Node | null | undefined, local: LocalName): string {
  return node ? bounded(typeOf(node, local)) : unknown;
}

function typeOf(node: Node, local: LocalName): string {
  switch (node.type) {
    case 'type_identifier':
    case 'identifier':
      return local(node.text, node.startIndex);
    case 'integral_type':
    case 'floating_point_type':
    case 'boolean_type':
    case 'void_type':
      return node.text;
    case 'scoped_type_identifier':
    case 'scoped_identifier':
    case 'field_access':
      return node.text.replace(/@\w+\s|\s/g, '');
    case 'generic_type': {
      const args = typeArguments(node, local);
      return `${javaType(node.namedChild(0), local)}${listed(args)}`;
    }
    case 'array_type': {
      const depth = dimensionsOf(node.childForFieldName('dimensions'));
      return arrayOf(javaType(node.childForFieldName('element'), local), depth);
    }
    case 'annotated_type':
      return javaType(node.namedChildren.at(-1), local);
    case 'wildcard':
      return javaType(
        node.namedChildren.findLast(({ type }) => !/annotation|^super$/.test(type)),
        local,
      );
    case 'type_bound':
    case 'catch_type':
      return union(node.namedChildren.map((each) => javaType(each, local)));
    default:
      return unknown;
  }
}

export function arrayOf(type: string, depth: number): string {
  return depth === 0 ? type : arrayOf(`$array<${type}>`, depth - 1);
}

export function dimensionsOf(node: Node | null | undefined): number {
  return node?.text.match(/\[/g)?.length ?? 0;
}

export function typeArguments(node: Node | null, local: LocalName): string[] {
  const list = node?.namedChildren.find(({ type }) => type === 'type_arguments');
  return (list?.namedChildren ?? []).map((each) => javaType(each, local));
}

export function listed(types: readonly string[]): string {
  return types.length === 0 ? '' : `<${types.join(',')}>`;
}

/** Something that has the members of all of these. */
export function union(types: readonly string[]): string {
  return types.length === 1 ? (types[0] ?? unknown) : `$union${listed(types)}`;
}

export interface JavaParameter {
  name: string;
  type: string;
  isRest: boolean;
}

/** Of a method, a constructor, a record, or of a lambda that names the types. */
export function javaParameters(list: Node | null, local: LocalName): JavaParameter[] {
  return (list?.namedChildren ?? []).flatMap((each): JavaParameter[] => {
    if (each.type === 'formal_parameter') {
      const depth = dimensionsOf(each.childForFieldName('dimensions'));
      const type = arrayOf(javaType(each.childForFieldName('type'), local), depth);
      return [{ name: each.childForFieldName('name')?.text ?? '', type, isRest: false }];
    }
    if (each.type !== 'spread_parameter') return [];
    const parts = each.namedChildren.filter(({ type }) => type !== 'modifiers');
    const name = parts.at(-1);
    const type = `$array<${javaType(parts[0], local)}>`;
    return [{ name: (name?.childForFieldName('name') ?? name)?.text ?? '', type, isRest: true }];
  });
}

/** Type parameters and what they must satisfy. */
export function javaBounds(node: Node | null, local: LocalName): { name: string; type: string }[] {
  const list = node?.namedChildren.find(({ type }) => type === 'type_parameters');
  return (list?.namedChildren ?? []).flatMap((each) => {
    const name = each.namedChildren.find(({ type }) => /identifier$/.test(type));
    const bound = each.namedChildren.find(({ type }) => type === 'type_bound');
    return name === undefined ? [] : [{ name: name.text, type: javaType(bound, local) }];
  });
}

/** What a class, a record, an enumeration or an interface says that it is based on, a class first. */
export function javaBases(node: Node, local: LocalName): string[] {
  const clauses = node.namedChildren.filter(({ type }) =>
    /^(?:superclass|super_interfaces|extends_interfaces)$/.test(type),
  );
  return clauses
    .flatMap((clause) =>
      clause.namedChildren.flatMap((each) =>
        each.type === 'type_list' || each.type === 'interface_type_list'
          ? each.namedChildren
          : [each],
      ),
    )
    .map((each) => javaType(each, local));
}
