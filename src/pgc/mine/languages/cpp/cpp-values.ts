import type { Node } from 'web-tree-sitter';
import { bounded, expressionCharsMax, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';
import { stayOf } from './cpp-places.js';
import {
  cppType,
  escaped,
  isRooted,
  lastName,
  nameIn,
  pathOf,
  pointerTo,
  primitive,
  rootName,
  typeArguments,
  type TypePlace,
} from './cpp-types.js';

/** What an expression may ask of the place where it stands. */
export interface CppPlace extends TypePlace {
  locals: Locals;
  /** The type around a place. */
  own(): string;
}

/** How much of the arguments of calls is written: all, those of the last call by their names and literals, none. */
const details = [2, 1, 0] as const;
type Detail = (typeof details)[number];
/** A chain of more calls is longer than any expression. */
const depthMax = 40;
/** Longer arguments are left out in the middle of a chain. */
const shortCharsMax = 40;

/** What a value is, as `expression.ts` writes it; shorter where it would be too long. */
export function cppExpression(node: Node | null | undefined, place: CppPlace): string {
  if (!node) return unknown;
  return fitting((detail) => new Values(place).of(node, detail));
}

/** What a call calls. */
export function cppCallee(call: Node, place: CppPlace): string {
  return fitting((detail) => new Values(place).callee(call, detail));
}

/** What constructs a value of a type, with what stands in the brackets. */
export function cppConstructed(type: string, list: Node | null, place: CppPlace): string {
  return fitting((detail) => `{${type}}${new Values(place).given(list, detail)}`);
}

/** What an operator calls, and the function of the same name that no type has. */
export function cppOperator(node: Node, place: CppPlace): string {
  return fitting((detail) => new Values(place).operator(node, detail));
}

function fitting(write: (detail: Detail) => string): string {
  for (const detail of details) {
    const text = write(detail);
    if (text.length <= expressionCharsMax) return text;
  }
  return unknown;
}

const literals: Partial<Record<string, string>> = {
  string_literal: '{$ptr<$const<char>>}',
  raw_string_literal: '{$ptr<$const<char>>}',
  concatenated_string: '{$ptr<$const<char>>}',
  char_literal: '{char}',
  true: '{bool}',
  false: '{bool}',
  null: '{$null}',
  nullptr: '{$null}',
  sizeof_expression: '{size_t}',
  alignof_expression: '{size_t}',
  lambda_expression: '{$func}',
};
const isTruth = /^(?:==|!=|<|>|<=|>=|&&|\|\||and|or|not_eq)$/;
const casts = /^(?:static|dynamic|const|reinterpret)_cast$/;
/** What the library makes of a type that is written. */
const makers: Readonly<Record<string, string>> = {
  make_unique: 'unique_ptr',
  make_shared: 'shared_ptr',
  allocate_shared: 'shared_ptr',
  make_optional: 'optional',
};

class Values {
  readonly #place: CppPlace;
  #depth = 0;

  constructor(place: CppPlace) {
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
        return `{$ptr<${this.#place.own()}>}`;
      case 'field_expression':
        return this.#member(node, detail, '');
      case 'qualified_identifier':
      case 'template_function':
        return this.#path(node, '');
      case 'call_expression':
        return this.#called(node, detail);
      case 'new_expression':
        return `{${pointerTo(cppType(field('type'), this.#place))}}`;
      case 'compound_literal_expression':
      case 'cast_expression':
        return `{${cppType(field('type'), this.#place)}}`;
      case 'subscript_expression':
        return `${this.of(field('argument'), detail)}[]`;
      case 'pointer_expression': {
        const its = this.of(field('argument'), detail);
        if (node.text.startsWith('*')) return `${its}.$star`;
        return its === unknown ? unknown : `{$ptr<=${its}>}`;
      }
      case 'parenthesized_expression':
        return this.of(node.namedChild(0), detail);
      case 'assignment_expression':
        return this.of(field('left'), detail);
      case 'comma_expression':
        return this.of(field('right'), detail);
      case 'conditional_expression': {
        const first = this.of(field('consequence'), detail);
        const isOpen = first === unknown || first === '{$null}';
        return isOpen ? this.of(field('alternative'), detail) : first;
      }
      case 'binary_expression':
        return this.#operation(node, detail);
      case 'unary_expression':
        return /^(?:!|not\b)/.test(node.text) ? '{bool}' : this.#number(field('argument'), detail);
      case 'update_expression':
        return this.of(field('argument'), detail);
      case 'user_defined_literal':
      default:
        return unknown;
    }
  }

  /** What a call gives. */
  #called(node: Node, detail: Detail): string {
    const callee = node.childForFieldName('function');
    const last = callee && lastName(callee);
    if (last?.type === 'template_function') {
      const name = nameIn(last);
      const args = typeArguments(last, this.#place);
      if (casts.test(name)) return `{${args.slice(1, -1) || unknown}}`;
      const made = makers[name];
      if (made !== undefined) return `{std.${made}${args}}`;
    }
    const first = node.childForFieldName('arguments')?.namedChild(0);
    // What is moved or handed on is the same value.
    if (last !== null && /^(?:move|forward|as_const|ref|cref)$/.test(nameIn(last)) && first)
      return this.of(first, detail);
    if (callee !== null && isNumeric(callee)) return `{${primitive(callee.text)}}`;
    return `${this.callee(node, detail)}()`;
  }

  callee(node: Node, detail: Detail): string {
    const callee = node.childForFieldName('function');
    const given = this.given(node.childForFieldName('arguments'), detail);
    switch (callee?.type) {
      case 'identifier': {
        const local = this.#place.locals.find(callee.text, callee.startIndex);
        return local === undefined ? `${callee.text}${given}` : `${local}.${callName}${given}`;
      }
      case 'qualified_identifier':
      case 'template_function':
        return this.#path(callee, given);
      case 'field_expression':
        return this.#member(callee, detail === 2 ? 1 : detail, given);
      default:
        return `${this.of(callee, detail === 2 ? 1 : detail)}.${callName}${given}`;
    }
  }

  /** `given`: of the last name. */
  #path(node: Node, given: string): string {
    const parts = pathOf(node);
    const last = parts.at(-1);
    const [first] = parts;
    const names = parts.map((each) => escaped(nameIn(each)));
    if (first !== undefined && parts.length > 1)
      names[0] = this.#place.localType(names[0] ?? '', first.startIndex);
    if (isRooted(node)) names.unshift(rootName);
    const types = last === undefined ? '' : typeArguments(last, this.#place);
    return `${names.join('.')}${withTypes(given, types)}`;
  }

  #member(node: Node, detail: Detail, given: string): string {
    const field = node.childForFieldName('field');
    const argument = node.childForFieldName('argument');
    const name =
      field && lastName(field.type === 'dependent_name' ? (field.namedChild(0) ?? field) : field);
    if (name === null) return unknown;
    const types = typeArguments(name, this.#place);
    const own = `${escaped(nameIn(name))}${withTypes(given, types)}`;
    // `x.Base::f()`: of the base, also where `x` is of a type below it.
    if (field?.type === 'qualified_identifier') return this.#path(field, given);
    const isArrow = node.childForFieldName('operator')?.text === '->' || arrow(node);
    if (argument?.type === 'this') return `{${this.#place.own()}}.${own}`;
    return `${this.of(argument, detail)}${isArrow ? '.$arrow' : ''}.${own}`;
  }

  /** `a == b`, `a[i]`, `*a`: as a method of the first operand. */
  operator(node: Node, detail: Detail): string {
    const sign = signOf(node);
    const [first, second] = operandsOf(node);
    if (sign === '' || first === undefined) return unknown;
    const given = second === undefined ? '^()' : `^(${this.#argument(second, detail)})`;
    return `${this.of(first, detail === 2 ? 1 : detail)}.${escaped(`operator${sign}`)}${given}`;
  }

  given(list: Node | null, detail: Detail): string {
    const all = (list?.namedChildren ?? []).filter(({ type }) => type !== 'comment');
    // As many as there are, or more.
    if (all.some(({ type }) => type === 'parameter_pack_expansion')) return '^';
    if (detail === 0) return `^${all.length}`;
    const isLocal = (name: Node): boolean =>
      this.#place.locals.find(name.text, name.startIndex) !== undefined;
    return `^(${all.map((each) => stayOf(each, isLocal) + this.#argument(each, detail)).join(',')})`;
  }

  #argument(node: Node, detail: Detail): string {
    if (detail === 2) return this.of(node, 1);
    return node.text.length <= shortCharsMax ? this.of(node, 0) : unknown;
  }

  #operation(node: Node, detail: Detail): string {
    const operator = node.childForFieldName('operator')?.text ?? '';
    if (isTruth.test(operator)) return '{bool}';
    const left = this.of(node.childForFieldName('left'), detail === 2 ? 1 : detail);
    const right = this.of(node.childForFieldName('right'), detail === 2 ? 1 : detail);
    // A type may say itself what a sign means.
    if (!isNumber.test(left) || !isNumber.test(right))
      return left === unknown ? unknown : `${left}.${escaped(`operator${operator}`)}^(${right})()`;
    return /double|float/.test(right) ? right : left;
  }

  #number(node: Node | null, detail: Detail): string {
    const value = this.of(node, detail);
    return isNumber.test(value) ? value : unknown;
  }
}

const isNumber =
  /^\{(?:\$const<)?(?:\$zero|u?(?:char|short|int|l{0,2}long)|size_t|float|double|ldouble)>?\}$/;
/** `unsigned(1)` */
export function isNumeric(callee: Node): boolean {
  return (
    /^(?:primitive_type|sized_type_specifier)$/.test(callee.type) ||
    /^(?:un)?signed$/.test(callee.text)
  );
}

const callName = escaped('operator()');

function withTypes(given: string, types: string): string {
  return types === '' ? given : given === '' ? `^${types}` : `^${types}${given.slice(1)}`;
}

function arrow(node: Node): boolean {
  return node.children.some(({ type }) => type === '->');
}

export function signOf(node: Node): string {
  if (node.type === 'subscript_expression') return '[]';
  return node.childForFieldName('operator')?.text ?? '';
}

export function operandsOf(node: Node): (Node | undefined)[] {
  const field = (name: string): Node | undefined => node.childForFieldName(name) ?? undefined;
  switch (node.type) {
    case 'subscript_expression':
      return [field('argument'), field('indices')?.namedChild(0) ?? undefined];
    case 'binary_expression':
    case 'assignment_expression':
      return [field('left'), field('right')];
    default:
      return [field('argument')];
  }
}

function numberType({ type, text }: Node): string | undefined {
  if (type !== 'number_literal') return undefined;
  if (/^0x/i.test(text) ? /p/i.test(text) : /[.e]/i.test(text))
    return /f$/i.test(text) ? '{float}' : '{double}';
  const suffix = /[ul]+$/i.exec(text)?.[0].toLowerCase() ?? '';
  if (text === '0') return '{$zero}';
  const base = suffix.includes('ll') ? 'llong' : suffix.includes('l') ? 'long' : 'int';
  return `{${suffix.includes('u') ? 'u' : ''}${base}}`;
}

/** A value of this type, unless it is unknown. */
export function valueOfType(type: string): string {
  return type === unknown ? unknown : bounded(`{${type}}`);
}
