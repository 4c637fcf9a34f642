import type { Node } from 'web-tree-sitter';
import { bounded, boundedLink, expressionCharsMax, unknown } from '../../../format/expression.js';
import type { Locals } from '../../locals.js';
import { moduleName, requiredBy } from './es-imports.js';
import { isFunction, nameOf } from './es-signature.js';
import { esType, functionType, namedType, typeArguments, type LocalName } from './es-types.js';

/** What a value is, as `expression.ts` writes it. */
export function esExpression(node: Node | null | undefined, locals: Locals): string {
  return node ? boundedLink(() => expressionOf(node, locals)) : unknown;
}

/** Types inside functions are meant by another name than they are written. */
export function localNames(locals: Locals): LocalName {
  return (name, at, isValue = false) => {
    const found = locals.find(name, at);
    const isMeant = isValue || (found !== undefined && /^[\w$]+#\d+$/.test(found));
    return isMeant ? (found ?? name) : name;
  };
}

function expressionOf(node: Node, locals: Locals): string {
  const of = (field: string): string => esExpression(node.childForFieldName(field), locals);
  switch (node.type) {
    case 'identifier':
    case 'shorthand_property_identifier':
      return node.text === 'undefined' ? unknown : locals.expressionOf(node.text, node.startIndex);
    case 'this':
      return locals.find('this', node.startIndex) ?? unknown;
    case 'super':
      return locals.find('super', node.startIndex) ?? unknown;
    case 'member_expression':
      return memberOf(node, locals);
    case 'subscript_expression':
      return elementOf(node, of('object'), locals);
    case 'call_expression':
      return callOf(node, locals);
    case 'new_expression':
      return constructed(node, locals);
    case 'await_expression':
      return after(inner(node, locals), '!');
    case 'as_expression':
    case 'type_assertion':
      return asserted(node, locals);
    case 'satisfies_expression':
    case 'non_null_expression':
    case 'parenthesized_expression':
      return inner(node, locals);
    case 'ternary_expression':
      return firstKnown(of('consequence'), of('alternative'));
    case 'binary_expression':
      return operationOf(node, locals);
    case 'assignment_expression':
      return firstKnown(definedBy(node, locals) ?? of('right'), of('left'));
    case 'sequence_expression':
      return esExpression(node.lastNamedChild, locals);
    case 'array':
      return listOf(node, locals);
    case 'object':
      return objectOf(node, locals);
    case 'string':
    case 'template_string':
      return '{string}';
    case 'number':
      return '{number}';
    case 'regex':
      return '{RegExp}';
    case 'true':
    case 'false':
      return '{boolean}';
    default:
      return isFunction(node) ? `{${functionType(node, localNames(locals))}}` : unknown;
  }
}

/** What an assignment to a member of the file or of a module defines: a function or a class. */
function definedBy(assignment: Node, locals: Locals): string | undefined {
  const [left, right] = ['left', 'right'].map((each) => assignment.childForFieldName(each));
  if (!left || !right || !(isFunction(right) || right.type === 'class')) return undefined;
  if (isExports(left)) return nameOf(right) || 'default';
  const object = left.childForFieldName('object');
  if (object?.type === 'identifier' && locals.find(object.text, object.startIndex) === undefined)
    return memberOf(left, locals);
  if (object === null || !isExports(object)) return undefined;
  return passedOnAs(left.childForFieldName('property')?.text ?? unknown);
}

/** What is assigned through a chain, `a = b = value`, as long as its names are such. */
export function assignedLast(
  value: Node,
  isThrough: (left: Node) => boolean = () => true,
): { value: Node; through: Node[] } {
  const through: Node[] = [];
  let last = value;
  while (last.type === 'assignment_expression') {
    const [left, right] = ['left', 'right'].map((each) => last.childForFieldName(each));
    if (!left || !right || !isThrough(left)) break;
    through.push(left);
    last = right;
  }
  return { value: last, through };
}

function inner(node: Node, locals: Locals): string {
  return esExpression(node.namedChild(0), locals);
}

function firstKnown(one: string, other: string): string {
  return one === unknown ? other : one;
}

/** Names of a module that it passes on are its own. */
function memberOf(node: Node, locals: Locals): string {
  const object = node.childForFieldName('object');
  const name = node.childForFieldName('property')?.text ?? unknown;
  if (isExports(node)) return moduleItself;
  if (object !== null && isExports(object)) return passedOnAs(name);
  if (object?.type === 'identifier' && object.text === 'Symbol') return symbolValue;
  // In an object that is passed on, `this` is the module.
  if (object?.type === 'this' && esExpression(object, locals) === moduleItself)
    return passedOnAs(name);
  return after(esExpression(object, locals), `.${name}`);
}

/** No name is like it. */
const symbolValue = '{$symbol}';

/** What a module passes on as a whole: `this` in the functions of such an object. */
export const moduleItself = 'exports';

/** What only other files know by this name; in its own text it is a member of `exports`. */
export function passedOnAs(name: string): string {
  return `${name}#${moduleItself}`;
}

export function isExports({ text }: Node): boolean {
  return text === moduleItself || text === `module.${moduleItself}`;
}

function elementOf(node: Node, object: string, locals: Locals): string {
  const name = indexName(node) ?? heldKey(node.childForFieldName('index'), locals);
  return after(object, name === undefined ? '[]' : `.${name}`);
}

/**
 * The name of a member whose key a name of the file holds, mostly a symbol: `this[kAgent]`. What else is called by that
 * name in a type has the same key.
 */
export function heldKey(key: Node | null, locals: Locals): string | undefined {
  if (key?.type !== 'identifier' && key?.type !== 'member_expression') return undefined;
  const path = /^([\w$]+)((?:\.[\w$]+)*)$/.exec(key.text);
  const root = path === null ? undefined : locals.find(path[1] ?? '', key.startIndex);
  const isHeld = root === undefined || /^[\w$]+(?:\.[\w$]+)+$/.test(root);
  return path !== null && isHeld
    ? `%${`${root ?? path[1]}${path[2]}`.split('.').at(-1)}`
    : undefined;
}

/** The name of a member in brackets: `x['name']`. */
export function indexName(node: Node): string | undefined {
  const index = node.childForFieldName('index');
  return index?.type === 'string' ? /^['"]([\w$]+)['"]$/.exec(index.text)?.[1] : undefined;
}

/** A member that an expression names when the program runs. */
export function computedMember(node: Node, locals: Locals): string {
  const [object, index] = ['object', 'index'].map((each) =>
    esExpression(node.childForFieldName(each), locals),
  );
  return object === undefined || object === unknown ? unknown : bounded(`${object}.^(${index})`);
}

/** Functions of the runtime that give back what they take, or its elements. */
const passing = /^(?:Object\.(?:assign|freeze|seal|values)|Array\.from|Promise\.resolve)$/;
/** Those that give what something they take holds or gives. */
const gathering = /^(?:Promise|Reflect|Object\.(?:entries|fromEntries|create)|Array\.of)\b/;

function callOf(node: Node, locals: Locals): string {
  if (requiredBy(node) !== undefined) return moduleName(node);
  const callee = node.childForFieldName('function');
  const args = node.childForFieldName('arguments');
  const name =
    callee?.type === 'member_expression' && callee.endIndex - callee.startIndex < 30
      ? callee.text
      : '';
  if (passing.test(name)) return esExpression(args?.namedChild(0), locals);
  if (gathering.test(name)) return unknown;
  if (callee?.childForFieldName('property')?.text === 'bind')
    return esExpression(callee.childForFieldName('object'), locals);
  if (callee?.type === 'identifier' && callee.text === 'require') return unknown;
  if (/^Symbol(?:\.for)?$/.test(callee?.type === 'identifier' ? callee.text : name))
    return symbolValue;
  return after(esExpression(callee, locals), '()');
}

/** Of what is not known nothing else is. */
function after(expression: string, step: string): string {
  return expression === unknown ? unknown : expression + step;
}

function constructed(node: Node, locals: Locals): string {
  return constructedBy(
    node.childForFieldName('constructor'),
    typeArguments(node, localNames(locals)),
    locals,
  );
}

/** A value of the type that a constructor makes. */
export function constructedBy(
  constructor: Node | null,
  args: readonly string[],
  locals: Locals,
): string {
  if (constructor === null) return unknown;
  const callee = esExpression(constructor, locals);
  // A type of the file or of an import; else a variable holds it.
  return /^[\w$]+(?:#\d+)?(?:\.[\w$]+)*$/.test(callee)
    ? `{${namedType(callee, args)}}`
    : after(callee, '()');
}

function asserted(node: Node, locals: Locals): string {
  const isPrefix = node.type === 'type_assertion';
  const value = node.namedChild(isPrefix ? 1 : 0);
  const type = isPrefix ? node.namedChild(0)?.namedChild(0) : node.namedChild(1);
  if (!type || type.type === 'const') return esExpression(value, locals);
  return valueOf(esType(type, localNames(locals)));
}

/** A value of this type. */
export function valueOf(type: string): string {
  if (type.startsWith('=')) return type.slice(1);
  return type === unknown ? unknown : bounded(`{${type}}`);
}

/** The first that is known; a name beside something unknown may not be what is called. */
export function either(
  one: Node | null | undefined,
  other: Node | null | undefined,
  locals: Locals,
): string {
  const known = esExpression(one, locals);
  if (known !== unknown) return known;
  const its = esExpression(other, locals);
  const isNamed = /^(?:identifier|member_expression)$/.test(other?.type ?? '') && its !== unknown;
  return isNamed ? bounded(`{$union<${unknown},=${its}>}`) : its;
}

function operationOf(node: Node, locals: Locals): string {
  const [left, right] = ['left', 'right'].map((each) => node.childForFieldName(each));
  switch (node.childForFieldName('operator')?.type) {
    case '||':
    case '??':
      return either(left, right, locals);
    case '&&':
      return esExpression(right, locals);
    case '+':
      return '{string}';
    case '-':
    case '*':
    case '/':
      return '{number}';
    default:
      return '{boolean}';
  }
}

function listOf(node: Node, locals: Locals): string {
  const first = esExpression(node.namedChild(0), locals);
  const type = /^\{([^{}]*)\}$/.exec(first)?.[1];
  return type === undefined ? '{$list}' : `{$list<${type}>}`;
}

function objectOf(node: Node, locals: Locals): string {
  const fields = node.namedChildren.flatMap((each) => {
    const name = (each.childForFieldName('key') ?? each).text;
    const value =
      each.type === 'shorthand_property_identifier' ? each : each.childForFieldName('value');
    const type = typeText(esExpression(value, locals));
    return type === unknown || !/^[\w$]+$/.test(name) ? [] : [`${name}:${type}`];
  });
  // Of a property that is not known, or for which there is no room, nothing can be said.
  let known = '';
  for (const each of fields)
    if (known.length + each.length < structCharsMax) known += `${known === '' ? '' : ','}${each}`;
  return known === '' ? unknown : `{$struct<${known}>}`;
}

/** What is written around it has room, too. */
const structCharsMax = expressionCharsMax - 40;

/** The type of a value, as a type is written: `=` before what it comes to. */
function typeText(expression: string): string {
  const type = /^\{([^{}]*)\}$/.exec(expression)?.[1];
  return type ?? (expression === unknown ? unknown : `=${expression}`);
}
