import type { Node } from 'web-tree-sitter';
import { lastName, nameIn } from './cpp-types.js';

/** Of an argument: it stays where it is, it passes with the call, or that is not plain from how it is written. */
export type Stay = '&' | '&&' | '';

const passing = new Set(
  (
    'number_literal char_literal true false null nullptr sizeof_expression alignof_expression lambda_expression this ' +
    'new_expression compound_literal_expression'
  ).split(' '),
);
const truths = /^(?:==|!=|<|>|<=|>=|&&|\|\||and|or|not_eq)$/;
const depthMax = 16;

/** `isLocal`: whether a name is one of a variable of the function. */
export function stayOf(node: Node, isLocal: (name: Node) => boolean, depth = 0): Stay {
  if (depth >= depthMax) return '';
  if (passing.has(node.type)) return '&&';
  const inner = (name: string): Stay => {
    const its = node.childForFieldName(name);
    return its === null ? '' : stayOf(its, isLocal, depth + 1);
  };
  switch (node.type) {
    case 'string_literal':
    case 'assignment_expression':
      return '&';
    case 'identifier':
      return isLocal(node) ? '&' : '';
    case 'field_expression': {
      const isArrow = node.children.some(({ type }) => type === '->');
      return isArrow || node.childForFieldName('argument')?.type === 'this'
        ? '&'
        : inner('argument');
    }
    case 'parenthesized_expression': {
      const [first] = node.namedChildren;
      return first === undefined ? '' : stayOf(first, isLocal, depth + 1);
    }
    case 'comma_expression':
      return inner('right');
    case 'pointer_expression':
      return node.text.startsWith('&') ? '&&' : '';
    case 'unary_expression':
      return /^(?:!|not\b)/.test(node.text) ? '&&' : '';
    case 'binary_expression':
      return truths.test(node.childForFieldName('operator')?.text ?? '') ? '&&' : '';
    case 'conditional_expression': {
      const first = inner('consequence');
      return first === inner('alternative') ? first : '';
    }
    case 'cast_expression':
      return node.childForFieldName('type')?.text.includes('&') === true ? '' : '&&';
    case 'call_expression':
      return ofCall(node);
    default:
      return '';
  }
}

function ofCall(node: Node): Stay {
  const callee = node.childForFieldName('function');
  if (callee === null) return '';
  const last = lastName(callee);
  const name = nameIn(last);
  if (/^(?:static|const|reinterpret)_cast$/.test(name)) return last.text.includes('&') ? '' : '&&';
  // Of the standard library, also where its namespace is not written.
  return /^(?:std::)?move$/.test(callee.text) || callee.type === 'primitive_type' ? '&&' : '';
}
