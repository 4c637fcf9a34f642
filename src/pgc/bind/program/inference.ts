import type { TypeText } from '../../format/expression.js';
import { typesIn, type Definition } from './definition.js';
import type { Arguments } from './values.js';
import type { InsideType, Type } from './values.js';

const typesMax = 32;
export type Bindings = Map<string, Type | undefined>;

/** What the type parameters of a function stand for, by what it is given. `known`: of those of its type. */
export function inferred(
  definition: Definition,
  given: Arguments | undefined,
  known: Bindings,
  basesOf: (type: InsideType) => readonly (Type | undefined)[],
): Bindings {
  const open = new Set(
    typesIn(definition, 'bound').flatMap(({ name }) => (known.has(name) ? [] : [name])),
  );
  if (open.size === 0 || given === undefined) return known;
  const found: Bindings = new Map(known);
  const parameters = typesIn(definition, 'parameter');
  if (!parameters.some(({ text }) => [...open].some((name) => text.includes(name)))) return known;
  for (const [at, type] of given.types().entries()) {
    const written = parameters[Math.min(at, parameters.length - 1)];
    const isRest = written?.name === '*' && !(type?.kind === 'language' && type.name === '$array');
    match(isRest ? written.type?.args[0]?.type : written?.type, type);
  }
  return found;

  function match(text: TypeText | undefined, type: Type | undefined): void {
    if (text === undefined || type === undefined || isNothing(type)) return;
    if (text.args.length === 0) {
      const isOpen = open.has(text.name) && found.get(text.name) === undefined;
      if (isOpen && !isFunctionType(type)) found.set(text.name, type);
      return;
    }
    const name = text.name.slice(text.name.lastIndexOf('.') + 1);
    const args = argumentsOf(type.kind === 'inside' ? basedOn(type, name) : type);
    if (args.length === text.args.length)
      for (const [at, each] of text.args.entries()) match(each.type, args[at]);
  }

  function basedOn(type: InsideType, name: string): Type | undefined {
    const level: Type[] = [type];
    for (const each of level) {
      if (each.kind === 'inside' && each.definition.name === name) return each;
      if (each.kind === 'outside' && each.name === name) return each;
      if (each.kind === 'language' && each.written === name) return each;
      if (each.kind === 'inside' && level.length < typesMax)
        level.push(...basesOf(each).filter((base) => base !== undefined));
    }
    return undefined;
  }
}

/** `null` says nothing. */
function isNothing(type: Type): boolean {
  return type.kind === 'language' && type.name === '$null';
}

/** A function that is written out or named, or a value of a library's interface for one. */
export function isFunctionType(type: Type | undefined): boolean {
  return type?.kind === 'language' && type.name === '$func';
}

function argumentsOf(type: Type | undefined): readonly (Type | undefined)[] {
  if (type?.kind === 'language') return type.args.map((each) => each.type);
  return type?.args ?? [];
}
