import { parseExpression } from '../../format/expression.js';
import { joined } from './alternatives.js';
import { typesIn, type Definition, type Definitions } from './definitions.js';
import type { Names } from './names.js';
import {
  outside,
  library,
  superName,
  inside,
  within,
  valueOf,
  isFunction,
  isVariable,
  isAbstract,
  type Type,
  type InsideType,
  type LanguageType,
  type Value,
  type FunctionValue,
  type Owner,
  type Wanted,
  type Evaluation,
} from './values.js';

/** Types in the line of what one is based on. */
const lineMax = 200;

/** What a member of a value is: its own, an inherited one, one of the language. */
export class Members {
  readonly #definitions: Definitions;
  readonly #names: Names;
  readonly #evaluation: Evaluation;
  /** What types are based on by what other texts say. */
  readonly #added = new Map<Definition, Type[]>();

  constructor(definitions: Definitions, names: Names, evaluation: Evaluation) {
    this.#definitions = definitions;
    this.#names = names;
    this.#evaluation = evaluation;
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

  member(value: Value, name: string): Value | undefined {
    switch (value.kind) {
      case 'outside':
        return value.isLibrary === true ? library : outside;
      case 'scope':
        return this.#memberOfScope(value.scopes, name);
      case 'function':
        return this.#memberOfFunction(value, name);
      default: {
        const found = this.memberOf(value.type, name) ?? this.#ofEveryType(value.type, name);
        const isFixed = value.kind === 'type' && value.isOpen !== true && this.#isOfNamedType;
        return isFixed && found?.kind === 'function' ? { ...found, isFixed } : found;
      }
    }
  }

  #ofEveryType(type: Type, name: string): Value | undefined {
    const isSame = this.#definitions.rules.standard?.same.has(name) === true;
    return isSame ? { kind: 'outside', of: { type, name } } : undefined;
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

  #memberOfFunction({ definitions, self }: FunctionValue, name: string): Value | undefined {
    const [definition] = definitions;
    // A constant of an enumeration is a value of it.
    if (definition !== undefined && isVariable(definition))
      return self && this.memberOf(self, name);
    return definition && this.#ownMember({ kind: 'inside', definition, args: [] }, name);
  }

  memberOf(type: Type, name: string): Value | undefined {
    return this.#evaluation.bounded(() => {
      if (type.kind === 'outside') return type;
      if (type.kind === 'language') return this.#memberOfLanguage(type, name);
      if (name === superName) return this.#superOf(type);
      return this.#inheritedMember(type, name);
    });
  }

  get #isOfNamedType(): boolean {
    return this.#definitions.rules.typesAreCalled === true;
  }

  /** What a type is based on: where there are several, the first that has a member. */
  #superOf(type: InsideType): Value | undefined {
    const bases = this.basesOf(type);
    if (bases.length < 2 || this.#definitions.rules.isDynamic !== true) return valueOf(bases[0]);
    const args = bases.map((each) => ({ label: '', type: each }));
    return { kind: 'value', type: { kind: 'language', name: '$first', args } };
  }

  #memberOfFirst({ args }: LanguageType, name: string): Value | undefined {
    let isOutside = false;
    for (const { type } of args) {
      const found = type && this.memberOf(type, name);
      if (found !== undefined && found.kind !== 'outside') return found;
      if (type === undefined) return undefined;
      isOutside ||= found !== undefined;
    }
    return isOutside ? library : undefined;
  }

  /** What defines a member, given like a function; of a field, which has no definition of its own, its value. */
  definitionsOf(value: Value, name: string): Value | undefined {
    if (value.kind === 'scope') return this.#memberOfScope(value.scopes, name, 'definition');
    const type = typeWithMembers(value);
    const found =
      type &&
      this.#inherited(type, ({ definition }) => {
        const definitions = this.#definitions.methodsOf(definition).get(name);
        return definitions && { kind: 'function', definitions };
      });
    return found?.kind === 'function' ? found : this.member(value, name);
  }

  #inheritedMember(start: InsideType, name: string): Value | undefined {
    const elsewhere: (Type | undefined)[] = [];
    const found = this.#inherited(
      start,
      (type) => this.#ownMember(type, name, start) ?? this.#embedded(type, name),
      (type) => {
        elsewhere.push(type);
        const its = type?.kind === 'language' ? this.#memberOfLanguage(type, name) : undefined;
        return its?.kind === 'outside' ? undefined : its;
      },
    );
    const isUnknown = this.#definitions.rules.isDynamic === true && elsewhere.includes(undefined);
    return found ?? (elsewhere.length > 0 && !isUnknown ? library : undefined);
  }

  /** Of itself, else of the nearest type that it is based on; each type is asked once. */
  #inherited(
    start: InsideType,
    look: (type: InsideType) => Value | undefined,
    lookElsewhere: (type: Type | undefined) => Value | undefined = () => undefined,
  ): Value | undefined {
    if (this.#definitions.rules.isDynamic === true) return this.#inLine(start, look, lookElsewhere);
    const asked = new Set<Definition>();
    let level: (Type | undefined)[] = [start];
    while (level.length > 0) {
      const next: (Type | undefined)[] = [];
      for (const type of level) {
        if (type?.kind === 'inside' && asked.has(type.definition)) continue;
        if (type?.kind === 'inside') asked.add(type.definition);
        const found = type?.kind === 'inside' ? look(type) : lookElsewhere(type);
        if (found?.kind === 'function' && type !== start) return { ...found, receiver: start };
        if (found !== undefined) return found;
        if (type?.kind === 'inside') next.push(...this.basesOf(type));
      }
      level = next;
    }
    return undefined;
  }

  /** Each type before those that it is based on, these in their order. */
  #inLine(
    start: InsideType,
    look: (type: InsideType) => Value | undefined,
    lookElsewhere: (type: Type | undefined) => Value | undefined,
  ): Value | undefined {
    for (const type of this.#lineOf(start)) {
      const found = type?.kind === 'inside' ? look(type) : lookElsewhere(type);
      if (found?.kind === 'function' && type !== start) return { ...found, receiver: start };
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #lineOf(start: InsideType): (Type | undefined)[] {
    const line: (Type | undefined)[] = [];
    const visit = (type: Type | undefined, above: readonly Definition[]): void => {
      if (line.length >= lineMax) return;
      line.push(type);
      if (type?.kind !== 'inside' || above.includes(type.definition)) return;
      for (const base of this.basesOf(type)) visit(base, [...above, type.definition]);
    };
    visit(start, []);
    const last = new Map(
      line.map((type, at) => [type?.kind === 'inside' ? type.definition : at, at]),
    );
    return line.filter((type, at) => type?.kind !== 'inside' || last.get(type.definition) === at);
  }

  /** Of what it is defined as; or what it embeds, which is a field of its own name. */
  #embedded(type: InsideType, name: string): Value | undefined {
    if (type.definition.kind === 'struct')
      for (const base of typesIn(type.definition, 'base'))
        if (base.type?.name.split('.').at(-1) === name)
          return valueOf(this.#evaluation.resolve(base.type, within(type)));
    const underlying = this.underlying(type);
    const found = underlying && this.memberOf(underlying, name);
    // A defined type has the fields of the type that it is made of, and its methods if that is an interface.
    const isTaken = found?.kind === 'value' || (found?.kind === 'function' && isAbstract(found));
    return isTaken ? found : undefined;
  }

  #memberOfLanguage(type: LanguageType, name: string): Value | undefined {
    const field = type.args.find(({ label }) => label === name);
    if (field !== undefined) return valueOf(field.type);
    if (type.name === '$struct') return undefined;
    if (type.name === '$first') return this.#memberOfFirst(type, name);
    if (type.name !== '$union') return { kind: 'outside', of: { type, name } };
    const each = type.args.map(({ type: its }) => its && this.memberOf(its, name));
    if (this.#definitions.rules.isDynamic === true) return joined(each);
    const functions = each.filter((found) => found?.kind === 'function');
    const definitions = functions.flatMap((found) => found.definitions);
    if (definitions.length > 0) return { ...functions[0], kind: 'function', definitions };
    return each.find((found) => found !== undefined);
  }

  /** `receiver`: what is asked, which may be based on the type. */
  #ownMember(type: InsideType, name: string, receiver = type): Value | undefined {
    const { definition } = type;
    const methods = this.#definitions.methodsOf(definition).get(name);
    if (methods !== undefined) return this.#meantBy(methods, type, receiver);
    const field = typesIn(definition, 'field').find((each) => each.name === name);
    const found =
      field === undefined
        ? this.known(definition, 'assigned', name, { self: type, receiver })
        : valueOf(this.#evaluation.resolve(field.type, within(type)));
    return found && this.#read(found);
  }

  /** A value may say itself what it is as a member of another one. */
  #read(value: Value): Value {
    const [steps] = this.#definitions.rules.operators?.read ?? [];
    if (steps === undefined || value.kind !== 'value' || value.type.kind !== 'inside') return value;
    const [first, ...others] = parseExpression(`x${steps}`).steps;
    const own = first && this.#evaluation.bounded(() => this.#evaluation.step(value, first));
    if (own?.kind !== 'function') return value;
    return this.#evaluation.bounded(() => this.#evaluation.followed(own, others)) ?? value;
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
      return this.known(first, 'value', '', { self, receiver });
    return this.#evaluation.bounded(() =>
      this.#evaluation.evaluate(read.text, inside(first, { self })),
    );
  }

  /** What several expressions say; of a language whose types are known, the first that says something. */
  known(
    definition: Definition,
    role: 'assigned' | 'returned' | 'value',
    wanted: string,
    own: Owner,
  ): Value | undefined {
    if (this.#definitions.rules.isDynamic !== true)
      return this.firstKnown(definition, role, wanted, {
        self: own.self,
        receiver: role === 'assigned' ? undefined : own.receiver,
      });
    const context = inside(definition, own);
    const values = typesIn(definition, role).filter(({ name }) => name === wanted);
    return joined(
      values.map(({ text }) =>
        this.#evaluation.bounded(() => this.#evaluation.evaluate(text, context)),
      ),
    );
  }

  /** The first of several expressions that says something. */
  firstKnown(
    definition: Definition,
    role: 'assigned' | 'returned' | 'value',
    wanted: string,
    own: Owner,
  ): Value | undefined {
    const context = inside(definition, own);
    for (const { name, text } of typesIn(definition, role)) {
      const found =
        name === wanted
          ? this.#evaluation.bounded(() => this.#evaluation.evaluate(text, context))
          : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  }

  underlying(type: InsideType): Type | undefined {
    const [written] = typesIn(type.definition, 'is');
    return written && this.#evaluation.resolve(written.type, within(type));
  }

  basesOf(type: InsideType): (Type | undefined)[] {
    const written = typesIn(type.definition, 'base').map((base) =>
      this.#evaluation.resolve(base.type, within(type)),
    );
    return [...written, ...(this.#added.get(type.definition) ?? [])];
  }

  constructorOf(type: Type): Value | undefined {
    for (const name of this.#definitions.rules.constructors) {
      const found = this.memberOf(type, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Of a function that has members: itself. */
function typeWithMembers(value: Value): InsideType | undefined {
  if (value.kind === 'function') {
    const [definition] = value.definitions;
    return definition && { kind: 'inside', definition, args: [] };
  }
  return value.kind !== 'scope' && value.kind !== 'outside' && value.type.kind === 'inside'
    ? value.type
    : undefined;
}
