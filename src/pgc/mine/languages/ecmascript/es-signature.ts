import type { Node } from 'web-tree-sitter';
import { compact, renderSignature, signatureCharsMax, splitList } from '../../signature.js';

export function isFunction(node: Node): boolean {
  return /^(?:arrow_function|function_expression|generator_function)$/.test(node.type);
}

/** The name of a definition or property; empty when it has none, or a computed one. */
export function nameOf(node: Node): string {
  const name =
    node.childForFieldName('name') ??
    node.childForFieldName('key') ??
    node.childForFieldName('property');
  if (name === null || name.type === 'computed_property_name') return '';
  return name.text.replace(/^(['"])(.*)\1$/, '$2');
}

/** `owner` carries the modifiers (`static`, `async`), `node` the parameters. Often they are the same. */
export function functionSignature(
  kind: 'function' | 'method',
  name: string,
  owner: Node,
  node: Node,
): string {
  const parameters = node.childForFieldName('parameters') ?? node.childForFieldName('parameter');
  const source = parameters === null ? '()' : compact(parameters.text);
  const list = source.startsWith('(') ? source.slice(1, -1) : source;
  const returns = node.childForFieldName('return_type');
  const nameAt = owner.childForFieldName('name')?.startIndex ?? owner.startIndex;
  const modifiers = owner.text.slice(0, Math.max(0, nameAt - owner.startIndex));
  const isAsync =
    /^(?:export\s+)?(?:default\s+)?async\b/.test(node.text.slice(0, 40)) ||
    /\basync\b/.test(modifiers);
  return renderSignature(
    kind,
    name,
    {
      params: splitList(list).filter((each) => !/^this\s*:/.test(each)).length,
      returns: returns === null ? undefined : compact(returns.text).replace(/^:\s*/, ''),
      async: isAsync,
      static: /\bstatic\b/.test(modifiers),
      generator: node.type.startsWith('generator') || /\*\s*$/.test(modifiers),
    },
    list === '' ? '' : `(${list})`,
  );
}

export function classSignature(name: string, node: Node): string {
  const body = node.childForFieldName('body');
  const head = compact(node.text.slice(0, body === null ? 200 : body.startIndex - node.startIndex));
  const methods = (body?.namedChildren ?? []).filter((each) => /method/.test(each.type)).length;
  return renderSignature('class', name, {
    extends: /\bextends\s+([\w$.]+)/.exec(head)?.[1],
    implements: /\bimplements\s+(.+)$/.exec(head)?.[1],
    methods,
  });
}

export function typeSignature(
  kind: 'interface' | 'type' | 'enum',
  name: string,
  node: Node,
): string {
  const members = node.childForFieldName('body')?.namedChildCount ?? 0;
  switch (kind) {
    case 'enum':
      return renderSignature('enum', name, { constants: members });
    case 'type': {
      const value = node.childForFieldName('value')?.text ?? '';
      return renderSignature('type', name, {}, compact(value.slice(0, 2 * signatureCharsMax)));
    }
    case 'interface': {
      const extended = /^[^{]*?\bextends\s+([^{]+?)\s*\{/.exec(
        node.text.slice(0, 2 * signatureCharsMax),
      );
      const properties = { extends: compact(extended?.[1] ?? ''), properties: members };
      return renderSignature('interface', name, properties);
    }
  }
}
