import type { Node } from 'web-tree-sitter';
import type { ImportDraft } from '../../draft.js';

/**
 * An import or re-export statement, by its source text. Names as `x`, `x:y` for `x as y`, `*` for all,
 * `*:ns` for a namespace, `default:Name`.
 */
export function importOf(statement: string, at: number): ImportDraft | undefined {
  const source = statement.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ');
  const required = /^import\s+(?:type\s+)?([\w$]+)\s*=\s*require\s*\(\s*(['"])(.*?)\2/.exec(source);
  if (required !== null)
    return { target: required[3] ?? '', names: [`*:${required[1] ?? ''}`], at };
  const target = /(?:\bfrom|^import)\s*(['"])(.*?)\1/.exec(source)?.[2];
  if (target === undefined) return undefined;
  const names: string[] = [];
  const list = /\{([^}]*)\}/.exec(source);
  const head = (list === null ? source : source.slice(0, list.index))
    .replace(/^(?:import|export)\s*(?:type\s+(?!from\b))?/, '')
    .replace(/(?:\bfrom)?\s*(['"]).*$/s, '');
  for (const part of head.split(',').map((each) => each.trim())) {
    const namespace = /^\*\s*(?:as\s+([\w$]+))?/.exec(part);
    if (namespace !== null) names.push(namespace[1] === undefined ? '*' : `*:${namespace[1]}`);
    else if (/^[\w$]+$/.test(part)) names.push(`default:${part}`);
  }
  names.push(...bindings(list?.[1] ?? '', /\s+as\s+/));
  return { target, names, at };
}

/** `require('x')`, `import('x')`. `callee`: what is called; undefined when the argument is not a literal. */
export function dynamicImportOf(callee: Node): ImportDraft | undefined {
  const call = callee.parent;
  const target = call === null ? undefined : requiredBy(call);
  if (call === null || target === undefined) return undefined;
  return { target, names: namesOf(call) ?? [`*:${moduleName(call)}`], at: callee.startIndex };
}

/** The module that a call names; undefined: it is no such call. */
export function requiredBy(call: Node): string | undefined {
  const callee = call.type === 'call_expression' ? call.childForFieldName('function') : null;
  if (callee === null || (callee.type !== 'import' && callee.text !== 'require')) return undefined;
  const given = call.childForFieldName('arguments')?.namedChildren ?? [];
  const literal = given.find(({ type }) => type !== 'comment')?.text ?? '';
  return /^(['"`])([^'"`$\n]*)\1$/.exec(literal)?.[2];
}

/** The name of a module where it is used as a value. */
export function moduleName({ startIndex }: Node): string {
  return `require$${startIndex}`;
}

/** Whether a variable is one of the names of an import. */
export function isImported(declarator: Node): boolean {
  const call = callIn(declarator.childForFieldName('value'));
  return call !== null && requiredBy(call) !== undefined && namesOf(call) !== undefined;
}

/** The names under which a module, or a part of it, is known in the file; undefined: it is used otherwise. */
function namesOf(call: Node): string[] | undefined {
  let value = unwrapped(call);
  let part = '*';
  const { parent } = value;
  if (parent?.type === 'member_expression' && parent.childForFieldName('object')?.id === value.id) {
    part = parent.childForFieldName('property')?.text ?? part;
    value = unwrapped(parent);
  }
  const holder = value.parent;
  if (holder?.type === 'assignment_expression' && part === '*')
    return holder.childForFieldName('left')?.text === 'module.exports'
      ? ['*', '*:default']
      : undefined;
  const name = holder?.type === 'variable_declarator' ? holder.childForFieldName('name') : null;
  if (name?.type === 'identifier') return [`${part}:${name.text}`];
  return name?.type === 'object_pattern' && part === '*' ? namesIn(name) : undefined;
}

/** What stands around a value without changing it, or waits for it. */
const around = /^(?:await|parenthesized|non_null|as|satisfies)_expression$/;

function unwrapped(node: Node): Node {
  let outer = node;
  while (outer.parent !== null && around.test(outer.parent.type)) outer = outer.parent;
  return outer;
}

function callIn(value: Node | null): Node | null {
  let inner = value;
  while (inner !== null && (around.test(inner.type) || inner.type === 'member_expression'))
    inner = inner.childForFieldName('object') ?? inner.namedChild(0);
  return inner?.type === 'call_expression' ? inner : null;
}

/** Of a pattern; undefined: it takes more than members of the module. */
function namesIn(pattern: Node): string[] | undefined {
  const names = pattern.namedChildren
    .filter(({ type }) => type !== 'comment')
    .map((each) => {
      const key = each.childForFieldName('key')?.text;
      const value = each.childForFieldName('value') ?? each;
      const name = value.childForFieldName('left') ?? value;
      if (!/identifier/.test(name.type)) return undefined;
      return key === undefined ? name.text : `${key}:${name.text}`;
    });
  return names.every((each) => each !== undefined) ? names : undefined;
}

/** Local names that `export { a, b as c }` or `module.exports = { a, b: c }` hand out. */
export function exportedNames(list: string, separator: RegExp, side: 'left' | 'right'): string[] {
  return list
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*/g, ' ')
    .split(',')
    .map((each) =>
      each
        .trim()
        .replace(/^type\s+/, '')
        .split(separator),
    )
    .map((parts) => (side === 'left' ? parts[0] : parts.at(-1)) ?? '')
    .filter((name) => /^[\w$]+$/.test(name));
}

function bindings(list: string, separator: RegExp): string[] {
  return list
    .split(',')
    .map((each) =>
      each
        .trim()
        .replace(/^type\s+(?!as\b)/, '')
        .replace(/\s*=[\s\S]*$/, ''),
    )
    .filter((each) => each !== '')
    .map((each) => each.split(separator).slice(0, 2).join(':'));
}
