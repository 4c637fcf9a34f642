import type { Node } from 'web-tree-sitter';
import { expressionCharsMax, unknown } from '../../../format/expression.js';
import type { Use } from '../../draft.js';
import { typeKey, type JavaScopes } from './java-scopes.js';
import { javaExpression } from './java-values.js';

/** A name that is used; undefined: the node defines it, it is local, or it is part of a larger one. */
export function javaUse(node: Node, scopes: JavaScopes): Use | undefined {
  switch (node.type) {
    case 'identifier': {
      if (isDefined(node)) return undefined;
      if (scopes.locals.find(node.text, node.startIndex) !== undefined) return undefined;
      const chosen = javaExpression(switchAround(node), scopes);
      const before = noConstants.test(chosen) ? '' : `${chosen}.`;
      const type = scopes.locals.find(typeKey(node.text), node.startIndex);
      return { name: node, kind: 'value', expression: `${before}${type ?? node.text}` };
    }
    case 'type_identifier': {
      if (isParameter(node) || scopes.isBound(node.text)) return undefined;
      return { name: node, kind: 'type', expression: typeUpTo(node, scopes) };
    }
    default: {
      const name = node.childForFieldName('field');
      if (name?.type !== 'identifier') return undefined;
      return { name, kind: 'value', expression: javaExpression(node, scopes) };
    }
  }
}

/** `Outer.Inner` up to the name of this node. */
function typeUpTo(node: Node, scopes: JavaScopes): string {
  const whole = node.parent;
  if (whole?.type !== 'scoped_type_identifier' || whole.endIndex !== node.endIndex)
    return scopes.localType(node.text, node.startIndex);
  if (whole.endIndex - whole.startIndex > expressionCharsMax) return unknown;
  return whole.text.replace(/<[^<>]*>|@\w+\s|\s/g, '');
}

/** Where an identifier is no expression: always, or by the field that it is. */
const notExpressions =
  /^(?:import_declaration|package_declaration|scoped_identifier|labeled_statement|break_statement|continue_statement|inferred_parameters|catch_type|type_parameter|module_declaration)$/;
const defining: Readonly<Record<string, string>> = {
  method_invocation: 'name',
  field_access: 'field',
  element_value_pair: 'key',
  lambda_expression: 'parameters',
};

function isDefined(node: Node): boolean {
  const { parent } = node;
  if (parent === null || notExpressions.test(parent.type)) return true;
  const isIn = (field: string): boolean => parent.childForFieldName(field)?.id === node.id;
  if (parent.type === 'method_reference') return parent.namedChildren[0]?.id !== node.id;
  const field = defining[parent.type];
  if (field !== undefined) return isIn(field);
  return isIn('name') && !/annotation$/.test(parent.type);
}

/** Of a value without constants of its own, and of one that is not known, a case is an expression like others. */
const noConstants = /^(?:\?|\{(?:byte|char|short|int|String)\})$/;

/** `case NAME`: a constant of what is asked. */
function switchAround({ parent }: Node): Node | undefined {
  if (parent?.type !== 'switch_label') return undefined;
  let around = parent.parent;
  while (around !== null && around.type !== 'switch_expression') around = around.parent;
  return around?.childForFieldName('condition') ?? undefined;
}

/** `<T>` */
function isParameter({ parent }: Node): boolean {
  return parent?.type === 'type_parameter';
}
