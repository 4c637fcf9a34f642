import { outside, foreign, valueOf, type Type, type Value } from './values.js';

/** More of them say nothing. */
const alternativesMax = 12;

/** The values that one may be; undefined among them: something that is not known. */
export function alternativesOf(value: Value | undefined): (Value | undefined)[] {
  if (value?.kind !== 'value' || value.type.kind !== 'language' || value.type.name !== '$union')
    return [value];
  return value.type.args.flatMap(({ type }) => alternativesOf(valueOf(type)));
}

/** What is one of several. */
export function joined(values: readonly (Value | undefined)[]): Value | undefined {
  const all = unique(values.flatMap(alternativesOf));
  if (all.length < 2 || all.length > alternativesMax) return all.length < 2 ? all[0] : undefined;
  const isElsewhere = all.every((each) => each === undefined || each.kind === 'outside');
  if (isElsewhere)
    return all.includes(undefined) ? undefined : all.find(isLibrary) ? foreign : outside;
  const args = all.map((each) => ({ label: '', type: each && typeOf(each) }));
  return { kind: 'value', type: { kind: 'language', name: '$union', args } };
}

function isLibrary(value: Value | undefined): boolean {
  return value?.kind === 'outside' && value.isLibrary === true;
}

/** A function, a type and a module are held by a type of their own. */
export function typeOf(value: Value): Type {
  if (value.kind === 'value') return value.type;
  if (value.kind === 'outside')
    return value.name !== undefined ? value : value.isLibrary === true ? foreign : outside;
  return { kind: 'language', name: '$held', args: [], held: value };
}

function unique(values: readonly (Value | undefined)[]): (Value | undefined)[] {
  const found: (Value | undefined)[] = [];
  for (const each of values) if (!found.some((other) => isSame(other, each))) found.push(each);
  return found;
}

function isSame(one: Value | undefined, other: Value | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  if (one.kind === 'function' && other.kind === 'function')
    return one.definitions[0] === other.definitions[0] && one.receiver === other.receiver;
  if (one.kind === 'outside') return other.kind === 'outside';
  if (one.kind === 'value') return other.kind === 'value' && isSameType(one.type, other.type);
  return one.kind === 'type' && other.kind === 'type' && isSameType(one.type, other.type);
}

function isSameType(one: Type, other: Type): boolean {
  if (one === other || (one.kind === 'outside' && other.kind === 'outside')) return true;
  if (one.kind === 'inside')
    return (
      other.kind === 'inside' &&
      one.definition === other.definition &&
      one.args.length + other.args.length === 0
    );
  if (one.kind !== 'language' || other.kind !== 'language' || one.name !== other.name) return false;
  return one.held === undefined
    ? one.args.length + other.args.length === 0
    : isSame(one.held, other.held);
}
