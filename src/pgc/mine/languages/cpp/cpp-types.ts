import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';

/** What types may ask of the place where they stand. */
export interface TypePlace {
  /** By which a type of this name is meant here. */
  localType(name: string, at: number): string;
  /** A value, as an expression. */
  of(node: Node | null | undefined): string;
}

/** Namespaces and types from the outermost one on. */
export const rootName = '$root';

/** A type as `expression.ts` writes it, without what its declarator adds. References are left out. */
export function cppType(node: Node | null | undefined, place: TypePlace): string {
  return node ? bounded(typeOf(node, place)) : unknown;
}

function typeOf(node: Node, place: TypePlace): string {
  switch (node.type) {
    case 'type_identifier':
    case 'namespace_identifier':
    case 'identifier':
    case 'field_identifier':
      return place.localType(node.text, node.startIndex);
    case 'primitive_type':
    case 'sized_type_specifier':
      return primitive(node.text);
    case 'template_type':
    case 'template_function':
    case 'template_method':
      return `${cppType(node.childForFieldName('name'), place)}${typeArguments(node, place)}`;
    case 'qualified_identifier':
      return qualified(node, place);
    case 'dependent_type':
    case 'dependent_name':
      return cppType(node.namedChild(0), place);
    case 'decltype': {
      const value = place.of(node.namedChild(0));
      return value === unknown ? unknown : `=${value}`;
    }
    case 'class_specifier':
    case 'struct_specifier':
    case 'union_specifier':
    case 'enum_specifier':
      return cppType(node.childForFieldName('name'), place);
    case 'type_descriptor':
      return declaredType(node, node.childForFieldName('declarator'), place).type;
    default:
      return unknown;
  }
}

/** `std::size_t` is written `size_t`, and `unsigned long int` `ulong`. */
export function primitive(text: string): string {
  const words = text.split(/\s+/);
  const isUnsigned = words.includes('unsigned');
  const longs = words.filter((each) => each === 'long').length;
  const size = words.includes('short') ? 'short' : words.includes('char') ? 'char' : 'int';
  if (words.includes('double')) return longs > 0 ? 'ldouble' : 'double';
  if (words.length === 1 && !isUnsigned && words[0] !== 'signed') return text;
  const base = longs === 0 ? size : longs === 1 ? 'long' : 'llong';
  return isUnsigned ? `u${base}` : base;
}

const isPrimitive =
  /^(?:bool|u?char|u?short|u?int|u?l{0,2}long|l?double|float|void|wchar_t|char\d+_t|\w+_t)$/;

/** `A::B<T>::C`: arguments in the middle are left out. */
function qualified(node: Node, place: TypePlace): string {
  const parts = pathOf(node);
  const last = parts.pop();
  const first = parts[0];
  const names = parts.map(nameIn);
  if (first !== undefined) names[0] = place.localType(names[0] ?? '', first.startIndex);
  if (isRooted(node)) names.unshift(rootName);
  const plain: TypePlace = { localType: plainName, of: (each) => place.of(each) };
  const own = last === undefined ? unknown : cppType(last, plain);
  return [...names, own].join('.');
}

function plainName(name: string): string {
  return name;
}

/** `::name` */
export function isRooted(node: Node): boolean {
  return node.type === 'qualified_identifier' && node.childForFieldName('scope') === null;
}

/** The last name of a path. */
export function lastName(node: Node): Node {
  return pathOf(node).at(-1) ?? node;
}

/** The names of `A::B::c`, each as its node. */
export function pathOf(node: Node): Node[] {
  const parts: Node[] = [];
  let rest: Node | null = node;
  while (rest?.type === 'qualified_identifier') {
    const scope = rest.childForFieldName('scope');
    if (scope !== null) parts.push(scope);
    rest = rest.childForFieldName('name') ?? rest.lastNamedChild;
  }
  if (rest !== null) parts.push(rest);
  return parts;
}

/** The name of a part without its arguments. */
export function nameIn(node: Node): string {
  return (node.childForFieldName('name') ?? node).text.replace(/<.*$/s, '').trim();
}

export function typeArguments(node: Node | null, place: TypePlace): string {
  const list = node?.childForFieldName('arguments');
  const all = (list?.namedChildren ?? []).filter(({ type }) => type !== 'comment');
  if (all.length === 0) return '';
  const types = all.map((each) =>
    each.type === 'type_descriptor' ? cppType(each, place) : unknown,
  );
  return `<${types.join(',')}>`;
}

export interface Declared {
  /** The node of the name; none in a list of types. */
  name: Node | undefined;
  /** Of a function: of its result. */
  type: string;
  /** The function that is declared: its parameters and marks. */
  function: Node | undefined;
}

const declarators = /_declarator$/;

/** What a declarator declares, of the type that is written before it in `node`. */
export function declaredType(node: Node, declarator: Node | null, place: TypePlace): Declared {
  const written = node.childForFieldName('type');
  // `unsigned value`: to the grammar that is all one type.
  const taken = declarator === null ? lastOfSized(written) : undefined;
  if (taken !== undefined)
    return { name: taken, type: primitive(withoutLast(written, taken)), function: undefined };
  let type = cppType(written, place);
  if (isConstant(node) && type !== unknown) type = constant(type);
  let inner = declarator;
  for (let depth = 0; inner !== null && depth < 32; depth += 1) {
    if (!declarators.test(inner.type)) break;
    const next: Node | null =
      inner.childForFieldName('declarator') ??
      inner.namedChildren.find((each) => declarators.test(each.type) || isName(each)) ??
      null;
    if (inner.type === 'function_declarator' || inner.type === 'abstract_function_declarator') {
      const trailing = inner.namedChildren.find((each) => each.type === 'trailing_return_type');
      if (trailing !== undefined) type = cppType(trailing.namedChild(0), place);
      if (next !== null && isName(next)) return { name: next, type: bare(type), function: inner };
      type = functionType(type, parametersIn(inner, place));
    } else if (/pointer|array/.test(inner.type) && !type.startsWith('$func'))
      type = pointerTo(type);
    inner = next;
  }
  return { name: inner ?? undefined, type: bounded(bare(type)), function: undefined };
}

/** `&` of `T& f()`, `const T& a`. */
export function referenceOf(declarator: Node | null): '' | '&' | '&&' {
  const sign = /^&{1,2}/.exec(declarator?.text ?? '')?.[0] ?? '';
  return sign === '&' || sign === '&&' ? sign : '';
}

/** Of a variable: what overloads ask of it counts also where the language holds it itself. */
export function heldType(node: Node, declarator: Node | null, type: string): string {
  const inner = declarator?.text ?? '';
  const isPointer = inner.includes('*');
  const isFixed = isPointer ? /\*\s*const\s*&?\s*\w*$/.test(inner) : isConstant(node);
  return !isFixed || type === unknown || type.startsWith('$const<') ? type : `$const<${type}>`;
}

function isName(node: Node): boolean {
  return /identifier$|_name$|^operator_cast$|^template_/.test(node.type);
}

function isConstant(node: Node): boolean {
  return node.namedChildren.some((each) => each.type === 'type_qualifier' && each.text === 'const');
}

export function pointerTo(type: string): string {
  return type === unknown ? unknown : `$ptr<${type}>`;
}

export function constant(type: string): string {
  return type.startsWith('$') && !type.startsWith(rootName) ? type : `$const<${type}>`;
}

/** Of a value that the language holds itself, nothing depends on that. */
function bare(type: string): string {
  const inner = /^\$const<(.*)>$/.exec(type)?.[1];
  return inner !== undefined && isPrimitive.test(inner) ? inner : type;
}

function lastOfSized(type: Node | null): Node | undefined {
  const last = type?.type === 'sized_type_specifier' ? type.lastNamedChild : null;
  return last?.type === 'type_identifier' ? last : undefined;
}

function withoutLast(type: Node | null, last: Node): string {
  return type?.text.slice(0, last.startIndex - type.startIndex).trim() ?? '';
}

function functionType(result: string, parameters: readonly Parameter[]): string {
  const all = parameters.map(({ type }, at) => `${at}:${type}`);
  return `$func<${[result, ...all].join(',')}>`;
}

export interface Parameter {
  name: string;
  type: string;
  /** `=`: it may be left out; `*`: it and all after it; `&`: what stays where it is; `&&`: what passes. */
  mark: '' | '=' | '*' | '&' | '&&';
  /** The type of the variable that it is inside. */
  held: string;
}

/** Of a function or a lambda. */
export function parametersIn(around: Node | null, place: TypePlace): Parameter[] {
  const list = around?.childForFieldName('parameters');
  if (!list) return [];
  const all = list.namedChildren.filter(({ type }) => /parameter_declaration$/.test(type));
  const found = all.map((each): Parameter => {
    const declarator = each.childForFieldName('declarator');
    const { name, type } = declaredType(each, declarator, place);
    const plain = referenceOf(declarator);
    const isPack = /^variadic/.test(each.type) || /\.\.\./.test(name?.text ?? '');
    const mark = isPack ? '*' : each.type === 'optional_parameter_declaration' ? '=' : plain;
    return {
      name: name?.text.replace(/^\.+\s*/, '') ?? '',
      type: isPack ? unknown : type,
      mark,
      held: isPack ? unknown : heldType(each, declarator, type),
    };
  });
  const isOpen = list.children.some(({ type }) => type === '...' || type === 'variadic_parameter');
  if (isOpen) found.push({ name: '', type: unknown, mark: '*', held: unknown });
  const isNone = found.length === 1 && found[0]?.type === 'void' && found[0].name === '';
  return isNone ? [] : found;
}

/** The names of type parameters; what they must satisfy says nothing of their members. */
export function cppBounds(template: Node | null): string[] {
  const list = template?.childForFieldName('parameters');
  return (list?.namedChildren ?? []).flatMap((each) => {
    if (!/parameter/.test(each.type)) return [];
    const name =
      each.childForFieldName('name') ??
      each.childForFieldName('declarator') ??
      each.namedChildren.findLast(({ type }) => /identifier$/.test(type));
    const text = /([A-Za-z_]\w*)\W*$/.exec(name?.text ?? '')?.[1];
    return [text ?? ''];
  });
}

/** The names of operators hold signs that expressions use themselves; that of a conversion begins with `operator~`. */
export function escaped(name: string): string {
  const rest = /^operator\b\s*(.*)$/s.exec(name)?.[1];
  if (rest === undefined || rest === '') return name;
  const code = (sign: string): string => `$${sign.charCodeAt(0).toString(16)}`;
  const isWord = /^\w/.test(rest) && !/^(?:new|delete|co_await)\b/.test(rest);
  return `operator${isWord ? '~' : ''}${rest.replace(/\s/g, '').replace(/\W/g, code)}`;
}
