import type { Definitions } from '../definitions.js';
import { hasMark, typesIn, type Definition } from '../definition.js';
import { families } from '../alike.js';
import type { Candidate, Choice } from '../overloads.js';
import { KeptTypes } from './kept-types.js';
import { Macros } from './macros.js';
import { insideOf, PassedOn } from './passed-on.js';
import type { SourceText } from '../source-text.js';
import {
  asConst,
  foreign,
  isFunction,
  isNamespace,
  isType,
  outside,
  rootName,
  valueOf,
  within,
  type Arguments,
  type Context,
  type Evaluation,
  type FunctionValue,
  type InsideType,
  type Type,
  type Value,
  type Wanted,
} from '../values.js';

/** Types and namespaces on the way to a name. */
const askedMax = 200;

interface Parts {
  choice: Choice;
  /** Of a variable: its value. */
  meaning(definition: Definition): Value | undefined;
  basesOf(type: InsideType): readonly (Type | undefined)[];
}

/** What names mean in a language whose namespaces are written in texts; see `LanguageRules.namespaces`. */
export class Namespaces {
  readonly #definitions: Definitions;
  readonly #evaluation: Evaluation;
  readonly #parts: Parts;
  readonly macros: Macros;
  readonly passedOn: PassedOn;
  readonly #kept = new KeptTypes();

  constructor(definitions: Definitions, evaluation: Evaluation, parts: Parts) {
    this.#definitions = definitions;
    this.#evaluation = evaluation;
    this.#parts = parts;
    this.macros = new Macros(definitions, evaluation);
    this.passedOn = new PassedOn(definitions, evaluation);
  }

  /** A name that stands alone: what is around it is asked from inside out, then where the types of the arguments stand. */
  visible(name: string, context: Context, wanted: Wanted, given?: Arguments): Value | undefined {
    const { file, owner, isHeader } = context;
    if (name === rootName) return this.#root(file);
    const macro = wanted === 'type' ? undefined : this.macros.named(name, file);
    if (macro !== undefined) return macro;
    const ask = (type: Type): Value | undefined => this.#ask(type, name, wanted, given);
    const used =
      owner && isFunction(owner) ? this.passedOn.passed([owner], name, file, ask) : undefined;
    if (used !== undefined) return used;
    let beyond: Value | undefined;
    for (const type of this.#around(owner, file, isHeader)) {
      const found = ask(type);
      // What a library has may be inherited; what the program has is nearer.
      if (found?.kind === 'outside') beyond ??= found;
      else if (found !== undefined) return found;
    }
    for (const each of given?.types() ?? []) {
      const beside = this.#besideType(each, file);
      const found = beside && ask(beside);
      if (found?.kind === 'function') return found;
    }
    return this.#definitions.rules.builtins.has(name) ? outside : beyond;
  }

  #ask(type: Type, name: string, wanted: Wanted, given?: Arguments): Value | undefined {
    return wanted === 'type'
      ? type.kind === 'inside'
        ? this.innerType(type, name)
        : undefined
      : this.#evaluation.member(type, name, given);
  }

  /** Each holds the one before. */
  *#around(
    owner: Definition | undefined,
    file: SourceText,
    isHeader = false,
  ): Generator<InsideType> {
    let path = '';
    if (owner !== undefined && isFunction(owner)) yield* this.macros.basesAround(owner);
    if (owner !== undefined) {
      // Another name for a type holds nothing, least of all what it says of itself.
      const isHolder =
        isType(owner) && owner.kind !== 'macro' && typesIn(owner, 'alias').length === 0;
      const isOuter = !isHeader && (isNamespace(owner) || isHolder);
      path = isOuter ? owner.key : owner.inside;
    }
    const isConst = owner !== undefined && hasMark(owner, 'const');
    for (let at = path; at !== ''; at = at.slice(0, Math.max(at.lastIndexOf('.'), 0))) {
      const type = this.at(at, file);
      if (type === undefined) continue;
      const { definition } = type;
      yield isConst && at === path && !isNamespace(definition) ? { ...type, isConst } : type;
    }
    const { root } = this.#definitions;
    if (root !== undefined) yield insideOf(root, file);
  }

  /** What has this path. */
  at(path: string, file: SourceText): InsideType | undefined {
    return this.#kept.as(path, file, () =>
      this.#nearest(this.#definitions.scopes.get(file.scope)?.types.get(path) ?? [], file),
    );
  }

  /** The type of this name in a namespace or a type. */
  #typeIn(type: InsideType, name: string): InsideType | undefined {
    const { definition, from } = type;
    const find = (): InsideType | undefined => this.#nearestOf(this.#membersOf(type, name), from);
    const isKept = from !== undefined && isNamespace(definition);
    return isKept ? this.#kept.as(`${definition.key}:${name}`, from, find) : find();
  }

  #nearest(all: readonly Definition[], from: SourceText | undefined): InsideType | undefined {
    const { sight } = this.#definitions;
    const near = sight.nearest(all, from);
    const [first] = near;
    if (first === undefined) return undefined;
    const isDoubtful = !isNamespace(first) && sight.isOpen(near, from);
    return { ...insideOf(first, from), ...(isDoubtful && { isDoubtful }) };
  }

  /** The type among what has a name. */
  #nearestOf(all: readonly Definition[], from: SourceText | undefined): InsideType | undefined {
    const types = all.filter(isType);
    const [first] = types;
    return first !== undefined && from !== undefined && isNamespace(first)
      ? this.at(first.key, from)
      : this.#nearest(types, from);
  }

  #root(file: SourceText): Value | undefined {
    const { root } = this.#definitions;
    return root && { kind: 'type', type: insideOf(root, file) };
  }

  /** The namespace of a type. */
  #besideType(type: Type | undefined, file: SourceText): Type | undefined {
    if (type?.kind === 'language') return this.#besideType(type.args[0]?.type, file);
    if (type?.kind !== 'inside') return undefined;
    for (
      let path = type.definition.inside;
      path !== '';
      path = path.slice(0, Math.max(path.lastIndexOf('.'), 0))
    ) {
      const around = this.at(path, file);
      if (around !== undefined && isNamespace(around.definition)) return around;
    }
    return undefined;
  }

  /** A member of a type, of what it is based on, or of a namespace. */
  member(start: InsideType, name: string, given: Arguments | undefined): Value | undefined {
    const asked = new Set<Definition>();
    let beyond: Value | undefined;
    let isUnknown = false;
    let level: (Type | undefined)[] = [start];
    while (level.length > 0 && asked.size < askedMax) {
      const candidates: Candidate[] = [];
      const next: (Type | undefined)[] = [];
      let other: Value | undefined;
      for (const each of level) {
        const type = this.real(each);
        isUnknown ||= type === undefined;
        if (type?.kind === 'outside') beyond ??= foreign;
        if (type?.kind !== 'inside' || asked.has(type.definition)) continue;
        asked.add(type.definition);
        // Inside of a type its name is its own, not that of what constructs it.
        const isItself = name === type.definition.name && !isNamespace(type.definition);
        if (isItself) other ??= { kind: 'type', type };
        const functions = isItself ? [] : this.#membersOf(type, name).filter(isFunction);
        candidates.push(...this.#candidates(functions, type));
        if (functions.length === 0) other ??= this.#otherMember(type, name, given);
        if (functions.length === 0 || this.passedOn.says(type, name))
          next.push(...this.#parts.basesOf(type));
      }
      const chosen = candidates.length > 0 && this.#chosen(candidates, given, start, name);
      if (chosen) return chosen;
      if (other !== undefined) return this.#used(other, given);
      level = next;
    }
    if (isSign(name) && given !== undefined && !isNamespace(start.definition)) {
      const found = this.operator(start, name, given);
      if (found !== undefined || isUnknown) return found;
      // What nothing defines, the language does.
      return beyond ?? outside;
    }
    return isUnknown ? undefined : beyond;
  }

  /** A function that stands for a sign between values of which one is of its namespace. */
  operator(first: Type, name: string, given: Arguments): Value | undefined {
    const all = (): readonly (Type | undefined)[] => [first, ...given.types()];
    const its = {
      ...given,
      count: given.count === undefined ? undefined : given.count + 1,
      types: all,
      stays: () => [undefined, ...(given.stays?.() ?? [])],
      areOperands: true,
    };
    const { root } = this.#definitions;
    if (given.from === undefined || root === undefined) return undefined;
    for (const each of all()) {
      const beside = this.#besideType(each, given.from);
      const found = beside && this.#evaluation.member(beside, name, its);
      if (found?.kind === 'function') return found;
    }
    const found = this.#evaluation.member(insideOf(root, given.from), name, its);
    return found?.kind === 'function' ? found : undefined;
  }

  #candidates(functions: readonly Definition[], self: InsideType): Candidate[] {
    const { from } = self;
    const real = functions.filter((each) => !hasMark(each, 'deleted'));
    const all = families(this.#definitions.sight.possible(real, from));
    const { sight } = this.#definitions;
    const seen =
      from === undefined || all.length < 2
        ? all
        : all.filter((family) => family.some((each) => sight.isSeen(each, from)));
    return (seen.length > 0 ? seen : all).map((family) => ({
      ...{ definition: representative(family), family, self },
    }));
  }

  #chosen(
    candidates: readonly Candidate[],
    given: Arguments | undefined,
    receiver: InsideType,
    name: string,
  ): Value | undefined {
    const whole: FunctionValue = {
      ...{ kind: 'function', receiver, self: candidates[0]?.self },
      ...(given !== undefined && { given }),
      definitions: candidates.flatMap(({ family }) => this.#meant(family ?? [], given)),
    };
    const isOne = candidates.length === 1;
    if (given === undefined) return isOne ? whole : { ...whole, isUnsure: true };
    // A sign has a meaning of its own where nothing takes what is given.
    const isOpen = isSign(name);
    const found = this.#parts.choice.of(candidates, given, {
      receiver,
      isOpen,
      isDoubtful: isOpen,
    });
    if (found === undefined) return isOpen ? undefined : { ...whole, isUnsure: true };
    const families = candidates.filter(({ definition }) => found.definitions.includes(definition));
    const definitions = families.flatMap(({ family }) => this.#meant(family ?? [], given));
    const isSpecial = this.#isSpecial(receiver) && name !== receiver.definition.name;
    const isDoubtful =
      receiver.isDoubtful === true || this.#definitions.sight.isOpen(definitions, given.from);
    return { ...found, definitions, ...((isSpecial || isDoubtful) && { isUnsure: true }) };
  }

  /** For some arguments of the template another definition of it stands in. */
  #isSpecial({ args, definition }: InsideType): boolean {
    const { types } = this.#definitions.scopeOf(definition.file.scope);
    return args.length > 0 && types.has(`${definition.key}~`);
  }

  /** Of a function its definition, as far as there is one. */
  #meant(family: readonly Definition[], given: Arguments | undefined): readonly Definition[] {
    const whole = family.filter(({ isDeclaration }) => !isDeclaration);
    const { sight } = this.#definitions;
    if (whole.length > 0) return sight.nearest(whole, given?.from);
    return sight.nearest(family, given?.from).slice(0, 1);
  }

  /** What is no function: a field, a variable, a type, a namespace, or what is passed on from elsewhere. */
  #otherMember(type: InsideType, name: string, given?: Arguments): Value | undefined {
    const field = typesIn(type.definition, 'field').find((each) => each.name === name);
    if (field !== undefined) {
      const its = this.#evaluation.resolve(field.type, within(type));
      const doubtful = its?.kind === 'inside' && type.isDoubtful === true;
      const held = doubtful ? { ...its, isDoubtful: true } : its;
      return valueOf(type.isConst === true ? asConst(held) : held);
    }
    const all = this.#membersOf(type, name);
    const near = this.#definitions.sight.nearest(all, type.from);
    if (near.length > 0) return this.#meaning(near, type.from);
    return this.passedOn.passed(this.passedOn.textsOf(type), name, type.from, (its) =>
      this.#ask(its, name, 'value', given),
    );
  }

  #meaning(definitions: readonly Definition[], from: SourceText | undefined): Value | undefined {
    const first = definitions.find((each) => !isType(each)) ?? definitions[0];
    if (first === undefined) return undefined;
    const type = isType(first) ? this.#nearestOf(definitions, from) : undefined;
    if (type !== undefined) return { kind: 'type', type };
    return this.#parts.meaning(first);
  }

  /** A type that is called is constructed; a value that is called has an operator for that. */
  #used(value: Value, given: Arguments | undefined): Value | undefined {
    if (given === undefined) return value;
    if (
      value.kind === 'type' &&
      value.type.kind === 'inside' &&
      !isNamespace(value.type.definition)
    ) {
      const type = this.real(value.type);
      if (type === undefined) return undefined;
      const args = given.written?.() ?? [];
      const its: Type = type.kind === 'inside' && args.length > 0 ? { ...type, args } : type;
      return this.constructed(valueOf(its), given);
    }
    if (value.kind !== 'value' || value.type.kind !== 'inside') return value;
    return this.#evaluation.member(value.type, 'operator$28$29', given);
  }

  constructed(value: Value | undefined, given: Arguments): Value | undefined {
    if (value?.kind !== 'value' || value.type.kind !== 'inside') return value;
    const { type } = value;
    const own = this.#membersOf(type, type.definition.name).filter(isFunction);
    if (own.length === 0)
      return { ...value, constructors: { kind: 'function', definitions: [], self: type } };
    const found = this.#chosen(this.#candidates(own, type), given, type, type.definition.name);
    return found?.kind === 'function' ? { ...value, constructors: found } : value;
  }

  innerType(start: InsideType, name: string): Value | undefined {
    const asked = new Set<Definition>();
    const level: (Type | undefined)[] = [start];
    let isOutside = false;
    for (const each of level) {
      const type = this.real(each);
      isOutside ||= type?.kind === 'outside';
      if (type?.kind !== 'inside' || asked.has(type.definition) || asked.size >= askedMax) continue;
      asked.add(type.definition);
      const found = this.#typeIn(type, name);
      if (found !== undefined) return { kind: 'type', type: found };
      const passed = this.passedOn.passed(this.passedOn.textsOf(type), name, type.from, (its) =>
        this.#ask(its, name, 'type'),
      );
      if (passed !== undefined) return passed;
      level.push(...this.#parts.basesOf(type));
    }
    return isOutside ? foreign : undefined;
  }

  /** What an alias stands for. */
  real(type: Type | undefined): Type | undefined {
    if (type?.kind !== 'inside') return type;
    const [alias] = typesIn(type.definition, 'alias');
    if (alias === undefined) return type;
    const found = this.#evaluation.resolve(alias.type, within(type));
    return type.isConst === true ? asConst(found) : found;
  }

  /** Of types of the same name in several programs, each has its own members. */
  #membersOf({ definition, from }: InsideType, name: string): readonly Definition[] {
    const all = this.#definitions.methodsOf(definition).get(name) ?? [];
    if (isNamespace(definition)) return this.#definitions.sight.possible(all, from);
    const types = this.#definitions.scopeOf(definition.file.scope).types.get(definition.key) ?? [];
    if (all.length < 2 || types.length < 2) return all;
    const { sight } = this.#definitions;
    const own = all.filter((each) => sight.isSeen(definition, each.file));
    return own.length > 0 ? own : all;
  }
}

/** `==` and its like: not what is called, indexed or pointed to. */
export function isSign(name: string): boolean {
  return name.startsWith('operator$') && !/^operator(?:\$28|\$5b|\$2d\$3e)/.test(name);
}

/** What says most of how a function is called: where its last parameters may be left out. */
function representative(family: readonly Definition[]): Definition {
  const isOpen = (each: Definition): boolean =>
    each.types.some(({ role, name }) => role === 'parameter' && name === '=');
  return family.find(isOpen) ?? (family[0] as Definition);
}
