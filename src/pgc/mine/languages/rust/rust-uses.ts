import type { Node } from 'web-tree-sitter';
import type { Use } from '../../draft.js';
import type { Locals } from '../../locals.js';
import { dotted, rustExpression } from './rust-types.js';

/** A name that is used; undefined: the node defines it, it is local, or it is part of a larger one. */
export function rustUse(node: Node, locals: Locals, self: string): Use | undefined {
  switch (node.type) {
    case 'identifier': {
      const isLocal = locals.find(node.text, node.startIndex) !== undefined;
      if (isLocal || isDefined(node) || isLastOfPath(node)) return undefined;
      return { name: node, kind: 'value', expression: node.text };
    }
    case 'type_identifier': {
      if (node.text === 'Self' || isDefined(node) || isImplemented(node)) return undefined;
      const whole = isLastOfPath(node) ? (node.parent ?? node) : node;
      return { name: node, kind: 'type', expression: dotted(whole.text, self) };
    }
    default: {
      const name = node.childForFieldName('name');
      return name === null
        ? undefined
        : { name, kind: 'value', expression: rustExpression(node, locals, self) };
    }
  }
}

const notExpressions =
  /^(?:lifetime|label|attribute|token_tree|macro_invocation|extern_crate_declaration)$/;

/** A constant, or a variant without fields, begins with a capital; other names in patterns are new. */
function isDefined(node: Node): boolean {
  const { parent } = node;
  if (parent === null || notExpressions.test(parent.type)) return true;
  const isIn = (field: string): boolean => parent.childForFieldName(field)?.id === node.id;
  if (/_pattern$/.test(parent.type) || isIn('pattern'))
    return !/^[A-Z]/.test(node.text) && !isIn('type');
  return isIn('name') && !/^scoped_/.test(parent.type);
}

/** `a::name` is one name. */
function isLastOfPath({ parent, id }: Node): boolean {
  return (
    parent !== null && /^scoped_/.test(parent.type) && parent.childForFieldName('name')?.id === id
  );
}

/** `impl Type` says what its methods belong to. */
function isImplemented(node: Node): boolean {
  const whole = node.parent?.type === 'generic_type' ? node.parent : node;
  return (
    whole.parent?.type === 'impl_item' && whole.parent.childForFieldName('type')?.id === whole.id
  );
}
