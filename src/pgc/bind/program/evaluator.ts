import {
  parseExpression,
  parseType,
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
  | { kind: 'outside' };

/** What an expression stands for; undefined: not known. */
export type Value =
  | { kind: 'value'; type: Type }
  | { kind: 'type'; type: Type }
  /** `self`: the type whose method it is. */
  | { kind: 'function'; definitions: readonly Definition[]; self?: Type | undefined }
  | { kind: 'scope'; scopes: readonly string[] }
  /** A method of a type of the language, and what it gives. */
  | { kind: 'library'; result: Type | undefined }
  | { kind: 'outside' };

/** Where a type or an expression is written. */
interface Context {
  file: SourceText;
  /** Whose type parameters are visible. */
  owner: Definition | undefined;
  /** What type parameters stand for. */
  bindings: ReadonlyMap<string, Type | undefined>;
}

/** The member that stands for what a type is based on. */
export const superName = '$super';
const outside = { kind: 'outside' } as const;
/** Variables, aliases and bases followed on the way to a type: they may form circles. */
const depthMax = 24;
const unbound: ReadonlyMap<string, Type | undefined> = new Map();

/** Evaluates expressions in the definitions of one language. */
export class Evaluator {
  readonly #definitions: Definitions;
  readonly #parsed = new Map<string, Expression>();
  readonly #variables = new Map<Definition, Value | undefined>();
  /** What types are based on by what other texts say. */
  readonly #added = new Map<Definition, Type[]>();
  #depth = 0;

  constructor(definitions: Definitions) {
    this.#definitions = definitions;
  }

  /** `owner`: the function around it. */
  evaluate(text: string, file: SourceText, owner: Definition | undefined): Value | undefined {
    return this.#bounded(() => this.#evaluate(text, { file, owner, bindings: unbound }));
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
    let value =
      typeof root === 'object'
        ? this.#ofTypeText(root, context)
        : root === undefined
          ? undefined
          : this.#named(root, context);
    const isOfPackage = typeof root === 'string' && steps[0]?.kind === 'member';
    if (value === undefined && isOfPackage && this.#isPackage(root)) return outside;
    for (const step of steps) value = value && this.#step(value, step);
    return value;
  }

  /** A value of a type; `F<int>` may also be a function, and then it is what that returns. */
  #ofTypeText(text: TypeText, context: Context): Value | undefined {
    const type = this.#resolve(text, context);
    if (type !== undefined) return { kind: 'value', type };
    const named = this.#path(text.name.split('.'), context);
    return named?.kind === 'function' ? this.#called(named, 0) : undefined;
  }

  /** `pkg.Type`, `Type.Variant`; a package that the program does not hold is outside. */
  #path([first = '', ...rest]: readonly string[], context: Context): Value | undefined {
    let value = this.#named(first, context);
    if (value === undefined && rest.length > 0 && this.#isPackage(first)) return outside;
    for (const name of rest) value = value && this.#member(value, name);
    return value;
  }

  #isPackage(name: string): boolean {
    return this.#definitions.rules.isPackage?.(name) === true;
  }

  /** What a name means at the top of a file: its own scope, what it imports, the language. */
  #named(name: string, context: Context): Value | undefined {
    const { file } = context;
    if (name.startsWith('$')) {
      const macros = this.#definitions.macros.get(name.slice(1));
      return macros === undefined ? outside : { kind: 'function', definitions: macros };
    }
    const parameter = this.#parameter(name, context);
    if (parameter !== undefined) return parameter.type && { kind: 'type', type: parameter.type };
    const { scopes, rules } = this.#definitions;
    const beside = this.#beside(name, context);
    if (beside !== undefined) return beside;
    const own = scopes.get(file.scope)?.names.get(name);
    if (own !== undefined) return this.#meaning(own);
    const imported = file.imports.get(name);
    if (imported !== undefined) return this.#imported(imported);
    for (const wildcard of file.wildcards) {
      const found = this.#exported(wildcard, name);
      if (found !== undefined) return found;
    }
    if (rules.builtins.has(name) || file.isOpen) return outside;
    return undefined;
  }

  /** A function or type of the inner module or function that holds the one around the expression. */
  #beside(name: string, { file, owner }: Context): Value | undefined {
    if (owner === undefined || owner.container === '') return undefined;
    const found = this.#definitions.scopes.get(file.scope)?.members.get(owner.container)?.get(name);
    return found?.every(({ kind }) => kind !== 'method') === true
      ? this.#meaning(found)
      : undefined;
  }

  #imported({ scopes, name }: Imported): Value | undefined {
    if (scopes.length === 0) return outside;
    if (name === '') return { kind: 'scope', scopes };
    for (const scope of scopes) {
      const found = this.#exported(scope, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A name of a scope as others see it: its own, or one that it passes on. */
  #exported(key: string, name: string): Value | undefined {
    const scope = this.#definitions.scopes.get(key);
    const own = scope?.names.get(name) ?? innerOf(scope, name);
    if (own !== undefined) return this.#meaning(own);
    return this.#bounded(() => {
      for (const { imports, wildcards } of scope?.texts ?? []) {
        const imported = imports.get(name);
        const found = imported && this.#imported(imported);
        if (found !== undefined) return found;
        for (const wildcard of wildcards) {
          const passed = this.#exported(wildcard, name);
          if (passed !== undefined) return passed;
        }
      }
      return undefined;
    });
  }

  #meaning(definitions: readonly Definition[]): Value | undefined {
    const [first] = definitions;
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
    const context = { file: definition.file, owner: undefined, bindings: unbound };
    const found = value && this.#bounded(() => this.#evaluate(value.text, context));
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
    }
  }

  #member(value: Value, name: string): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return outside;
      case 'scope':
        return this.#imported({ scopes: value.scopes, name });
      case 'function':
        // A constant of an enumeration is a value of it.
        return value.self !== undefined && value.definitions.every(isVariable)
          ? this.#memberOf(value.self, name)
          : undefined;
      case 'library':
        return undefined;
      default:
        return this.#memberOf(value.type, name) ?? this.#ofEveryType(value.type, name);
    }
  }

  #memberOf(type: Type, name: string): Value | undefined {
    return this.#bounded(() => {
      if (type.kind === 'outside') return outside;
      if (type.kind === 'language') return this.#memberOfLanguage(type, name);
      if (name === superName) return valueOf(this.#basesOf(type)[0]);
      return this.#ownMember(type, name) ?? this.#inherited(type, name);
    });
  }

  #memberOfLanguage(type: Type & { kind: 'language' }, name: string): Value | undefined {
    const field = type.args.find(({ label }) => label === name);
    if (field !== undefined) return valueOf(field.type);
    if (type.name !== '$union') return this.#memberOfLibrary(type, name);
    const each = type.args.map(({ type: its }) => its && this.#memberOf(its, name));
    const functions = each.filter((found) => found?.kind === 'function');
    const definitions = functions.flatMap((found) => found.definitions);
    if (definitions.length > 0) return { ...functions[0], kind: 'function', definitions };
    return each.find((found) => found !== undefined);
  }

  #ofEveryType(type: Type, name: string): Value | undefined {
    const isSame = this.#definitions.rules.library?.same.has(name) === true;
    return isSame ? { kind: 'library', result: type } : undefined;
  }

  #memberOfLibrary(type: Type & { kind: 'language' }, name: string): Value | undefined {
    const gives = this.#definitions.rules.library?.methods.get(type.name)?.[name];
    if (gives === undefined) return type.name === '$struct' ? undefined : outside;
    if (gives === '=') return { kind: 'library', result: type };
    const bindings = new Map(type.args.map((each, at) => [`%${at}`, each.type]));
    return { kind: 'library', result: this.#resolveIn(gives, bindings) };
  }

  /** A type whose names are those of `bindings`, or of the language. */
  #resolveIn(text: string, bindings: ReadonlyMap<string, Type | undefined>): Type | undefined {
    const [file] = this.#definitions.texts;
    return file && this.#resolve(parseType(text), { file, owner: undefined, bindings });
  }

  #ownMember(type: Type & { kind: 'inside' }, name: string): Value | undefined {
    const { definition } = type;
    const methods = this.#definitions.methodsOf(definition).get(name);
    if (methods !== undefined) return { kind: 'function', definitions: methods, self: type };
    const field = typesIn(definition, 'field').find((each) => each.name === name);
    if (field !== undefined) return valueOf(this.#resolve(field.type, this.#within(type)));
    return this.#firstKnown(definition, 'assigned', name);
  }

  /** The first of several expressions that says something. */
  #firstKnown(
    definition: Definition,
    role: 'assigned' | 'returned',
    wanted = '',
  ): Value | undefined {
    const context = { file: definition.file, owner: definition, bindings: unbound };
    for (const { name, text } of typesIn(definition, role)) {
      const found =
        name === wanted ? this.#bounded(() => this.#evaluate(text, context)) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Of what it embeds, or is defined as. */
  #inherited(type: Type & { kind: 'inside' }, name: string): Value | undefined {
    let isOpen = false;
    for (const base of typesIn(type.definition, 'base')) {
      const its = this.#resolve(base.type, this.#within(type));
      // A type that a structure embeds is a field of its own name.
      const isField = type.definition.kind === 'struct';
      if (isField && base.type?.name.split('.').at(-1) === name && its !== undefined)
        return valueOf(its);
      if (its === undefined) isOpen = true;
      const found = its && this.#memberOf(its, name);
      if (found?.kind === 'outside') isOpen = true;
      else if (found !== undefined) return found;
    }
    for (const base of this.#added.get(type.definition) ?? []) {
      const found = this.#memberOf(base, name);
      if (found?.kind === 'outside') isOpen = true;
      else if (found !== undefined) return found;
    }
    const underlying = this.#underlying(type);
    const found = underlying && this.#memberOf(underlying, name);
    // A defined type has the fields of the type that it is made of, and its methods if that is an interface.
    if (found?.kind === 'value' || (found?.kind === 'function' && isAbstract(found))) return found;
    return isOpen ? outside : undefined;
  }

  #called(value: Value, result: number): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return outside;
      case 'type':
        return { kind: 'value', type: value.type };
      case 'library':
        return valueOf(value.result);
      case 'function':
        return this.#result(value, result);
      case 'value':
        return this.#part(value, 'result', result);
      case 'scope':
        return undefined;
    }
  }

  #result(value: Value & { kind: 'function' }, result: number): Value | undefined {
    const [definition] = value.definitions;
    if (definition === undefined) return undefined;
    if (isVariable(definition)) return valueOf(value.self);
    const written = typesIn(definition, 'result')[result];
    if (written === undefined) return this.#firstKnown(definition, 'returned');
    const bindings = new Map(
      value.self?.kind === 'inside' ? this.#bindingsOf(value.self, definition) : [],
    );
    return valueOf(
      this.#resolve(written.type, { file: definition.file, owner: definition, bindings }),
    );
  }

  /** An element, a key, or a result of a value of a function's type. */
  #part(value: Value, part: 'element' | 'key' | 'result', at = 0): Value | undefined {
    // Type arguments stand where an index does.
    if (value.kind === 'function' || value.kind === 'type') return value;
    if (value.kind === 'outside') return outside;
    if (value.kind !== 'value') return undefined;
    const { type } = value;
    if (type.kind === 'outside') return outside;
    if (type.kind === 'inside') {
      const underlying = this.#underlying(type);
      return (
        underlying && this.#bounded(() => this.#part({ kind: 'value', type: underlying }, part, at))
      );
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
    if (text.name.startsWith('$')) return { kind: 'language', name: text.name, args };
    const [first = '', ...rest] = text.name.split('.');
    const parameter = rest.length === 0 ? this.#parameter(first, context) : undefined;
    if (parameter !== undefined) return parameter.type;
    const value = this.#path([first, ...rest], { ...context, bindings: unbound });
    const known = this.#definitions.rules.library?.types.get(text.name.split('.').at(-1) ?? '');
    if (known !== undefined && value?.kind !== 'type')
      return known === '=' ? args[0]?.type : { kind: 'language', name: known, args };
    if (value?.kind === 'outside') return outside;
    if (value?.kind !== 'type') return undefined;
    const { type } = value;
    if (type.kind !== 'inside') return type;
    const made = { ...type, args: args.map((each) => each.type) };
    const [alias] = typesIn(type.definition, 'alias');
    return alias === undefined ? made : this.#resolve(alias.type, this.#within(made));
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
  element: { $list: 0, $map: 1, $chan: 0, $option: 0 },
  key: { $map: 0, $chan: 0 },
  result: {},
};

function valueOf(type: Type | undefined): Value | undefined {
  if (type === undefined) return undefined;
  return type.kind === 'outside' ? outside : { kind: 'value', type };
}

/** `module.name`: of a module that stands within a text. */
function innerOf(scope: NameScope | undefined, name: string): Definition[] | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : scope?.members.get(name.slice(0, dot))?.get(name.slice(dot + 1));
}

function isFunction({ kind }: Definition): boolean {
  return kind === 'function' || kind === 'method';
}

function isVariable({ kind }: Definition): boolean {
  return kind === 'variable' || kind === 'constant';
}

function isAbstract({ definitions }: Value & { kind: 'function' }): boolean {
  return definitions.every((each) => each.isAbstract);
}
