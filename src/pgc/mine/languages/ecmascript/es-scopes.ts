import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { Draft, SymbolDraft } from '../../draft.js';
import { Locals } from '../../locals.js';
import { CommentTypes } from './es-comments.js';
import { isImported } from './es-imports.js';
import { isFunction } from './es-signature.js';
import {
  esBounds,
  esType,
  importedIn,
  isRest,
  parametersOf,
  resultType,
  thisParameter,
  type LocalName,
} from './es-types.js';
import { either, esExpression, localNames, valueOf } from './es-values.js';

/** Of one function, so many results are looked at. */
const returnsMax = 4;

/** Functions of the runtime that hand on what they are given otherwise than as an element. */
const handing =
  /^(?:set(?:Timeout|Interval|Immediate)|process\.nextTick|Array\.from|JSON\.stringify|(?:Object|Map)\.groupBy|FinalizationRegistry)$/;

interface Callable {
  end: number;
  /** Whose results are wanted: it has no type as written. */
  symbol: SymbolDraft | undefined;
  role: 'returned' | 'value';
  returns: number;
}

/** What `this` is, and where its members are noted. */
export interface Own {
  expression: string;
  base: string;
}

interface Described {
  symbol: SymbolDraft;
  own: Own | undefined;
  /** It is read like a field. */
  isGetter: boolean;
}

/** `this` in what belongs to a type; where another one inherits it, that is meant. */
export function ownValue(key: string): string {
  return `{$this<${key}>}`;
}

/** The scopes of one text of JavaScript or TypeScript, and what it says of types. */
export class EsScopes {
  readonly locals = new Locals();
  readonly localName: LocalName;
  readonly #comments: CommentTypes;
  readonly #callables: Callable[] = [];
  /** By the id of its node: the symbol that a function is, and what `this` is in it. */
  readonly #described = new Map<number, Described>();
  /** By what `this` is: classes and functions whose members are assigned to. */
  readonly #owners = new Map<string, SymbolDraft>();
  /** Names at the top of the file, whose members are assigned to. */
  readonly holders = new Map<string, SymbolDraft>();
  readonly #boundsOf = new Map<SymbolDraft, { name: string; type: string }[]>();

  constructor(readonly draft: Draft) {
    this.#comments = new CommentTypes(draft.imports);
    const names = localNames(this.locals);
    this.localName = (name, at, isValue) => {
      const target = importedIn(name);
      return target === undefined ? names(name, at, isValue) : this.#comments.module(target, at);
    };
    this.locals.open(Infinity);
  }

  reach(at: number): void {
    this.locals.reach(at);
    while ((this.#callables.at(-1)?.end ?? Infinity) <= at) this.#callables.pop();
  }

  of(node: Node | null | undefined): string {
    return esExpression(node, this.locals);
  }

  type(node: Node | null | undefined): string {
    return esType(node, this.localName);
  }

  /** The type of a variable or a field, as written beside or above it. */
  declared(node: Node): string {
    const type = this.type(node.childForFieldName('type'));
    return type === unknown ? this.#comments.of(node).type : type;
  }

  resultOf(node: Node): string {
    const type = resultType(node, this.localName);
    return type === unknown ? this.#comments.of(node).result : type;
  }

  #parameterType(callable: Node, node: Node): string {
    const type = this.type(node.childForFieldName('type'));
    if (type !== unknown) return type;
    const name = node.childForFieldName('left') ?? node.childForFieldName('pattern') ?? node;
    return this.#comments.of(callable).parameters.get(name.text) ?? unknown;
  }

  /** A definition inside a function is meant by its name and its line. */
  keyOf(symbol: SymbolDraft): string {
    return `${symbol.name}#${this.draft.lineOf(symbol.start)}`;
  }

  /** Gives a definition inside a function a name of its own. */
  nameLocally(symbol: SymbolDraft, from: number): void {
    const key = this.keyOf(symbol);
    this.draft.type(symbol, 'local', key);
    this.locals.declare(symbol.name, from, key);
  }

  /** What is visible in a class. `key`: the name by which it is meant. */
  openClass(node: Node, symbol: SymbolDraft, key: string): void {
    this.#owners.set(ownValue(key), symbol);
    this.locals.open(node.endIndex);
    this.#declareOwn(node.startIndex, { expression: ownValue(key), base: `{${key}}.$super` });
  }

  #declareOwn(from: number, { expression, base }: Own): void {
    this.locals.declare('this', from, expression);
    this.locals.declare('super', from, base);
  }

  bounds(symbol: SymbolDraft, node: Node, outer?: SymbolDraft): void {
    const own = [
      ...((outer && this.#boundsOf.get(outer)) ?? []),
      ...esBounds(node, this.localName),
    ];
    this.#boundsOf.set(symbol, own);
    for (const { name, type } of own) this.draft.type(symbol, 'bound', name, type);
  }

  /** Whose members are assigned to where `this` is this. */
  ownerOf(own: string): SymbolDraft | undefined {
    return this.#owners.get(own) ?? this.holders.get(own);
  }

  /** A symbol that is a function: what it takes and gives. `this`: what that is in it. */
  describe(symbol: SymbolDraft, node: Node, own?: Own, outer?: SymbolDraft): void {
    const isGetter =
      node.type === 'method_definition' && node.children.some(({ type }) => type === 'get');
    this.#described.set(node.id, { symbol, own, isGetter });
    this.bounds(symbol, node, outer);
    const taken = parametersOf(node).map((each) => ({
      name: isRest(each) ? '*' : '',
      type: this.#parameterType(node, each),
    }));
    if (taken.some(({ type }) => type !== unknown))
      for (const { name, type } of taken) this.draft.type(symbol, 'parameter', name, type);
    const result = this.resultOf(node);
    if (result === unknown) return;
    if (isGetter) this.draft.type(symbol, 'value', '', valueOf(result));
    else this.draft.type(symbol, 'result', '', result);
  }

  /** A function with a name may be constructed: `this` is what it makes. */
  ownOf(symbol: SymbolDraft, key: string): Own {
    this.#owners.set(ownValue(key), symbol);
    return { expression: ownValue(key), base: unknown };
  }

  /** Any function, with or without a name. */
  callable(node: Node): void {
    const found = this.#described.get(node.id);
    const isWritten = found === undefined || this.resultOf(node) !== unknown;
    const symbol = isWritten ? undefined : found.symbol;
    const role = found?.isGetter === true ? 'value' : 'returned';
    this.#callables.push({ end: node.endIndex, symbol, role, returns: 0 });
    this.locals.open(node.endIndex);
    const ownType = thisParameter(node);
    if (ownType !== undefined)
      this.#declareOwn(node.startIndex, { expression: valueOf(this.type(ownType)), base: unknown });
    else if (node.type !== 'arrow_function')
      if (found?.own !== undefined) this.#declareOwn(node.startIndex, found.own);
      else if (!isOfClass(node)) this.locals.declare('this', node.startIndex, this.#holderOf(node));
    for (const [at, each] of parametersOf(node).entries()) this.#parameter(node, each, at);
    const body = node.childForFieldName('body');
    if (body !== null && body.type !== 'statement_block') this.#returned(body);
  }

  /** `this` in a function that is assigned to a member: `app[name] = function () {}`. */
  #holderOf({ id, parent }: Node): string {
    const left = parent?.type === 'assignment_expression' ? parent.childForFieldName('left') : null;
    const object = left?.childForFieldName('object') ?? null;
    if (object === null || parent?.childForFieldName('right')?.id !== id) return unknown;
    const holder = this.of(object);
    return holder.endsWith('.prototype') ? ownValue(holder.slice(0, -'.prototype'.length)) : holder;
  }

  #parameter(callable: Node, node: Node, at: number): void {
    const pattern = node.childForFieldName('pattern') ?? node;
    const written = this.#parameterType(callable, node);
    const start = callable.startIndex;
    const rest = pattern.type === 'rest_pattern' ? pattern.namedChild(0) : null;
    const value = node.childForFieldName('value');
    const its =
      written !== unknown
        ? valueOf(written)
        : value !== null
          ? either(null, value, this.locals)
          : this.#handed(callable, at);
    if (pattern.type === 'identifier' && its === unknown) this.locals.give(pattern.text, start);
    else
      this.declare(rest ?? pattern, rest === null || written !== unknown ? its : '{$list}', start);
  }

  /** What a function that is an argument, or has a type as written, is called with. */
  #handed(callable: Node, at: number): string {
    const { parent } = callable;
    if (parent?.type === 'arguments' && parent.parent !== null) {
      const argument = parent.namedChildren.findIndex(({ id }) => id === callable.id);
      const { parent: call } = parent;
      const callee = this.of(
        call.childForFieldName('function') ?? call.childForFieldName('constructor'),
      );
      if (callee === unknown || handing.test(callee)) return unknown;
      return bounded(`${callee}@${argument}.${at}`);
    }
    const wanted = parent === null ? unknown : this.#wantedBy(parent, callable);
    return wanted === unknown ? unknown : bounded(`${valueOf(wanted)}@.${at}`);
  }

  /** The type that a function must have where it stands: of a variable, of a field, of what another function gives. */
  #wantedBy(parent: Node, { id }: Node): string {
    if (/^(?:variable_declarator|(?:public_)?field_definition)$/.test(parent.type))
      return this.type(parent.childForFieldName('type'));
    const isBody = parent.childForFieldName('body')?.id === id;
    if (parent.type !== 'return_statement' && !isBody) return unknown;
    let outer: Node | null = parent;
    while (outer !== null && outer.childForFieldName('parameters') === null) outer = outer.parent;
    const type = outer === null ? unknown : this.resultOf(outer);
    return /^\$promise</.test(type) ? `=${valueOf(type)}!` : type;
  }

  /** The names of a pattern, for a value. */
  declare(pattern: Node, value: string, from: number): void {
    const part = (steps: string): string => (value === unknown ? unknown : bounded(value + steps));
    switch (pattern.type) {
      case 'identifier':
      case 'shorthand_property_identifier_pattern':
        this.locals.declare(pattern.text, from, value);
        return;
      case 'assignment_pattern':
      case 'object_assignment_pattern': {
        const left = pattern.childForFieldName('left');
        if (left?.type.startsWith('shorthand') === true)
          this.declare(left, part(`.${left.text}`), from);
        else if (left !== null)
          this.declare(
            left,
            value === unknown
              ? either(null, pattern.childForFieldName('right'), this.locals)
              : value,
            from,
          );
        return;
      }
      case 'object_pattern':
        for (const each of pattern.namedChildren) this.#property(each, part, from);
        return;
      case 'array_pattern':
        for (const each of pattern.namedChildren) this.declare(each, part('[]'), from);
        return;
      case 'rest_pattern':
        if (pattern.namedChild(0) !== null)
          this.declare(pattern.namedChild(0) as Node, value, from);
    }
  }

  #property(node: Node, part: (steps: string) => string, from: number): void {
    if (node.type === 'shorthand_property_identifier_pattern')
      this.declare(node, part(`.${node.text}`), from);
    else if (node.type === 'pair_pattern') {
      const key = node.childForFieldName('key')?.text ?? '';
      const value = node.childForFieldName('value');
      const its = /^[\w$]+$/.test(key) ? part(`.${key}`) : unknown;
      if (value !== null) this.declare(value, its, from);
    } else if (node.type === 'object_assignment_pattern') this.declare(node, part(''), from);
    else if (node.type === 'rest_pattern') this.declare(node, part(''), from);
  }

  /** Functions and classes of a block can be used above their definition; the definition comes later. */
  block(node: Node): void {
    this.locals.open(node.endIndex);
    if (this.#callables.length === 0) return;
    for (const each of node.namedChildren) {
      if (!/^(?:generator_)?function_declaration$|^class_declaration$/.test(each.type)) continue;
      const name = each.childForFieldName('name')?.text ?? '';
      const line = this.draft.lineOf(each.startIndex);
      if (name !== '') this.locals.declare(name, node.startIndex, `${name}#${line}`);
    }
    this.#foresee(node.namedChildren, node.startIndex, false);
  }

  /** Names at the top are known in the whole text; those of patterns are no definitions. */
  program(node: Node): void {
    const statements = node.namedChildren.map((each) =>
      each.type === 'export_statement' ? (each.childForFieldName('declaration') ?? each) : each,
    );
    this.#foresee(statements, 0, true);
  }

  /** Variables can be used above their declaration, by functions that are called later. */
  #foresee(statements: readonly Node[], from: number, isTop: boolean): void {
    for (const statement of statements) {
      if (!/^(?:lexical|variable)_declaration$/.test(statement.type)) continue;
      const all = statement.namedChildren.filter(({ type }) => type === 'variable_declarator');
      for (const [at, each] of all.entries()) {
        const name = each.childForFieldName('name');
        if (name === null || (isTop && name.type === 'identifier') || isImported(each)) continue;
        const value = each.childForFieldName('value');
        const line = this.draft.lineOf((at === 0 ? statement : each).startIndex);
        const isDefined = value !== null && (isFunction(value) || value.type === 'class');
        if (isDefined) this.locals.declare(name.text, from, `${name.text}#${line}`);
        else this.declare(name, this.variable(each, value), from);
      }
    }
  }

  /** What a variable stands for. */
  variable(declarator: Node, value: Node | null): string {
    const type = valueOf(this.declared(declarator));
    return type === unknown ? this.of(value) : type;
  }

  forIn(node: Node): void {
    this.locals.open(node.endIndex);
    const left = node.childForFieldName('left');
    const over = this.of(node.childForFieldName('right'));
    const isOf = node.children.some(({ type }) => type === 'of');
    const value = isOf ? (over === unknown ? unknown : bounded(`${over}[]`)) : '{string}';
    if (left !== null) this.declare(left, value, node.startIndex);
  }

  catches(node: Node): void {
    this.locals.open(node.endIndex);
    const parameter = node.childForFieldName('parameter');
    const type = valueOf(this.type(node.childForFieldName('type')));
    if (parameter !== null) this.declare(parameter, type, node.startIndex);
  }

  returns(node: Node): void {
    const value = node.namedChild(0);
    if (value !== null) this.#returned(value);
  }

  #returned(value: Node): void {
    const callable = this.#callables.at(-1);
    if (callable?.symbol === undefined || callable.returns >= returnsMax) return;
    const expression = this.of(value);
    if (expression === unknown) return;
    callable.returns += 1;
    this.draft.type(callable.symbol, callable.role, '', expression);
  }

  /** `x = …` */
  assign(node: Node): void {
    const left = node.childForFieldName('left');
    const value = this.of(node.childForFieldName('right'));
    if (left?.type === 'identifier' && value !== unknown)
      this.locals.assign(left.text, node.endIndex, value);
  }
}

/** A method that belongs to a value of the class around it. */
function isOfClass(node: Node): boolean {
  const isStatic = node.children.some(({ type }) => type === 'static');
  return node.type === 'method_definition' && node.parent?.type === 'class_body' && !isStatic;
}
