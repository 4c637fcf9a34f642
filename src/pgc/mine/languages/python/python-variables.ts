import type { Node } from 'web-tree-sitter';
import { unknown } from '../../../format/expression.js';
import type { SymbolDraft } from '../../draft.js';
import { nothing, ofClass, valueOf } from './python-expressions.js';
import type { ClassPart, PythonText } from './python-text.js';
import { pythonType } from './python-types.js';

/** Of one thing, so many values are noted. */
const valuesMax = 6;

/** Notes what the variables of a text, and the attributes of its classes, are set to. */
export class PythonVariables {
  /** Of the module. */
  readonly #variables = new Map<string, SymbolDraft>();
  readonly #attributes = new Map<SymbolDraft, Set<string>>();
  readonly #noted = new Map<SymbolDraft, Map<string, Set<string>>>();

  constructor(readonly text: PythonText) {}

  /** `statement`: the text of what is defined. */
  assign(target: Node, value: string, statement: Node): void {
    this.text.values.assign(target, value, (node, its) => this.#note(node, its, statement));
  }

  /** What an attribute, or a variable of a class or of the module, is set to. */
  #note(target: Node, value: string, statement: Node): void {
    if (target.type === 'attribute') {
      const owner = this.#ownerOf(target);
      const name = target.childForFieldName('attribute')?.text ?? '';
      if (owner !== undefined) this.fact(owner.symbol, 'assigned', name, value);
      return;
    }
    const { flow, classes } = this.text;
    const name = target.text;
    const owner = flow.isClass ? classes.at(-1) : undefined;
    if (owner !== undefined) {
      this.#attribute(owner, target, statement);
      this.fact(owner.symbol, 'assigned', name, owner.isEnum ? '{$this}' : value);
    } else if (flow.isGlobal(name)) this.#variable(name, target, value, statement);
  }

  /** Where a class sets it first. */
  #attribute({ symbol, key }: ClassPart, target: Node, statement: Node): void {
    const known = this.#attributes.get(symbol) ?? new Set();
    this.#attributes.set(symbol, known);
    if (target.parent?.type !== 'assignment' || known.has(target.text)) return;
    known.add(target.text);
    const isFirst = target.startIndex === statement.startIndex;
    const { symbols } = this.text;
    const its = isFirst ? (statement.firstNamedChild ?? statement) : target.parent;
    const attribute = symbols.variable(target.text, its);
    if (key !== symbol.name) symbols.draft.type(attribute, 'within', key);
  }

  #variable(name: string, target: Node, value: string, statement: Node): void {
    const isPlain = this.text.flow.isModule && target.parent?.type === 'assignment';
    const isDirect =
      isPlain && statement.parent?.type === 'module' && target.startIndex === statement.startIndex;
    let symbol = this.#variables.get(name);
    if (isDirect || (isPlain && symbol === undefined)) {
      const its = this.text.symbols.variable(
        name,
        isDirect ? (statement.firstNamedChild ?? statement) : target.parent,
      );
      if (symbol === undefined) this.#variables.set(name, (symbol = its));
    }
    if (symbol !== undefined) this.fact(symbol, 'value', '', ofClass(value, this.text.flow.own));
  }

  /** `x: T = …`; `written`: the type. */
  annotated(target: Node, written: string, value: string | undefined, statement: Node): void {
    const { flow, classes, imports, values } = this.text;
    const isAlias = /\bTypeAlias$/.test(written);
    const type = pythonType(written, imports) || unknown;
    const its = isAlias || type === unknown ? (value ?? unknown) : valueOf(type);
    const ofClassAround = flow.isClass ? classes.at(-1) : undefined;
    const owner = target.type === 'attribute' ? this.#ownerOf(target) : ofClassAround;
    const name = (target.childForFieldName('attribute') ?? target).text;
    if (owner === undefined || type === unknown || owner.isEnum) {
      this.assign(target, its, statement);
      return;
    }
    if (owner === ofClassAround && target.type === 'identifier')
      this.#attribute(owner, target, statement);
    this.text.symbols.draft.type(owner.symbol, 'field', name, type);
    values.assign(target, its);
  }

  /** `type A = …` */
  alias(node: Node): void {
    const [name, type] = node.namedChildren;
    if (name === undefined) return;
    const symbol = this.text.symbols.variable(name.text, node);
    this.#variables.set(name.text, symbol);
    this.fact(symbol, 'value', '', `{$type<${this.text.values.annotation(type)}>}`);
  }

  /** `self.x`: the class that has it. */
  #ownerOf(target: Node): ClassPart | undefined {
    const { flow, classes } = this.text;
    const object = target.childForFieldName('object');
    if (object?.type !== 'identifier') return undefined;
    const its = flow.find(object.text);
    if (its === undefined) return undefined;
    const isOwn = its === '{$this}' || its === '{$type<$this>}';
    return classes.findLast((each) => (isOwn ? each.key === flow.own : its === `{${each.key}}`));
  }

  fact(
    symbol: SymbolDraft,
    role: 'assigned' | 'returned' | 'value',
    name: string,
    value: string,
  ): void {
    if (value === nothing) return;
    const roles = this.#noted.get(symbol) ?? new Map<string, Set<string>>();
    this.#noted.set(symbol, roles);
    const known = roles.get(`${role} ${name}`) ?? new Set();
    roles.set(`${role} ${name}`, known);
    if (known.has(value) || known.size >= valuesMax) return;
    known.add(value);
    this.text.symbols.draft.type(symbol, role, name, value);
  }
}
