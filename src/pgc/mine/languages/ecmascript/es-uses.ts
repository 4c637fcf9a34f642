import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import type { Use } from '../../draft.js';
import type { Locals } from '../../locals.js';
import { esExpression, isExports, localNames } from './es-values.js';

/** A name that is used; undefined: the node defines it, it is local, or it is part of a larger one. */
export function esUse(node: Node, locals: Locals): Use | undefined {
  switch (node.type) {
    case 'identifier':
    case 'shorthand_property_identifier': {
      if (node.parent?.type === 'export_specifier') return passedOn(node, node.parent);
      if (isDefined(node)) return undefined;
      const expression = nameOutside(node, locals);
      return expression === undefined ? undefined : { name: node, kind: 'value', expression };
    }
    case 'type_identifier': {
      if (isDefined(node)) return undefined;
      const whole = node.parent?.type === 'nested_type_identifier' ? node.parent : node;
      const written = whole.text.replaceAll(/\s/g, '');
      const expression = whole === node ? localNames(locals)(written, node.startIndex) : written;
      return { name: node, kind: 'type', expression };
    }
    default: {
      const name = node.childForFieldName('property');
      const object = node.childForFieldName('object');
      if (name === null || object === null) return undefined;
      const isOfName =
        object.type === 'identifier' &&
        !isExports(object) &&
        nameOutside(object, locals) !== undefined;
      if (!isOfName && !isHandedOn(node)) return undefined;
      const expression = esExpression(node, locals);
      return expression.startsWith(unknown) ? undefined : { name, kind: 'value', expression };
    }
  }
}

/** Under another name: calls by that one call it. */
function passedOn(name: Node, specifier: Node): Use | undefined {
  const alias = specifier.childForFieldName('alias');
  if (alias === null || alias.id === name.id) return undefined;
  const isOfOther = specifier.parent?.parent?.childForFieldName('source') != null;
  return { name, kind: 'value', expression: (isOfOther ? alias : name).text };
}

/** A name of the file, or of a function or class inside a function; undefined: a local variable. */
function nameOutside(node: Node, locals: Locals): string | undefined {
  const found = locals.find(node.text, node.startIndex);
  if (found === undefined) return node.text === 'undefined' ? undefined : node.text;
  return /^[\w$]+#\d+$/.test(found) ? found : undefined;
}

/** Fields of nodes around a name that they define. */
const definingFields = ['name', 'pattern', 'parameter', 'alias'] as const;
const definingNodes =
  /^(?:formal_parameters|rest_pattern|array_pattern|object_pattern|namespace_import|import_clause|import_specifier|labeled_statement|break_statement|continue_statement)$/;

function isDefined(node: Node): boolean {
  const { parent } = node;
  if (parent === null || definingNodes.test(parent.type)) return true;
  if (parent.type === 'jsx_closing_element') return true;
  if (/^jsx_/.test(parent.type)) return isIntrinsic(node);
  const isIn = (field: string): boolean => parent.childForFieldName(field)?.id === node.id;
  if (definingFields.some((field) => isIn(field)))
    return parent.type !== 'nested_type_identifier' && parent.type !== 'generic_type';
  if (parent.type === 'pair_pattern') return isIn('value');
  return isIn('left') && /^(?:object_)?assignment_pattern$|^for_in_statement$/.test(parent.type);
}

/** An element of the page itself: no component has a name in small letters. */
export function isIntrinsic({ text, parent }: Node): boolean {
  return /^jsx_(?:opening|self_closing)_element$/.test(parent?.type ?? '') && /^[a-z]/.test(text);
}

/** What may stand between a value and where it goes. */
const between =
  /^(?:parenthesized|as|satisfies|non_null|ternary|binary|await|sequence)_expression$/;
const going =
  /^(?:arguments|array|return_statement|yield_expression|spread_element|jsx_expression|export_statement)$/;

/** A member as a value of its own: passed, assigned, returned, bound to an object. */
function isHandedOn(node: Node): boolean {
  let value = node;
  while (value.parent !== null && between.test(value.parent.type)) {
    const { parent } = value;
    const isCondition = parent.childForFieldName('condition')?.id === value.id;
    const operator = parent.childForFieldName('operator')?.type ?? '??';
    if (isCondition || !/^(?:\|\||&&|\?\?)$/.test(operator)) return false;
    value = parent;
  }
  const { parent } = value;
  if (parent === null) return false;
  if (going.test(parent.type)) return true;
  if (parent.type === 'member_expression')
    return /^(?:bind|call|apply)$/.test(parent.childForFieldName('property')?.text ?? '');
  const fields = parent.type === 'assignment_expression' ? ['right'] : ['value', 'body'];
  return fields.some((field) => parent.childForFieldName(field)?.id === value.id);
}
