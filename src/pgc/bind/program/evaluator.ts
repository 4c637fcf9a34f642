import {
  parseExpression,
  parseType,
  type Expression,
  type Step,
  type TypeText,
} from '../../format/expression.js';
import { typesIn, type Definition, type Definitions } from './definitions.js';
import { alternativesOf, joined, typeOf } from './alternatives.js';
import { Members } from './members.js';
import { Names } from './names.js';
import type { SourceText } from './rules.js';
import { Uses } from './uses.js';
import {
  outside,
  library,
  unbound,
  ownName,
  within,
  valueOf,
  type Type,
  type Value,
  type FunctionValue,
  type Context,
  type Evaluation,
} from './values.js';

/** Variables, aliases and bases followed on the way to a type: they may form circles. */
const depthMax = 24;

/** Evaluates expressions in the definitions of one language. */
export class Evaluator {
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #members: Members;
  readonly #uses: Uses;
  readonly #parsed = new Map<string, Expression>();
  #depth = 0;

  constructor(definitions: Definitions) {
    const evaluation: Evaluation = {
      evaluate: (text, context) => this.#evaluate(text, context),
      step: (value, step) => this.#step(value, step),
      followed: (start, steps) => this.#followed(start, steps),
      resolve: (text, context) => this.#resolve(text, context),
      bounded: (work) => this.#bounded(work),
    };
    this.#definitions = definitions;
    this.#names = new Names(definitions, evaluation);
    this.#members = new Members(definitions, this.#names, evaluation);
    this.#uses = new Uses(definitions, this.#names, this.#members, evaluation);
  }

  /** `owner`: the function around it. */
  evaluate(text: string, file: SourceText, owner: Definition | undefined): Value | undefined {
    return this.#bounded(() => {
      const value = this.#evaluate(text, { file, owner, bindings: unbound });
      return value?.kind === 'scope' ? (this.#names.whole(value.scopes) ?? value) : value;
    });
  }

  /** What defines the last name of an expression, such as a constant or a method that is passed on: given like a function. */
  definitionsOf(text: string, file: SourceText, owner: Definition | undefined): Value | undefined {
    const context = { file, owner, bindings: unbound };
    const { root, steps } = this.#parse(text);
    const last = steps.at(-1);
    if (last === undefined && typeof root === 'string')
      return this.#names.parameter(root, context) === undefined
        ? this.#names.named(root, context, 'definition')
        : outside;
    if (last?.kind !== 'member') return undefined;
    return this.#bounded(() => {
      const of = this.#start({ root, steps }, context);
      const value = this.#followed(of, steps.slice(0, -1));
      return value && this.#members.definitionsOf(value, last.name);
    });
  }

  memberOf(type: Type, name: string): Value | undefined {
    return this.#members.memberOf(type, name);
  }

  /** A type as a text calls it. */
  typeIn(name: string, file: SourceText): Type | undefined {
    const context = { file, owner: undefined, bindings: unbound };
    return this.#bounded(() => this.#resolve(parseType(name), context));
  }

  /** Notes that another text says what a type is based on. */
  addBase(definition: Definition, base: Type): void {
    this.#members.addBase(definition, base);
  }

  hasAddedBases(definition: Definition): boolean {
    return this.#members.hasAddedBases(definition);
  }

  /** The type that a definition says it is based on, such as what a structure embeds. */
  basesOf(definition: Definition): (Type | undefined)[] {
    return this.#members.basesOf({ kind: 'inside', definition, args: [] });
  }

  #bounded<T>(work: () => T): T | undefined {
    if (this.#depth >= depthMax) return undefined;
    this.#depth += 1;
    try {
      return work();
    } finally {
      this.#depth -= 1;
    }
  }

  #evaluate(text: string, context: Context): Value | undefined {
    const expression = this.#parse(text);
    return this.#followed(this.#start(expression, context), expression.steps);
  }

  #parse(text: string): Expression {
    let expression = this.#parsed.get(text);
    if (expression === undefined) this.#parsed.set(text, (expression = parseExpression(text)));
    return expression;
  }

  #start({ root, steps }: Expression, context: Context): Value | undefined {
    if (root === undefined) return undefined;
    if (typeof root === 'object') return this.#ofTypeText(root, context);
    const value = this.#names.named(root, context);
    const isOfPackage = steps[0]?.kind === 'member' && this.#names.isPackage(root);
    return value === undefined && isOfPackage ? outside : value;
  }

  #followed(start: Value | undefined, steps: readonly Step[]): Value | undefined {
    let value = start;
    for (const step of steps) value = value && this.#step(value, step);
    return value;
  }

  /** A value of a type; `F<int>` may also be a function, and then it is what that returns. */
  #ofTypeText(text: TypeText, context: Context): Value | undefined {
    const type = this.#resolve(text, context);
    if (type !== undefined)
      return type.kind === 'language' && type.held ? type.held : { kind: 'value', type };
    const [first = '', ...rest] = text.name.split('.');
    let named = this.#names.named(first, context);
    for (const name of rest) named = named && this.#members.member(named, name);
    return named?.kind === 'function' ? this.#uses.called(named, 0) : undefined;
  }

  /** From what may be one of several, a step is taken from each. */
  #step(value: Value, step: Step): Value | undefined {
    if (this.#definitions.rules.isDynamic !== true) return this.#stepFrom(value, step);
    const each = alternativesOf(value).map((one) => one && this.#stepFrom(one, step));
    return each.length === 1 ? each[0] : joined(each);
  }

  #stepFrom(value: Value, step: Step): Value | undefined {
    switch (step.kind) {
      case 'member':
        return this.#members.member(value, step.name);
      case 'call':
        return this.#uses.called(value, step.result);
      case 'element':
      case 'key':
        return this.#uses.part(value, step.kind);
      case 'each':
        return this.#uses.eachOf(value);
      case 'item':
        return this.#uses.itemOf(value, step.at);
      case 'await':
        return this.#uses.awaited(value);
      case 'parameter':
        return this.#uses.parameterOf(value, step);
    }
  }

  #resolve(text: TypeText | undefined, context: Context): Type | undefined {
    return text && this.#bounded(() => this.#resolved(text, context));
  }

  #resolved(text: TypeText, context: Context): Type | undefined {
    if (text.of !== undefined) {
      const found = this.#followed(this.#start(text.of, context), text.of.steps);
      return found && typeOf(found);
    }
    if (text.name === '$none') return undefined;
    const args = text.args.map(({ label, type }) => ({
      label,
      type: this.#resolve(type, context),
    }));
    if (text.name === ownName) return context.bindings.get(ownName);
    if (text.name === '$type') return typeItself(args[0]?.type);
    if (text.name === '$union' && this.#definitions.rules.isDynamic === true) {
      const all = joined(args.map(({ type }) => valueOf(type)));
      return all && typeOf(all);
    }
    if (text.name.startsWith('$')) return { kind: 'language', name: text.name, args };
    const [first = '', ...rest] = text.name.split('.');
    const parameter = rest.length === 0 ? this.#names.parameter(first, context) : undefined;
    if (parameter !== undefined) return parameter.type;
    const plain = { ...context, bindings: unbound };
    let value = this.#names.named(first, plain, rest.length === 0 ? 'type' : 'value');
    for (const [at, name] of rest.entries()) {
      const isLast = at === rest.length - 1;
      value =
        value?.kind === 'scope' && isLast
          ? (this.#names.imported({ scopes: value.scopes, name }, 'type') ??
            this.#members.member(value, name))
          : value && this.#members.member(value, name);
    }
    if (value === undefined && rest.length > 0 && this.#names.isPackage(first)) value = outside;
    const known = this.#definitions.rules.standard?.types.get(text.name.split('.').at(-1) ?? '');
    if (known !== undefined && value?.kind !== 'type')
      return known === '=' ? args[0]?.type : { kind: 'language', name: known, args };
    if (value?.kind === 'scope') value = this.#names.whole(value.scopes, 'type');
    if (value?.kind === 'function') value = this.#typeOfFunction(value);
    if (value?.kind === 'outside') return value.isLibrary === true ? library : outside;
    if (value?.kind !== 'type') return undefined;
    const { type } = value;
    if (type.kind !== 'inside') return type;
    const made = { ...type, args: args.map((each) => each.type) };
    const [alias] = typesIn(type.definition, 'alias');
    return alias === undefined ? made : this.#resolve(alias.type, within(made));
  }

  #typeOfFunction({ definitions }: FunctionValue): Value | undefined {
    const [definition] = definitions;
    if (definition === undefined || this.#definitions.rules.functionsAreTypes !== true)
      return undefined;
    if (this.#definitions.methodsOf(definition).size === 0) return undefined;
    return { kind: 'type', type: { kind: 'inside', definition, args: [] } };
  }
}

/** A type as a value: it is called, or asked for what it has itself. */
function typeItself(type: Type | undefined): Type | undefined {
  if (type === undefined || type.kind === 'outside') return type;
  return { kind: 'language', name: '$held', args: [], held: { kind: 'type', type, isOpen: true } };
}
