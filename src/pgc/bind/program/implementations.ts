import { derivedTypes } from './adopt.js';
import { type Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import type { Evaluator } from './evaluator.js';
import { isAlike, isSame } from './alike.js';
import { isFunction, type Type } from './values.js';

/** Types embedded in each other on the way to a method. */
const embeddingMax = 8;

/** A method, and those that may run in its place; a type, and those that may stand for it. */
export type Implementations = ReadonlyMap<Definition, readonly Definition[]>;

/**
 * The methods that may be meant by each method of an interface: those of the types that have all methods of the
 * interface, with the same parameters and results as written.
 */
export function structuralImplementations(
  definitions: Definitions,
  evaluator: Evaluator,
): Implementations {
  const sets = new MethodSets(definitions, evaluator);
  const types = definitions.all.filter(isType);
  const having = new Map<string, Definition[]>();
  for (const type of types) {
    if (type.kind === 'interface') continue;
    for (const name of sets.of(type).keys()) {
      const known = having.get(name);
      if (known === undefined) having.set(name, [type]);
      else known.push(type);
    }
  }
  const found = new Map<Definition, Definition[]>();
  for (const each of types) {
    if (each.kind !== 'interface') continue;
    const wanted = [...sets.of(each)];
    // The rarest name leaves the fewest types to compare.
    const candidates = wanted
      .map(([name]) => having.get(name) ?? [])
      .reduce<Definition[] | undefined>(
        (best, next) => (best !== undefined && best.length <= next.length ? best : next),
        undefined,
      );
    for (const type of candidates ?? []) {
      const methods = sets.of(type);
      if (!wanted.every(([name, method]) => isLike(methods.get(name), method))) continue;
      note(found, each, type);
      for (const [name, method] of wanted) {
        const its = methods.get(name);
        if (its?.isAbstract === false) note(found, method, its);
      }
    }
  }
  return found;
}

export function note(
  found: Map<Definition, Definition[]>,
  definition: Definition,
  by: Definition,
): void {
  const known = found.get(definition);
  if (known === undefined) found.set(definition, [by]);
  else if (!known.includes(by)) known.push(by);
}

/** The methods of types that run in place of those that they say they are based on. */
export function declaredImplementations(
  definitions: Definitions,
  evaluator: Evaluator,
): Implementations {
  const found = new Map<Definition, Definition[]>();
  const isOverloaded = definitions.rules.overloads !== undefined;
  for (const type of derivedTypes(definitions, evaluator)) {
    const bases = basesOf(type, evaluator);
    for (const base of bases) {
      if (type.symbol >= 0) note(found, base, type);
      const replaced = definitions.methodsOf(base);
      for (const [name, methods] of definitions.methodsOf(type)) {
        if (definitions.rules.constructors.includes(name)) continue;
        const all = replaced.get(name) ?? [];
        for (const its of all)
          for (const method of isOverloaded ? replacing(methods, its, all) : methods)
            if (method !== its && !method.isAbstract) note(found, its, method);
      }
    }
    if (isOverloaded && type.kind !== 'interface')
      noteInherited(found, definitions, [type, ...bases]);
  }
  return found;
}

/**
 * Those with the same parameters; one whose parameters are called the same leaves no room for another one, and what is called
 * like another one of the base replaces that. `all`: the methods of this name that the base has.
 */
function replacing(
  methods: readonly Definition[],
  replaced: Definition,
  all: readonly Definition[],
): readonly Definition[] {
  const isOfOther = (method: Definition): boolean =>
    all.some((other) => other !== replaced && isSame(method, other));
  const alike = methods.filter(
    (each) => isReplacing(each, replaced) && (isSame(each, replaced) || !isOfOther(each)),
  );
  const same = alike.filter((each) => isSame(each, replaced));
  return same.length > 0 ? same : alike;
}

function isReplacing(method: Definition, replaced: Definition): boolean {
  return isFunction(method) && isFunction(replaced) && isAlike(method, replaced);
}

/** What a type inherits from a class runs in place of what an interface asks it for. `types`: nearest first. */
function noteInherited(
  found: Map<Definition, Definition[]>,
  definitions: Definitions,
  types: readonly Definition[],
): void {
  const classes = types.filter(({ kind }) => kind !== 'interface');
  if (classes.length < 2) return;
  for (const asking of types) {
    if (asking.kind !== 'interface') continue;
    for (const [name, methods] of definitions.methodsOf(asking))
      for (const method of methods) {
        if (!method.isAbstract) continue;
        const its = classes
          .flatMap((each) => definitions.methodsOf(each).get(name) ?? [])
          .find((each) => !each.isAbstract && isReplacing(each, method));
        if (its !== undefined) note(found, method, its);
      }
  }
}

/** All types that a type is based on, each once. */
export function basesOf(type: Definition, evaluator: Evaluator): Set<Definition> {
  const all = new Set<Definition>();
  let level = [type];
  for (let depth = 0; depth < embeddingMax && level.length > 0; depth += 1) {
    level = level
      .flatMap((each) => evaluator.basesOf(each))
      .flatMap((base) => (base?.kind === 'inside' ? [base.definition] : []))
      .filter((each) => each !== type && !all.has(each));
    for (const each of level) all.add(each);
  }
  return all;
}

/** The methods of types, with those that they embed. */
class MethodSets {
  readonly #known = new Map<Definition, Map<string, Definition>>();

  constructor(
    readonly definitions: Definitions,
    readonly evaluator: Evaluator,
  ) {}

  of(type: Definition, depth = 0): ReadonlyMap<string, Definition> {
    const known = this.#known.get(type);
    if (known !== undefined) return known;
    const methods = new Map<string, Definition>();
    // Types may embed each other.
    this.#known.set(type, methods);
    for (const [name, [first]] of this.definitions.methodsOf(type))
      if (first !== undefined) methods.set(name, first);
    if (depth < embeddingMax)
      for (const base of this.evaluator.basesOf(type))
        for (const [name, method] of this.#methodsOf(base, depth))
          if (!methods.has(name)) methods.set(name, method);
    return methods;
  }

  #methodsOf(base: Type | undefined, depth: number): Iterable<[string, Definition]> {
    return base?.kind === 'inside' ? this.of(base.definition, depth + 1) : [];
  }
}

function isType({ kind }: Definition): boolean {
  return kind === 'struct' || kind === 'type' || kind === 'interface';
}

function isLike(one: Definition | undefined, other: Definition): boolean {
  return one !== undefined && shapeOf(one) === shapeOf(other);
}

const shapes = new WeakMap<Definition, string>();

/** Parameters and results, without the packages of their types: each package calls its own types otherwise. */
function shapeOf(method: Definition): string {
  let shape = shapes.get(method);
  if (shape === undefined) {
    const own = new Set(typesIn(method, 'bound').map(({ name }) => name));
    const listed = (role: 'parameter' | 'result'): string =>
      typesIn(method, role)
        .map(({ text }) =>
          text.replaceAll(/[^<>,:?$]+/g, (each) => {
            const name = each.slice(each.lastIndexOf('.') + 1);
            return own.has(name) ? '?' : name;
          }),
        )
        .join(',');
    shapes.set(method, (shape = `${listed('parameter')}=>${listed('result')}`));
  }
  return shape;
}
