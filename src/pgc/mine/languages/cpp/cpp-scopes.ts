import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { SymbolDraft } from '../../draft.js';
import type { Locals } from '../../locals.js';
import { cppType, declaredType, heldType, parametersIn, rootName } from './cpp-types.js';
import { cppExpression, valueOfType, type CppPlace } from './cpp-values.js';

interface Scope {
  kind: 'namespace' | 'type' | 'function';
  /** Of a function: of what it is a member of. */
  path: string;
  end: number;
  symbol: SymbolDraft | undefined;
  /** Type parameters that are visible in it; of a type, its own first. */
  bounds: readonly string[];
  /** Nothing of it is known in other texts. */
  isHidden: boolean;
  /** A method that does not change its value. */
  isConst?: boolean;
}

/** The namespaces, types and variables that are visible at the present place of a text. */
export class CppScopes implements CppPlace {
  readonly #scopes: Scope[] = [];
  /** Of types inside functions, so that each has a name of its own. */
  readonly #given = new Map<number, string>();

  constructor(readonly locals: Locals) {}

  /** Call it with every node. */
  reach(at: number): void {
    while ((this.#scopes.at(-1)?.end ?? Infinity) <= at) this.#scopes.pop();
  }

  enter(scope: Scope): void {
    this.#scopes.push(scope);
  }

  get innermost(): Readonly<Scope> | undefined {
    return this.#scopes.at(-1);
  }

  /** The namespace or type around this place; of a function, what it is a member of. */
  get path(): string {
    return this.innermost?.path ?? '';
  }

  get bounds(): readonly string[] {
    return this.innermost?.bounds ?? [];
  }

  get isHidden(): boolean {
    return this.innermost?.isHidden ?? false;
  }

  get function(): Readonly<Scope> | undefined {
    return this.#scopes.findLast(({ kind }) => kind === 'function');
  }

  get isInFunction(): boolean {
    return this.innermost?.kind === 'function';
  }

  own(): string {
    // A method that a macro opens is one of a type that is written nowhere.
    if (this.path === '') return unknown;
    const type = `${rootName}.${this.path}`;
    return this.function?.isConst === true ? `$const<${type}>` : type;
  }

  readonly localType = (name: string, at: number): string =>
    this.locals.find(typeKey(name), at) ?? name;

  typeOf(node: Node | null | undefined): string {
    return cppType(node, this);
  }

  of(node: Node | null | undefined): string {
    return cppExpression(node, this);
  }

  joined(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  /** Of `A::b` from here. */
  pathOf(scope: string): string {
    const dotted = scope.replaceAll('::', '.');
    return dotted.startsWith('.') ? dotted.slice(1) : this.joined(dotted);
  }

  /** The namespace around types: that of a friend. */
  get namespace(): string {
    return this.#scopes.findLast(({ kind }) => kind === 'namespace')?.path ?? '';
  }

  /** A type inside a function has a name of its own. */
  ownName(name: string, node: Node): string {
    if (this.function === undefined) return name;
    const known = this.#given.get(node.startIndex);
    if (known !== undefined) return known;
    const own = `${name}~${this.#given.size + 1}`;
    this.#given.set(node.startIndex, own);
    this.locals.declare(typeKey(name), node.startIndex, `${rootName}.${this.joined(own)}`);
    return own;
  }

  /** A type that a function calls so. */
  declareType(name: string, node: Node, type: string): void {
    // A type of several parts says nothing in the middle of a path.
    if (type !== unknown) this.locals.declare(typeKey(name), node.endIndex, type);
  }

  /** Where the function around a call does not tell the namespace around it, the expression does. */
  inPlace(expression: string): string {
    return this.isInFunction || this.path === ''
      ? expression
      : bounded(`[${this.path}]${expression}`);
  }

  parameters(declarator: Node | null, from: number): void {
    for (const { name, held } of parametersIn(declarator, this))
      if (name !== '') this.locals.declare(name, from, valueOfType(held));
  }

  /** What a local variable is: its type as written, or what is put into it. */
  variable(node: Node, declarator: Node, value: Node | null): string {
    if (isAuto(node))
      return value === null || value.type === 'initializer_list'
        ? unknown
        : taken(node, declarator, this.of(value));
    const { type } = declaredType(node, declarator, this);
    return valueOfType(heldType(node, bareDeclarator(declarator), type));
  }

  declare(node: Node, declarator: Node, expression: string, from: number): void {
    const names = bindingNames(declarator);
    if (names !== undefined) {
      for (const [at, name] of names.entries()) {
        const part = expression === unknown ? unknown : bounded(`${expression}[${at}]`);
        this.locals.declare(name, from, part);
      }
      return;
    }
    const name = declaredType(node, declarator, this).name?.text;
    if (name !== undefined) this.locals.declare(name, from, expression);
  }

  /** `for (T x : all)` */
  loop(node: Node): void {
    this.locals.open(node.endIndex);
    const declarator = node.childForFieldName('declarator');
    if (declarator === null) return;
    const all = this.of(node.childForFieldName('right'));
    const each = all === unknown ? unknown : bounded(`${all}.begin^0().$star`);
    const own = isAuto(node)
      ? taken(node, declarator, each)
      : this.variable(node, declarator, null);
    const from = node.childForFieldName('body')?.startIndex ?? node.startIndex;
    this.declare(node, declarator, own, from);
  }

  lambda(node: Node): void {
    this.locals.open(node.endIndex);
    const captures = node.childForFieldName('captures');
    for (const each of captures?.namedChildren ?? []) {
      if (each.type !== 'lambda_capture_initializer') continue;
      const name = each.childForFieldName('left')?.text;
      if (name !== undefined)
        this.locals.declare(name, node.startIndex, this.of(each.childForFieldName('right')));
    }
    const body = node.childForFieldName('body');
    this.parameters(node.childForFieldName('declarator'), body?.startIndex ?? node.startIndex);
  }
}

/** `auto a = b` is a copy, which may be changed; `const auto& a = b` must not be. */
function taken(node: Node, declarator: Node, value: string): string {
  if (/^\{(?:[^$=]|\$ptr<|\$zero|\$func)/.test(value) && !/^\s*const\b/.test(node.text))
    return value;
  const isConst = node.namedChildren.some(
    (each) => each.type === 'type_qualifier' && each.text === 'const',
  );
  const text = bareDeclarator(declarator).text;
  const mark = isConst ? '$const' : /^[&*]/.test(text) ? '' : '$copy';
  return value === unknown || mark === '' ? value : bounded(`{${mark}<=${value}>}`);
}

function bareDeclarator(declarator: Node): Node {
  return declarator.type === 'init_declarator'
    ? (declarator.childForFieldName('declarator') ?? declarator)
    : declarator;
}

export function isAuto(node: Node): boolean {
  return node.childForFieldName('type')?.type === 'placeholder_type_specifier';
}

/** `auto [a, b]` */
function bindingNames(declarator: Node): string[] | undefined {
  const found =
    declarator.type === 'structured_binding_declarator'
      ? declarator
      : declarator.namedChildren.find(({ type }) => type === 'structured_binding_declarator');
  return found?.namedChildren.map(({ text }) => text);
}

/** Types and variables may have the same name. */
function typeKey(name: string): string {
  return `class ${name}`;
}
