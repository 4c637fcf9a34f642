import { parseExpression, unknown, type Given, type Step } from '../../format/expression.js';
import type { LanguageRules, Operator } from './rules.js';
import { joined } from './alternatives.js';
import { type Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { inferred, isFunctionType } from './inference.js';
import type { Members } from './members.js';
import type { Names } from './names.js';
import {
  outside,
  foreign,
  inside,
  within,
  valueOf,
  isFunction,
  isOfLibrary,
  isVariable,
  type Type,
  type InsideType,
  type LanguageType,
  type Value,
  type FunctionValue,
  type OutsideValue,
  type Arguments,
  type Evaluation,
} from './values.js';

/** More functions of a type than these are no answer. */
const anyOfMax = 64;
/** Types in the line of what one is based on. */
const linesMax = 32;

/** What a value gives where it is called, indexed or awaited, and what it hands to the functions that it takes. */
export class Uses {
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #members: Members;
  readonly #evaluation: Evaluation;

  constructor(definitions: Definitions, names: Names, members: Members, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#names = names;
    this.#members = members;
    this.#evaluation = evaluation;
  }

  called(value: Value, result: number): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return this.#resultOfLanguage(value);
      case 'type':
        return { kind: 'value', type: value.type };
      case 'function':
        return this.#result(value, result);
      case 'value':
        // A type that was called is constructed already.
        if (value.constructors !== undefined && this.#definitions.rules.namespaces === true)
          return { kind: 'value', type: value.type };
        return value.type.kind === 'inside' && this.#definitions.rules.operators
          ? this.#asked(value, 'call')
          : this.part(value, 'result', result);
      case 'scope': {
        const whole = this.#names.whole(value.scopes);
        return whole && whole.kind !== 'scope' ? this.called(whole, result) : undefined;
      }
    }
  }

  #resultOfLanguage(value: OutsideValue): Value | undefined {
    const { of, isLibrary } = value;
    const { members, librariesGiveBack, overloads, standard } = this.#definitions.rules;
    if (overloads !== undefined && of === undefined) return this.#resultOfLibrary(value);
    // What a library does with a type of the program may give something of the program.
    const isOfProgram = standard !== undefined && of?.type.kind === 'inside';
    if (isLibrary === true) return librariesGiveBack === true || isOfProgram ? undefined : foreign;
    const isSame = of !== undefined && standard?.same.has(of.name) === true;
    if (isSame && !isListed(of.type, of.name, members)) return valueOf(of.type);
    if (of?.type.kind !== 'language') return outside;
    const { type, name } = of as { type: LanguageType; name: string };
    const its = members?.[type.name];
    const made = its?.made?.[name];
    if (made !== undefined) return valueOf(made(type.args.map((each) => each.type)));
    const steps = its?.results[name];
    if (steps === undefined) {
      const isClosed = type.args.every((each) => isOfLibrary(each.type));
      const known = this.#definitions.rules.standard?.gives?.(type.written ?? '', name);
      return overloads === undefined
        ? outside
        : this.#resultOfLibrary({ ...value, isClosed, ...(known && { gives: known }) });
    }
    if (steps === '') {
      // It may be called otherwise than that of which it was asked: `list.iterator()`.
      const given = this.#definitions.rules.standard?.gives?.(type.written ?? '', name)?.([]);
      const written = given?.kind === 'language' ? given.written : undefined;
      return { kind: 'value', type: { ...type, written: written ?? type.name } };
    }
    return steps === unknown ? undefined : this.#from(type, steps);
  }

  /** A method of a library gives what is of libraries, unless it was given something else. */
  #resultOfLibrary({ isClosed, given, gives }: OutsideValue): Value | undefined {
    if (gives !== undefined) return valueOf(gives(given?.types() ?? []));
    const isPlain = isClosed === true && given?.types().every(isOfLibrary) === true;
    return isPlain ? { ...foreign, isClosed } : undefined;
  }

  #result(value: FunctionValue, result: number): Value | undefined {
    const [definition, ...others] = value.definitions;
    if (definition === undefined || value.isAnyOf === true) return undefined;
    if (others.length > 0 && this.#definitions.rules.isDynamic === true)
      return this.#resultOfAny(value, result);
    // A class and an interface of its name declare the same method: one of them may say what it gives.
    if (others.length > 0 && this.#definitions.rules.functionsAreTypes === true)
      return this.#firstResult(value, result);
    if (isVariable(definition)) return valueOf(value.self);
    const { namespaces } = this.#members;
    if (namespaces !== undefined && definition.kind === 'macro')
      return namespaces.macros.valueOf(value.definitions);
    const written = typesIn(definition, 'result')[result];
    const { self, receiver } = value;
    if (written === undefined)
      return this.#members.said.by(definition, 'returned', '', { self, receiver });
    const context = inside(definition, { self, receiver });
    if (value.given === undefined) return valueOf(this.#evaluation.resolve(written.type, context));
    const known = new Map(context.bindings);
    if (namespaces !== undefined && value.isUnsure === true && !this.#isAgreed(value))
      return undefined;
    const types = value.given.written?.() ?? [];
    // Behind those of its type.
    const outer = self?.kind === 'inside' ? typesIn(self.definition, 'bound').length : 0;
    const own = typesIn(definition, 'bound').slice(outer);
    for (const [at, each] of own.entries()) if (at < types.length) known.set(each.name, types[at]);
    const bindings = inferred(definition, value.given, known, (type) =>
      this.#members.bases.of(type),
    );
    const found = this.#evaluation.resolve(written.type, { ...context, bindings });
    const isOpen =
      found === undefined &&
      own.some(({ name, text }) => name === written.text && text === unknown) &&
      isLeftOpen(written.text, typesIn(definition, 'parameter'), value.given);
    return isOpen ? { kind: 'value', type: nothing } : valueOf(found);
  }

  /** All that may be meant give the same. */
  #isAgreed({ definitions }: FunctionValue): boolean {
    const given = definitions.map((each) => typesIn(each, 'result')[0]?.text);
    return given.every((each) => each === given[0]);
  }

  #firstResult(value: FunctionValue, result: number): Value | undefined {
    for (const definition of value.definitions) {
      const found = this.#result({ ...value, definitions: [definition] }, result);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Overloads give what depends on how they are called: that says something only if it is the same for all. */
  #resultOfAny(value: FunctionValue, result: number): Value | undefined {
    const of = (definition: Definition): Value | undefined =>
      this.#result({ ...value, definitions: [definition] }, result);
    const overloads = value.definitions.filter(({ isDeclaration }) => isDeclaration);
    if (overloads.length === 0) return joined(value.definitions.map(of));
    const texts = new Set(overloads.map((each) => typesIn(each, 'result')[result]?.text));
    const [first] = overloads;
    return texts.size === 1 && first !== undefined ? of(first) : undefined;
  }

  /** What a value of a type of the program gives by its own methods for that. */
  #asked(value: Value, by: Operator): Value | undefined {
    for (const steps of this.#definitions.rules.operators?.[by] ?? []) {
      const found = this.#evaluation.bounded(() =>
        this.#evaluation.followed(value, parseExpression(`x${steps}`).steps),
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** What comes of going through a value. */
  eachOf(value: Value): Value | undefined {
    if (value.kind !== 'value') return value.kind === 'outside' ? value : undefined;
    const { type } = value;
    if (type.kind === 'inside') return this.#asked(value, 'each');
    if (type.kind === 'outside') return type;
    if (type.name === '$tuple') return joined(type.args.map((each) => valueOf(each.type)));
    return this.part(value, type.name === '$map' ? 'key' : 'element');
  }

  itemOf(value: Value, at: number): Value | undefined {
    const type = value.kind === 'value' ? value.type : undefined;
    if (type?.kind === 'inside' && this.#definitions.rules.namespaces === true) {
      const field = typesIn(type.definition, 'field')[at];
      return field && valueOf(this.#evaluation.resolve(field.type, within(type)));
    }
    return type?.kind === 'language' && /^\$(?:tuple|pair)$/.test(type.name)
      ? valueOf(type.args[at]?.type)
      : this.part(value, 'element');
  }

  /** An element, a key, or a result of a value of a function's type. */
  part(value: Value, part: 'element' | 'key' | 'result', at = 0): Value | undefined {
    // Type arguments stand where an index does.
    if (value.kind === 'function' || value.kind === 'type') return value;
    if (value.kind === 'outside') return value.isLibrary === true ? foreign : outside;
    if (value.kind !== 'value') return undefined;
    const { type } = value;
    if (type.kind === 'outside') return type;
    if (type.kind === 'inside' && part === 'element' && this.#definitions.rules.operators)
      return this.#asked(value, 'element');
    if (type.kind === 'inside') {
      const underlying = this.#members.bases.underlying(type);
      if (underlying === undefined) return this.#inherited(type, part);
      return this.#evaluation.bounded(() =>
        this.part({ kind: 'value', type: underlying }, part, at),
      );
    }
    if (type.name === '$union') {
      for (const { type: its } of type.args) {
        const found =
          its && this.#evaluation.bounded(() => this.part({ kind: 'value', type: its }, part, at));
        if (found !== undefined && found.kind !== 'outside') return found;
      }
      return undefined;
    }
    if (type.name === '$tuple' && part === 'element') return this.eachOf(value);
    const position =
      partOf[part][type.name] ?? (part === 'result' && type.name === '$func' ? at : -1);
    return valueOf(type.args[position]?.type);
  }

  /** A member whose key a name holds. What is gone through by keys gives an element. */
  keyed(value: Value, name: string): Value | undefined {
    const isListed = value.kind === 'value' && value.type.kind === 'language';
    const found = isListed ? undefined : this.#members.member(value, name);
    const isIndexed = value.kind === 'value' || value.kind === 'outside';
    return found ?? (isIndexed ? this.part(value, 'element') : undefined);
  }

  /** Of a type of the language that it is based on. */
  #inherited(type: InsideType, part: 'element' | 'key' | 'result'): Value | undefined {
    return this.#members.bases.nearest(
      type,
      () => undefined,
      (base) =>
        base?.kind === 'language' && partOf[part][base.name] !== undefined
          ? this.part({ kind: 'value', type: base }, part)
          : undefined,
    );
  }

  /** A member that an expression names: each function of the type may be meant, unless a symbol names it. */
  anyMember(value: Value, by: Given | undefined, given: Arguments | undefined): Value | undefined {
    const key = /^(?:[\w$]+\.)*([\w$]+)$/.exec(by?.arguments?.[0] ?? '')?.[1];
    const held = key === undefined ? undefined : this.keyed(value, `%${key}`);
    if (held !== undefined || value.kind === 'type') return held;
    const type = value.kind === 'value' ? value.type : undefined;
    if (type?.kind !== 'inside' || this.#members.bases.underlying(type) !== undefined)
      return this.part(value, 'element');
    const [named] = given?.types() ?? [];
    if (named?.kind === 'language' && named.name === '$symbol') return undefined;
    const definitions = [...new Set(this.#functionsOf(type))];
    return definitions.length === 0 || definitions.length > anyOfMax
      ? undefined
      : { kind: 'function', definitions, isUnsure: true, isAnyOf: true };
  }

  /** Those that it has itself or by what it is based on, also by other names. */
  #functionsOf(start: InsideType): Definition[] {
    const types = [start];
    for (const type of types)
      for (const base of this.#members.bases.of(type))
        if (
          base?.kind === 'inside' &&
          types.length < linesMax &&
          !types.some(({ definition }) => definition === base.definition)
        )
          types.push(base);
    return types.flatMap((type) => [
      ...[...this.#definitions.methodsOf(type.definition).values()].flat().filter(isFunction),
      ...typesIn(type.definition, 'assigned').flatMap(({ name }) => {
        const held = this.#members.memberOf(type, name);
        return held?.kind === 'function' ? held.definitions : [];
      }),
    ]);
  }

  /** What is no promise is itself. */
  awaited(value: Value): Value | undefined {
    const isUnknown =
      this.#definitions.rules.isDynamic === true &&
      value.kind === 'value' &&
      value.type.kind === 'inside';
    if (isUnknown) return undefined;
    if (value.kind !== 'value' || value.type.kind !== 'language') return value;
    return /^\$(?:promise|option)$/.test(value.type.name)
      ? valueOf(value.type.args[0]?.type)
      : value;
  }

  /** What a function hands to the function that it takes; see `expression.ts`. */
  parameterOf(value: Value, { argument, at }: Step & { kind: 'parameter' }): Value | undefined {
    if (value.kind === 'outside') return this.#handed(value, at);
    if (argument < 0) return value.kind === 'value' ? this.#takes(value.type, at) : undefined;
    if (value.kind === 'value' && value.constructors === undefined) {
      const its = this.#takes(value.type, argument);
      return its?.kind === 'value' ? this.#takes(its.type, at) : undefined;
    }
    const taking =
      value.kind === 'value'
        ? value.constructors
        : value.kind === 'type'
          ? this.#members.constructorOf(value.type)
          : value;
    if (taking?.kind !== 'function') return undefined;
    for (const definition of taking.definitions) {
      const written = typesIn(definition, 'parameter');
      const rest = written.at(-1)?.name === '*' && argument >= written.length - 1;
      const one = written[rest ? written.length - 1 : argument];
      const type = one && this.#evaluation.resolve(one.type, inside(definition, taking));
      const its = rest ? type && this.#elementOf(type) : type;
      const found = its && this.#takes(its, at);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The parameter of a value of a function's type. */
  #takes(type: Type, at: number): Value | undefined {
    if (type.kind === 'outside') return undefined;
    if (type.kind === 'inside') {
      if (this.#definitions.rules.overloads === undefined)
        return this.#firstOf(this.#signaturesOf(type), at);
      const sole = this.#members.bases.soleMethod(type);
      const written = sole && typesIn(sole.definition, 'parameter')[at];
      return (
        written && valueOf(this.#evaluation.resolve(written.type, inside(sole.definition, sole)))
      );
    }
    if (type.name === '$union')
      return this.#firstOf(
        type.args.map((each) => each.type),
        at,
      );
    const own = type.args.find(({ label }) => label === String(at));
    if (own !== undefined) return valueOf(own.type);
    const rest = type.args.find(
      ({ label }) => label.startsWith('*') && Number(label.slice(1)) <= at,
    );
    return valueOf(rest?.type && this.#elementOf(rest.type));
  }

  #firstOf(types: readonly (Type | undefined)[], at: number): Value | undefined {
    for (const type of types) {
      const found = type && this.#evaluation.bounded(() => this.#takes(type, at));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #elementOf(type: Type): Type | undefined {
    const found = this.part({ kind: 'value', type }, 'element');
    return found?.kind === 'value' ? found.type : undefined;
  }

  /** A type may be called in several ways, and in those of what it is based on. */
  #signaturesOf(type: InsideType): (Type | undefined)[] {
    const context = within(type);
    return [
      ...typesIn(type.definition, 'is').map((each) => this.#evaluation.resolve(each.type, context)),
      ...this.#members.bases.of(type),
    ];
  }

  /** By a member of a type of the language. */
  #handed({ of, isLibrary }: OutsideValue, at: number): Value | undefined {
    // What the language itself makes.
    const isOwn = of === undefined && isLibrary !== true;
    if (isOwn && this.#definitions.rules.librariesGiveBack === true) return outside;
    if (of?.type.kind !== 'language') return undefined;
    const members = this.#definitions.rules.members?.[of.type.name];
    const steps = (members?.parameters[of.name] ?? members?.parameters[''])?.[at];
    return steps === undefined || steps === unknown ? undefined : this.#from(of.type, steps);
  }

  #from(type: Type, steps: string): Value | undefined {
    const start: Value = { kind: 'value', type };
    return this.#evaluation.bounded(() =>
      this.#evaluation.followed(start, parseExpression(`x${steps}`).steps),
    );
  }
}

/** A type of the language may say itself what such a member gives. */
function isListed(type: Type, name: string, members: LanguageRules['members']): boolean {
  const its = type.kind === 'language' ? members?.[type.name] : undefined;
  return its?.results[name] !== undefined || its?.made?.[name] !== undefined;
}

/** Like `null` it may be given as any type that is none of plain values. */
const nothing: Type = { kind: 'language', name: '$null', args: [] };

/** What is given says nothing of a type parameter: it is what the place wants where the result goes. */
function isLeftOpen(name: string, written: readonly { text: string }[], given: Arguments): boolean {
  const types = given.types();
  return written.every(
    ({ text }, at) => !text.split(/[^\w$]+/).includes(name) || isFunctionType(types[at]),
  );
}

const partOf: Record<'element' | 'key' | 'result', Partial<Record<string, number>>> = {
  element: {
    $list: 0,
    $array: 0,
    $map: 1,
    $chan: 0,
    $context: 0,
    $ptr: 0,
    $seq: 0,
    $smart: 0,
    $option: 0,
  },
  key: { $map: 0, $chan: 0 },
  result: {},
};
