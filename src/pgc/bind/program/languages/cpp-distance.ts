import type { Definition } from '../definition.js';
import { hasMark } from '../definition.js';
import type { TypeRelations } from '../rules.js';
import type { InsideType, LanguageType, Type } from '../values.js';

/** How far apart types are: undefined where that is not known, infinite where the one is never given as the other. */
type Distance = number | undefined;
const never = Infinity;
const promotion = 1;
const conversion = 10;
const toNothing = 50;
/** What only a constructor or an operator makes of it. */
export const made = 900;
/** A value that may be changed, given as one that must not be, and the other way round. */
const guarded = 0.25;
const copied = 0.5;
const typesMax = 64;

/** Numbers that are others by the rules of most systems. */
const same: Readonly<Record<string, string>> = {
  ...{ size_t: 'ulong', uint64_t: 'ulong', uintptr_t: 'ulong', uintmax_t: 'ulong', uint: 'uint' },
  ...{ int64_t: 'long', ssize_t: 'long', ptrdiff_t: 'long', intptr_t: 'long', time_t: 'long' },
  ...{ int32_t: 'int', uint32_t: 'uint', int16_t: 'short', uint16_t: 'ushort', int8_t: 'schar' },
  ...{ uint8_t: 'uchar', off_t: 'long', $zero: 'int' },
};
const numbers = new Set(
  (
    'bool char schar uchar short ushort int uint long ulong llong ullong float double ldouble wchar_t ' +
    'char8_t char16_t char32_t'
  ).split(' '),
);
const small = new Set('bool char schar uchar short ushort wchar_t char8_t char16_t'.split(' '));
const texts = new Set(['string', 'string_view']);

/** From what is given to what is wanted. */
export function cppDistance(given: Type, wanted: Type, among: TypeRelations): Distance {
  switch (given.kind) {
    case 'inside':
      return fromInside(given, wanted, among);
    case 'language':
      return given.name === '$zero'
        ? fromNumber(given, wanted, among)
        : fromLanguage(given, wanted, among);
    case 'outside':
      return fromOutside(given, wanted, among);
  }
}

function fromInside(given: InsideType, wanted: Type, among: TypeRelations): Distance {
  if (wanted.kind === 'inside') return between(given, wanted, among);
  const isEnum = given.definition.kind === 'enum';
  if (wanted.kind === 'language') {
    if (wanted.name === '$func') return made;
    return isEnum ? never : conversionOf(given, among);
  }
  const name = wanted.name ?? '';
  if (isEnum) return numbers.has(plain(name)) ? promotion : never;
  const its = conversionOf(given, among);
  return its === never && !numbers.has(plain(name)) && !texts.has(name) ? undefined : its;
}

function between(given: InsideType, wanted: InsideType, among: TypeRelations): Distance {
  const guard = wanted.isConst === given.isConst ? 0 : wanted.isConst === true ? guarded : copied;
  const seen = new Set<Definition>();
  let isUnknown = false;
  let level: readonly (Type | undefined)[] = [given];
  for (let distance = 0; level.length > 0 && seen.size < typesMax; distance += 1) {
    const next: (Type | undefined)[] = [];
    for (const type of level) {
      isUnknown ||= type === undefined;
      if (type?.kind !== 'inside' || seen.has(type.definition)) continue;
      if (type.definition === wanted.definition)
        return haveSame(type.args, wanted.args, among) ? distance + guard : never;
      seen.add(type.definition);
      next.push(...among.basesOf(type));
    }
    level = next;
  }
  if (isUnknown) return undefined;
  return Math.min(conversionOf(given, among), construction(wanted, among) ?? made);
}

function haveSame(
  given: readonly (Type | undefined)[],
  wanted: readonly (Type | undefined)[],
  among: TypeRelations,
): boolean {
  return given.every((type, at) => {
    const other = wanted[at];
    return (
      type === undefined ||
      other === undefined ||
      (cppDistance(type, other, among) ?? 0) < promotion
    );
  });
}

/** By an operator of what is given. */
function conversionOf(type: InsideType, among: TypeRelations): number {
  return among.hasConversion(type) ? made : never;
}

/** By a constructor of what is wanted. */
function construction(wanted: InsideType, among: TypeRelations): Distance {
  if (wanted.definition.isBare === true || wanted.definition.kind === 'enum') return never;
  const all = among.functionsOf(wanted, wanted.definition.name);
  return all.some((each) => !hasMark(each, 'explicit') && takesOne(each)) ? made : never;
}

function takesOne({ types }: Definition): boolean {
  const parameters = types.filter(({ role }) => role === 'parameter');
  const needed = parameters.filter(({ name }) => name !== '=' && name !== '*');
  return parameters.length > 0 && needed.length < 2;
}

function fromLanguage(given: LanguageType, wanted: Type, among: TypeRelations): Distance {
  if (wanted.kind === 'inside') {
    const its = construction(wanted, among);
    return given.name === '$null' && its === made ? undefined : its;
  }
  if (wanted.kind === 'outside') return toOutside(given, wanted.name ?? '');
  if (given.name === '$null') return wanted.name === '$ptr' ? promotion : conversion;
  const [one, other] = [given.args[0]?.type, wanted.args[0]?.type];
  if (given.name === '$func' || wanted.name === '$func')
    return given.name === wanted.name
      ? one === undefined || other === undefined
        ? undefined
        : 0
      : never;
  if (given.name !== wanted.name) return never;
  if (given.name === '$ptr') return toPointer(one, other, among);
  const all = given.args.map(({ type }, at): Distance => {
    const its = wanted.args[at]?.type;
    return type && its && cppDistance(type, its, among);
  });
  if (all.some((each) => each !== undefined && each >= promotion)) return never;
  return all.includes(undefined) ? undefined : 0;
}

function toOutside(given: LanguageType, name: string): Distance {
  if (plain(name) === 'bool') return given.name === '$ptr' ? toNothing + conversion : never;
  if (numbers.has(plain(name))) return never;
  if (!texts.has(name)) return undefined;
  const [inner] = given.args;
  const isText = inner?.type?.kind === 'outside' && inner.type.name === 'char';
  return given.name === '$ptr' && isText ? made - 1 : never;
}

function toPointer(one: Type | undefined, other: Type | undefined, among: TypeRelations): Distance {
  if (other?.kind === 'outside' && other.name === 'void') return toNothing;
  if (one === undefined || other === undefined) return undefined;
  if (one.kind === 'inside' && other.kind === 'inside') {
    if (one.isConst === true && other.isConst !== true) return never;
    const distance = between(one, other, among);
    return distance !== undefined && distance >= made ? never : distance;
  }
  if (one.kind === 'outside' && other.kind === 'outside') {
    if (one.name === undefined || other.name === undefined) return undefined;
    if (plain(one.name) !== plain(other.name) || (one.isConst === true && other.isConst !== true))
      return never;
    return one.isConst === other.isConst ? 0 : guarded;
  }
  const distance = one.kind === other.kind ? cppDistance(one, other, among) : never;
  return distance !== undefined && distance > 0 ? never : distance;
}

function fromNumber(given: LanguageType, wanted: Type, among: TypeRelations): Distance {
  if (wanted.kind === 'language' && wanted.name === '$ptr') return conversion;
  return fromOutside({ kind: 'outside', name: given.name }, wanted, among);
}

function fromOutside(
  given: Type & { kind: 'outside' },
  wanted: Type,
  among: TypeRelations,
): Distance {
  const name = given.name === undefined ? undefined : plain(given.name);
  const isNumber = name !== undefined && numbers.has(name);
  const isKnown = isNumber || (name !== undefined && texts.has(name));
  if (wanted.kind === 'inside') {
    const its = construction(wanted, among);
    return isKnown || its === never ? its : undefined;
  }
  if (wanted.kind === 'language') return isKnown ? never : undefined;
  if (name === undefined || wanted.name === undefined) return undefined;
  return cppNames(name, plain(wanted.name));
}

function plain(name: string): string {
  return same[name] ?? name;
}

/** Between types that no file defines. */
function cppNames(given: string, wanted: string): Distance {
  if (given === wanted) return 0;
  if (numbers.has(given) && numbers.has(wanted)) {
    const isPromoted = small.has(given)
      ? wanted === 'int'
      : given === 'float' && wanted === 'double';
    return isPromoted ? promotion : conversion;
  }
  if (texts.has(given) && texts.has(wanted)) return made;
  const isApart = [given, wanted].every((each) => numbers.has(each) || texts.has(each));
  return isApart ? never : undefined;
}
