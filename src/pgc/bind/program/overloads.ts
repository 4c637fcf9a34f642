import type { TypeText } from '../../format/expression.js';
import { isAlike } from './alike.js';
import { hasMark, typesIn, type Definition } from './definition.js';
import type { Overloads, Shape, TypeRelations } from './rules.js';
import {
  inside,
  type Arguments,
  type Evaluation,
  type FunctionValue,
  type InsideType,
  type LanguageType,
  type Owner,
  type Type,
} from './values.js';

/** A function of a name, and the type where it was found. */
export interface Candidate {
  definition: Definition;
  self: Type | undefined;
  /** All that declares or defines it. */
  family?: readonly Definition[];
}

/** How far the type of an argument is from that of the parameter: undefined where it is unknown. */
type Distance = number | undefined;
const never = Infinity;
/** What takes everything. */
const loose = 1_000;
/** A type parameter that becomes what is given, in a language where that is nearer than any change of it. */
const deduced = 0.6;
/** How much nearer it is to take what is made for the call for good than to look at it. */
const passing = 0.5;
/** Below, a value is of the type itself. */
const ownMax = 1;
const typesMax = 64;

interface ChoiceOptions {
  receiver?: Type;
  isOpen?: boolean;
  isDoubtful?: boolean;
}

/** Which of several functions of one name is meant by its arguments. */
export class Choice {
  constructor(
    readonly rules: Overloads,
    readonly evaluation: Evaluation,
    readonly relations: TypeRelations & {
      soleMethod(type: InsideType): Candidate | undefined;
    },
  ) {}

  /** Undefined: none of them takes these arguments. `isOpen`: a library may have others; `isDoubtful`: and they may be meant. */
  of(
    all: readonly Candidate[],
    given: Arguments,
    { receiver, isOpen = false, isDoubtful = false }: ChoiceOptions = {},
  ): FunctionValue | undefined {
    const { count } = given;
    const able = all.filter(({ definition }) => takes(definition, count));
    const fitting = withoutConst(able, receiver);
    const isPlain = fitting.length === 0 || (fitting.length === 1 && !isOpen);
    const one = isPlain ? fitting : this.#nearest(fitting, given, receiver);
    const [first] = one;
    if (first === undefined) return undefined;
    return {
      kind: 'function',
      definitions: one.map(({ definition }) => definition),
      self: first.self,
      receiver,
      given,
      ...((one.length > 1 || (isDoubtful && !this.#isCertain(first, given))) && { isUnsure: true }),
    };
  }

  /** No other function can be nearer. */
  #isCertain(candidate: Candidate, given: Arguments): boolean {
    const { distances } = this.#row(candidate, given, undefined);
    return distances.every((distance) => distance !== undefined && distance < loose);
  }

  #nearest(
    all: readonly Candidate[],
    given: Arguments,
    receiver: Type | undefined,
  ): readonly Candidate[] {
    if (given.count === undefined) return all;
    const rows = all
      .map((candidate) => ({ candidate, ...this.#row(candidate, given, receiver) }))
      .filter(({ distances }) => !distances.includes(never))
      .filter(({ distances }) => given.areOperands !== true || !this.#isAllMade(distances));
    const exact = rows.filter(
      ({ isSpread, distances }) => !isSpread && !distances.includes(undefined),
    );
    const left = exact.length > 0 ? rows.filter(({ isSpread }) => !isSpread) : rows;
    const isSole = this.rules.between !== undefined;
    const best = left.find((row) =>
      left.every(
        (other) =>
          row === other || (this.#isNearer(row, other) && !(isSole && this.#isNearer(other, row))),
      ),
    );
    return (best === undefined ? left : [best]).map(({ candidate }) => candidate);
  }

  /** Of a sign: what it means by itself is nearer than a function for which each operand has to be made into another. */
  #isAllMade(distances: readonly Distance[]): boolean {
    const { made = never } = this.rules;
    return distances.every((each) => each !== undefined && each >= made && each < loose);
  }

  #row({ definition, self }: Candidate, given: Arguments, receiver: Type | undefined): Row {
    const types = given.types();
    const written = typesIn(definition, 'parameter');
    const context = inside(definition, { self, receiver } satisfies Owner);
    const own = new Set(typesIn(definition, 'bound').map(({ name }) => name));
    const wanted = written.map(({ type, name }) => ({
      type: this.evaluation.resolve(type, context),
      isOpen: type !== undefined && own.has(bare(type).name),
      mark: name,
      isConst: type?.name === '$const',
      isDeduced: type !== undefined && holds(type, own),
    }));
    const rest = written.at(-1)?.name === '*' ? wanted.at(-1) : undefined;
    const last = wanted.length - 1;
    const isWhole =
      types.length === wanted.length &&
      (rest === undefined || this.#isArray(types[last], rest.type));
    const isSpread = rest !== undefined && !isWhole;
    const element =
      rest?.type?.kind === 'language' ? { ...rest, type: rest.type.args[0]?.type } : rest;
    const stays = this.rules.reference && given.stays?.();
    const distances = types.map((type, at): Distance => {
      const its = isSpread && at >= last ? element : wanted[at];
      if (its === undefined) return undefined;
      const { made = never } = this.rules;
      const direct = this.distance(type, its.type);
      const isMade = direct !== undefined && direct >= made && direct < loose;
      // What the parameter of a type is has to be found in what is given, as it is.
      if (isMade && its.isDeduced && !its.isOpen) return never;
      const isOwn = direct !== undefined && direct < ownMax;
      const reference = this.rules.reference?.(its, {
        stays: stays?.[at],
        isConst: isGuarded(type),
      });
      if (its.isOpen && this.rules.between !== undefined) return reference ?? deduced;
      if (isOwn && reference !== undefined)
        return reference === never ? never : Math.max(direct, reference);
      // What is made of a value for the call passes with it.
      if (isMade && its.mark === '&' && !its.isConst) return never;
      if (its.mark === '&&')
        return direct === never ? never : isMade ? direct - passing : undefined;
      if (!its.isOpen || its.type === undefined)
        return its.isOpen ? loose : this.distance(type, its.type);
      // A type parameter takes what its bound takes, and is never nearer than a type.
      const bound = this.distance(type, its.type);
      return bound === undefined || bound === never ? bound : loose;
    });
    if (this.#isTornApart(types, wanted, own, written)) distances.push(never);
    const texts = types.map((_, at) => written[Math.min(at, last)]?.text ?? '');
    const inner = types.map((_, at) => wanted[Math.min(at, last)]?.type?.kind === 'inside');
    const fitted = types.map((_, at) => (isSpread && at >= last ? element : wanted[at])?.type);
    return { distances, isSpread, texts, isInner: inner, given: types, wanted: fitted };
  }

  /** Nowhere further than another one. */
  #isNearer(one: Row, other: Row): boolean {
    return one.distances.every((distance, at) => {
      const isAlike = one.texts[at] === other.texts[at];
      const [given, its] = [one.given[at], other.distances[at]];
      if (isNothing(given)) return isAlike || this.#isBased(one.wanted[at], other.wanted[at]);
      const isKnown = distance !== undefined && its !== undefined;
      // A function may be given as several interfaces of which none is nearer.
      if (functionIn(given) !== undefined) return isAlike || (isKnown && distance < its);
      if (isKnown) return distance <= its;
      if (isAlike) return true;
      // What may fit as well is not nearer than the type itself, and no type of a library is based on one of the program.
      return distance === 0 || (distance !== undefined && one.isInner[at] === true);
    });
  }

  #isBased(one: Type | undefined, other: Type | undefined): boolean {
    const distance = this.distance(one, other);
    return distance !== undefined && distance !== never;
  }

  /** A type parameter would be two types at once. */
  #isTornApart(
    types: readonly (Type | undefined)[],
    wanted: readonly { isOpen: boolean }[],
    own: ReadonlySet<string>,
    written: readonly { text: string }[],
  ): boolean {
    if (this.rules.between === undefined) return false;
    const bound = new Map<string, Type>();
    return types.some((type, at) => {
      const name = written[at]?.text ?? '';
      if (type === undefined || wanted[at]?.isOpen !== true || !own.has(name)) return false;
      const known = bound.get(name);
      bound.set(name, known ?? type);
      const distance = known === undefined ? 0 : this.distance(type, known);
      return distance !== undefined && distance >= 1;
    });
  }

  #isArray(type: Type | undefined, rest: Type | undefined): boolean {
    const isLike = type?.kind === 'language' && rest?.kind === 'language';
    return isLike && type.name === rest.name && this.distance(type, rest) !== never;
  }

  /** From what is given to what is wanted. */
  distance(given: Type | undefined, wanted: Type | undefined): Distance {
    if (given === undefined || wanted === undefined) return undefined;
    if (this.rules.between !== undefined) return this.rules.between(given, wanted, this.relations);
    const written = functionIn(given);
    if (written !== undefined) return this.#fromFunction(written, wanted);
    if (nameOf(wanted) === this.rules.everything) return loose;
    if (isNothing(given)) return this.rules.isPlain(nameOf(wanted) ?? '') ? never : undefined;
    if (given.kind === 'inside') return this.#fromInside(given, wanted);
    if (wanted.kind === 'inside')
      return given.kind === 'language' && given.name === '$union'
        ? this.#fromUnion(given, wanted)
        : never;
    if (given.kind === 'language') return this.#fromLanguage(given, wanted);
    if (isOther(given, wanted)) return undefined;
    const [one, other] = [nameOf(given), nameOf(wanted)];
    return one === undefined || other === undefined ? undefined : this.rules.distance(one, other);
  }

  /** A function that is written out, or named: it fits what takes as much and gives something if it does. */
  #fromFunction(given: LanguageType, wanted: Type): Distance {
    if (wanted.kind === 'inside') {
      if (wanted.definition.kind !== 'interface') return never;
      const sole = this.relations.soleMethod(wanted)?.definition;
      if (sole === undefined) return undefined;
      const [result] = typesIn(sole, 'result');
      const shape = { takes: typesIn(sole, 'parameter').length, gives: result?.text !== 'void' };
      return fits(given, shape) ? 1 : never;
    }
    const name = nameOf(wanted);
    if (name === undefined) return undefined;
    if (name === '$array' || name === this.rules.everything || this.rules.isFinal(name))
      return never;
    const shape = this.rules.shapeOf(name);
    return shape && (fits(given, shape) ? 1 : never);
  }

  #fromUnion(given: LanguageType, wanted: Type): Distance {
    const all = given.args.map(({ type }) => this.distance(type, wanted));
    return all.find((each) => each !== undefined && each !== never) ?? all[0];
  }

  #fromLanguage(given: LanguageType, wanted: Type): Distance {
    if (given.name === '$union') return this.#fromUnion(given, wanted);
    if (wanted.kind === 'language') {
      if (wanted.name === '$func') return undefined;
      if (given.name === '$array' && wanted.name === '$array')
        return this.distance(given.args[0]?.type, wanted.args[0]?.type);
      if (given.name === '$array' || wanted.name === '$array') return never;
    }
    const [one, other] = [nameOf(given), nameOf(wanted)];
    return one === undefined || other === undefined ? undefined : this.rules.distance(one, other);
  }

  #fromInside(given: InsideType, wanted: Type): Distance {
    if (wanted.kind === 'language' && wanted.name === '$array') return never;
    const name = nameOf(wanted);
    let isUnknown = false;
    const seen = new Set<Definition>();
    let level: readonly (Type | undefined)[] = [given];
    for (let distance = 0; level.length > 0 && seen.size < typesMax; distance += 1) {
      const next: (Type | undefined)[] = [];
      for (const type of level) {
        if (type?.kind === 'inside') {
          if (wanted.kind === 'inside' && type.definition === wanted.definition) return distance;
          if (seen.has(type.definition)) continue;
          seen.add(type.definition);
          next.push(...this.relations.basesOf(type));
        } else {
          const above = type && wanted.kind !== 'inside' ? this.distance(type, wanted) : undefined;
          if (above !== undefined && above !== never) return distance + above;
          isUnknown ||= above === undefined;
        }
      }
      level = next;
    }
    if (wanted.kind === 'inside') return never;
    return isUnknown && (name === undefined || !this.rules.isFinal(name)) ? undefined : never;
  }
}

interface Row {
  distances: readonly Distance[];
  /** Several arguments are one parameter. */
  isSpread: boolean;
  texts: readonly string[];
  /** Parameters of types of the program. */
  isInner: readonly boolean[];
  given: readonly (Type | undefined)[];
  wanted: readonly (Type | undefined)[];
}

/** Whether it must not be changed; of an unknown type nobody knows. */
function isGuarded(type: Type | undefined): boolean | undefined {
  if (type?.kind === 'outside' && type.name === undefined) return type.isConst;
  return type && type.isConst === true;
}

function isNothing(type: Type | undefined): boolean {
  return type?.kind === 'language' && type.name === '$null';
}

/** Of libraries: one of the same name in another package. */
function isOther(one: Type, other: Type): boolean {
  if (one.kind !== 'outside' || other.kind !== 'outside') return false;
  const isKnown = one.path !== undefined && other.path !== undefined;
  return isKnown && one.path !== other.path && one.name === other.name;
}

/** Not of a library's interface, which has a name. */
function functionIn(type: Type | undefined): LanguageType | undefined {
  const isOne = type?.kind === 'language' && type.name === '$func' && type.written === undefined;
  return isOne ? type : undefined;
}

/** `args`: see the miner of the language. Of a method that is named nothing is known. */
function fits({ args }: LanguageType, { takes: count, gives }: Shape): boolean {
  if (args.some(({ label }) => label.startsWith('*'))) return true;
  if (args.filter(({ label }) => /^\d/.test(label)).length !== count) return false;
  const given = args.find(({ label }) => label === '' || label === 'value');
  return given === undefined || (given.label === 'value') === gives;
}

function takes(definition: Definition, count: number | undefined): boolean {
  if (count === undefined || definition.isBare === true) return true;
  const parameters = definition.types.filter(({ role }) => role === 'parameter');
  const isOpen = parameters.at(-1)?.name === '*';
  const wanted = parameters.filter(({ name }) => name !== '=' && name !== '*').length;
  return count >= wanted && (isOpen || count <= parameters.length);
}

/** Of two methods that take the same, the one for values that must not be changed is that of such a value. */
function withoutConst(all: readonly Candidate[], receiver: Type | undefined): readonly Candidate[] {
  if (all.length < 2 || receiver?.kind !== 'inside') return all;
  const isConst = receiver.isConst === true;
  return all.filter(
    (each) =>
      hasMark(each.definition, 'const') === isConst ||
      !all.some(
        (other) =>
          hasMark(other.definition, 'const') === isConst &&
          isAlike(each.definition, other.definition),
      ),
  );
}

function nameOf(type: Type): string | undefined {
  if (type.kind === 'inside') return undefined;
  return type.kind === 'outside' ? type.name : (type.written ?? type.name);
}

/** Whether a type is written with one of these names. */
function holds(type: TypeText, names: ReadonlySet<string>): boolean {
  return (
    names.has(type.name) ||
    type.args.some((each) => each.type !== undefined && holds(each.type, names))
  );
}

/** Without marks. */
function bare(type: TypeText): TypeText {
  const [inner] = type.args;
  return type.name === '$const' && inner?.type !== undefined ? inner.type : type;
}

/** What a text keeps to itself is called there alone. */
export function isOpen(definition: Definition, { by }: Arguments): boolean {
  return definition.file === by || typesIn(definition, 'private').length === 0;
}
