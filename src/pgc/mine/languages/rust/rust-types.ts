import type { Node } from 'web-tree-sitter';
import { bounded, boundedLink, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';

/** A type as `expression.ts` writes it. `self`: what `Self` is here. */
export function rustType(node: Node | null | undefined, self: string): string {
  return node ? boundedLink(() => typeOf(node, self)) : unknown;
}

function typeOf(node: Node, self: string): string {
  const of = (field: string): string => rustType(node.childForFieldName(field), self);
  switch (node.type) {
    case 'type_identifier':
      return node.text === 'Self' && self !== '' ? self : node.text;
    case 'primitive_type':
      return node.text;
    case 'scoped_type_identifier':
      return dotted(node.text, self);
    case 'generic_type':
      return `${of('type')}${listed(typeArguments(node, self))}`;
    case 'reference_type':
    case 'pointer_type':
      return of('type');
    case 'array_type':
      return `$list<${of('element')}>`;
    case 'tuple_type':
      return `$struct${listed(node.namedChildren.map((each, at) => `${at}:${rustType(each, self)}`))}`;
    case 'function_type':
      return functionOf(node, self);
    case 'dynamic_type':
    case 'abstract_type':
      return of('trait');
    case 'bounded_type':
    case 'trait_bounds':
      return boundsOf(node, self);
    default:
      return unknown;
  }
}

/** What it gives, and each parameter by its number. */
function functionOf(node: Node, self: string): string {
  const result = node.childForFieldName('return_type');
  const parameters = node.childForFieldName('parameters')?.namedChildren ?? [];
  const taken = parameters.map((each, at) => `${at}:${rustType(each, self)}`);
  if (result === null && taken.length === 0) return '$func';
  return `$func${listed([rustType(result, self), ...taken])}`;
}

/** Several traits at once; lifetimes are none. */
function boundsOf(node: Node, self: string): string {
  const all = node.namedChildren
    .map((each) => rustType(each, self))
    .filter((each) => each !== unknown);
  return all.length === 1
    ? (all[0] ?? unknown)
    : all.length === 0
      ? unknown
      : `$union${listed(all)}`;
}

function listed(types: readonly string[]): string {
  return types.length === 0 ? '' : `<${types.join(',')}>`;
}

/** Without lifetimes and constants. */
export function typeArguments(node: Node, self: string): string[] {
  const all = node.childForFieldName('type_arguments')?.namedChildren ?? [];
  return all
    .filter(({ type }) => type !== 'lifetime')
    .map((each) =>
      rustType(each.type === 'type_binding' ? each.childForFieldName('type') : each, self),
    );
}

/** `a::b::C<T>` is `a.b.C`. */
export function dotted(path: string, self: string): string {
  const plain = path.replace(/<[^>]*>/g, '').replace(/\s/g, '');
  if (!/^[\w:]+$/.test(plain)) return unknown;
  const [first = '', ...rest] = plain.split('::').filter((part) => part !== '');
  return [first === 'Self' && self !== '' ? self : first, ...rest].join('.');
}

/** What a function gives back; the first and only result. */
export function rustResult(node: Node, self: string): string[] {
  const result = node.childForFieldName('return_type');
  if (result === null) return [];
  const isAsync = node.namedChildren.some(
    ({ type, text }) => type === 'function_modifiers' && /\basync\b/.test(text),
  );
  const type = rustType(result, self);
  return [isAsync ? bounded(`$promise<${type}>`) : type];
}

/** Type parameters, and what they must satisfy, also by `where`. */
export function rustBounds(node: Node, self: string): { name: string; type: string }[] {
  const where = node.namedChildren.find(({ type }) => type === 'where_clause');
  const more = new Map(
    (where?.namedChildren ?? []).map((each) => [
      each.childForFieldName('left')?.text ?? '',
      rustType(each.childForFieldName('bounds'), self),
    ]),
  );
  return (node.childForFieldName('type_parameters')?.namedChildren ?? []).flatMap((each) => {
    const name = each.childForFieldName('name')?.text ?? '';
    if (!/^(?:optional_)?type_parameter$/.test(each.type) || name === '') return [];
    const otherwise = node.type === 'type_item' ? each.childForFieldName('default_type') : null;
    const bound = rustType(otherwise ?? each.childForFieldName('bounds'), self);
    return [{ name, type: bound === unknown ? (more.get(name) ?? unknown) : bound }];
  });
}

/** What a value is, as `expression.ts` writes it. */
export function rustExpression(
  node: Node | null | undefined,
  locals: Locals,
  self: string,
): string {
  return node ? boundedLink(() => expressionOf(node, locals, self)) : unknown;
}

const comparing = /^(?:[=!]=|[<>]=?|&&|\|\|)$/;

function expressionOf(node: Node, locals: Locals, self: string): string {
  const of = (each: Node | null | undefined): string => rustExpression(each, locals, self);
  const named = (field: string): string => of(node.childForFieldName(field));
  switch (node.type) {
    case 'identifier':
      if (node.text === 'Self' && self !== '') return self;
      return locals.expressionOf(node.text, node.startIndex);
    case 'self':
      return locals.find('self', node.startIndex) ?? unknown;
    case 'field_expression':
      return `${named('value')}.${node.childForFieldName('field')?.text ?? unknown}`;
    case 'call_expression':
      return madeBy(node, locals, self) ?? `${named('function')}()`;
    case 'generic_function':
      return named('function');
    case 'scoped_identifier':
      return pathOf(node, self);
    case 'try_expression':
      return `${of(node.namedChild(0))}!`;
    case 'await_expression':
      return `${of(node.namedChild(0))}!`;
    case 'index_expression':
      return `${of(node.namedChild(0))}[]`;
    case 'reference_expression':
    case 'unary_expression':
    case 'parenthesized_expression':
      return of(node.namedChildren.findLast(({ type }) => type !== 'mutable_specifier'));
    case 'type_cast_expression':
      return `{${rustType(node.childForFieldName('type'), self)}}`;
    case 'struct_expression':
      return `{${rustType(node.childForFieldName('name'), self)}}`;
    case 'closure_expression':
      return `{$func${listed(node.childForFieldName('return_type') === null ? [] : [rustType(node.childForFieldName('return_type'), self)])}}`;
    case 'string_literal':
    case 'raw_string_literal':
      return '{str}';
    case 'integer_literal':
      return '{usize}';
    case 'float_literal':
      return '{f64}';
    case 'char_literal':
      return '{char}';
    case 'boolean_literal':
      return '{bool}';
    case 'array_expression':
      return `{$list<=${of(node.namedChild(0))}>}`;
    case 'tuple_expression':
      return `{$struct${listed(node.namedChildren.map((each, at) => `${at}:=${of(each)}`))}}`;
    case 'binary_expression':
      return comparing.test(node.childForFieldName('operator')?.text ?? '') ? '{bool}' : unknown;
    default:
      return unknown;
  }
}

/** Types of the library that only hold a value: a method of theirs is one of the value. */
const wrappers = /^(?:Box|Rc|Arc|Pin|Cell|RefCell|Mutex|RwLock|OnceCell|ManuallyDrop)$/;
/** Those whose constructors say nothing of what they will hold. */
const holders =
  /^(?:Vec|VecDeque|LinkedList|HashSet|BTreeSet|BinaryHeap|HashMap|BTreeMap|IndexMap)$/;

/** What is made by the library out of what it is given. */
function madeBy(call: Node, locals: Locals, self: string): string | undefined {
  const called = call.childForFieldName('function');
  const [first] = call.childForFieldName('arguments')?.namedChildren ?? [];
  const given = (): string => rustExpression(first, locals, self);
  if (called?.type === 'identifier') {
    if (isMacro(call)) return madeByMacro(called.text, first && given());
    if (first === undefined) return undefined;
    if (/^(?:Some|Ok)$/.test(called.text)) return bounded(`{$option<=${given()}>}`);
    return called.text === 'Err' ? bounded(`{$option<?,=${given()}>}`) : undefined;
  }
  if (called?.type !== 'scoped_identifier') return undefined;
  const path = called.childForFieldName('path');
  const type = (path?.type === 'generic_type' ? path.childForFieldName('type') : path)?.text ?? '';
  const short = type.slice(type.lastIndexOf(':') + 1);
  const name = called.childForFieldName('name')?.text ?? '';
  if (wrappers.test(short) && /^(?:new|pin|from|clone)$/.test(name) && first) return given();
  if (!holders.test(short) || !/^(?:new|with_capacity|default)$/.test(name)) return undefined;
  return `{${path?.type === 'generic_type' ? rustType(path, self) : short}}`;
}

function madeByMacro(name: string, given: string | undefined): string {
  if (/^(?:format|concat|stringify|env)$/.test(name)) return '{String}';
  if (/^writeln?$/.test(name)) return '{$option<bool,std.fmt.Error>}';
  if (name === 'ready' && given !== undefined) return bounded(`${given}!`);
  if (name !== 'vec') return unknown;
  return given === undefined ? '{$list}' : bounded(`{$list<=${given}>}`);
}

/** Its sign is left out, see `withoutMacros`. */
function isMacro(call: Node): boolean {
  const end = call.childForFieldName('function')?.endIndex ?? 0;
  return (call.childForFieldName('arguments')?.startIndex ?? 0) > end;
}

/** What a function hands to the one that it takes, by the number of a parameter of that; unknown where it is not given. */
export function handedTo(closure: Node, locals: Locals, self: string): string {
  const list = closure.parent;
  const call = list?.type === 'arguments' ? list.parent : null;
  if (call?.type !== 'call_expression') return unknown;
  const at = list?.namedChildren.findIndex((each) => each.id === closure.id) ?? 0;
  return `${rustExpression(call.childForFieldName('function'), locals, self)}@${at}`;
}

/** `Type::<T>::name`, `crate::module::name`, `<T as Trait>::name`. */
function pathOf(node: Node, self: string): string {
  const name = node.childForFieldName('name')?.text ?? unknown;
  const path = node.childForFieldName('path');
  if (path === null) return name;
  if (path.type === 'scoped_identifier') return `${pathOf(path, self)}.${name}`;
  if (path.type === 'generic_type') {
    const type = path.childForFieldName('type');
    return `${dotted(type?.text ?? '', self)}.${name}`;
  }
  if (path.type === 'bracketed_type') {
    const type = path.namedChild(0);
    const its = type?.type === 'qualified_type' ? type.childForFieldName('type') : type;
    return `{${rustType(its, self)}}.${name}`;
  }
  return `${dotted(path.text, self)}.${name}`;
}

/** What the names of a pattern stand for, when it is matched with a value. */
export function declarePattern(
  pattern: Node | null | undefined,
  expression: string,
  from: number,
  locals: Locals,
  self: string,
): void {
  if (!pattern) return;
  const go = (each: Node | null | undefined, its: string): void =>
    declarePattern(each, bounded(its), from, locals, self);
  switch (pattern.type) {
    case 'self':
      locals.declare('self', from, expression);
      return;
    case 'identifier':
    case 'shorthand_field_identifier':
      // A constant, or a variant without fields, begins with a capital.
      if (!/^[A-Z]/.test(pattern.text)) locals.declare(pattern.text, from, expression);
      return;
    case 'match_pattern':
    case 'ref_pattern':
    case 'mut_pattern':
    case 'reference_pattern':
      go(
        pattern.namedChildren.findLast(({ type }) => type !== 'mutable_specifier'),
        expression,
      );
      return;
    case 'captured_pattern':
      go(pattern.namedChild(0), expression);
      go(pattern.namedChild(1), expression);
      return;
    case 'or_pattern':
      for (const each of pattern.namedChildren) go(each, expression);
      return;
    case 'tuple_pattern':
      for (const [at, each] of pattern.namedChildren.entries()) go(each, `${expression}.${at}`);
      return;
    case 'tuple_struct_pattern': {
      const [type, ...parts] = pattern.namedChildren;
      const name = type?.text ?? '';
      const held = /(?:^|::)(?:Some|Ok|Ready)$/.test(name)
        ? `${expression}!`
        : /(?:^|::)Err$/.test(name) && `${expression}.err()!`;
      for (const [at, each] of parts.entries())
        go(each, held === false ? `{${dotted(name, self)}}.${at}` : held);
      return;
    }
    case 'struct_pattern': {
      const type = `{${dotted(pattern.childForFieldName('type')?.text ?? '', self)}}`;
      for (const field of pattern.namedChildren.filter((each) => each.type === 'field_pattern')) {
        const name = field.childForFieldName('name');
        go(field.childForFieldName('pattern') ?? name, `${type}.${name?.text ?? unknown}`);
      }
    }
  }
}
