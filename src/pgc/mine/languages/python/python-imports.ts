import type { Node } from 'web-tree-sitter';
import type { Draft } from '../../draft.js';
import { importedName } from './python-bound.js';
import type { PythonFlow } from './python-flow.js';
import type { PythonNames } from './python-types.js';

const typeModules = new Set([
  'typing',
  'typing_extensions',
  'collections.abc',
  'collections',
  'contextlib',
  'asyncio',
  'dataclasses',
]);
/** Longer texts are expressions, not names. */
const nameCharsMax = 300;
/** Names of the language that take types. */
const builtinForms = new Set(['list', 'set', 'frozenset', 'dict', 'tuple', 'type', 'object']);

/** What one text imports, and by which names. */
export class PythonImports implements PythonNames {
  /** By local name: `module.name`, or the module. */
  readonly #originals = new Map<string, string>();
  readonly #typeVariables = new Set<string>();
  /** Any name may be one of another module. */
  isOpen = false;

  constructor(
    readonly draft: Draft,
    readonly flow: PythonFlow,
    readonly isDefined: (name: string) => boolean,
  ) {}

  find(name: string): string | undefined {
    // What it stands for depends on where it is asked.
    return this.isTypeVariable(name) ? undefined : this.flow.find(name);
  }

  typing(name: string): string | undefined {
    const original = this.original(name);
    if (original === undefined)
      return builtinForms.has(name) && !this.isDefined(name) ? name : undefined;
    const dot = original.lastIndexOf('.');
    return dot > 0 && typeModules.has(original.slice(0, dot)) ? original.slice(dot + 1) : undefined;
  }

  /** `typing.cast` for `t.cast` after `import typing as t`. */
  original(name: string): string | undefined {
    if (name.length > nameCharsMax) return undefined;
    const known = this.#originals.get(name);
    if (known !== undefined) return known;
    const dot = name.lastIndexOf('.');
    if (dot < 0) return undefined;
    const module = this.original(name.slice(0, dot)) ?? undefined;
    return module === undefined ? undefined : `${module}${name.slice(dot)}`;
  }

  isTypeVariable(name: string): boolean {
    return this.#typeVariables.has(name);
  }

  /** `T = TypeVar('T')` */
  noteTypeVariable(left: Node, right: Node | null): void {
    if (left.type !== 'identifier' || right?.type !== 'call') return;
    const callee = this.original(right.childForFieldName('function')?.text ?? '');
    if (callee !== undefined && /^typing(?:_extensions)?\.TypeVar$/.test(callee))
      this.#typeVariables.add(left.text);
  }

  read(node: Node): void {
    if (node.type === 'import_from_statement') this.#from(node);
    else if (node.type === 'import_statement') this.#import(node);
  }

  #import(node: Node): void {
    for (const each of node.childrenForFieldName('name')) {
      const target = (each.childForFieldName('name') ?? each).text;
      const alias = each.childForFieldName('alias')?.text;
      this.draft.imports.push({ target, names: [`*:${alias ?? target}`], at: node.startIndex });
      const local = importedName(each);
      this.#bind(local, alias === undefined ? local : target, '', node);
    }
  }

  #from(node: Node): void {
    const target = (node.childForFieldName('module_name')?.text ?? '').replaceAll(/\s/g, '');
    const names: string[] = [];
    for (const each of node.childrenForFieldName('name')) {
      const name = (each.childForFieldName('name') ?? each).text;
      const alias = each.childForFieldName('alias')?.text;
      names.push(alias === undefined ? name : `${name}:${alias}`);
      this.#bind(alias ?? name, target, name, node);
    }
    const isAll = node.namedChildren.some((child) => child.type === 'wildcard_import');
    this.isOpen ||= isAll;
    this.draft.imports.push({ target, names: isAll ? ['*'] : names, at: node.startIndex });
  }

  /** Inside a function an import is meant by a name of its own. */
  #bind(local: string, module: string, name: string, node: Node): void {
    this.#originals.set(local, name === '' ? module : `${module}.${name}`);
    if (this.flow.isModule) {
      this.flow.set(local, local);
      return;
    }
    const key = `${local}#${this.draft.lineOf(node.startIndex)}`;
    this.draft.type(undefined, 'local', key, `${module} ${name}`);
    this.flow.set(local, key);
  }
}
