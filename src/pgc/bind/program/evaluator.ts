import {
  parseExpression,
  parseType,
  type Expression,
  type Given,
  type Step,
  type TypeText,
} from '../../format/expression.js';
import { type Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { alternativesOf, joined, typeOf } from './alternatives.js';
import { Members } from './members.js';
import { Names } from './names.js';
import type { Arguments } from './values.js';
import type { SourceText } from './source-text.js';
import { Uses } from './uses.js';
import {
  outside,
  rootName,
  asConst,
  asCopy,
  beyondOf,
  languageType,
  outsideType,
  foreign,
  unbound,
  ownName,
  within,
  valueOf,
  isVariable,
  type Type,
  type Value,
  type FunctionValue,
  type Context,
  type Evaluation,
} from './values.js';

/** Variables, aliases and bases followed on the way to a type: they may form circles. */
const depthMax = 24;
/** Steps on the way to one answer: functions that call each other in turns have more ways than anyone can go. */
const workMax = 20_000;

/** Evaluates expressions in the definitions of one language. */
export class Evaluator {
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #members: Members;
  readonly #uses: Uses;
  readonly #parsed = new Map<string, Expression>();
  #depth = 0;
  #work = 0;

  constructor(definitions: Definitions) {
    const evaluation: Evaluation = {
      evaluate: (text, context) => this.#evaluate(text, context),
      step: (value, step) => this.#step(value, step),
      followed: (start, steps) => this.#followed(start, steps),
      member: (type, name, given) => this.#members.memberOf(type, name, given),
      among: (types, name, given, isDoubtful) =>
        this.#members.among(types, name, given, isDoubtful),
      innerType: (type, name) => this.#members.innerType(type, name),
      definitionsOf: (type, name) => this.#members.definitionsOf({ kind: 'value', type }, name),
      resolve: (text, context) => this.#resolve(text, context),
      visible: (name, context, wanted, given) =>
        this.#members.namespaces?.visible(name, context, wanted, given),
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
    const expression = this.#parse(text);
    const { root, steps } = expression;
    const context = { file, owner, bindings: unbound };
    const place = this.#placed(expression, context);
    const last = steps.at(-1);
    if (last === undefined && typeof root === 'string')
      return this.#names.parameter(root, place) === undefined
        ? this.#names.named(root, place, 'definition')
        : outside;
    if (last?.kind !== 'member') return undefined;
    return this.#bounded(() => {
      const [of, taken] = this.#begun(expression, place);
      if (taken === steps.length) return of && definitionOf(of);
      const value = this.#followed(of, steps.slice(taken, -1), place);
      const all = this.#definitions.rules.isDynamic === true ? alternativesOf(value) : [value];
      return joined(all.map((each) => each && this.#members.definitionsOf(each, last.name)));
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
    this.#members.bases.add(definition, base);
  }

  /** Notes which types are based on one. */
  noteBelow(below: ReadonlyMap<Definition, readonly Definition[]>): void {
    this.#members.bases.below = below;
  }

  hasAddedBases(definition: Definition): boolean {
    return this.#members.bases.hasAdded(definition);
  }

  /** The type that a definition says it is based on, such as what a structure embeds. */
  basesOf(definition: Definition): readonly (Type | undefined)[] {
    return this.#members.bases.of({ kind: 'inside', definition, args: [] });
  }

  #bounded<T>(work: () => T): T | undefined {
    if (this.#depth === 0) this.#work = 0;
    this.#work += 1;
    if (this.#depth >= depthMax || this.#work > workMax) return undefined;
    this.#depth += 1;
    try {
      const found = work();
      // What was not looked at any more may say something else.
      return this.#depth === 1 && this.#work > workMax ? undefined : found;
    } finally {
      this.#depth -= 1;
    }
  }

  #evaluate(text: string, context: Context): Value | undefined {
    const expression = this.#parse(text);
    const place = this.#placed(expression, context);
    const [value, taken] = this.#begun(expression, place);
    return this.#followed(value, expression.steps.slice(taken), place);
  }

  /** What an expression begins with, and how many steps are part of its name. */
  #begun(expression: Expression, place: Context): [value: Value | undefined, taken: number] {
    const { root, steps } = expression;
    const start = this.#start(expression, place);
    const isOpen = start === undefined || start.kind === 'outside';
    const written = isOpen && typeof root === 'string' && this.#names.scopeNamed(root, steps);
    return written ? [written.value, written.steps] : [start, 0];
  }

  #parse(text: string): Expression {
    let expression = this.#parsed.get(text);
    if (expression === undefined) {
      expression = parseExpression(this.#definitions.expanded(text));
      this.#parsed.set(text, expression);
    }
    return expression;
  }

  /** Inside the type that an expression names around it. */
  #placed({ around }: Expression, context: Context): Context {
    const owner = this.#names.typeAround(around, context.file);
    return owner === undefined ? context : { ...context, owner };
  }

  #start({ root, given, steps }: Expression, context: Context): Value | undefined {
    if (root === undefined) return undefined;
    const its = this.#arguments(given, context);
    if (typeof root === 'object')
      return this.#members.constructed(this.#ofTypeText(root, context), its);
    const value = this.#names.named(root, context, 'value', its);
    const isOfPackage = steps[0]?.kind === 'member' && this.#names.isPackage(root);
    return value === undefined && isOfPackage ? outside : value;
  }

  #followed(
    start: Value | undefined,
    steps: readonly Step[],
    context?: Context,
  ): Value | undefined {
    let value = start;
    for (const step of steps) value = value && this.#step(value, step, context);
    return value;
  }

  /** What is given to a function, each in its turn. */
  #arguments(given: Given | undefined, context: Context | undefined): Arguments | undefined {
    if (given === undefined) return undefined;
    let types: readonly (Type | undefined)[] | undefined;
    const evaluated = (text: string): Type | undefined => {
      const value = this.#bounded(() => context && this.#evaluate(text, context));
      return typeOfValue(value);
    };
    const { types: written } = given;
    let stays: readonly (boolean | undefined)[] | undefined;
    const stay = (text: string): boolean | undefined =>
      this.#bounded(() => context && this.#stays(text, context));
    return {
      count: given.arguments?.length,
      by: context?.file,
      types: () => (types ??= (given.arguments ?? []).map(evaluated)),
      stays: () =>
        (stays ??= (given.arguments ?? []).map((text, at) => given.stays?.[at] ?? stay(text))),
      written: written && (() => written.map((each) => context && this.#resolve(each, context))),
      from: context?.file,
    };
  }

  /** Whether what an expression stands for stays where it is: where its last name or call says so. */
  #stays(text: string, context: Context): boolean | undefined {
    if (this.#definitions.rules.namespaces !== true) return undefined;
    const expression = this.#parse(text);
    const { root, steps } = expression;
    const last = steps.at(-1);
    const place = this.#placed(expression, context);
    if (last === undefined) {
      const value = typeof root === 'string' ? this.#start(expression, place) : undefined;
      if (value?.kind === 'function')
        return value.definitions.every(isVariable) ? false : undefined;
      return value?.kind === 'value' && value.constructors === undefined ? true : undefined;
    }
    if (last.kind !== 'call') return undefined;
    const [of, taken] = this.#begun(expression, place);
    const value = this.#followed(of, steps.slice(taken, -1), place);
    // A value that is constructed.
    if (value?.kind === 'value') return value.constructors === undefined ? undefined : false;
    if (value?.kind !== 'function' || value.isUnsure === true) return undefined;
    const marks = value.definitions.map((each) => typesIn(each, 'result')[0]?.name);
    const [mark] = marks;
    if (mark === undefined || marks.some((each) => each !== mark)) return undefined;
    return mark === '&';
  }

  /** A value of a type; `F<int>` may also be a function, and then it is what that returns. */
  #ofTypeText(text: TypeText, context: Context): Value | undefined {
    const type = this.#resolve(text, context);
    if (type !== undefined)
      return type.kind === 'language' && type.held ? type.held : { kind: 'value', type };
    const [own] = text.args;
    if (text.name === ownName) return own?.type && this.#ofTypeText(own.type, context);
    const [first = '', ...rest] = text.name.split('.');
    let named = this.#names.named(first, context);
    for (const name of rest) named = named && this.#members.member(named, name);
    // A variant is constructed like a type.
    if (named?.kind === 'value' && this.#definitions.rules.localItems === true) return named;
    return named?.kind === 'function' ? this.#uses.called(named, 0) : undefined;
  }

  /** From what may be one of several, a step is taken from each. */
  #step(value: Value, step: Step, context?: Context): Value | undefined {
    if (this.#definitions.rules.isDynamic !== true) return this.#stepFrom(value, step, context);
    const each = alternativesOf(value).map((one) => one && this.#stepFrom(one, step, context));
    return each.length === 1 ? each[0] : joined(each);
  }

  #stepFrom(value: Value, step: Step, context: Context | undefined): Value | undefined {
    switch (step.kind) {
      case 'member':
        if (step.name === '')
          return this.#uses.anyMember(value, step.given, this.#arguments(step.given, context));
        if (step.name.startsWith('%')) return this.#uses.keyed(value, step.name);
        return this.#members.member(value, step.name, this.#arguments(step.given, context));
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
      const isNamed = this.#definitions.rules.namespaces === true && found?.kind === 'type';
      return found && (isNamed ? found.type : typeOf(found));
    }
    if (text.name === '$none') return undefined;
    const args = text.args.map(({ label, type }) => ({
      label,
      type: this.#resolve(type, context),
    }));
    if (text.name === ownName) return context.bindings.get(ownName) ?? args[0]?.type;
    if (text.name === '$type') return typeItself(args[0]?.type);
    const composed = this.#definitions.rules.composed?.[text.name];
    if (composed !== undefined) return composed(args.map(({ type }) => type));
    if (text.name === '$const') return asConst(args[0]?.type);
    if (text.name === '$copy') return asCopy(args[0]?.type);
    if (text.name === '$union' && this.#definitions.rules.isDynamic === true) {
      const all = joined(args.map(({ type }) => valueOf(type)));
      return all && typeOf(all);
    }
    if (text.name.startsWith('$') && !text.name.startsWith(rootName))
      return { kind: 'language', name: text.name, args };
    const [first = '', ...rest] = text.name.split('.');
    const parameter = rest.length === 0 ? this.#names.parameter(first, context) : undefined;
    if (parameter !== undefined) return parameter.type;
    const plain = { ...context, bindings: unbound };
    let value = this.#names.named(first, plain, rest.length === 0 ? 'type' : 'value');
    for (const [at, name] of rest.entries()) {
      const isLast = at === rest.length - 1;
      const inner =
        this.#definitions.rules.namespaces === true
          ? this.#members.ofLibraries.typeIn(value, name)
          : undefined;
      if (inner !== undefined) return isLast ? inner.type : undefined;
      value =
        value?.kind === 'scope' && isLast
          ? (this.#names.imported({ scopes: value.scopes, name }, 'type') ??
            this.#members.member(value, name))
          : value && this.#members.member(value, name);
    }
    if ((value === undefined || value.kind === 'outside') && rest.length > 0) {
      const steps = rest.map((name): Step => ({ kind: 'member', name }));
      const found = this.#names.scopeNamed(first, steps);
      if (found !== undefined) value = this.#followed(found.value, steps.slice(found.steps));
      if (value === undefined && this.#names.isPackage(first)) value = outside;
    }
    const written = text.name.split('.').at(-1) ?? '';
    const known = this.#definitions.rules.standard?.types.get(written);
    if (known !== undefined && value?.kind !== 'type')
      return known === '=' ? args[0]?.type : languageType(known, written, args);
    if (value?.kind === 'scope') value = this.#names.whole(value.scopes, 'type');
    if (value?.kind === 'function') value = this.#typeOfFunction(value);
    if (this.#definitions.rules.namespaces === true && value?.kind !== 'type')
      return value?.kind === 'outside' || (rest.length > 0 && !this.#definitions.isNamed(first))
        ? outsideType(written, args, undefined)
        : undefined;
    if (this.#definitions.rules.overloads !== undefined && value?.kind !== 'type')
      return outsideType(written, args, beyondOf(text.name, context));
    if (value?.kind === 'outside') return value.isLibrary === true ? foreign : outside;
    if (value?.kind !== 'type') return undefined;
    const { type } = value;
    if (type.kind !== 'inside') return type;
    const made = { ...type, args: args.map((each) => each.type) };
    const [alias] = typesIn(type.definition, 'alias');
    if (alias === undefined && type.from !== undefined) return type;
    return alias === undefined ? made : this.#resolve(alias.type, within(made));
  }

  #typeOfFunction({ definitions }: FunctionValue): Value | undefined {
    const [definition] = definitions;
    if (definition === undefined || this.#definitions.rules.functionsAreTypes !== true)
      return undefined;
    return { kind: 'type', type: { kind: 'inside', definition, args: [] } };
  }
}

/** Given like a function. */
function definitionOf(value: Value): Value | undefined {
  if (value.kind !== 'type' || value.type.kind !== 'inside') return undefined;
  return { kind: 'function', definitions: [value.type.definition] };
}

/** A type as a value: it is called, or asked for what it has itself. */
function typeItself(type: Type | undefined): Type | undefined {
  if (type === undefined || type.kind === 'outside') return type;
  return { kind: 'language', name: '$held', args: [], held: { kind: 'type', type, isOpen: true } };
}

/** Of a value; a constant of an enumeration is found like a function of its type. */
function typeOfValue(value: Value | undefined): Type | undefined {
  if (value?.kind === 'outside') return value;
  if (value?.kind === 'value') return value.type;
  const isConstant = value?.kind === 'function' && value.definitions.some(isVariable);
  return isConstant ? value.self : undefined;
}
