import { parseExpression } from '../../format/expression.js';
import { type Definitions } from './definitions.js';
import { typesIn, type Definition } from './definition.js';
import { Bases } from './bases.js';
import { LibraryMembers } from './library-members.js';
import type { Names } from './names.js';
import { isSign, Namespaces } from './namespaces/namespaces.js';
import { isAlike } from './alike.js';
import { readAs } from './reading.js';
import { Said } from './said.js';
import { Choice, isOpen, type Candidate } from './overloads.js';
import type { Arguments } from './values.js';
import {
  outside,
  foreign,
  superName,
  inside,
  within,
  valueOf,
  isFunction,
  isType,
  isVariable,
  isAbstract,
  typeWithMembers,
  type Type,
  type InsideType,
  type Value,
  type FunctionValue,
  type Wanted,
  type Evaluation,
} from './values.js';

/** What a member of a value is: its own, an inherited one, one of the language. */
export class Members {
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #evaluation: Evaluation;
  /** Types in types, by name. */
  readonly #inner = new Map<Definition, Map<string, Value | undefined>>();
  /** Where functions of a name are told apart by their arguments. */
  readonly #choice: Choice | undefined;
  readonly namespaces: Namespaces | undefined;
  readonly bases: Bases;
  readonly said: Said;
  readonly ofLibraries: LibraryMembers;

  constructor(definitions: Definitions, names: Names, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#names = names;
    this.#evaluation = evaluation;
    this.bases = new Bases(
      definitions,
      evaluation,
      (type) => this.namespaces?.passedOn.usedIn(type) ?? [],
    );
    this.said = new Said(definitions, evaluation);
    this.ofLibraries = new LibraryMembers(definitions, {
      member: (value, name, given) => this.member(value, name, given),
      memberOf: (type, name, given) => this.memberOf(type, name, given),
      real: (type) => this.namespaces?.real(type),
    });
    const { overloads } = definitions.rules;
    const functionsOf = (type: InsideType, name: string): Definition[] =>
      this.#membersOf(type, name).filter(isFunction);
    const hasConversion = ({ definition }: InsideType): boolean =>
      [...definitions.methodsOf(definition).keys()].some((name) => name.startsWith('operator~'));
    const basesOf = (type: InsideType): readonly (Type | undefined)[] => this.bases.of(type);
    this.#choice =
      overloads &&
      new Choice(overloads, evaluation, {
        ...{ basesOf, functionsOf, hasConversion },
        openMethods: (type) => this.bases.openMethods(type),
        isWhole: (type) => this.bases.isWhole(type),
      });
    if (definitions.rules.namespaces === true && this.#choice !== undefined)
      this.namespaces = new Namespaces(definitions, evaluation, {
        ...{ basesOf, choice: this.#choice },
        meaning: (definition) => names.meaning([definition], 'value'),
      });
  }

  member(value: Value, name: string, given?: Arguments): Value | undefined {
    switch (value.kind) {
      case 'outside': {
        const found = this.#sign(value, name, given);
        if (found !== undefined) return found;
        const gives = given && this.ofLibraries.givenBy(value.name ?? '', name, value.path);
        if (value.isClosed === true || gives !== undefined || this.ofLibraries.isOfAll(name, given))
          return this.ofLibraries.closed(name, given, gives);
        const mayBeAny = value.isLibrary === true || this.#definitions.rules.handingOn?.has(name);
        return mayBeAny === true ? foreign : outside;
      }
      case 'scope':
        return this.#memberOfScope(value.scopes, name);
      case 'function':
        return this.#memberOfFunction(value, name, given);
      default: {
        const own = this.memberOf(value.type, name, given);
        const isOpen =
          own === undefined || (own.kind === 'outside' && value.type.kind === 'inside');
        const found = isOpen
          ? (this.#behind(value, name) ?? this.ofLibraries.ofEveryType(value.type, name) ?? own)
          : own;
        const isNamed = this.#isOfNamedType(given) || this.namespaces !== undefined;
        const isFixed = value.kind === 'type' && value.isOpen !== true && isNamed;
        return isFixed && found?.kind === 'function' ? { ...found, isFixed } : found;
      }
    }
  }

  /** Of what a value stands for, where its type says that it does. */
  #behind(value: Value & { type: Type }, name: string): Value | undefined {
    const { type } = value;
    const [steps = ''] = this.#definitions.rules.operators?.behind ?? [];
    const [first] = parseExpression(`x${steps}`).steps;
    if (type.kind !== 'inside' || value.kind !== 'value' || first?.kind !== 'member')
      return undefined;
    if (!this.#definitions.methodsOf(type.definition).has(first.name)) return undefined;
    const held = this.#evaluation.bounded(() =>
      this.#evaluation.followed(value, parseExpression(`x${steps}`).steps),
    );
    return held && this.#evaluation.bounded(() => this.member(held, name));
  }

  #memberOfScope(
    scopes: readonly string[],
    name: string,
    wanted: Wanted = 'value',
  ): Value | undefined {
    const found = this.#names.imported({ scopes, name }, wanted);
    if (found !== undefined) return found;
    const whole = this.#names.whole(scopes);
    return whole && whole.kind !== 'scope'
      ? this.#evaluation.bounded(() =>
          wanted === 'definition' ? this.definitionsOf(whole, name) : this.member(whole, name),
        )
      : undefined;
  }

  #memberOfFunction(
    { definitions, self }: FunctionValue,
    name: string,
    given: Arguments | undefined,
  ): Value | undefined {
    const [definition] = definitions;
    // A constant of an enumeration is a value of it.
    if (definition !== undefined && isVariable(definition))
      return self && this.memberOf(self, name, given);
    return (
      definition && this.#inheritedMember({ kind: 'inside', definition, args: [] }, name, undefined)
    );
  }

  memberOf(type: Type, name: string, given?: Arguments): Value | undefined {
    return this.#evaluation.bounded(() => {
      if (type.kind === 'outside') return this.member(type, name, given);
      if (type.kind === 'language')
        return this.#sign(type, name, given) ?? this.ofLibraries.member(type, name, given);
      if (this.namespaces !== undefined) return this.#memberOfPlaced(type, name, given);
      if (this.#definitions.rules.localItems === true) {
        const [alias] = typesIn(type.definition, 'alias');
        const its = alias && this.#evaluation.resolve(alias.type, within(type));
        if (alias !== undefined) return its && this.memberOf(its, name, given);
      }
      if (name === superName)
        return this.#choice === undefined ? this.bases.superOf(type) : this.#super(type, given);
      const found = this.#inheritedMember(type, name, given);
      return found === undefined && this.ofLibraries.isOfAll(name, given)
        ? this.ofLibraries.closed(name, given)
        : found;
    });
  }

  #sign(type: Type, name: string, given: Arguments | undefined): Value | undefined {
    return this.namespaces === undefined || given === undefined || !isSign(name)
      ? undefined
      : this.namespaces.operator(type, name, given);
  }

  /** `$star` and `$arrow` are what a value points to, where that is none itself. */
  #memberOfPlaced(type: InsideType, name: string, given?: Arguments): Value | undefined {
    const real = this.namespaces?.real(type);
    if (real?.kind !== 'inside') return real && this.memberOf(real, name, given);
    if (name !== '$star' && name !== '$arrow') return this.namespaces?.member(real, name, given);
    const steps = name === '$star' ? '.operator$2a^0()' : '.operator$2d$3e^0().$star';
    const start: Value = { kind: 'value', type: real };
    const followed = this.#evaluation.followed(start, parseExpression(`x${steps}`).steps);
    return followed ?? start;
  }

  #super(type: InsideType, given: Arguments | undefined): Value | undefined {
    const [base] = this.bases.of(type);
    // A class without another one below it is based on what every type is based on.
    const isClass = base?.kind !== 'inside' || base.definition.kind === 'class';
    return isClass ? this.constructed(valueOf(base), given) : foreign;
  }

  /** What is called on a type by its name is its own; a reference to it takes the object later. */
  #isOfNamedType(given: Arguments | undefined): boolean {
    const isCalled = this.#choice !== undefined && given?.count !== undefined;
    return isCalled || this.#definitions.rules.typesAreCalled === true;
  }

  /** What defines a member, given like a function; of a field, which has no definition of its own, its value. */
  definitionsOf(value: Value, name: string): Value | undefined {
    if (value.kind === 'scope') return this.#memberOfScope(value.scopes, name, 'definition');
    const type = typeWithMembers(value);
    const found =
      type &&
      this.bases.nearest(type, ({ definition }) => {
        const definitions = this.#definedIn(definition, name);
        return definitions && { kind: 'function', definitions };
      });
    return found?.kind === 'function' ? found : this.member(value, name);
  }

  /** Where functions are told apart by their arguments, they have names of their own. */
  #definedIn(definition: Definition, name: string): readonly Definition[] | undefined {
    if (this.#choice === undefined) return this.#definitions.methodsOf(definition).get(name);
    const own = this.#membersOf({ kind: 'inside', definition, args: [] }, name);
    const values = own.filter((each) => !isFunction(each));
    return values.length === 0 ? undefined : values;
  }

  #inheritedMember(
    start: InsideType,
    name: string,
    given: Arguments | undefined,
  ): Value | undefined {
    const candidates: Candidate[] = [];
    let beyond: Value | undefined;
    let isUnknown = false as boolean;
    const { isDynamic, isClosed } = this.#definitions.rules;
    const isChosen = given !== undefined && this.#choice !== undefined;
    const found = this.bases.nearest(
      start,
      (type) =>
        isChosen
          ? this.#collect(type, name, candidates, given)
          : (this.#ownMember(type, name, start) ?? this.#embedded(type, name)),
      (type) => {
        isUnknown ||= type === undefined && (isDynamic === true || isClosed === true);
        const its = type?.kind === 'language' ? this.ofLibraries.member(type, name) : undefined;
        if (its !== undefined && its.kind !== 'outside') return its;
        const isTyped = this.#choice !== undefined;
        const ofLibrary = type?.kind === 'outside' ? this.member(type, name, given) : its;
        beyond = isTyped ? (ofLibrary ?? foreign) : { ...foreign, of: { type: start, name } };
        return undefined;
      },
    );
    if (found !== undefined) return found;
    if (isUnknown) return undefined;
    const meant = isChosen
      ? this.#choice.of(candidates, given, { receiver: start, isOpen: beyond !== undefined })
      : undefined;
    const isOpen = beyond !== undefined && this.#mayHave(start, name);
    return meant ?? (isOpen ? undefined : beyond);
  }

  /** Where it does not say so itself: a type that answers for any name, or one that is based on it, has such a member. */
  #mayHave(type: InsideType, name: string): boolean {
    const { anyMember = [] } = this.#definitions.rules;
    const answers = ({ definition }: InsideType): Value | undefined => {
      const methods = this.#definitions.methodsOf(definition);
      const definitions = anyMember.flatMap((each) => methods.get(each) ?? []);
      return definitions.length === 0 ? undefined : { kind: 'function', definitions };
    };
    if (anyMember.length > 0 && this.bases.nearest(type, answers) !== undefined) return true;
    const below =
      this.#definitions.rules.isDynamic === true ? this.bases.below.get(type.definition) : [];
    return (below ?? []).some(
      (each) =>
        this.#definitions.methodsOf(each).has(name) ||
        each.types.some((said) => said.name === name && /^(?:field|assigned)$/.test(said.role)),
    );
  }

  among(
    types: readonly InsideType[],
    name: string,
    given: Arguments,
    isDoubtful: boolean,
  ): Value | undefined {
    const candidates: Candidate[] = [];
    for (const type of types)
      this.bases.nearest(type, (each) => {
        this.#collect(each, name, candidates, given);
        return undefined;
      });
    return this.#choice?.of(candidates, given, { isOpen: isDoubtful, isDoubtful });
  }

  /** Adds the functions of a type that no function of those before replaces. */
  #collect(
    type: InsideType,
    name: string,
    candidates: Candidate[],
    given: Arguments,
  ): Value | undefined {
    const own = this.#membersOf(type, name).filter(
      (each) => isFunction(each) && isOpen(each, given),
    );
    const below = [...candidates];
    for (const definition of own)
      if (!below.some((each) => isAlike(each.definition, definition)))
        candidates.push({ definition, self: type });
    if (own.length > 0) return undefined;
    const implied = typesIn(type.definition, 'field').find((each) => each.name === `${name}()`);
    return implied && valueOf(this.#evaluation.resolve(implied.type, within(type)));
  }

  /** Of types of the same name in several projects, each has its own members. */
  #membersOf({ definition }: InsideType, name: string): readonly Definition[] {
    const all = this.#definitions.methodsOf(definition).get(name) ?? [];
    if (this.#choice === undefined) return all;
    return all.filter(({ file }) => file === definition.file);
  }

  /** With the constructor that takes these arguments. */
  constructed(value: Value | undefined, given: Arguments | undefined): Value | undefined {
    if (given === undefined || value?.kind !== 'value') return value;
    if (this.namespaces !== undefined) return this.namespaces.constructed(value, given);
    return { ...value, constructors: this.constructorsOf(value.type, given) };
  }

  constructorsOf(type: Type, given: Arguments): FunctionValue | undefined {
    if (type.kind !== 'inside') return undefined;
    const own = this.#membersOf(type, type.definition.name).filter(
      (each) => isFunction(each) && isOpen(each, given),
    );
    const candidates = own.map((definition) => ({ definition, self: type }));
    return this.#choice?.of(candidates, given, { receiver: type });
  }

  innerType(start: InsideType, name: string): Value | undefined {
    if (this.namespaces !== undefined) return this.namespaces.innerType(start, name);
    const known = this.#inner.get(start.definition) ?? new Map<string, Value | undefined>();
    this.#inner.set(start.definition, known);
    if (known.has(name)) return known.get(name);
    known.set(name, undefined);
    const found = this.#findInner(start, name);
    known.set(name, found);
    return found;
  }

  #findInner(start: InsideType, name: string): Value | undefined {
    const asked = new Set<Definition>([start.definition]);
    const level: InsideType[] = [start];
    for (const type of level) {
      const [found] = this.#membersOf(type, name).filter(isType);
      if (found !== undefined) return this.#names.meaning([found], 'type');
      for (const base of this.bases.of(type))
        if (base?.kind === 'inside' && !asked.has(base.definition)) {
          asked.add(base.definition);
          level.push(base);
        }
    }
    return undefined;
  }

  /** Of what it is defined as; or what it embeds, which is a field of its own name. */
  #embedded(type: InsideType, name: string): Value | undefined {
    if (type.definition.kind === 'struct')
      for (const base of typesIn(type.definition, 'base'))
        if (base.type?.name.split('.').at(-1) === name)
          return valueOf(this.#evaluation.resolve(base.type, within(type)));
    const underlying = this.bases.underlying(type);
    const found = underlying && this.memberOf(underlying, name);
    // A defined type has the fields of the type that it is made of, and its methods if that is an interface.
    const isTaken = found?.kind === 'value' || (found?.kind === 'function' && isAbstract(found));
    return isTaken ? found : undefined;
  }

  /** `receiver`: what is asked, which may be based on the type. */
  #ownMember(type: InsideType, name: string, receiver = type): Value | undefined {
    const { definition } = type;
    const isApart = this.#choice !== undefined;
    const all = this.#membersOf(type, name);
    const isAssigned = this.#definitions.rules.isDynamic === true;
    const members = all.filter(
      (each) => !(isApart && isFunction(each)) && !(isAssigned && isVariable(each)),
    );
    const field = typesIn(definition, 'field').find((each) => each.name === name);
    if (members.length > 0 && (field === undefined || !isApart))
      return this.#meantBy(members, type, receiver);
    const found =
      field === undefined
        ? this.said.by(definition, 'assigned', name, { self: type, receiver })
        : valueOf(this.#evaluation.resolve(field.type, within(type)));
    return found && this.#read(found);
  }

  /** A value may say itself what it is as a member of another one. */
  #read(value: Value): Value {
    const [steps] = this.#definitions.rules.operators?.read ?? [];
    if (steps === undefined || value.kind !== 'value' || value.type.kind !== 'inside') return value;
    const { type } = value;
    const isOwn = (base: InsideType): boolean => this.#isBased(type, base);
    return readAs(value, { steps, isOwn, evaluation: this.#evaluation }) ?? value;
  }

  #isBased(type: InsideType, base: InsideType): boolean {
    const isBase = ({ definition }: InsideType): boolean => definition === base.definition;
    const found = this.bases.nearest(type, (each) =>
      isBase(each) ? { kind: 'type', type: each } : undefined,
    );
    return found !== undefined;
  }

  /** A method, a type inside another one, or a method that is read like a field. */
  #meantBy(
    members: readonly Definition[],
    self: InsideType,
    receiver: InsideType,
  ): Value | undefined {
    const [first] = members;
    if (first === undefined) return undefined;
    // A constant of an enumeration, which may be made like by a function.
    if (
      isVariable(first) &&
      typesIn(first, 'value').length === 0 &&
      self.definition.kind === 'enum'
    )
      return { kind: 'function', definitions: members, self };
    if (!isFunction(first)) return this.#names.meaning(members, 'value');
    const [read] = typesIn(first, 'value');
    if (read === undefined) return { kind: 'function', definitions: members, self };
    if (this.#definitions.rules.isDynamic === true)
      return this.said.by(first, 'value', '', { self, receiver });
    return this.#evaluation.bounded(() =>
      this.#evaluation.evaluate(read.text, inside(first, { self })),
    );
  }

  constructorOf(type: Type): Value | undefined {
    const { constructors } = this.#definitions.rules;
    return constructors.map((name) => this.memberOf(type, name)).find((each) => each !== undefined);
  }
}
