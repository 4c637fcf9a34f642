import { joined } from './alternatives.js';
import type { Definitions } from './definitions.js';
import {
  foreign,
  isOfLibrary,
  valueOf,
  type Arguments,
  type Giving,
  type LanguageType,
  type Type,
  type Value,
} from './values.js';

interface Parts {
  member(value: Value, name: string, given?: Arguments): Value | undefined;
  memberOf(type: Type, name: string, given?: Arguments): Value | undefined;
  /** What another name of a type stands for. */
  real(type: Type): Type | undefined;
}

/** Members of types that no file of the program defines. */
export class LibraryMembers {
  readonly #definitions: Definitions;
  readonly #parts: Parts;

  constructor(definitions: Definitions, parts: Parts) {
    this.#definitions = definitions;
    this.#parts = parts;
  }

  /** A type in one of the library; unknown where that holds something of the program. */
  typeIn(value: Value | undefined, name: string): { type: Type | undefined } | undefined {
    const type = value?.kind === 'type' ? this.#parts.real(value.type) : undefined;
    if (type?.kind !== 'language') return undefined;
    const args = type.args.map((each) => each.type);
    const found = this.#definitions.rules.members?.[type.name]?.types?.[name];
    if (found !== undefined) return { type: found(args) };
    return args.every(isOfLibrary) ? undefined : { type: undefined };
  }

  /** Of a method that each type may have. */
  ofEveryType(type: Type, name: string): Value | undefined {
    const isSame = this.#definitions.rules.standard?.same.has(name) === true;
    return isSame ? { kind: 'outside', of: { type, name } } : undefined;
  }

  member(type: LanguageType, name: string, given?: Arguments): Value | undefined {
    const field = type.args.find(({ label }) => label === name);
    if (field !== undefined) return valueOf(field.type);
    if (type.name === '$struct') return undefined;
    const read = this.#definitions.rules.members?.[type.name]?.values?.[name];
    if (read !== undefined) return valueOf(read(type.args.map((each) => each.type)));
    if (type.name === '$first') return this.#memberOfFirst(type, name);
    if (type.name !== '$union' && this.isOfAll(name, given)) return this.closed(name, given);
    if (type.name !== '$union')
      return { kind: 'outside', of: { type, name }, ...(given && { given }) };
    const each = type.args.map(({ type: its }) =>
      its?.kind === 'language' && its.held !== undefined
        ? this.#parts.member(its.held, name, given)
        : its && this.#parts.memberOf(its, name, given),
    );
    if (this.#definitions.rules.isDynamic === true) return joined(each);
    const functions = each.filter((found) => found?.kind === 'function');
    const definitions = functions.flatMap((found) => found.definitions);
    if (definitions.length > 0) return { ...functions[0], kind: 'function', definitions };
    return each.find((found) => found !== undefined);
  }

  #memberOfFirst({ args }: LanguageType, name: string): Value | undefined {
    let isOutside = false;
    for (const { type } of args) {
      const found = type && this.#parts.memberOf(type, name);
      if (found !== undefined && found.kind !== 'outside') return found;
      if (type === undefined) return undefined;
      isOutside ||= found !== undefined;
    }
    return isOutside ? foreign : undefined;
  }

  /** A method that every type has; a field of its name is another one. */
  isOfAll(name: string, given: Arguments | undefined): boolean {
    return given !== undefined && this.#definitions.rules.overloads?.everyMember.has(name) === true;
  }

  /** What a method of a type of a library gives, where that is known. */
  givenBy(type: string, method: string, path: string | undefined): Giving | undefined {
    return this.#definitions.rules.standard?.gives?.(type, method, path);
  }

  /** A member of a type of a library that holds nothing of the program. */
  closed(name: string, given: Arguments | undefined, its?: Giving): Value {
    const gives = its ?? this.#definitions.rules.overloads?.everyMember.get(name);
    return {
      ...{ ...foreign, isClosed: true },
      ...(given && { given }),
      ...(gives !== undefined && { gives }),
    };
  }
}
