import { typesIn, type Definition } from './definition.js';
import type { Overloads, Shape, TypeRelations } from './rules.js';
import type { Owner, InsideType, LanguageType, Type } from './values.js';

/** How far the type of an argument is from that of the parameter: undefined where it is unknown. */
export type Distance = number | undefined;
export const never = Infinity;
/** What takes everything. */
export const loose = 1_000;
const typesMax = 64;

/** What is known of the types of interfaces, too. */
export interface Relations extends TypeRelations {
  /** The methods of an interface that no type of its line gives a body. */
  openMethods(type: InsideType): readonly { definition: Definition; self: Owner['self'] }[];
  /** All that it is based on is of the program. */
  isWhole(type: InsideType): boolean;
}

/** How far types are from each other. */
export class Distances {
  constructor(
    readonly rules: Overloads,
    readonly relations: Relations,
  ) {}

  /** From what is given to what is wanted. */
  of(given: Type | undefined, wanted: Type | undefined): Distance {
    if (given === undefined || wanted === undefined) return undefined;
    if (this.rules.between !== undefined) return this.rules.between(given, wanted, this.relations);
    const written = functionIn(given);
    if (written !== undefined) return this.#fromFunction(written, wanted);
    if (nameOf(wanted) === this.rules.everything)
      return nameOf(given) === this.rules.everything ? 0 : this.loosely(given);
    if (isNothing(given)) return this.rules.isPlain(nameOf(wanted) ?? '') ? never : undefined;
    if (given.kind === 'inside') return this.#fromInside(given, wanted);
    if (wanted.kind === 'inside')
      return given.kind === 'language' && given.name === '$union'
        ? this.#fromUnion(given, wanted)
        : never;
    if (given.kind === 'language') return this.#fromLanguage(given, wanted);
    if (isArray(wanted)) return given.name === undefined ? undefined : never;
    if (isOther(given, wanted)) return undefined;
    const [one, other] = [nameOf(given), nameOf(wanted)];
    return one === undefined || other === undefined ? undefined : this.rules.distance(one, other);
  }

  /** To what takes every object. */
  loosely(given: Type | undefined): number {
    const isPlain = given !== undefined && this.rules.isPlain(nameOf(given) ?? '');
    return isPlain ? (this.rules.boxing ?? 0) + loose : loose;
  }

  /** A function that is written out, or named: it fits what takes as much and gives something if it does. */
  #fromFunction(given: LanguageType, wanted: Type): Distance {
    if (wanted.kind === 'inside') {
      if (wanted.definition.kind !== 'interface') return never;
      const [sole, ...others] = this.relations.openMethods(wanted);
      if (others.length > 0) return never;
      if (sole === undefined) return this.relations.isWhole(wanted) ? never : undefined;
      const [result] = typesIn(sole.definition, 'result');
      const takes = typesIn(sole.definition, 'parameter').length;
      const shape = { takes, gives: result?.text !== 'void' };
      return fits(given, shape);
    }
    const name = nameOf(wanted);
    if (name === undefined) return undefined;
    if (name === '$array' || name === this.rules.everything || this.rules.isFinal(name))
      return never;
    const shape = this.rules.shapeOf(name);
    return shape && fits(given, shape);
  }

  #fromUnion(given: LanguageType, wanted: Type): Distance {
    const all = given.args.map(({ type }) => this.of(type, wanted));
    return all.find((each) => each !== undefined && each !== never) ?? all[0];
  }

  #fromLanguage(given: LanguageType, wanted: Type): Distance {
    if (given.name === '$union') return this.#fromUnion(given, wanted);
    if (wanted.kind === 'language') {
      if (wanted.name === '$func' && wanted.written === undefined) return undefined;
      if (given.name === '$array' && wanted.name === '$array')
        return this.#betweenArrays(given.args[0]?.type, wanted.args[0]?.type);
      if (given.name === '$array' || wanted.name === '$array') return never;
    }
    const [one, other] = [nameOf(given), nameOf(wanted)];
    return one === undefined || other === undefined ? undefined : this.rules.distance(one, other);
  }

  /** Elements that are no objects are what they are. */
  #betweenArrays(given: Type | undefined, wanted: Type | undefined): Distance {
    const [one, other] = [given, wanted].map((each) => each && nameOf(each));
    const isPlain = [one, other].some((each) => each !== undefined && this.rules.isPlain(each));
    if (isPlain && given !== undefined && wanted !== undefined) return one === other ? 0 : never;
    const distance = this.of(given, wanted);
    // Every array is an object, too.
    return distance === loose ? loose - 1 : distance;
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
          const above = type && wanted.kind !== 'inside' ? this.of(type, wanted) : undefined;
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

function isArray(type: Type): boolean {
  return type.kind === 'language' && type.name === '$array';
}

/** Of libraries: one of the same name in another package. */
function isOther(one: Type, other: Type): boolean {
  if (one.kind !== 'outside' || other.kind !== 'outside') return false;
  const isKnown = one.path !== undefined && other.path !== undefined;
  return isKnown && one.path !== other.path && one.name === other.name;
}

/** `args`: see the miner of the language. Of a method that is named nothing is known. */
function fits({ args }: LanguageType, { takes: count, gives }: Shape): number {
  if (args.some(({ label }) => label.startsWith('*'))) return 1;
  if (args.filter(({ label }) => /^\d/.test(label)).length !== count) return never;
  const result = args.find(({ label }) => label === 'result')?.type;
  if (result?.kind === 'outside' && result.name === 'void') return gives ? never : 1;
  // What gives something may be called for nothing, but is meant to give it.
  if (result !== undefined) return gives ? 1 : 2;
  const given = args.find(({ label }) => label === '' || label === 'value');
  return given === undefined || (given.label === 'value') === gives ? 1 : never;
}

export function isNothing(type: Type | undefined): boolean {
  return type?.kind === 'language' && type.name === '$null';
}

/** Not of a library's interface, which has a name. */
export function functionIn(type: Type | undefined): LanguageType | undefined {
  const isOne = type?.kind === 'language' && type.name === '$func' && type.written === undefined;
  return isOne ? type : undefined;
}

function nameOf(type: Type): string | undefined {
  if (type.kind === 'inside') return undefined;
  return type.kind === 'outside' ? type.name : (type.written ?? type.name);
}
