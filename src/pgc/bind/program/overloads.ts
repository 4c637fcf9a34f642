import { unknown, type TypeText } from '../../format/expression.js';
import { isAlike } from './alike.js';
import { hasMark, typesIn, type Definition } from './definition.js';
import {
  Distances,
  functionIn,
  isNothing,
  loose,
  never,
  type Distance,
  type Relations,
} from './distances.js';
import type { Overloads } from './rules.js';
import {
  foreign,
  inside,
  type Arguments,
  type Evaluation,
  type FunctionValue,
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

/** A type parameter that becomes what is given, in a language where that is nearer than any change of it. */
const deduced = 0.6;
/** How much nearer it is to take what is made for the call for good than to look at it. */
const passing = 0.5;
/** Below, a value is of the type itself. */
const ownMax = 1;

interface ChoiceOptions {
  receiver?: Type;
  isOpen?: boolean;
  isDoubtful?: boolean;
}

/** Which of several functions of one name is meant by its arguments. */
export class Choice {
  readonly #distances: Distances;

  constructor(
    readonly rules: Overloads,
    readonly evaluation: Evaluation,
    relations: Relations,
  ) {
    this.#distances = new Distances(rules, relations);
  }

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

  /** What a type parameter without bounds takes. */
  get #anything(): Type {
    return { ...foreign, name: this.rules.everything };
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
    const left = this.#firstPhase(exact.length > 0 ? rows.filter((row) => !row.isSpread) : rows);
    const isSole = this.rules.between !== undefined;
    const best = left.find((row) =>
      left.every(
        (other) =>
          row === other ||
          (this.#isNearer(row, other) &&
            (!this.#isNearer(other, row) || (!isSole && this.#isNarrower(row, other)))),
      ),
    );
    return (best === undefined ? left : [best]).map(({ candidate }) => candidate);
  }

  /** Where something fits as it is, nothing is made an object for another function. */
  #firstPhase<R extends Row>(rows: readonly R[]): readonly R[] {
    const { boxing = never } = this.rules;
    const isAsItIs = (distance: Distance): boolean => distance !== undefined && distance < boxing;
    return rows.some(({ distances }) => distances.every(isAsItIs))
      ? rows.filter(({ distances }) =>
          distances.every((each) => each === undefined || isAsItIs(each)),
        )
      : rows;
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
    const bounds = typesIn(definition, 'bound');
    const own = new Set(bounds.map(({ name }) => name));
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
      const direct = this.#distances.of(type, its.type);
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
        return its.isOpen ? this.#distances.loosely(type) : this.#distances.of(type, its.type);
      // A type parameter takes what its bound takes, and is never nearer than a type.
      const bound = this.#distances.of(type, its.type);
      return bound === undefined || bound === never ? bound : this.#distances.loosely(type);
    });
    if (this.#isTornApart(types, wanted, own, written)) distances.push(never);
    const texts = types.map((_, at) => textOf(written[Math.min(at, last)], bounds));
    const inner = types.map((_, at) => wanted[Math.min(at, last)]?.type?.kind === 'inside');
    const taken = (its: typeof element): Type | undefined =>
      its?.type ?? (its?.isOpen === true ? this.#anything : undefined);
    const fitted = types.map((_, at) => taken(isSpread && at >= last ? element : wanted[at]));
    return {
      ...{ distances, isSpread, texts, isInner: inner, given: types, wanted: fitted },
      rest: isSpread ? taken(element) : undefined,
    };
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

  /** What it takes, the other one takes as well. */
  #isNarrower(one: Row, other: Row): boolean {
    const isOf = (its: Type | undefined, wanted: Type | undefined): boolean =>
      its === wanted || this.#isBased(its, wanted);
    return (
      one.wanted.every(
        (type, at) => one.texts[at] === other.texts[at] || isOf(type, other.wanted[at]),
      ) &&
      (one.rest === undefined || other.rest === undefined || isOf(one.rest, other.rest))
    );
  }

  #isBased(one: Type | undefined, other: Type | undefined): boolean {
    const distance = this.#distances.of(one, other);
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
      const distance = known === undefined ? 0 : this.#distances.of(type, known);
      return distance !== undefined && distance >= 1;
    });
  }

  #isArray(type: Type | undefined, rest: Type | undefined): boolean {
    const isLike = type?.kind === 'language' && rest?.kind === 'language';
    return isLike && type.name === rest.name && this.#distances.of(type, rest) !== never;
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
  /** Of each of the several arguments. */
  rest: Type | undefined;
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

/** How a type is written, with what its parameters must satisfy: functions call different ones the same. */
function textOf(
  written: { text: string; type: TypeText | undefined } | undefined,
  bounds: readonly { name: string; text: string }[],
): string {
  if (written?.type === undefined) return '';
  const { text, type } = written;
  const its = bounds.filter((each) => each.text !== unknown && holds(type, new Set([each.name])));
  return [text, ...its.map((each) => each.text)].join(' ');
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

/** Whether it must not be changed; undefined for an unknown type. */
function isGuarded(type: Type | undefined): boolean | undefined {
  if (type?.kind === 'outside' && type.name === undefined) return type.isConst;
  return type && type.isConst === true;
}
