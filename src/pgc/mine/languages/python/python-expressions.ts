import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';

/** Of a list or a mapping, so many parts are looked at. */
const partsMax = 4;

/** One of several expressions. */
export function joined(ways: readonly string[]): string {
  const all = [...new Set(ways.filter((each) => each !== nothing))];
  if (all.length < 2) return all[0] ?? (ways.length === 0 ? unknown : nothing);
  return bounded(`{$union<${all.map(typeOfExpression).join(',')}>}`);
}

/** `None`: what it is set to besides says more. */
export const nothing = '{$none}';

/** An expression where a type is wanted. */
export function typeOfExpression(expression: string): string {
  if (expression === unknown) return unknown;
  const its = /^\{([^{}=]*)\}$/.exec(expression)?.[1];
  return its ?? `=${expression}`;
}

/** Outside of the methods of a class it is called by its name. */
export function ofClass(expression: string, key: string): string {
  return expression.includes('$this')
    ? bounded(expression.replaceAll('$this', key || unknown))
    : expression;
}

/** `a.b.c`; undefined: something else. */
export function pathOf(node: Node): string | undefined {
  if (node.type === 'identifier') return node.text;
  if (node.type !== 'attribute' || node.endIndex - node.startIndex > 80) return undefined;
  return /^[\w.]+$/.test(node.text) ? node.text : undefined;
}

/** Of what is not known nothing else is. */
export function after(expression: string, step: string): string {
  return expression === unknown || expression === nothing ? unknown : bounded(expression + step);
}

/** A value of this type. */
export function valueOf(type: string): string {
  return type === unknown || type === '' ? unknown : bounded(`{${type}}`);
}

export function listOf(parts: readonly string[]): string {
  const its = partOf(parts);
  return its === unknown ? '{$list}' : bounded(`{$list<${its}>}`);
}

export function tupleOf(parts: readonly string[]): string {
  if (parts.includes('*')) return '{$list}';
  return bounded(`{$tuple<${parts.map(typeOfExpression).join(',')}>}`);
}

export function mapOf(keys: readonly string[], values: readonly string[]): string {
  const [key, value] = [partOf(keys), partOf(values)];
  return key === unknown && value === unknown ? '{$map}' : bounded(`{$map<${key},${value}>}`);
}

/** The type of what one of the parts is. */
function partOf(parts: readonly string[]): string {
  const known = parts.filter((each) => each !== '*').slice(0, partsMax);
  return known.length === 0 ? unknown : typeOfExpression(joined(known));
}
