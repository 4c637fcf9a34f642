import type { Node } from 'web-tree-sitter';
import type { Use } from '../../draft.js';
import type { Locals } from '../../locals.js';
import { goExpression } from './go-types.js';

/** A name that is used; undefined: the node defines it, it is local, or it is part of a larger one. */
export function goUse(node: Node, locals: Locals, packages: ReadonlySet<string>): Use | undefined {
  switch (node.type) {
    case 'identifier': {
      const { text } = node;
      if (text === '_' || isDefined(node) || packages.has(text)) return undefined;
      const isLocal = locals.find(text, node.startIndex) !== undefined;
      return isLocal ? undefined : { name: node, kind: 'value', expression: text };
    }
    case 'type_identifier': {
      if (isDefined(node) || isReceiver(node)) return undefined;
      const whole = node.parent?.type === 'qualified_type' ? node.parent : node;
      return { name: node, kind: 'type', expression: whole.text.replaceAll(/\s/g, '') };
    }
    default: {
      const name = node.childForFieldName('field');
      if (name === null || !(isOfPackage(node, packages) || isHandedOn(node))) return undefined;
      return { name, kind: 'value', expression: goExpression(node, locals) };
    }
  }
}

/** Where an identifier is not an expression, by the node around it. */
const defining: Partial<Record<string, readonly string[]>> = {
  ...{ function_declaration: ['name'], parameter_declaration: ['name'], type_spec: ['name'] },
  ...{ variadic_parameter_declaration: ['name'], type_parameter_declaration: ['name'] },
  ...{ type_alias: ['name'], var_spec: ['name'], const_spec: ['name'] },
};
const declaringLists =
  /^(?:short_var_declaration|range_clause|receive_statement|type_switch_statement)$/;

function isDefined(node: Node): boolean {
  const { parent } = node;
  if (parent === null) return false;
  const fields = defining[parent.type] ?? [];
  if (fields.some((field) => parent.childrenForFieldName(field).some((each) => each.equals(node))))
    return true;
  if (parent.type === 'literal_element') return isFieldName(parent);
  if (parent.type !== 'expression_list' || parent.parent === null) return false;
  const list = parent.parent;
  if (!declaringLists.test(list.type)) return false;
  const declared = list.childForFieldName('left') ?? list.childForFieldName('alias');
  return declared?.equals(parent) === true;
}

/** `name: value` in a literal of a structure; in one of a map or an array it is a value. */
function isFieldName(element: Node): boolean {
  const keyed = element.parent;
  if (keyed?.type !== 'keyed_element' || keyed.namedChild(0)?.equals(element) !== true)
    return false;
  const literal = keyed.parent?.parent?.childForFieldName('type');
  return !/^(?:map|array|slice|implicit_length_array)_type$/.test(literal?.type ?? '');
}

function isReceiver(node: Node): boolean {
  const parameter = node.parent?.type === 'pointer_type' ? node.parent.parent : node.parent;
  const list = parameter?.parent;
  return list?.parent?.childForFieldName('receiver')?.equals(list) === true;
}

function isOfPackage(node: Node, packages: ReadonlySet<string>): boolean {
  const operand = node.childForFieldName('operand');
  return operand?.type === 'identifier' && packages.has(operand.text);
}

/** A method or field as a value of its own: passed, assigned, returned. */
function isHandedOn(node: Node): boolean {
  return /^(?:argument_list|expression_list|literal_element|var_spec)$/.test(
    node.parent?.type ?? '',
  );
}
