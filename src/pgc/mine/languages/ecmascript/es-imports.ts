import type { ImportDraft } from '../../draft.js';

/** How far before a `require(…)` the names it is bound to are looked for. */
const bindingCharsMax = 400;

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

/** `require('x').part`, `require('x')(…)` */
const requiredPart = /^require\s*\([^()]*\)\s*(?:\.([\w$]+)(?![\w$]|\s*[.([])|([.([]))/;

/** `require('x')`, `import('x')` at offset `at`; undefined when the argument is not a literal. */
export function dynamicImportOf(text: string, at: number): ImportDraft | undefined {
  const target =
    /^(?:require|import)\s*\(\s*(?:\/\*[^*]*\*\/\s*)?(['"`])([^'"`$\n]*)\1\s*[,)]/.exec(
      text.slice(at, at + bindingCharsMax),
    )?.[2];
  if (target === undefined) return undefined;
  const before = text.slice(Math.max(0, at - bindingCharsMax), at);
  const bound = /(?:const|let|var)\s+(?:\{([^{}]*)\}|([\w$]+))\s*=\s*(?:await\s+)?$/.exec(before);
  const after = requiredPart.exec(text.slice(at, at + bindingCharsMax));
  if (bound?.[2] !== undefined && after?.[1] !== undefined)
    return { target, names: [`${after[1]}:${bound[2]}`], at };
  // What a call of the module gives is no part of it.
  if (after?.[2] !== undefined) return { target, names: [], at };
  if (bound?.[2] !== undefined) return { target, names: [`*:${bound[2]}`], at };
  if (/\bmodule\.exports\s*=\s*$/.test(before)) return { target, names: ['*', '*:default'], at };
  const passed = /\bexports\.([\w$]+)\s*=\s*$/.exec(before)?.[1];
  if (passed !== undefined) return { target, names: [`${after?.[1] ?? '*'}:${passed}`], at };
  return { target, names: bindings(bound?.[1] ?? '', /\s*:\s*/), at };
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
