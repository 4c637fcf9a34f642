import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { SymbolDraft } from '../../draft.js';
import type { Locals } from '../../locals.js';
import { arrayOf, dimensionsOf, javaParameters, javaType, union } from './java-types.js';
import { javaCallee, javaExpression, type JavaPlace } from './java-values.js';

interface TypeScope {
  /** Its name with those of the types around it. */
  path: string;
  end: number;
  symbol: SymbolDraft | undefined;
  /** As it is written; and the class that it is based on. */
  name?: string;
  base?: string | undefined;
  /** Type parameters that are visible in it, its own first. */
  bounds: readonly { name: string; type: string }[];
}

/** The types and variables that are visible at the present place of a text. */
export class JavaScopes implements JavaPlace {
  readonly #types: TypeScope[] = [];
  /** Of types without a name, and of those whose name is given twice. */
  #given = 0;
  readonly #paths = new Set<string>();
  /** Paths of types without a name, by the places of their bodies. */
  readonly #unnamed = new Map<number, string>();
  /** What the methods around this place return, by their ends. */
  readonly #results: { end: number; type: string }[] = [];

  constructor(readonly locals: Locals) {}

  /** Call it with every node. */
  reach(at: number): void {
    while ((this.#types.at(-1)?.end ?? Infinity) <= at) this.#types.pop();
    while ((this.#results.at(-1)?.end ?? Infinity) <= at) this.#results.pop();
  }

  get type(): Readonly<TypeScope> | undefined {
    return this.#types.at(-1);
  }

  around(): string {
    return this.type?.path ?? '';
  }

  readonly localType = (name: string, at: number): string =>
    this.locals.find(typeKey(name), at) ?? name;

  typeOf(node: Node | null | undefined): string {
    return javaType(node, this.localType);
  }

  of(node: Node | null | undefined): string {
    return javaExpression(node, this);
  }

  /** Whether a type around a place has a parameter of this name. */
  isBound(name: string): boolean {
    return this.type?.bounds.some((each) => each.name === name) === true;
  }

  /** The name of what `this(…)` and `super(…)` call. */
  constructed(isOwn: boolean): string | undefined {
    const { name, base } = this.type ?? {};
    return isOwn ? name : base?.replace(/<.*/s, '').split('.').at(-1);
  }

  /** Where the function around a call does not tell the type around it, the expression does. */
  inPlace(expression: string, isInFunction: boolean): string {
    return isInFunction || this.#types.length === 0
      ? expression
      : bounded(`[${this.around()}]${expression}`);
  }

  /** Of a class without a name, which may be asked before it is entered. */
  unnamed(body: Node): string {
    const known = this.#unnamed.get(body.startIndex);
    if (known !== undefined) return known;
    const path = this.pathOf('');
    this.#unnamed.set(body.startIndex, path);
    return path;
  }

  /** A name of its own for a type, also where others of the text are called the same. */
  pathOf(name: string): string {
    const outer = this.around();
    const path = outer === '' ? name : `${outer}.${name}`;
    const isTaken = name === '' || this.#paths.has(path);
    if (isTaken) this.#given += 1;
    const own = isTaken ? `${path}$${this.#given}` : path;
    this.#paths.add(own);
    return own;
  }

  enterType(scope: TypeScope): void {
    const outer = this.type?.bounds ?? [];
    const own = scope.bounds.map(({ name }) => name);
    const visible = outer.filter(({ name }) => !own.includes(name));
    this.#types.push({ ...scope, bounds: [...scope.bounds, ...visible] });
  }

  /** A class inside a method is known there alone. */
  declareType(name: string, node: Node, path: string): void {
    if (this.locals.isInside) this.locals.declare(typeKey(name), node.startIndex, path);
  }

  enterMethod(node: Node): void {
    this.#results.push({
      end: node.endIndex,
      type: this.typeOf(node.childForFieldName('type')),
    });
    this.locals.open(node.endIndex);
    this.parameters(node.childForFieldName('parameters'), node.startIndex);
  }

  parameters(list: Node | null, from: number): void {
    for (const { name, type } of javaParameters(list, this.localType))
      this.locals.declare(name, from, `{${type}}`);
  }

  /** `T a = …, b` */
  variables(node: Node): void {
    const type = node.childForFieldName('type');
    for (const each of node.childrenForFieldName('declarator')) {
      const name = each.childForFieldName('name')?.text ?? '';
      const value = each.childForFieldName('value');
      this.locals.declare(
        name,
        each.startIndex,
        this.#declared(type, each, () => this.of(value)),
      );
    }
  }

  /** `for (T each : all)`, `try (T each = …)` */
  variable(node: Node, from: number): void {
    const name = node.childForFieldName('name');
    if (name === null) return;
    const value = node.childForFieldName('value');
    const isLoop = node.type === 'enhanced_for_statement';
    const given = (): string => `${this.of(value)}${isLoop ? '[]' : ''}`;
    this.locals.declare(
      name.text,
      from,
      this.#declared(node.childForFieldName('type'), node, given),
    );
  }

  #declared(type: Node | null, node: Node, given: () => string): string {
    if (type?.text === 'var') return bounded(given());
    const depth = dimensionsOf(node.childForFieldName('dimensions'));
    return `{${arrayOf(this.typeOf(type), depth)}}`;
  }

  caught(node: Node): void {
    const parameter = node.namedChildren.find((each) => each.type === 'catch_formal_parameter');
    const types = parameter?.namedChildren.find((each) => each.type === 'catch_type');
    const all = types?.namedChildren.map((each) => this.typeOf(each)) ?? [];
    const name = parameter?.childForFieldName('name')?.text ?? '';
    this.locals.declare(name, node.startIndex, `{${union(all)}}`);
  }

  /** `x instanceof T t`, `case T t`, a part of `R(T t)` */
  pattern(node: Node): void {
    const name = node.childForFieldName('name') ?? node.namedChildren.at(-1);
    const type = node.childForFieldName('right') ?? node.namedChild(0);
    if (name?.type !== 'identifier' || type === null) return;
    const its = type.text === 'var' ? unknown : `{${this.typeOf(type)}}`;
    this.locals.declare(name.text, node.startIndex, its);
  }

  lambda(node: Node): void {
    this.locals.open(node.endIndex);
    const list = node.childForFieldName('parameters');
    if (list?.type === 'formal_parameters') return this.parameters(list, node.startIndex);
    const names = list?.type === 'identifier' ? [list] : (list?.namedChildren ?? []);
    const taken = this.#takenBy(node);
    for (const [at, name] of names.entries()) {
      const its = taken === unknown ? unknown : bounded(`${taken}.${at}`);
      this.locals.declare(name.text, node.startIndex, its);
    }
  }

  /** What says which parameters a lambda has, up to their number. */
  #takenBy(node: Node): string {
    const around = node.parent;
    switch (around?.type) {
      case 'parenthesized_expression':
      case 'ternary_expression':
        return this.#takenBy(around);
      case 'argument_list': {
        const call = around.parent;
        if (call === null || call.type === 'enum_constant') return unknown;
        const at = argumentsIn(around).findIndex((each) => each.id === node.id);
        return `${javaCallee(call, this)}@${at}`;
      }
      case 'variable_declarator':
        return `{${this.typeOf(around.parent?.childForFieldName('type'))}}@`;
      case 'assignment_expression':
        return `${this.of(around.childForFieldName('left'))}@`;
      case 'cast_expression':
        return `{${this.typeOf(around.childForFieldName('type'))}}@`;
      case 'return_statement':
        return `{${this.#results.at(-1)?.type ?? unknown}}@`;
      default:
        return unknown;
    }
  }
}

export function argumentsIn(list: Node): Node[] {
  return list.namedChildren.filter(({ type }) => !/comment/.test(type));
}

/** Types and variables may have the same name. */
export function typeKey(name: string): string {
  return `class ${name}`;
}
