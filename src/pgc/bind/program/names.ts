import { joined } from './alternatives.js';
import { typesIn, type Definition, type Definitions, type NameScope } from './definitions.js';
import type { Imported } from './rules.js';
import {
  outside,
  library,
  unbound,
  isFunction,
  isType,
  isValue,
  isVariable,
  type Type,
  type Value,
  type Context,
  type Wanted,
  type Evaluation,
} from './values.js';

/** Names of scopes that are kept once they are found. */
const passedMax = 500_000;

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
  named(name: string, context: Context, wanted: Wanted = 'value'): Value | undefined {
    const { file } = context;
    if (name.startsWith('$')) {
      const macros = this.#definitions.macros.get(name.slice(1));
      return macros === undefined ? outside : { kind: 'function', definitions: macros };
    }
    const parameter = this.parameter(name, context);
    if (parameter !== undefined) return parameter.type && { kind: 'type', type: parameter.type };
    const beside = this.#beside(name, context, wanted);
    if (beside !== undefined) return beside;
    const { scopes, rules } = this.#definitions;
    const own = scopes.get(file.scope)?.names.get(name);
    if (own !== undefined) return this.meaning(own, wanted);
    const imported = file.imports.get(name);
    if (imported !== undefined) return this.imported(imported, wanted);
    for (const wildcard of file.wildcards) {
      const found = this.#exported(wildcard, name, wanted);
      if (found !== undefined) return found;
    }
    if (rules.builtins.has(name)) return outside;
    if (file.isOpen) return library;
    return undefined;
  }

  /** A type parameter: what it stands for, else what it must satisfy. Undefined: the name is none. */
  parameter(
    name: string,
    { owner, bindings, file }: Context,
  ): { type: Type | undefined } | undefined {
    if (bindings.has(name)) return { type: bindings.get(name) };
    const bound = owner && typesIn(owner, 'bound').find((each) => each.name === name);
    if (bound === undefined) return undefined;
    const context = { file, owner: undefined, bindings: unbound };
    return { type: this.#evaluation.resolve(bound.type, context) };
  }

  /** A function or type of the inner module or function that holds the one around the expression. */
  #beside(name: string, { file, owner }: Context, wanted: Wanted): Value | undefined {
    if (owner === undefined || owner.container === '') return undefined;
    const found = this.#definitions.scopes.get(file.scope)?.members.get(owner.container)?.get(name);
    const isMember = found?.some(({ kind }) => kind === 'method') !== false;
    return isMember ? undefined : this.meaning(found, wanted);
  }

  isPackage(name: string): boolean {
    return this.#definitions.rules.isPackage?.(name) === true;
  }

  imported({ scopes, name, isStandard }: Imported, wanted: Wanted = 'value'): Value | undefined {
    if (scopes.length === 0) return isStandard === true ? outside : library;
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
      const own = scope?.names.get(name) ?? innerOf(scope, name);
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
    const values = typesIn(definition, 'value').slice(0, isDynamic === true ? undefined : 1);
    // An object that is written out has its members itself.
    const own: Value = { kind: 'value', type: { kind: 'inside', definition, args: [] } };
    const context = { file: definition.file, owner: undefined, bindings: unbound };
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

function isNoVariable(definition: Definition): boolean {
  return !isVariable(definition);
}

/** `module.name`: of a module that stands within a text. */
function innerOf(scope: NameScope | undefined, name: string): Definition[] | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : scope?.members.get(name.slice(0, dot))?.get(name.slice(dot + 1));
}
