import type { Node } from 'web-tree-sitter';
import { boundedLink, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';

/** A type as `expression.ts` writes it. */
export function goType(node: Node | null | undefined): string {
  return node ? boundedLink(() => typeOf(node)) : unknown;
}

function typeOf(node: Node): string {
  switch (node.type) {
    case 'type_identifier':
    case 'identifier':
      return otherNames[node.text] ?? node.text;
    case 'qualified_type':
      return node.text.replace(/\s/g, '');
    case 'generic_type':
      return `${goType(node.childForFieldName('type'))}${argumentsOf(node)}`;
    case 'slice_type':
    case 'array_type':
    case 'implicit_length_array_type':
      return `$list<${goType(node.childForFieldName('element'))}>`;
    case 'map_type':
      return `$map<${goType(node.childForFieldName('key'))},${goType(node.childForFieldName('value'))}>`;
    case 'channel_type':
      return `$chan<${goType(node.childForFieldName('value'))}>`;
    case 'function_type':
      return `$func${listed(resultTypes(node.childForFieldName('result')))}`;
    case 'struct_type':
      return `$struct${listed(
        fieldsOf(node).flatMap(({ name, type }) => (name === '' ? [] : [`${name}:${type}`])),
      )}`;
    case 'interface_type':
      return node.namedChildCount === 0 ? 'any' : unknown;
    case 'pointer_type':
    case 'parenthesized_type':
    case 'type_elem':
    case 'type_constraint':
      return node.namedChildCount === 1 ? goType(node.namedChild(0)) : unknown;
    default:
      return unknown;
  }
}

/** Of the specification: two names of one type. */
const otherNames: Partial<Record<string, string>> = { byte: 'uint8', rune: 'int32' };

function listed(types: readonly string[]): string {
  return types.length === 0 ? '' : `<${types.join(',')}>`;
}

function argumentsOf(node: Node): string {
  return listed((node.childForFieldName('type_arguments')?.namedChildren ?? []).map(goType));
}

/** Names and types of parameters; several names may share a type, and a type may have none. */
export function goParameters(list: Node | null): { name: string; type: string }[] {
  return (list?.namedChildren ?? []).flatMap((each) => {
    if (!/^(?:variadic_)?parameter_declaration$/.test(each.type)) return [];
    const its = goType(each.childForFieldName('type'));
    const type = each.type === 'parameter_declaration' ? its : `$list<${its}>`;
    const names = each.childrenForFieldName('name');
    return names.length === 0
      ? [{ name: '', type }]
      : names.map((name) => ({ name: name.text, type }));
  });
}

/** The types of the results of a function. */
export function resultTypes(result: Node | null): string[] {
  if (result === null) return [];
  if (result.type !== 'parameter_list') return [goType(result)];
  return goParameters(result).map(({ type }) => type);
}

/** Fields of a structure; an embedded one has no name. */
export function fieldsOf(structure: Node): { name: string; type: string }[] {
  const list = structure.namedChildren.find(({ type }) => type === 'field_declaration_list');
  return (list?.namedChildren ?? []).flatMap((each) => {
    if (each.type !== 'field_declaration') return [];
    const type = goType(each.childForFieldName('type'));
    const names = each.childrenForFieldName('name');
    return names.length === 0
      ? [{ name: '', type }]
      : names.map((name) => ({ name: name.text, type }));
  });
}

/** Type parameters and what they must satisfy. */
export function goBounds(node: Node): { name: string; type: string }[] {
  return (node.childForFieldName('type_parameters')?.namedChildren ?? []).flatMap((each) =>
    each
      .childrenForFieldName('name')
      .map((name) => ({ name: name.text, type: goType(each.childForFieldName('type')) })),
  );
}

/** What a value is, as `expression.ts` writes it. */
export function goExpression(node: Node | null | undefined, locals: Locals): string {
  return node ? boundedLink(() => expressionOf(node, locals)) : unknown;
}

function expressionOf(node: Node, locals: Locals): string {
  const of = (field: string): string => goExpression(node.childForFieldName(field), locals);
  switch (node.type) {
    case 'identifier':
      return node.text === 'nil' ? unknown : locals.expressionOf(node.text, node.startIndex);
    case 'selector_expression':
      return `${of('operand')}.${node.childForFieldName('field')?.text ?? unknown}`;
    case 'call_expression':
      return callOf(node, locals);
    case 'type_conversion_expression':
      return `{${goType(node.childForFieldName('type'))}}`;
    case 'index_expression':
      return `${of('operand')}[]`;
    case 'slice_expression':
      return of('operand');
    case 'parenthesized_expression':
      return goExpression(node.namedChild(0), locals);
    case 'unary_expression':
      return node.child(0)?.type === '<-' ? `${of('operand')}[]` : of('operand');
    case 'binary_expression':
      return of('left');
    case 'type_assertion_expression':
    case 'composite_literal':
      return `{${goType(node.childForFieldName('type'))}}`;
    case 'func_literal':
      return `{$func${listed(resultTypes(node.childForFieldName('result')))}}`;
    case 'interpreted_string_literal':
    case 'raw_string_literal':
      return '{string}';
    case 'int_literal':
      return '{int}';
    default:
      return unknown;
  }
}

function callOf(node: Node, locals: Locals): string {
  const callee = node.childForFieldName('function');
  const args = node.childForFieldName('arguments');
  if (callee?.type === 'identifier' && locals.find(callee.text, callee.startIndex) === undefined) {
    const { text } = callee;
    // Functions of the language whose result depends on their argument.
    if (text === 'new' || text === 'make') return `{${goType(args?.namedChild(0))}}`;
    if (text === 'append' || text === 'min' || text === 'max')
      return goExpression(args?.namedChild(0), locals);
  }
  return `${goExpression(callee, locals)}()`;
}
