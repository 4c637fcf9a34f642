import { joined } from './alternatives.js';
import { innerOf, type Definitions, type NameScope } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { unknown, type Step } from '../../format/expression.js';
import type { Arguments } from './values.js';
import type { Imported, SourceText } from './source-text.js';
import {
  outside,
  rootName,
  foreign,
  unbound,
  isFunction,
  isNamespace,
  isType,
  isValue,
  isVariable,
  type InsideType,
  type Type,
  type Value,
  type Context,
  type Wanted,
  type Evaluation,
} from './values.js';

/** Names of scopes that are kept once they are found. */
const passedMax = 500_000;

/** Modules in modules around a name. */
const levelsMax = 8;

/** What names mean: in their own scope, by imports, by what scopes pass on. */
export class Names {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;
  readonly #variables = new Map<Definition, Value | undefined>();
  /** By what is wanted, name and scope. */
  readonly #passed = new Map<string, Value | undefined>();

  constructor(definitions: Definitions, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
  }

  /** What a name means at the top of a file: its own scope, what it imports, the language. */
  named(
    name: string,
    context: Context,
    wanted: Wanted = 'value',
    given?: Arguments,
  ): Value | undefined {
    const { file } = context;
    if (name === rootName) return this.#evaluation.visible(name, context, wanted, given);
    if (name.startsWith('$')) {
      const all = this.#definitions.macros.get(name.slice(1)) ?? [];
      const definitions = this.#definitions.sight.nearest(all, file);
      return definitions.length === 0 ? outside : { kind: 'function', definitions };
    }
    const parameter = this.parameter(name, context);
    if (parameter !== undefined) return parameter.type && { kind: 'type', type: parameter.type };
    const { scopes, rules } = this.#definitions;
    if (rules.namespaces === true) return this.#evaluation.visible(name, context, wanted, given);
    if (rules.overloads !== undefined) return this.#visible(name, context, wanted, given);
    const itself = this.#itself(name, file, wanted);
    if (itself !== undefined) return itself[0];
    const beside = this.#beside(name, context, wanted);
    if (beside !== undefined) return beside;
    const own = scopes.get(file.scope)?.names.get(name);
    const imported = file.imports.get(name);
    // A text cannot have both at its top: one of its modules imports the other one.
    const isInModule = imported !== undefined && own?.every(isNamespace) === true;
    if (own !== undefined && !(isInModule && this.#isInModule(context)))
      return this.meaning(own, wanted);
    if (imported !== undefined) return this.imported(imported, wanted);
    for (const wildcard of file.wildcards) {
      const [scope = '', type] = wildcard.split('#');
      const found = this.#exported(scope, type === undefined ? name : `${type}.${name}`, wanted);
      if (found !== undefined) return found;
    }
    if (rules.builtins.has(name)) return outside;
    if (file.isOpen) return foreign;
    // A type may be a parameter of a function around it.
    const isKnown = wanted === 'type' || this.#definitions.isNamed(name);
    return rules.isClosed === true && !isKnown ? foreign : undefined;
  }

  /** The scope of a text as others see it, and what they alone know in it. Undefined: the name is another one. */
  #itself(name: string, { scope }: SourceText, wanted: Wanted): [Value | undefined] | undefined {
    const { itself } = this.#definitions.rules;
    const mark = `#${itself}`;
    if (itself === undefined || (name !== itself && !name.endsWith(mark))) return undefined;
    const value: Value = { kind: 'scope', scopes: [scope] };
    if (name === itself) return [value];
    const passed = name.slice(0, -mark.length);
    const found =
      wanted === 'definition'
        ? this.imported({ scopes: [scope], name: passed }, wanted)
        : this.#evaluation.step(value, { kind: 'member', name: passed });
    return [found];
  }

  /** Where members are known by their names alone: of the types around the place, from inside out. */
  #visible(
    name: string,
    { file, owner, isHeader }: Context,
    wanted: Wanted,
    given: Arguments | undefined,
  ): Value | undefined {
    const { rules, scopes } = this.#definitions;
    let beyond: Value | undefined;
    for (const definition of this.#typesAround(owner, file, isHeader)) {
      const found = this.#memberIn({ kind: 'inside', definition, args: [] }, name, wanted, given);
      // What a library has may be inherited; what the program has is nearer.
      const isOfAll = given !== undefined && rules.overloads?.everyMember.has(name) === true;
      if (found?.kind === 'outside' && !isOfAll) beyond ??= found;
      else if (found !== undefined) return found;
    }
    const imported = file.imports.get(name);
    if (imported !== undefined) {
      const its =
        given !== undefined && imported.others !== undefined
          ? this.#amongImported([imported, ...imported.others], file, given)
          : this.#ofPackage(imported, file, wanted, given);
      if (its !== undefined || given === undefined) return its ?? this.#ofLibrary(name, imported);
    }
    const [own] = given === undefined ? nearest(scopes.get(file.scope)?.types.get(name), file) : [];
    if (own !== undefined) return this.meaning([own], typeOr(wanted));
    for (const wildcard of file.wildcards) {
      const [scope = '', type] = wildcard.split('#');
      const path = type === undefined ? name : `${type}.${name}`;
      const found = this.#ofPackage({ scopes: [scope], name: path }, file, wanted, given);
      if (found?.kind === 'outside') beyond ??= found;
      else if (found !== undefined) return found;
    }
    const ofLibrary = given === undefined ? this.#ofLibrary(name) : foreign;
    if (ofLibrary !== foreign) return ofLibrary;
    if (rules.builtins.has(name)) return outside;
    return beyond ?? (file.isOpen ? foreign : undefined);
  }

  /** A type of a library, by its name where that is known. */
  #ofLibrary(name: string, imported?: Imported): Value {
    const path = imported?.beyond;
    const isKnown = this.#definitions.rules.standard?.isKnown?.(name, path) === true;
    return isKnown ? { ...foreign, name, path, isClosed: true } : foreign;
  }

  /** Several imports may give functions of one name. */
  #amongImported(all: readonly Imported[], file: SourceText, given: Arguments): Value | undefined {
    const name = all[0]?.name.split('.').at(-1) ?? '';
    const types = all.flatMap(({ scopes: [scope = ''], name: path }) => {
      const known = this.#definitions.scopes.get(scope)?.types;
      const [definition] = nearest(known?.get(path.slice(0, path.lastIndexOf('.'))), file);
      return definition === undefined ? [] : [{ kind: 'inside' as const, definition, args: [] }];
    });
    const isDoubtful = types.length < all.length;
    return (
      this.#evaluation.among(types, name, given, isDoubtful) ?? (isDoubtful ? foreign : undefined)
    );
  }

  /** A type of a package, or a member of one. */
  #ofPackage(
    { scopes: [scope = ''], name }: Imported,
    file: SourceText,
    wanted: Wanted,
    given: Arguments | undefined,
  ): Value | undefined {
    const types = this.#definitions.scopes.get(scope)?.types;
    const [own] = given === undefined ? nearest(types?.get(name), file) : [];
    if (own !== undefined) return this.meaning([own], typeOr(wanted));
    const dot = name.lastIndexOf('.');
    const [definition] = dot < 0 ? [] : nearest(types?.get(name.slice(0, dot)), file);
    if (definition === undefined) return undefined;
    const around: InsideType = { kind: 'inside', definition, args: [] };
    return this.#memberIn(around, name.slice(dot + 1), wanted, given);
  }

  #memberIn(
    type: InsideType,
    name: string,
    wanted: Wanted,
    given: Arguments | undefined,
  ): Value | undefined {
    if (wanted === 'type') return this.#evaluation.innerType(type, name);
    if (wanted === 'value') return this.#evaluation.member(type, name, given);
    return this.#evaluation.definitionsOf(type, name);
  }

  /** Each holds the one before. */
  #typesAround(owner: Definition | undefined, file: SourceText, isHeader = false): Definition[] {
    if (owner === undefined) return [];
    const found: Definition[] = [];
    let path = isHeader || isFunction(owner) || isVariable(owner) ? owner.inside : owner.key;
    while (path !== '') {
      const type = this.typeAround(path, file);
      if (type !== undefined) found.push(type);
      path = path.slice(0, Math.max(path.lastIndexOf('.'), 0));
    }
    return found;
  }

  /** The type of a text by its path. */
  typeAround(path: string, file: SourceText): Definition | undefined {
    if (path === '') return undefined;
    const types = this.#definitions.scopes.get(file.scope)?.types.get(path);
    return this.#definitions.rules.namespaces === true
      ? this.#definitions.sight.nearest(types ?? [], file)[0]
      : types?.find((each) => each.file === file);
  }

  /** A scope that is written out, `org.example.Type`: the value that its last name has, and how many steps it takes. */
  scopeNamed(
    root: string,
    steps: readonly Step[],
  ): { value: Value | undefined; steps: number } | undefined {
    if (this.#definitions.rules.overloads === undefined) return undefined;
    const { scopes } = this.#definitions;
    let path = root;
    for (const [at, step] of steps.entries()) {
      if (step.kind !== 'member') return undefined;
      const scope = scopes.get(path);
      if (scope?.types.has(step.name) === true)
        return { value: this.meaning(scope.types.get(step.name) ?? [], 'type'), steps: at + 1 };
      path = `${path}.${step.name}`;
    }
    return undefined;
  }

  /** A type parameter: what it stands for, else what it must satisfy. Undefined: the name is none. */
  parameter(
    name: string,
    { owner, bindings, file }: Context,
  ): { type: Type | undefined } | undefined {
    if (bindings.has(name)) return { type: bindings.get(name) };
    const bounds = owner === undefined ? [] : this.#boundsOf(owner, file);
    const bound = bounds.find((each) => each.name === name);
    if (bound === undefined) return undefined;
    // Parameters may be bound by each other.
    const open = new Map(bounds.map((each) => [each.name, undefined]));
    const isInner = this.#definitions.rules.overloads !== undefined;
    const context = isInner
      ? { file, owner, bindings: open }
      : { file, owner: undefined, bindings: unbound };
    return { type: this.#evaluation.resolve(bound.type, context) };
  }

  /** A type without a name sees those of the type around it. */
  #boundsOf(owner: Definition, file: SourceText): ReturnType<typeof typesIn> {
    if (owner.symbol >= 0) return typesIn(owner, 'bound');
    const around = this.typeAround(owner.inside, file);
    return around === undefined ? [] : this.#boundsOf(around, file);
  }

  /** A function or type of the inner modules or functions that hold the one around the expression. */
  #beside(name: string, { file, owner }: Context, wanted: Wanted): Value | undefined {
    const { scopes, rules } = this.#definitions;
    const scope = scopes.get(file.scope);
    const outer = (container: string): string => scope?.types.get(container)?.[0]?.container ?? '';
    const own = rules.localItems === true && owner ? this.#within(owner, name) : undefined;
    if (own !== undefined) return this.meaning([own], wanted);
    let container = owner?.container ?? '';
    // A method does not see what stands beside it in its type.
    if (owner?.kind === 'method') container = outer(container);
    for (let level = 0; container !== '' && level < levelsMax; level += 1) {
      // Nor does what stands in a class of Python see what stands in the classes around that one.
      const isSeen = level === 0 || rules.isDynamic !== true || !scope?.types.has(container);
      const found = isSeen ? scope?.members.get(container)?.get(name) : undefined;
      const isMember = found?.some(({ kind }) => kind === 'method') !== false;
      if (!isMember) return this.meaning(found, wanted);
      container = outer(container);
    }
    return undefined;
  }

  #isInModule({ owner, file }: Context): boolean {
    const types = this.#definitions.scopes.get(file.scope)?.types;
    return ((types?.get(owner?.container ?? '')?.[0] ?? owner)?.container ?? '') !== '';
  }

  /** What a function defines inside itself; another one may have its name. */
  #within(
    { shard, symbol, name: container, file, kind }: Definition,
    name: string,
  ): Definition | undefined {
    if (symbol < 0 || !/^(?:function|method)$/.test(kind)) return undefined;
    const members = this.#definitions.scopes.get(file.scope)?.members.get(container)?.get(name);
    const index = this.#definitions.shards[shard];
    if (members === undefined || index === undefined) return undefined;
    const { line_start: from, line_end: to } = index.symbolPlace(symbol);
    return members.find((each) => {
      if (each.file !== file || each.kind === 'method' || each.symbol < 0) return false;
      const { line_start: at } = index.symbolPlace(each.symbol);
      return from <= at && at <= to;
    });
  }

  isPackage(name: string): boolean {
    const { rules } = this.#definitions;
    return rules.isPackage?.(name) === true;
  }

  imported({ scopes, name, isStandard }: Imported, wanted: Wanted = 'value'): Value | undefined {
    if (scopes.length === 0) return isStandard === true ? outside : foreign;
    if (name === '') return { kind: 'scope', scopes };
    for (const scope of scopes) {
      const found = this.#exported(scope, name, wanted);
      if (found !== undefined) return found;
    }
    const inner = scopes.flatMap((scope) => this.#definitions.inner(scope, name) ?? []);
    if (inner.length > 0) return { kind: 'scope', scopes: inner };
    // What passes on no value of its own is the scope itself.
    return name === this.#definitions.rules.whole ? { kind: 'scope', scopes } : undefined;
  }

  /** What a scope is where it is used as a value. */
  whole(scopes: readonly string[], wanted: Wanted = 'value'): Value | undefined {
    const { whole } = this.#definitions.rules;
    if (whole === undefined) return undefined;
    for (const scope of scopes) {
      const found = this.#exported(scope, whole, wanted);
      if (found?.kind === 'scope')
        return this.#evaluation.bounded(() => this.whole(found.scopes, wanted)) ?? found;
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
    const found = this.#evaluation.bounded(() => this.#passedOn(key, name, wanted));
    this.#passed.set(asked, found);
    return found;
  }

  #passedOn(key: string, name: string, wanted: Wanted): Value | undefined {
    const { scopes, rules } = this.#definitions;
    const seen = new Set([key]);
    for (const each of seen) {
      const scope = scopes.get(each);
      const otherwise = this.#passedOnAs(scope, name, wanted);
      if (otherwise !== undefined) return otherwise;
      const passed = scope?.names.get(`${name}#${rules.itself ?? ''}`);
      const own = passed ?? scope?.names.get(name) ?? innerOf(scope, name);
      if (own !== undefined) return this.meaning(own, wanted);
      for (const { imports, wildcards } of scope?.texts ?? []) {
        const imported = imports.get(name);
        const found = imported && this.imported(imported, wanted);
        if (found !== undefined) return found;
        if (name !== rules.whole) for (const wildcard of wildcards) seen.add(wildcard);
      }
    }
    return undefined;
  }

  /** Under this name something that the text itself calls otherwise. */
  #passedOnAs(scope: NameScope | undefined, name: string, wanted: Wanted): Value | undefined {
    for (const { exports } of scope?.texts ?? []) {
      const its = exports?.get(name);
      const isItself =
        its?.name === name && its.scopes.some((each) => scope?.texts[0]?.scope === each);
      const found = its && !isItself ? this.imported(its, wanted) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** A type and a value may share a name. */
  meaning(definitions: readonly Definition[], wanted: Wanted): Value | undefined {
    if (wanted === 'definition') return { kind: 'function', definitions };
    // A variable of the same name is set where the definition is missing.
    const isFirst = this.#definitions.rules.isDynamic === true ? isNoVariable : isValue;
    const first = definitions.find(wanted === 'type' ? isType : isFirst) ?? definitions[0];
    if (first === undefined) return undefined;
    if (isFunction(first)) return { kind: 'function', definitions: definitions.filter(isFunction) };
    if (isVariable(first)) return this.#variable(first);
    return { kind: 'type', type: { kind: 'inside', definition: first, args: [] } };
  }

  #variable(definition: Definition): Value | undefined {
    if (this.#variables.has(definition)) return this.#variables.get(definition);
    // A variable may be declared by itself, through others.
    this.#variables.set(definition, undefined);
    const { isDynamic } = this.#definitions.rules;
    const all = typesIn(definition, 'value');
    const values =
      isDynamic === true
        ? all
        : [all.find(({ text }) => text !== unknown) ?? all[0]].flatMap((each) => each ?? []);
    // An object that is written out has its members itself.
    const own: Value = { kind: 'value', type: { kind: 'inside', definition, args: [] } };
    const context = { file: definition.file, owner: definition, bindings: unbound };
    const found =
      values.length === 0
        ? own
        : joined(
            values.map(({ text }) =>
              this.#evaluation.bounded(() => this.#evaluation.evaluate(text, context)),
            ),
          );
    this.#variables.set(definition, found);
    return found;
  }
}

/** A type is no value, but it is defined. */
function typeOr(wanted: Wanted): Wanted {
  return wanted === 'definition' ? wanted : 'type';
}

function isNoVariable(definition: Definition): boolean {
  return !isVariable(definition);
}

/** Projects of one tree may have types of the same name: those in the same folders come first. */
function nearest(
  definitions: readonly Definition[] | undefined,
  file: SourceText,
): readonly Definition[] {
  if (definitions === undefined || definitions.length < 2) return definitions ?? [];
  const near = ({ file: { path } }: Definition): number => {
    let at = 0;
    while (at < path.length && path.charAt(at) === file.path.charAt(at)) at += 1;
    return at;
  };
  return definitions.toSorted((one, other) => near(other) - near(one));
}
