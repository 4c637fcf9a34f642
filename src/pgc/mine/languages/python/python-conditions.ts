import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import { pathOf, valueOf } from './python-expressions.js';
import type { PythonFlow } from './python-flow.js';
import { pythonType, type PythonNames } from './python-types.js';

/** What is known once an expression is true, or false. */
export interface Narrowing {
  path: string;
  expression: string;
}

/** Reads what conditions say of the types of names. */
export class PythonConditions {
  constructor(
    readonly flow: PythonFlow,
    readonly names: PythonNames,
  ) {}

  /** What becomes known of names where this is true, or false. */
  narrowed(condition: Node, isTrue: boolean): Narrowing[] {
    switch (condition.type) {
      case 'parenthesized_expression':
        return condition.firstNamedChild ? this.narrowed(condition.firstNamedChild, isTrue) : [];
      case 'not_operator': {
        const its = condition.childForFieldName('argument');
        return its ? this.narrowed(its, !isTrue) : [];
      }
      case 'boolean_operator': {
        const isOr = condition.childForFieldName('operator')?.type === 'or';
        if (isOr === isTrue) return [];
        return ['left', 'right'].flatMap((side) => {
          const its = condition.childForFieldName(side);
          return its ? this.narrowed(its, isTrue) : [];
        });
      }
      case 'call':
        return this.#tested(condition, isTrue);
      default:
        return [];
    }
  }

  /** `isinstance(x, A)` */
  #tested(node: Node, isTrue: boolean): Narrowing[] {
    const callee = node.childForFieldName('function')?.text;
    if (callee !== 'isinstance' && callee !== 'issubclass') return [];
    const [subject, wanted] = (node.childForFieldName('arguments')?.namedChildren ?? []).filter(
      ({ type }) => type !== 'comment',
    );
    const path = subject && pathOf(subject);
    if (path === undefined || wanted === undefined) return [];
    const all = wanted.type === 'tuple' ? wanted.namedChildren : [wanted];
    const types = all.map((each) =>
      pathOf(each) === undefined ? unknown : pythonType(each.text, this.names) || unknown,
    );
    if (!isTrue) return this.#without(path, types);
    const type = types.length === 1 ? (types[0] ?? unknown) : `$union<${types.join(',')}>`;
    const its = callee === 'issubclass' && type !== unknown ? `$type<${type}>` : type;
    return [{ path, expression: valueOf(its) }];
  }

  /** The other ones of several types. */
  #without(path: string, types: readonly string[]): Narrowing[] {
    const known = path.includes('.') ? this.flow.findPath(path) : this.flow.find(path);
    const list = /^\{\$union<([^<>]*)>\}$/.exec(known ?? '')?.[1];
    if (list === undefined) return [];
    const left = list.split(',').filter((each) => !types.includes(each));
    if (left.length === 0) return [];
    return [
      {
        path,
        expression: valueOf(left.length === 1 ? (left[0] ?? '') : `$union<${left.join(',')}>`),
      },
    ];
  }
}
