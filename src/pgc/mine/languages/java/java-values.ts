import type { Node } from 'web-tree-sitter';
import { expressionCharsMax, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';
import { arrayOf, dimensionsOf, javaType, type LocalName } from './java-types.js';

/** What an expression may ask of the place where it stands. */
export interface JavaPlace {
  locals: Locals;
  localType: LocalName;
  /** The type around a place, with those around it; empty outside of types. */
  around(): string;
  /** The type that a body without a name is. */
  unnamed(body: Node): string;
}

/** How much of the arguments of calls is written: all, those of the last call by their names and literals, none. */
const details = [2, 1, 0] as const;
type Detail = (typeof details)[number];

/** What a value is, as `expression.ts` writes it; shorter where it would be too long. */
export function javaExpression(node: Node | null | undefined, place: JavaPlace): string {
  if (!node) return unknown;
  return fitting((detail) => new Values(place).of(node, detail));
}

/** What a call calls: a method, or a type that is constructed. */
export function javaCallee(node: Node, place: JavaPlace): string {
  return fitting((detail) => new Values(place).callee(node, detail));
}

function fitting(write: (detail: Detail) => string): string {
  for (const detail of details) {
    const text = write(detail);
    if (text.length <= expressionCharsMax) return text;
  }
  return unknown;
}

const literals: Partial<Record<string, string>> = {
  string_literal: '{String}',
  text_block: '{String}',
  character_literal: '{char}',
  true: '{boolean}',
  false: '{boolean}',
};
const isShift = /^(?:<<|>>|>>>)$/;
const isTruth = /^(?:==|!=|<|>|<=|>=|&&|\|\||instanceof)$/;

/** A chain of more calls is longer than any expression. */
const depthMax = 40;

class Values {
  readonly #place: JavaPlace;
  #depth = 0;

  constructor(place: JavaPlace) {
    this.#place = place;
  }

  of(node: Node | null | undefined, detail: Detail): string {
    if (!node || this.#depth >= depthMax) return unknown;
    this.#depth += 1;
    const found = this.#valueOf(node, detail);
    this.#depth -= 1;
    return found;
  }

  #valueOf(node: Node, detail: Detail): string {
    const literal = literals[node.type] ?? numberType(node);
    if (literal !== undefined) return literal;
    const field = (name: string): Node | null => node.childForFieldName(name);
    switch (node.type) {
      case 'identifier':
        return this.#place.locals.expressionOf(node.text, node.startIndex);
      case 'this':
        return `{${this.#place.around()}}`;
      case 'super':
        return `{${this.#place.around()}}.$super`;
      case 'field_access':
        return this.#field(node, detail);
      case 'method_invocation':
        return `${this.callee(node, detail)}()`;
      case 'object_creation_expression': {
        const body = node.namedChildren.find(({ type }) => type === 'class_body');
        return body ? `{${this.#place.unnamed(body)}}` : `{${this.#type(field('type'))}}`;
      }
      case 'array_creation_expression': {
        const dimensions = node.childrenForFieldName('dimensions');
        const depth = dimensions.reduce((sum, each) => sum + dimensionsOf(each), 0);
        return `{${arrayOf(this.#type(field('type')), depth)}}`;
      }
      case 'array_access':
        return `${this.of(field('array'), detail)}[]`;
      case 'cast_expression':
        return `{${this.#type(field('type'))}}`;
      case 'parenthesized_expression':
        return this.of(node.namedChild(0), detail);
      case 'assignment_expression':
        return this.of(field('left'), detail);
      case 'ternary_expression': {
        const first = this.of(field('consequence'), detail);
        return first === unknown ? this.of(field('alternative'), detail) : first;
      }
      case 'binary_expression':
        return this.#operation(node, detail);
      case 'instanceof_expression':
        return '{boolean}';
      case 'unary_expression':
      case 'update_expression':
        return this.#unary(node, detail);
      case 'class_literal':
        return `{Class<${this.#type(node.namedChild(0))}>}`;
      case 'null_literal':
        return '{$null}';
      case 'lambda_expression':
        return this.#lambda(node);
      case 'method_reference':
        return '{$func<*0:?>}';
      default:
        return unknown;
    }
  }

  /** Of a call, a construction or a reference. */
  callee(node: Node, detail: Detail): string {
    const name = node.childForFieldName('name')?.text ?? unknown;
    switch (node.type) {
      case 'object_creation_expression':
        return `{${this.#type(node.childForFieldName('type'))}}${this.#given(node, detail)}`;
      case 'explicit_constructor_invocation': {
        const isOwn = node.childForFieldName('constructor')?.type === 'this';
        return `{${this.#place.around()}}${isOwn ? '' : '.$super'}${this.#given(node, detail)}`;
      }
      case 'enum_constant':
        return `{${this.#place.around()}}${this.#given(node, detail)}`;
      case 'method_reference':
        return this.#reference(node, detail);
      default: {
        const object = node.childForFieldName('object');
        const before = object === null ? '' : `${this.#receiver(node, object, detail)}.`;
        return `${before}${name}${this.#given(node, detail)}`;
      }
    }
  }

  /** `super` of a type around is what that is based on; of an interface what that has itself. */
  #receiver(node: Node, object: Node, detail: Detail): string {
    const isSuper = node.children.some(({ type }) => type === 'super');
    if (!isSuper || object.type === 'super') return this.of(object, detail === 2 ? 1 : detail);
    const types = this.#place.around().split('.');
    const at = types.lastIndexOf(object.text);
    return at < 0
      ? this.#place.localType(object.text.replace(/\s/g, ''), object.startIndex)
      : `{${types.slice(0, at + 1).join('.')}}.$super`;
  }

  #reference(node: Node, detail: Detail): string {
    const [object, ...rest] = node.namedChildren;
    const name = rest.at(-1);
    if (object === undefined || name === undefined || name.type !== 'identifier')
      return `{${this.#type(object)}}^`;
    const isType = /type|generic/.test(object.type);
    const before = isType ? `{${this.#type(object)}}` : this.of(object, detail);
    return `${before}.${name.text}^`;
  }

  /** How many it takes, and whether it gives something. */
  #lambda(node: Node): string {
    const list = node.childForFieldName('parameters');
    const names = list?.type === 'identifier' ? [list] : (list?.namedChildren ?? []);
    const body = node.childForFieldName('body');
    // What is taken has no type before it is known what calls it.
    const isSaid = names.length === 0 && body !== null && isStatement.test(body.type);
    const said = isSaid ? [`result:=${this.of(body, 0)}`] : givenBy(body);
    const args = [...said, ...names.map((_, at) => `${at}:?`)];
    return args.length === 0 ? '{$func}' : `{$func<${args.join(',')}>}`;
  }

  #given(node: Node, detail: Detail): string {
    const list = node.childForFieldName('arguments');
    const all = (list?.namedChildren ?? []).filter(({ type }) => !/comment/.test(type));
    if (detail === 0) return `^${all.length}`;
    return `^(${all.map((each) => this.#argument(each, detail)).join(',')})`;
  }

  #argument(node: Node, detail: Detail): string {
    if (detail === 2) return this.of(node, 1);
    const its = this.of(node, 0);
    return its.length <= shortCharsMax ? its : unknown;
  }

  #field(node: Node, detail: Detail): string {
    const object = node.childForFieldName('object');
    const field = node.childForFieldName('field');
    if (field?.type === 'this') return `{${this.#type(object)}}`;
    return `${this.of(object, detail)}.${field?.text ?? unknown}`;
  }

  #operation(node: Node, detail: Detail): string {
    const operator = node.childForFieldName('operator')?.text ?? '';
    if (isTruth.test(operator)) return '{boolean}';
    const left = this.of(node.childForFieldName('left'), detail);
    if (isShift.test(operator)) return promoted([left]);
    if (operator === '+' && left === '{String}') return left;
    const right = this.of(node.childForFieldName('right'), detail);
    return operator === '+' && right === '{String}' ? right : promoted([left, right]);
  }

  #unary(node: Node, detail: Detail): string {
    const its = this.of(operandOf(node), detail);
    if (node.type === 'update_expression') return its;
    return /^!/.test(node.text) ? '{boolean}' : promoted([its]);
  }

  #type(node: Node | null | undefined): string {
    return javaType(node, this.#place.localType);
  }
}

/** `void`: nothing; `value`: something; `result`: either, and rather something; else what its body calls says that. */
function givenBy(body: Node | null): string[] {
  if (body === null || isStatement.test(body.type)) return [];
  if (body.type !== 'block') return ['value:?'];
  const returned = returnIn(body);
  if (returned === null) return [];
  if (returned !== undefined) return [returned.namedChildCount > 0 ? 'value:?' : 'void'];
  // What does not end may be given as either.
  return /^(?:throw|while|do|for)/.test(body.namedChildren.at(-1)?.type ?? '')
    ? ['result:$null']
    : ['void'];
}

const isStatement =
  /^(?:method_invocation|object_creation_expression|assignment_expression|update_expression)$/;
const nodesMax = 2_000;

/** Not of what stands inside it; null: not all of it was read. */
function returnIn(body: Node): Node | null | undefined {
  const nodes = [...body.namedChildren];
  let isWhole = true;
  for (const node of nodes) {
    if (node.type === 'return_statement') return node;
    if (/^(?:lambda_expression|class_body)$/.test(node.type)) continue;
    if (nodes.length > nodesMax) isWhole &&= node.namedChildCount === 0;
    else nodes.push(...node.namedChildren);
  }
  return isWhole ? undefined : null;
}

/** The number that comes of some. */
function promoted(all: readonly string[]): string {
  if (all.includes(unknown)) return unknown;
  const [first = unknown] = all;
  const isPlain = /^\{(?:int|long|float|double)\}$/.test(first);
  return isPlain && all.every((each) => each === first)
    ? first
    : `{$number<${all.map((each) => `=${each}`).join(',')}>}`;
}

/** Longer arguments are left out in the middle of a chain. */
const shortCharsMax = 40;

function numberType({ type, text }: Node): string | undefined {
  if (!/_literal$/.test(type)) return undefined;
  if (/floating/.test(type)) return /[fF]$/.test(text) ? '{float}' : '{double}';
  if (/integer/.test(type)) return /[lL]$/.test(text) ? '{long}' : '{int}';
  return undefined;
}

function operandOf(node: Node): Node | null {
  return node.childForFieldName('operand') ?? node.namedChild(0);
}
