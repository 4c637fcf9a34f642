import type { Node } from 'web-tree-sitter';
import { bounded, unknown } from '../../../format/expression.js';
import type { Use } from '../../draft.js';
import { PythonConditions } from './python-conditions.js';
import {
  after,
  joined,
  listOf,
  mapOf,
  nothing,
  pathOf,
  tupleOf,
  typeOfExpression,
} from './python-expressions.js';
import type { PythonFlow } from './python-flow.js';
import { resultOfBuiltin, resultOfLibrary } from './python-known-calls.js';
import { isTypeForm, pythonType, type PythonNames } from './python-types.js';
import { usesInPattern, usesInType } from './python-uses.js';

/** What the expressions of a text tell to the reader of its statements. */
export interface PythonTexts {
  flow: PythonFlow;
  names: PythonNames;
  /** Whether the text says itself what a name of the language is. */
  isRedefined(name: string): boolean;
  /** What a name is called outside of functions; undefined: it is a variable of one, or of the language. */
  outside(name: string): string | undefined;
  /** Name of a module and of what is imported from it, for a name of the text. */
  imported(name: string): string | undefined;
  /** The class around, for `super()`. */
  base(): string;
  call(callee: Node, expression: string): void;
  use(found: Use): void;
  yielded(expression: string): void;
  /** What the function around is sent where it yields. */
  sent(): string;
  /** False: it is no statement. */
  statement(node: Node): boolean;
}

/** Deeper ones are generated. */
const depthMax = 150;

/** Reads each expression once: what it stands for, as `expression.ts` writes it, and the calls in it. */
export class PythonValues {
  readonly conditions: PythonConditions;
  #depth = 0;

  constructor(readonly text: PythonTexts) {
    this.conditions = new PythonConditions(text.flow, text.names);
  }

  of(node: Node | null | undefined): string {
    if (!node) return unknown;
    if (this.#depth >= depthMax) return this.#flat(node);
    this.#depth += 1;
    const found = this.#of(node);
    this.#depth -= 1;
    return bounded(found);
  }

  type(node: Node | null | undefined): string {
    return (node && pythonType(node.text, this.text.names)) || unknown;
  }

  /** A type where it is written: what it names is used there. */
  annotation(node: Node | null | undefined): string {
    if (node) this.written(node.text, node.startIndex);
    return this.type(node);
  }

  /** The same of a type that no node stands for. */
  written(type: string, at: number): void {
    for (const each of usesInType(type, at, this.text)) this.text.use(each);
  }

  /** What a pattern compares with is used. */
  pattern(node: Node): void {
    for (const each of usesInPattern(node, this.text)) this.text.use(each);
  }

  /** Of what is nested too deep the calls alone. */
  #flat(node: Node): string {
    for (const call of node.descendantsOfType('call')) {
      const callee = call.childForFieldName('function');
      if (callee) this.text.call(callee, unknown);
    }
    return unknown;
  }

  #of(node: Node): string {
    switch (node.type) {
      case 'identifier':
        return this.#name(node);
      case 'attribute':
        return this.#attribute(node);
      case 'call':
        return this.#call(node);
      case 'subscript':
        return this.#subscript(node);
      case 'await':
        return after(this.of(node.firstNamedChild), '!');
      case 'parenthesized_expression':
      case 'list_splat':
      case 'dictionary_splat':
      case 'expression_statement':
        return this.#inner(node);
      case 'conditional_expression':
        return this.#conditional(node);
      case 'boolean_operator':
        return this.#logical(node);
      case 'binary_operator':
        return this.#binary(node);
      case 'named_expression':
        return this.#named(node);
      case 'lambda':
        return this.#lambda(node);
      case 'list_comprehension':
      case 'set_comprehension':
      case 'generator_expression':
      case 'dictionary_comprehension':
        return this.#comprehension(node);
      case 'list':
      case 'set':
        return listOf(this.#all(node));
      case 'tuple':
      case 'expression_list':
        return tupleOf(this.#all(node));
      case 'dictionary':
        return this.#dictionary(node);
      case 'string':
      case 'concatenated_string':
        return this.#string(node);
      case 'integer':
      case 'float':
        return '{$number}';
      case 'true':
      case 'false':
        return '{$number}';
      case 'none':
        return nothing;
      case 'not_operator':
      case 'comparison_operator':
        this.#all(node);
        return '{$number}';
      case 'yield':
        return this.#yield(node);
      case 'keyword_argument':
        return this.of(node.childForFieldName('value'));
      case 'type':
        return this.#inner(node);
      case 'comment':
        return unknown;
      default:
        if (!this.text.statement(node)) this.#all(node);
        return unknown;
    }
  }

  #inner(node: Node): string {
    return this.of(node.namedChildren.find(({ type }) => type !== 'comment'));
  }

  #all(node: Node): string[] {
    return node.namedChildren
      .filter(({ type }) => type !== 'comment')
      .map((each) => (each.type === 'list_splat' ? (this.of(each), '*') : this.of(each)));
  }

  #name(name: Node): string {
    const found = this.text.flow.find(name.text) ?? name.text;
    this.#used(name, found);
    return found;
  }

  /** A name that is no local variable. `held`: what it stands for here. */
  #used(name: Node, held: string): void {
    const expression = this.text.outside(name.text);
    if (expression !== undefined)
      this.text.use({ name, kind: 'value', expression, isHeld: held !== expression });
  }

  #memberUsed(object: string, name: Node | null, isHeld = false): void {
    if (name === null) return;
    const expression = after(object, `.${name.text}`);
    this.text.use({ name, kind: 'value', expression, isHeld });
  }

  #attribute(node: Node): string {
    const object = this.of(node.childForFieldName('object'));
    const member = node.childForFieldName('attribute');
    const name = member?.text ?? '';
    const path = pathOf(node);
    const known = path === undefined ? undefined : this.text.flow.findPath(path);
    this.#memberUsed(object, member, known !== undefined);
    if (known !== undefined) return known;
    if (name === '__class__')
      return object === unknown ? unknown : `{$type<${typeOfExpression(object)}>}`;
    return after(object, `.${name}`);
  }

  #subscript(node: Node): string {
    const value = node.childForFieldName('value');
    const object = this.of(value);
    const [index, ...others] = node.childrenForFieldName('subscript');
    const parts = [index, ...others].map((each) => this.of(each));
    const head = value && this.text.names.typing(value.text);
    if (head && isTypeForm(head)) return `{$type<${this.type(node)}>}`;
    if (index?.type === 'slice') return object;
    const number = index?.type === 'integer' && parts.length === 1 && /^\d{1,3}$/.test(index.text);
    return after(object, number ? `[${index.text}]` : '[]');
  }

  #call(node: Node): string {
    const callee = node.childForFieldName('function');
    const args = node.childForFieldName('arguments');
    if (callee === null) return unknown;
    const own = this.#builtin(callee);
    const its = own === 'super' ? unknown : this.of(callee);
    const given =
      args?.type === 'argument_list'
        ? args.namedChildren.filter(({ type }) => type !== 'comment')
        : args === null
          ? []
          : [args];
    const values = given.map((each) => this.of(each));
    this.text.call(callee, its);
    const all = { nodes: given, values };
    const result = own === undefined ? undefined : resultOfBuiltin(own, all, this.text.base());
    if (result !== undefined) return result;
    const known = resultOfLibrary(this.text.imported(callee.text), all, (each) => this.type(each));
    return known ?? after(its, '()');
  }

  /** A function of the language itself. */
  #builtin(callee: Node): string | undefined {
    if (callee.type !== 'identifier') return undefined;
    const { text: name } = callee;
    const isOther = this.text.flow.find(name) !== undefined || this.text.isRedefined(name);
    return isOther ? undefined : name;
  }

  #conditional(node: Node): string {
    const [yes, condition, no] = node.namedChildren.filter(({ type }) => type !== 'comment');
    this.of(condition);
    return joined([this.#under(yes, condition, true), this.#under(no, condition, false)]);
  }

  /** An expression that is evaluated only where another one is true, or false. */
  #under(node: Node | undefined, condition: Node | undefined, isTrue: boolean): string {
    const known = condition === undefined ? [] : this.conditions.narrowed(condition, isTrue);
    this.text.flow.enter({ kind: 'inner' });
    for (const { path, expression } of known) this.text.flow.assume(path, expression);
    const found = this.of(node);
    this.text.flow.leave();
    return found;
  }

  #logical(node: Node): string {
    const left = node.childForFieldName('left') ?? undefined;
    const right = node.childForFieldName('right') ?? undefined;
    const isOr = node.childForFieldName('operator')?.type === 'or';
    const first = this.of(left);
    const second = this.#under(right, left, !isOr);
    return isOr ? joined([first, second]) : second;
  }

  #binary(node: Node): string {
    const left = this.of(node.childForFieldName('left'));
    const right = this.of(node.childForFieldName('right'));
    const operator = node.childForFieldName('operator')?.type ?? '';
    if (operator === '|' && this.text.flow.isModule && typeNames.test(node.text))
      return `{$type<${this.type(node)}>}`;
    if (left === unknown || /^\{\$(?:list|tuple)/.test(left))
      return left === unknown ? unknown : joined([left, right]);
    const method = operators[operator];
    return method === undefined ? unknown : after(left, `.${method}()`);
  }

  #named(node: Node): string {
    const value = this.of(node.childForFieldName('value'));
    const name = node.childForFieldName('name');
    if (name !== null) this.text.flow.setOutside(name.text, value);
    return value;
  }

  #lambda(node: Node): string {
    const parameters = node.childForFieldName('parameters');
    const names = (parameters?.namedChildren ?? []).map((each) =>
      (each.childForFieldName('name') ?? each).text.replace(/^\*+/, ''),
    );
    for (const each of parameters?.namedChildren ?? []) this.of(each.childForFieldName('value'));
    this.text.flow.enter({ kind: 'inner' });
    for (const name of names) this.text.flow.set(name, unknown);
    const body = this.of(node.childForFieldName('body'));
    this.text.flow.leave();
    return body === unknown ? '{$func}' : `{$func<${typeOfExpression(body)}>}`;
  }

  #comprehension(node: Node): string {
    this.text.flow.enter({ kind: 'inner' });
    for (const each of node.namedChildren) {
      if (each.type === 'for_in_clause') {
        const over = this.of(each.childForFieldName('right'));
        const left = each.childForFieldName('left');
        if (left !== null) this.assign(left, after(over, '[*]'));
      } else if (each.type === 'if_clause') {
        const condition = each.firstNamedChild;
        this.of(condition);
        if (condition === null) continue;
        for (const { path, expression } of this.conditions.narrowed(condition, true))
          this.text.flow.assume(path, expression);
      }
    }
    const body = node.childForFieldName('body');
    const isMap = body?.type === 'pair';
    const [key, value] = isMap
      ? ['key', 'value'].map((field) => this.of(body.childForFieldName(field)))
      : [this.of(body)];
    this.text.flow.leave();
    return isMap ? mapOf([key ?? unknown], [value ?? unknown]) : listOf([key ?? unknown]);
  }

  #dictionary(node: Node): string {
    const keys: string[] = [];
    const values: string[] = [];
    for (const each of node.namedChildren) {
      if (each.type !== 'pair') this.of(each);
      else {
        keys.push(this.of(each.childForFieldName('key')));
        values.push(this.of(each.childForFieldName('value')));
      }
    }
    return mapOf(keys, values);
  }

  #string(node: Node): string {
    for (const each of node.namedChildren)
      if (each.type === 'interpolation') this.#all(each);
      else if (each.type === 'string') this.#string(each);
    return '{$text}';
  }

  #yield(node: Node): string {
    const [value] = node.namedChildren;
    const its = this.of(value);
    const isFrom = node.children.some(({ type }) => type === 'from');
    this.text.yielded(isFrom ? after(its, '[*]') : its);
    return isFrom ? unknown : this.text.sent();
  }

  /** Gives names, and paths such as `self.x`, what a value is, or its parts. */
  assign(target: Node, value: string, onPath?: (node: Node, value: string) => void): void {
    switch (target.type) {
      case 'identifier':
        if (!this.text.flow.isModule && this.text.flow.isGlobal(target.text)) this.#name(target);
        this.text.flow.set(target.text, value);
        onPath?.(target, value);
        return;
      case 'pattern_list':
      case 'tuple_pattern':
      case 'list_pattern':
      case 'tuple':
      case 'expression_list': {
        const parts = target.namedChildren.filter(({ type }) => type !== 'comment');
        const isOpen = parts.some(({ type }) => type === 'list_splat_pattern');
        for (const [at, each] of parts.entries())
          this.assign(each, after(value, isOpen ? '[*]' : `[${at}]`), onPath);
        return;
      }
      case 'list_splat_pattern':
        if (target.firstNamedChild) this.assign(target.firstNamedChild, listOf([value]), onPath);
        return;
      case 'as_pattern_target':
      case 'parenthesized_expression':
        if (target.firstNamedChild) this.assign(target.firstNamedChild, value, onPath);
        return;
      case 'attribute': {
        const object = this.of(target.childForFieldName('object'));
        this.#memberUsed(object, target.childForFieldName('attribute'));
        const path = pathOf(target);
        if (path !== undefined) this.text.flow.set(path, value);
        onPath?.(target, value);
        return;
      }
      default:
        this.of(target);
    }
  }
}

/** Names with a dot or a capital, which classes have. */
const typeNames =
  /^(?:[\w.]*[A-Z][\w.]*|None|str|int|bytes|float|bool)(?:\[[^\]]*\])?(?:\s*\|\s*(?:[\w.]*[A-Z][\w.]*|None|str|int|bytes|float|bool)(?:\[[^\]]*\])?)+$/;

const operators: Partial<Record<string, string>> = {
  ...{ '+': '__add__', '-': '__sub__', '*': '__mul__', '/': '__truediv__', '//': '__floordiv__' },
  ...{ '%': '__mod__', '@': '__matmul__', '&': '__and__', '|': '__or__', '^': '__xor__' },
  ...{ '<<': '__lshift__', '>>': '__rshift__', '**': '__pow__' },
};
