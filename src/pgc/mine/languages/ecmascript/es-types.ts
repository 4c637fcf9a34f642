import type { Node } from 'web-tree-sitter';
import { boundedLink, expressionCharsMax, unknown } from '../../../format/expression.js';

/** What names inside functions are meant by: of a value, all that is known of it. */
export type LocalName = (name: string, at: number, isValue?: boolean) => string;

/** A type as `expression.ts` writes it. */
export function esType(node: Node | null | undefined, local: LocalName = plain): string {
  return node ? boundedLink(() => shortened(typeOf(node, local))) : unknown;
}

/** Arguments of the innermost types are left out until it is short enough. */
function shortened(type: string): string {
  let its = type;
  while (its.length > expressionCharsMax) {
    const shorter = its.replace(/(?<=^|[<,:])([\w#.]+)<[^<>]*>/g, '$1');
    if (shorter === its) return its;
    its = shorter;
  }
  return its;
}

const plain: LocalName = (name) => name;

function typeOf(node: Node, local: LocalName): string {
  const inner = (at = 0): string => esType(node.namedChild(at), local);
  switch (node.type) {
    case 'predefined_type':
      return anything.has(node.text) ? unknown : node.text;
    case 'type_identifier':
    case 'identifier':
      return namedType(local(node.text, node.startIndex), []);
    case 'nested_type_identifier':
      return node.text.replace(/\s/g, '');
    case 'generic_type': {
      const name = node.childForFieldName('name');
      return namedType(esType(name, local), typeArguments(node, local));
    }
    case 'this_type':
      return '$this';
    case 'literal_type':
      return literals[node.namedChild(0)?.type ?? ''] ?? unknown;
    case 'template_literal_type':
      return 'string';
    case 'array_type':
      return `$list<${inner()}>`;
    case 'tuple_type':
      return `$list<${unionOf(node.namedChildren.map((each) => esType(each, local)))}>`;
    case 'function_type':
      return functionType(node, local);
    case 'object_type':
      return objectType(node, local);
    case 'union_type':
    case 'intersection_type':
      return unionOf(partsOf(node).map((each) => esType(each, local)));
    case 'type_query':
      return typeOfValue(node.namedChild(0), local);
    case 'lookup_type':
      return memberType(node, local);
    case 'type_predicate_annotation':
    case 'type_predicate':
      return 'boolean';
    case 'type_annotation':
    case 'readonly_type':
    case 'parenthesized_type':
    case 'optional_type':
    case 'constraint':
    case 'default_type':
    case 'rest_type':
      return inner();
    default:
      return unknown;
  }
}

/** The module of `import('./x')`. */
export function importedIn(text: string): string | undefined {
  return /^import\(\s*['"]([^'"]+)['"]\s*\)$/.exec(text)?.[1];
}

/** `typeof a.b`, `typeof import('./x').b` */
function typeOfValue(node: Node | null, local: LocalName): string {
  const path = /^([\w$]+|import\([^()]*\))((?:\.[\w$]+)*)$/.exec(node?.text ?? '');
  const root =
    path === null || node === null ? unknown : local(path[1] ?? '', node.startIndex, true);
  return root === unknown ? unknown : `=${root}${path?.[2] ?? ''}`;
}

/** `T['name']`, `T[number]` */
function memberType(node: Node, local: LocalName): string {
  const of = valueText(esType(node.namedChild(0), local));
  const index = node.namedChild(1)?.text ?? '';
  const name = /^['"]([\w$]+)['"]$/.exec(index)?.[1];
  if (of === unknown || (name === undefined && index !== 'number')) return unknown;
  return `=${of}${name === undefined ? '[]' : `.${name}`}`;
}

/** A value of a type. */
function valueText(type: string): string {
  if (type.startsWith('=')) return type.slice(1);
  return type === unknown ? unknown : `{${type}}`;
}

/** Types that are made of what a value of another one gives. */
const given: Partial<Record<string, string>> = {
  ReturnType: '()',
  InstanceType: '()',
  Awaited: '!',
};

const anything = new Set(['any', 'unknown', 'object', 'never']);
const literals: Partial<Record<string, string>> = {
  string: 'string',
  template_string: 'string',
  number: 'number',
  unary_expression: 'number',
  true: 'boolean',
  false: 'boolean',
  null: 'null',
  undefined: 'undefined',
};
const nothing = new Set(['null', 'undefined', 'void']);

/** Comments call functions and values of any type by words of their own. */
const writtenAnything = new Set([...anything, 'function', 'mixed', 'callback']);

/** A type by its name alone, as a comment has it. */
export function writtenType(name: string): string {
  return writtenAnything.has(name.toLowerCase()) ? unknown : namedType(name, []);
}

export function unionOf(types: readonly string[]): string {
  const all = [...new Set(types.filter((each) => !nothing.has(each)))];
  if (all.length < 2) return all[0] ?? unknown;
  return `$union<${all.join(',')}>`;
}

/** Unions of unions are one. */
function partsOf(node: Node): Node[] {
  return node.namedChildren.flatMap((each) => (each.type === node.type ? partsOf(each) : [each]));
}

const lists =
  /^(?:Readonly)?(?:Array|Set)$|^(?:Async)?(?:Iterable|Iterator|IterableIterator|Generator)$/;
const maps = /^(?:Readonly|Weak)?Map$|^Record$/;
const promises = /^Promise(?:Like)?$/;
/** Types with the members of their first argument. */
const same =
  /^(?:Partial|Required|Readonly|NonNullable|Omit|Pick|Exclude|Extract|NoInfer|ThisType|Mutable|DeepPartial)$/;

/** Types of the runtime are written as those of every language. */
export function namedType(name: string, args: readonly string[]): string {
  if (lists.test(name)) return `$list${listed(args.slice(0, 1))}`;
  if (maps.test(name)) return `$map${listed(args)}`;
  if (promises.test(name)) return `$promise${listed(args)}`;
  if (same.test(name) && args[0] !== undefined) return args[0];
  const steps = given[name];
  if (steps !== undefined && args[0] !== undefined) {
    const of = valueText(args[0]);
    return of === unknown ? unknown : `=${of}${steps}`;
  }
  return nothing.has(name) ? unknown : `${name}${listed(args)}`;
}

export function typeArguments(node: Node, local: LocalName): string[] {
  const list = node.namedChildren.find(({ type }) => type === 'type_arguments');
  return (list?.namedChildren ?? []).map((each) => esType(each, local));
}

function listed(types: readonly string[]): string {
  return types.length === 0 ? '' : `<${types.join(',')}>`;
}

/** Of a signature or a function. */
export function functionType(node: Node, local: LocalName): string {
  const result = resultType(node, local);
  const taken = parametersOf(node).map((each, at) => {
    const type = esType(each.childForFieldName('type'), local);
    return `${isRest(each) ? '*' : ''}${at}:${type}`;
  });
  const known = taken.filter((each) => !each.endsWith(`:${unknown}`));
  const full = shortened(`$func${listed([result, ...known])}`);
  return full.length > expressionCharsMax ? `$func<${result}>` : full;
}

export function resultType(node: Node, local: LocalName): string {
  return esType(node.childForFieldName('return_type') ?? undefined, local);
}

export function isRest(parameter: Node): boolean {
  const { type } = parameter.childForFieldName('pattern') ?? parameter;
  return type === 'rest_pattern';
}

/** `function (this: T)` */
export function thisParameter(node: Node): Node | undefined {
  const first = node.childForFieldName('parameters')?.namedChild(0);
  return first?.childForFieldName('pattern')?.type === 'this'
    ? (first.childForFieldName('type') ?? undefined)
    : undefined;
}

/** Without the type of `this`. */
export function parametersOf(node: Node): Node[] {
  const single = node.childForFieldName('parameter');
  if (single !== null) return [single];
  return (node.childForFieldName('parameters')?.namedChildren ?? []).filter(
    (each) => each.type !== 'comment' && each.childForFieldName('pattern')?.type !== 'this',
  );
}

function objectType(node: Node, local: LocalName): string {
  const index = node.namedChildren.find(({ type }) => type === 'index_signature');
  const members = membersOf(node, local);
  if (index !== undefined && members.length === 0)
    return `$map<string,${esType(index.childForFieldName('type'), local)}>`;
  const call = node.namedChildren.find(({ type }) => type === 'call_signature');
  if (call !== undefined && members.length === 0) return functionType(call, local);
  return `$struct${listed(members.map(({ name, type }) => `${name}:${type}`))}`;
}

/** Properties and methods of a type that is written out. */
export function membersOf(node: Node, local: LocalName): { name: string; type: string }[] {
  return node.namedChildren.flatMap((each) => {
    const name = each.childForFieldName('name')?.text ?? '';
    if (!/^[\w$#]+$/.test(name)) return [];
    if (each.type === 'property_signature')
      return [{ name, type: esType(each.childForFieldName('type'), local) }];
    return each.type === 'method_signature' ? [{ name, type: functionType(each, local) }] : [];
  });
}

/** Type parameters and what they must satisfy. */
export function esBounds(node: Node, local: LocalName): { name: string; type: string }[] {
  return (node.childForFieldName('type_parameters')?.namedChildren ?? []).flatMap((each) => {
    const name = each.childForFieldName('name')?.text;
    const type = esType(each.childForFieldName('constraint'), local);
    return name === undefined ? [] : [{ name, type }];
  });
}

/** What a class or an interface extends and implements. */
export function esBases(node: Node, local: LocalName): string[] {
  return node.namedChildren.flatMap((clause): string[] => {
    switch (clause.type) {
      case 'class_heritage':
        // In JavaScript there is no clause around the only base.
        return clause.namedChildren.some(({ type }) => /_clause$/.test(type))
          ? esBases(clause, local)
          : clause.namedChildren.map((each) => baseOf(each, '', local));
      case 'extends_clause': {
        const args = listed(typeArguments(clause, local));
        const value = clause.childForFieldName('value');
        return value === null ? [] : [baseOf(value, args, local)];
      }
      case 'implements_clause':
      case 'extends_type_clause':
        return clause.namedChildren.map((each) => esType(each, local));
      default:
        return [];
    }
  });
}

function baseOf(value: Node, args: string, local: LocalName): string {
  if (value.type === 'identifier') return `${local(value.text, value.startIndex)}${args}`;
  return value.type === 'member_expression' && /^[\w$.\s]+$/.test(value.text)
    ? `${value.text.replace(/\s/g, '')}${args}`
    : unknown;
}
