import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { after, joined, listOf, tupleOf, typeOfExpression, valueOf } from './python-expressions.js';

/** What a call is given: its arguments, and what they stand for. */
export interface GivenArguments {
  nodes: readonly Node[];
  values: readonly string[];
}

/** Functions of the language whose result is what they take, or something in it. `base`: what `super()` gives. */
export function resultOfBuiltin(
  name: string,
  { nodes, values }: GivenArguments,
  base: string,
): string | undefined {
  const [first = unknown, second = unknown] = values;
  const each = after(first, '[*]');
  switch (name) {
    case 'super':
      return base;
    case 'list':
    case 'tuple':
    case 'set':
    case 'frozenset':
    case 'sorted':
    case 'reversed':
    case 'iter':
    case 'aiter':
      return listOf([each]);
    case 'filter':
      return listOf([after(second, '[*]')]);
    case 'map':
      return listOf([after(first, '()')]);
    case 'enumerate':
      return listOf([tupleOf(['{$number}', each])]);
    case 'zip':
      return listOf([tupleOf(values.map((value) => after(value, '[*]')))]);
    case 'next':
    case 'anext':
    case 'sum':
      return each;
    case 'min':
    case 'max': {
      const plain = values.filter((_, at) => nodes[at]?.type !== 'keyword_argument');
      return plain.length < 2 ? each : joined(plain);
    }
    case 'dict':
      return values.length === 1 && nodes[0]?.type !== 'keyword_argument' ? first : '{$map}';
    case 'type':
      return values.length === 1 && first !== unknown
        ? `{$type<${typeOfExpression(first)}>}`
        : unknown;
    case 'getattr':
    case 'eval':
    case 'vars':
    case '__import__':
      return unknown;
    default:
      return undefined;
  }
}

/** Functions of the standard library that only speak of types, or give back what they take. */
export function resultOfLibrary(
  name: string | undefined,
  { nodes, values }: GivenArguments,
  typeOf: (node: Node | null | undefined) => string,
): string | undefined {
  switch (name) {
    case 'typing.cast':
    case 'typing_extensions.cast':
      return valueOf(typeOf(nodes[0]));
    case 'typing.TypeVar':
    case 'typing_extensions.TypeVar':
    case 'typing.ParamSpec':
    case 'typing_extensions.ParamSpec': {
      const bound = nodes.find((each) => each.childForFieldName('name')?.text === 'bound');
      const type = typeOf(bound?.childForFieldName('value'));
      // It stands for what is based on that as well.
      return type === unknown ? unknown : `{$type<$union<${type},?>>}`;
    }
    case 'typing.NewType':
      return `{$type<${typeOf(nodes[1])}>}`;
    case 'copy.copy':
    case 'copy.deepcopy':
      return values[0] ?? unknown;
    default:
      return undefined;
  }
}
