import {
  parseExpression,
  parseType,
  unknown,
  type Expression,
  type Step,
  type TypeText,
} from '../../format/expression.js';
import { typesIn, type Definition, type Definitions, type NameScope } from './definitions.js';
import type { Imported, SourceText } from './rules.js';

/** A type of the program, of the language (`$list`), or of a library. */
export type Type =
  | { kind: 'inside'; definition: Definition; args: readonly (Type | undefined)[] }
  | { kind: 'language'; name: string; args: readonly { label: string; type: Type | undefined }[] }
  | Outside;

/** `isLibrary`: not of the language itself. */
interface Outside {
  kind: 'outside';
  isLibrary?: boolean;
}

/** What an expression stands for; undefined: not known. */
export type Value =
  | { kind: 'value'; type: Type }
  | { kind: 'type'; type: Type }
  /** `self`: the type whose method it is; `receiver`: the one of which it was asked, which may be based on that. */
  | {
      kind: 'function';
      definitions: readonly Definition[];
      self?: Type | undefined;
      receiver?: Type | undefined;
    }
  | { kind: 'scope'; scopes: readonly string[] }
  /** `of`: the member of a type of the language that it is. */
  | (Outside & { of?: { type: Type; name: string } });

/** See `Value`. */
interface Owner {
  self?: Type | undefined;
  receiver?: Type | undefined;
}

/** Where a type or an expression is written. */
interface Context {
  file: SourceText;
  /** Whose type parameters are visible. */
  owner: Definition | undefined;
  /** What type parameters stand for. */
  bindings: ReadonlyMap<string, Type | undefined>;
}

/** The member that stands for what a type is based on. */
const superName = '$super';
/** The type whose method it is. */
const ownName = '$this';
type Wanted = 'value' | 'type';
const outside: Outside = { kind: 'outside' };
const library: Outside = { kind: 'outside', isLibrary: true };
/** Variables, aliases and bases followed on the way to a type: they may form circles. */
const depthMax = 24;
/** Names of scopes that are kept once they are found. */
const passedMax = 500_000;
const unbound: ReadonlyMap<string, Type | undefined> = new Map();

/** Evaluates expressions in the definitions of one language. */
export class Evaluator {
  readonly #definitions: Definitions;
  readonly #parsed = new Map<string, Expression>();
  readonly #variables = new Map<Definition, Value | undefined>();
  /** What types are based on by what other texts say. */
  readonly #added = new Map<Definition, Type[]>();
  /** By what is wanted, name and scope. */
  readonly #passed = new Map<string, Value | undefined>();
  #depth = 0;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  /** `owner`: the function around it. */
  evaluate(text: string, file: SourceText, owner: Definition | undefined): Value | undefined {
    return this.#bounded(() => {
      const value = this.#evaluate(text, { file, owner, bindings: unbound });
      return value?.kind === 'scope' ? (this.#whole(value.scopes) ?? value) : value;
    });
  }

  memberOf(type: Type, name: string): Value | undefined {
    return this.#memberOf(type, name);
  }

  /** A type as a text calls it. */
  typeIn(name: string, file: SourceText): Type | undefined {
    const context = { file, owner: undefined, bindings: unbound };
    return this.#bounded(() => this.#resolve(parseType(name), context));
  }

  /** Notes that another text says what a type is based on. */
  addBase(definition: Definition, base: Type): void {
    const known = this.#added.get(definition);
    if (known === undefined) this.#added.set(definition, [base]);
    else known.push(base);
  }

  hasAddedBases(definition: Definition): boolean {
    return this.#added.has(definition);
  }

  /** The type that a definition says it is based on, such as what a structure embeds. */
  basesOf(definition: Definition): (Type | undefined)[] {
    return this.#basesOf({ kind: 'inside', definition, args: [] });
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
    let expression = this.#parsed.get(text);
    if (expression === undefined) this.#parsed.set(text, (expression = parseExpression(text)));
    const { root, steps } = expression;
    const value =
      typeof root === 'object'
        ? this.#ofTypeText(root, context)
        : root === undefined
          ? undefined
          : this.#named(root, context);
    const isOfPackage = typeof root === 'string' && steps[0]?.kind === 'member';
    if (value === undefined && isOfPackage && this.#isPackage(root)) return outside;
    return this.#followed(value, steps);
  }

  #followed(start: Value | undefined, steps: readonly Step[]): Value | undefined {
    let value = start;
    for (const step of steps) value = value && this.#step(value, step);
    return value;
  }

  /** A value of a type; `F<int>` may also be a function, and then it is what that returns. */
  #ofTypeText(text: TypeText, context: Context): Value | undefined {
    const type = this.#resolve(text, context);
    if (type !== undefined) return { kind: 'value', type };
    const [first = '', ...rest] = text.name.split('.');
    let named = this.#named(first, context);
    for (const name of rest) named = named && this.#member(named, name);
    return named?.kind === 'function' ? this.#called(named, 0) : undefined;
  }

  #isPackage(name: string): boolean {
    return this.#definitions.rules.isPackage?.(name) === true;
  }

  /** What a name means at the top of a file: its own scope, what it imports, the language. */
  #named(name: string, context: Context, wanted: Wanted = 'value'): Value | undefined {
    const { file } = context;
    if (name.startsWith('$')) {
      const macros = this.#definitions.macros.get(name.slice(1));
      return macros === undefined ? outside : { kind: 'function', definitions: macros };
    }
    const parameter = this.#parameter(name, context);
    if (parameter !== undefined) return parameter.type && { kind: 'type', type: parameter.type };
    const beside = this.#beside(name, context, wanted);
    if (beside !== undefined) return beside;
    const { scopes, rules } = this.#definitions;
    const own = scopes.get(file.scope)?.names.get(name);
    if (own !== undefined) return this.#meaning(own, wanted);
    const imported = file.imports.get(name);
    if (imported !== undefined) return this.#imported(imported, wanted);
    for (const wildcard of file.wildcards) {
      const found = this.#exported(wildcard, name, wanted);
      if (found !== undefined) return found;
    }
    if (rules.builtins.has(name)) return outside;
    if (file.isOpen) return library;
    return undefined;
  }

  /** A function or type of the inner module or function that holds the one around the expression. */
  #beside(name: string, { file, owner }: Context, wanted: Wanted): Value | undefined {
    if (owner === undefined || owner.container === '') return undefined;
    const found = this.#definitions.scopes.get(file.scope)?.members.get(owner.container)?.get(name);
    const isMember = found?.some(({ kind }) => kind === 'method') !== false;
    return isMember ? undefined : this.#meaning(found, wanted);
  }

  #imported({ scopes, name }: Imported, wanted: Wanted = 'value'): Value | undefined {
    if (scopes.length === 0) return library;
    if (name === '') return { kind: 'scope', scopes };
    for (const scope of scopes) {
      const found = this.#exported(scope, name, wanted);
      if (found !== undefined) return found;
    }
    // What passes on no value of its own is the scope itself.
    return name === this.#definitions.rules.whole ? { kind: 'scope', scopes } : undefined;
  }

  /** What a scope is where it is used as a value. */
  #whole(scopes: readonly string[], wanted: Wanted = 'value'): Value | undefined {
    const { whole } = this.#definitions.rules;
    if (whole === undefined) return undefined;
    for (const scope of scopes) {
      const found = this.#exported(scope, whole, wanted);
      if (found?.kind === 'scope')
        return this.#bounded(() => this.#whole(found.scopes, wanted)) ?? found;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A name of a scope as others see it: its own, or one that it passes on. Each scope is asked once. */
  #exported(key: string, name: string, wanted: Wanted): Value | undefined {
    const asked = `${wanted} ${name} ${key}`;
    if (this.#passed.has(asked)) return this.#passed.get(asked);
    if (this.#passed.size >= passedMax) this.#passed.clear();
    // Scopes may pass on each other.
    this.#passed.set(asked, undefined);
    const found = this.#bounded(() => this.#passedOn(key, name, wanted));
    this.#passed.set(asked, found);
    return found;
  }

  #passedOn(key: string, name: string, wanted: Wanted): Value | undefined {
    const { scopes, rules } = this.#definitions;
    const seen = new Set([key]);
    for (const each of seen) {
      const scope = scopes.get(each);
      const own = scope?.names.get(name) ?? innerOf(scope, name);
      if (own !== undefined) return this.#meaning(own, wanted);
      for (const { imports, wildcards } of scope?.texts ?? []) {
        const imported = imports.get(name);
        const found = imported && this.#imported(imported, wanted);
        if (found !== undefined) return found;
        if (name !== rules.whole) for (const wildcard of wildcards) seen.add(wildcard);
      }
    }
    return undefined;
  }

  /** A type and a value may share a name. */
  #meaning(definitions: readonly Definition[], wanted: Wanted): Value | undefined {
    const first = definitions.find(wanted === 'type' ? isType : isValue) ?? definitions[0];
    if (first === undefined) return undefined;
    if (isFunction(first)) return { kind: 'function', definitions: definitions.filter(isFunction) };
    if (isVariable(first)) return this.#variable(first);
    return { kind: 'type', type: { kind: 'inside', definition: first, args: [] } };
  }

  #variable(definition: Definition): Value | undefined {
    if (this.#variables.has(definition)) return this.#variables.get(definition);
    // A variable may be declared by itself, through others.
    this.#variables.set(definition, undefined);
    const [value] = typesIn(definition, 'value');
    // An object that is written out has its members itself.
    const own: Value = { kind: 'value', type: { kind: 'inside', definition, args: [] } };
    const context = { file: definition.file, owner: undefined, bindings: unbound };
    const found =
      value === undefined ? own : this.#bounded(() => this.#evaluate(value.text, context));
    this.#variables.set(definition, found);
    return found;
  }

  #step(value: Value, step: Step): Value | undefined {
    switch (step.kind) {
      case 'member':
        return this.#member(value, step.name);
      case 'call':
        return this.#called(value, step.result);
      case 'element':
      case 'key':
        return this.#part(value, step.kind);
      case 'await':
        return this.#awaited(value);
      case 'parameter':
        return this.#parameterOf(value, step);
    }
  }

  /** What a function hands to the function that it takes; see `expression.ts`. */
  #parameterOf(value: Value, { argument, at }: Step & { kind: 'parameter' }): Value | undefined {
    if (value.kind === 'outside') return this.#handed(value, at);
    if (argument < 0) return value.kind === 'value' ? this.#takes(value.type, at) : undefined;
    if (value.kind === 'value') {
      const its = this.#takes(value.type, argument);
      return its?.kind === 'value' ? this.#takes(its.type, at) : undefined;
    }
    const taking = value.kind === 'type' ? this.#constructorOf(value.type) : value;
    if (taking?.kind !== 'function') return undefined;
    for (const definition of taking.definitions) {
      const written = typesIn(definition, 'parameter');
      const rest = written.at(-1)?.name === '*' && argument >= written.length - 1;
      const one = written[rest ? written.length - 1 : argument];
      const type = one && this.#resolve(one.type, this.#inside(definition, taking));
      const its = rest ? type && this.#elementOf(type) : type;
      const found = its && this.#takes(its, at);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #constructorOf(type: Type): Value | undefined {
    for (const name of this.#definitions.rules.constructors) {
      const found = this.#memberOf(type, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The parameter of a value of a function's type. */
  #takes(type: Type, at: number): Value | undefined {
    if (type.kind === 'outside') return undefined;
    if (type.kind === 'inside') {
      return this.#firstOf(this.#signaturesOf(type), at);
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
      const found = type && this.#bounded(() => this.#takes(type, at));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #elementOf(type: Type): Type | undefined {
    const found = this.#part({ kind: 'value', type }, 'element');
    return found?.kind === 'value' ? found.type : undefined;
  }

  /** A type may be called in several ways, and in those of what it is based on. */
  #signaturesOf(type: Type & { kind: 'inside' }): (Type | undefined)[] {
    const context = this.#within(type);
    return [
      ...typesIn(type.definition, 'is').map((each) => this.#resolve(each.type, context)),
      ...this.#basesOf(type),
    ];
  }

  /** By a member of a type of the language. */
  #handed({ of }: Value & { kind: 'outside' }, at: number): Value | undefined {
    if (of?.type.kind !== 'language') return undefined;
    const members = this.#definitions.rules.members?.[of.type.name];
    const steps = (members?.parameters[of.name] ?? members?.parameters[''])?.[at];
    return steps === undefined ? undefined : this.#from(of.type, steps);
  }

  #from(type: Type, steps: string): Value | undefined {
    const start: Value = { kind: 'value', type };
    return this.#bounded(() => this.#followed(start, parseExpression(`x${steps}`).steps));
  }

  #member(value: Value, name: string): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return value.isLibrary === true ? library : outside;
      case 'scope':
        return this.#memberOfScope(value.scopes, name);
      case 'function':
        return this.#memberOfFunction(value, name);
      default:
        return this.#memberOf(value.type, name) ?? this.#ofEveryType(value.type, name);
    }
  }

  #ofEveryType(type: Type, name: string): Value | undefined {
    const isSame = this.#definitions.rules.standard?.same.has(name) === true;
    return isSame ? { kind: 'outside', of: { type, name } } : undefined;
  }

  #memberOfScope(scopes: readonly string[], name: string): Value | undefined {
    const found = this.#imported({ scopes, name });
    if (found !== undefined) return found;
    const whole = this.#whole(scopes);
    return whole && whole.kind !== 'scope'
      ? this.#bounded(() => this.#member(whole, name))
      : undefined;
  }

  #memberOfFunction(
    { definitions, self }: Value & { kind: 'function' },
    name: string,
  ): Value | undefined {
    const [definition] = definitions;
    // A constant of an enumeration is a value of it.
    if (definition !== undefined && isVariable(definition))
      return self && this.#memberOf(self, name);
    return definition && this.#ownMember({ kind: 'inside', definition, args: [] }, name);
  }

  #memberOf(type: Type, name: string): Value | undefined {
    return this.#bounded(() => {
      if (type.kind === 'outside') return type;
      if (type.kind === 'language') return this.#memberOfLanguage(type, name);
      if (name === superName) return valueOf(this.#basesOf(type)[0]);
      return this.#inheritedMember(type, name);
    });
  }

  /** Its own, else that of the nearest type that it is based on; each type is asked once. */
  #inheritedMember(start: Type & { kind: 'inside' }, name: string): Value | undefined {
    const asked = new Set<Definition>();
    let level: (Type | undefined)[] = [start];
    let isOpen = false;
    while (level.length > 0) {
      const next: (Type | undefined)[] = [];
      for (const type of level) {
        if (type?.kind !== 'inside') {
          const found = type?.kind === 'language' ? this.#memberOfLanguage(type, name) : undefined;
          if (found !== undefined && found.kind !== 'outside') return found;
          isOpen = true;
          continue;
        }
        if (asked.has(type.definition)) continue;
        asked.add(type.definition);
        const found = this.#ownMember(type, name) ?? this.#embedded(type, name);
        if (found?.kind === 'function' && type !== start) return { ...found, receiver: start };
        if (found !== undefined) return found;
        next.push(...this.#basesOf(type));
      }
      level = next;
    }
    return isOpen ? library : undefined;
  }

  /** Of what it is defined as; or what it embeds, which is a field of its own name. */
  #embedded(type: Type & { kind: 'inside' }, name: string): Value | undefined {
    if (type.definition.kind === 'struct')
      for (const base of typesIn(type.definition, 'base'))
        if (base.type?.name.split('.').at(-1) === name)
          return valueOf(this.#resolve(base.type, this.#within(type)));
    const underlying = this.#underlying(type);
    const found = underlying && this.#memberOf(underlying, name);
    // A defined type has the fields of the type that it is made of, and its methods if that is an interface.
    const isTaken = found?.kind === 'value' || (found?.kind === 'function' && isAbstract(found));
    return isTaken ? found : undefined;
  }

  #memberOfLanguage(type: Type & { kind: 'language' }, name: string): Value | undefined {
    const field = type.args.find(({ label }) => label === name);
    if (field !== undefined) return valueOf(field.type);
    if (type.name === '$struct') return undefined;
    if (type.name !== '$union') return { kind: 'outside', of: { type, name } };
    const each = type.args.map(({ type: its }) => its && this.#memberOf(its, name));
    const functions = each.filter((found) => found?.kind === 'function');
    const definitions = functions.flatMap((found) => found.definitions);
    if (definitions.length > 0) return { ...functions[0], kind: 'function', definitions };
    return each.find((found) => found !== undefined);
  }

  #ownMember(type: Type & { kind: 'inside' }, name: string): Value | undefined {
    const { definition } = type;
    const methods = this.#definitions.methodsOf(definition).get(name);
    if (methods !== undefined) return this.#meantBy(methods, type);
    const field = typesIn(definition, 'field').find((each) => each.name === name);
    if (field !== undefined) return valueOf(this.#resolve(field.type, this.#within(type)));
    return this.#firstKnown(definition, 'assigned', name, { self: type });
  }

  /** A method, a type inside another one, or a method that is read like a field. */
  #meantBy(members: readonly Definition[], self: Type & { kind: 'inside' }): Value | undefined {
    const [first] = members;
    if (first === undefined) return undefined;
    // A constant of an enumeration, which may be made like by a function.
    if (
      isVariable(first) &&
      typesIn(first, 'value').length === 0 &&
      self.definition.kind === 'enum'
    )
      return { kind: 'function', definitions: members, self };
    if (!isFunction(first)) return this.#meaning(members, 'value');
    const [read] = typesIn(first, 'value');
    if (read === undefined) return { kind: 'function', definitions: members, self };
    return this.#bounded(() => this.#evaluate(read.text, this.#inside(first, { self })));
  }

  /** Inside a method of a type. */
  #inside(definition: Definition, { self, receiver }: Owner): Context {
    const bindings =
      self?.kind === 'inside'
        ? new Map(this.#bindingsOf(self, definition)).set(ownName, receiver ?? self)
        : unbound;
    return { file: definition.file, owner: definition, bindings };
  }

  /** The first of several expressions that says something. */
  #firstKnown(
    definition: Definition,
    role: 'assigned' | 'returned',
    wanted: string,
    own: Owner,
  ): Value | undefined {
    const context = this.#inside(definition, own);
    for (const { name, text } of typesIn(definition, role)) {
      const found =
        name === wanted ? this.#bounded(() => this.#evaluate(text, context)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #called(value: Value, result: number): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return this.#resultOfLanguage(value);
      case 'type':
        return { kind: 'value', type: value.type };
      case 'function':
        return this.#result(value, result);
      case 'value':
        return this.#part(value, 'result', result);
      case 'scope': {
        const whole = this.#whole(value.scopes);
        return whole && whole.kind !== 'scope' ? this.#called(whole, result) : undefined;
      }
    }
  }

  #resultOfLanguage({ of, isLibrary }: Value & { kind: 'outside' }): Value | undefined {
    const { members, librariesGiveBack } = this.#definitions.rules;
    if (isLibrary === true) return librariesGiveBack === true ? undefined : library;
    if (of !== undefined && this.#definitions.rules.standard?.same.has(of.name) === true)
      return valueOf(of.type);
    if (of?.type.kind !== 'language') return outside;
    const steps = members?.[of.type.name]?.results[of.name];
    if (steps === undefined) return outside;
    return steps === unknown ? undefined : this.#from(of.type, steps);
  }

  #result(value: Value & { kind: 'function' }, result: number): Value | undefined {
    const [definition] = value.definitions;
    if (definition === undefined) return undefined;
    if (isVariable(definition)) return valueOf(value.self);
    const written = typesIn(definition, 'result')[result];
    const { self, receiver } = value;
    if (written === undefined)
      return this.#firstKnown(definition, 'returned', '', { self, receiver });
    return valueOf(this.#resolve(written.type, this.#inside(definition, { self, receiver })));
  }

  /** An element, a key, or a result of a value of a function's type. */
  #part(value: Value, part: 'element' | 'key' | 'result', at = 0): Value | undefined {
    // Type arguments stand where an index does.
    if (value.kind === 'function' || value.kind === 'type') return value;
    if (value.kind === 'outside') return value.isLibrary === true ? library : outside;
    if (value.kind !== 'value') return undefined;
    const { type } = value;
    if (type.kind === 'outside') return type;
    if (type.kind === 'inside') {
      const underlying = this.#underlying(type);
      return (
        underlying && this.#bounded(() => this.#part({ kind: 'value', type: underlying }, part, at))
      );
    }
    if (type.name === '$union') {
      for (const { type: its } of type.args) {
        const found =
          its && this.#bounded(() => this.#part({ kind: 'value', type: its }, part, at));
        if (found !== undefined && found.kind !== 'outside') return found;
      }
      return undefined;
    }
    const position =
      partOf[part][type.name] ?? (part === 'result' && type.name === '$func' ? at : -1);
    return valueOf(type.args[position]?.type);
  }

  /** What is no promise is itself. */
  #awaited(value: Value): Value | undefined {
    if (value.kind !== 'value' || value.type.kind !== 'language') return value;
    return value.type.name === '$promise' ? valueOf(value.type.args[0]?.type) : value;
  }

  #underlying(type: Type & { kind: 'inside' }): Type | undefined {
    const [written] = typesIn(type.definition, 'is');
    return written && this.#resolve(written.type, this.#within(type));
  }

  #basesOf(type: Type & { kind: 'inside' }): (Type | undefined)[] {
    const written = typesIn(type.definition, 'base').map((base) =>
      this.#resolve(base.type, this.#within(type)),
    );
    return [...written, ...(this.#added.get(type.definition) ?? [])];
  }

  #resolve(text: TypeText | undefined, context: Context): Type | undefined {
    return text && this.#bounded(() => this.#resolved(text, context));
  }

  #resolved(text: TypeText, context: Context): Type | undefined {
    const args = text.args.map(({ label, type }) => ({
      label,
      type: this.#resolve(type, context),
    }));
    if (text.name === ownName) return context.bindings.get(ownName);
    if (text.name.startsWith('$')) return { kind: 'language', name: text.name, args };
    const [first = '', ...rest] = text.name.split('.');
    const parameter = rest.length === 0 ? this.#parameter(first, context) : undefined;
    if (parameter !== undefined) return parameter.type;
    const plain = { ...context, bindings: unbound };
    let value = this.#named(first, plain, rest.length === 0 ? 'type' : 'value');
    for (const [at, name] of rest.entries()) {
      const isLast = at === rest.length - 1;
      value =
        value?.kind === 'scope' && isLast
          ? (this.#imported({ scopes: value.scopes, name }, 'type') ?? this.#member(value, name))
          : value && this.#member(value, name);
    }
    if (value === undefined && rest.length > 0 && this.#isPackage(first)) value = outside;
    const known = this.#definitions.rules.standard?.types.get(text.name.split('.').at(-1) ?? '');
    if (known !== undefined && value?.kind !== 'type')
      return known === '=' ? args[0]?.type : { kind: 'language', name: known, args };
    if (value?.kind === 'scope') value = this.#whole(value.scopes, 'type');
    if (value?.kind === 'function') value = this.#typeOfFunction(value);
    if (value?.kind === 'outside') return value.isLibrary === true ? library : outside;
    if (value?.kind !== 'type') return undefined;
    const { type } = value;
    if (type.kind !== 'inside') return type;
    const made = { ...type, args: args.map((each) => each.type) };
    const [alias] = typesIn(type.definition, 'alias');
    return alias === undefined ? made : this.#resolve(alias.type, this.#within(made));
  }

  #typeOfFunction({ definitions }: Value & { kind: 'function' }): Value | undefined {
    const [definition] = definitions;
    if (definition === undefined || this.#definitions.rules.functionsAreTypes !== true)
      return undefined;
    if (this.#definitions.methodsOf(definition).size === 0) return undefined;
    return { kind: 'type', type: { kind: 'inside', definition, args: [] } };
  }

  /** A type parameter: what it stands for, else what it must satisfy. Undefined: the name is none. */
  #parameter(
    name: string,
    { owner, bindings, file }: Context,
  ): { type: Type | undefined } | undefined {
    if (bindings.has(name)) return { type: bindings.get(name) };
    const bound = owner && typesIn(owner, 'bound').find((each) => each.name === name);
    if (bound === undefined) return undefined;
    const context = { file, owner: undefined, bindings: unbound };
    return { type: this.#resolve(bound.type, context) };
  }

  /** Inside the definition of a type, where its parameters stand for its arguments. */
  #within(type: Type & { kind: 'inside' }): Context {
    const { definition } = type;
    return {
      file: definition.file,
      owner: definition,
      bindings: this.#bindingsOf(type, definition),
    };
  }

  /** A method may call the parameters of its type by other names. */
  #bindingsOf(
    { args }: Type & { kind: 'inside' },
    named: Definition,
  ): ReadonlyMap<string, Type | undefined> {
    if (args.length === 0) return unbound;
    const names = typesIn(named, 'bound');
    return new Map(names.slice(0, args.length).map(({ name }, at) => [name, args[at]]));
  }
}

const partOf: Record<'element' | 'key' | 'result', Partial<Record<string, number>>> = {
  element: { $list: 0, $map: 1, $chan: 0 },
  key: { $map: 0, $chan: 0 },
  result: {},
};

function valueOf(type: Type | undefined): Value | undefined {
  if (type === undefined) return undefined;
  return type.kind === 'outside' ? type : { kind: 'value', type };
}

/** `module.name`: of a module that stands within a text. */
function innerOf(scope: NameScope | undefined, name: string): Definition[] | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : scope?.members.get(name.slice(0, dot))?.get(name.slice(dot + 1));
}

function isFunction({ kind }: Definition): boolean {
  return kind === 'function' || kind === 'method';
}

function isType(definition: Definition): boolean {
  return !isFunction(definition) && !isVariable(definition);
}

/** It exists when the program runs. */
function isValue({ kind }: Definition): boolean {
  return kind !== 'interface' && kind !== 'type';
}

function isVariable({ kind }: Definition): boolean {
  return kind === 'variable' || kind === 'constant';
}

function isAbstract({ definitions }: Value & { kind: 'function' }): boolean {
  return definitions.every((each) => each.isAbstract);
}
