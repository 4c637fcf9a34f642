import { typesIn, type Definition } from './definition.js';
import type { Step, TypeText } from '../../format/expression.js';
import type { SourceText } from './source-text.js';

/** A type of the program, of the language (`$list`), or of a library. */
export type Type = InsideType | LanguageType | Outside;

export interface InsideType {
  kind: 'inside';
  definition: Definition;
  args: readonly (Type | undefined)[];
  /** It must not be changed. */
  isConst?: boolean;
  /** One of several of its name that the text may mean. */
  isDoubtful?: boolean;
  /** Of a namespace: the text that looks into it. */
  from?: SourceText | undefined;
}

export interface LanguageType {
  kind: 'language';
  name: string;
  args: readonly { label: string; type: Type | undefined }[];
  /** What a variable of this type is, where that is no value of a type: a function, a type, a module. */
  held?: Value;
  /** What a text calls it. */
  written?: string;
  /** See `InsideType`. */
  isConst?: boolean;
}

/** `isLibrary`: not of the language itself. */
export interface Outside {
  kind: 'outside';
  isLibrary?: boolean;
  /** Of the type, where it is a value of one. */
  name?: string;
  /** With its package, where that is known: libraries have types of the same name. */
  path?: string | undefined;
  args?: readonly (Type | undefined)[];
  /** Nothing of the program can be in it. */
  isClosed?: boolean;
  /** See `InsideType`. */
  isConst?: boolean;
}

/** The type of what comes of what is given. */
export type Giving = (given: readonly (Type | undefined)[]) => Type | undefined;

/** What an expression stands for; undefined: not known. */
export type Value =
  /** `constructors`: of those that may run when it is made. */
  | { kind: 'value'; type: Type; constructors?: FunctionValue | undefined }
  /** `isOpen`: or one that is based on it. */
  | { kind: 'type'; type: Type; isOpen?: boolean }
  | FunctionValue
  | { kind: 'scope'; scopes: readonly string[] }
  | OutsideValue;

/** `self`: the type whose method it is; `receiver`: the one of which it was asked, which may be based on that. */
export interface FunctionValue extends Owner {
  kind: 'function';
  definitions: readonly Definition[];
  /** It was asked of a type that is named, and nothing runs in its place. */
  isFixed?: boolean;
  given?: Arguments;
  /** One of them is meant, and nothing tells which. */
  isUnsure?: boolean;
  /** Any of them may be meant: an expression names it. */
  isAnyOf?: boolean;
}

/** `of`: the member of a type of the language that it is. */
export interface OutsideValue extends Outside {
  of?: { type: Type; name: string };
  /** What a call of it gives. */
  gives?: Giving;
  given?: Arguments;
}

/** See `FunctionValue`. */
export interface Owner {
  self?: Type | undefined;
  receiver?: Type | undefined;
}

/** The arguments of a call; nothing is known of some. */
export interface Arguments {
  /** Undefined: any number. */
  count: number | undefined;
  /** The text that gives them. */
  by: SourceText | undefined;
  types(): readonly (Type | undefined)[];
  /** Of each whether it stays where it is, or passes with the call; undefined: not known. */
  stays?(): readonly (boolean | undefined)[];
  /** What type parameters stand for, where that is written. */
  written?: (() => readonly (Type | undefined)[]) | undefined;
  /** The text that calls. */
  from?: SourceText | undefined;
  /** Of a sign: the first one stands before it. */
  areOperands?: boolean;
}

/** Where a type or an expression is written. */
export interface Context {
  file: SourceText;
  /** Whose type parameters are visible. */
  owner: Definition | undefined;
  /** Where a type says what it is based on, its own members are not visible. */
  isHeader?: boolean;
  /** What type parameters stand for. */
  bindings: ReadonlyMap<string, Type | undefined>;
}

/** A name may mean both. `definition`: what defines it, given like a function. */
export type Wanted = 'value' | 'type' | 'definition';

/** What names, members and steps ask of the evaluator that they are parts of. */
export interface Evaluation {
  evaluate(text: string, context: Context): Value | undefined;
  /** One step of an expression. */
  step(value: Value, step: Step): Value | undefined;
  /** The steps of an expression, from a value on. */
  followed(start: Value | undefined, steps: readonly Step[]): Value | undefined;
  member(type: Type, name: string, given: Arguments | undefined): Value | undefined;
  /** Of the functions of a name in several types, the one that takes these arguments. `isDoubtful`: others may, too. */
  among(
    types: readonly InsideType[],
    name: string,
    given: Arguments,
    isDoubtful: boolean,
  ): Value | undefined;
  /** What defines a member, given like a function. */
  definitionsOf(type: InsideType, name: string): Value | undefined;
  /** A type that stands in another one, or in what that is based on. */
  innerType(type: InsideType, name: string): Value | undefined;
  resolve(text: TypeText | undefined, context: Context): Type | undefined;
  /** A name of a language with namespaces. */
  visible(name: string, context: Context, wanted: Wanted, given?: Arguments): Value | undefined;
  /** Undefined where it is nested too deep: variables, aliases and bases may form circles. */
  bounded<T>(work: () => T): T | undefined;
}

export const outside: Outside = { kind: 'outside' };
/** Of a library, which may do more than the language says. */
export const foreign: Outside = { kind: 'outside', isLibrary: true };
export const unbound: ReadonlyMap<string, Type | undefined> = new Map();
/** The member that stands for what a type is based on. */
export const superName = '$super';
/** The namespace that holds everything. */
export const rootName = '$root';
/** The type whose method it is. */
export const ownName = '$this';

/** Inside a method of a type. */
export function inside(definition: Definition, { self, receiver }: Owner): Context {
  const bindings =
    self?.kind === 'inside'
      ? new Map(bindingsOf(self, definition)).set(ownName, receiver ?? self)
      : unbound;
  return { file: definition.file, owner: definition, bindings };
}

/** Inside the definition of a type, where its parameters stand for its arguments. */
export function within(type: InsideType): Context {
  const { definition } = type;
  return {
    file: definition.file,
    owner: definition,
    bindings: bindingsOf(type, definition),
  };
}

/** A method may call the parameters of its type by other names. */
function bindingsOf(
  { args, definition }: InsideType,
  named: Definition,
): ReadonlyMap<string, Type | undefined> {
  if (args.length === 0) return unbound;
  const own = typesIn(named, 'bound');
  const names = own.length > 0 ? own : typesIn(definition, 'bound');
  // What is not known satisfies at least what the parameter says.
  return new Map(
    names.slice(0, args.length).flatMap(({ name }, at) => {
      const its = args[at];
      return its === undefined ? [] : [[name, its]];
    }),
  );
}

/** `known`: the name of a type of the language, or one with its arguments, each by its place among those that are written. */
export function languageType(known: string, written: string, args: LanguageType['args']): Type {
  const [name = '', list] = known.split('<');
  if (list === undefined) return { kind: 'language', name, args, written };
  const placed = list
    .slice(0, -1)
    .split(',')
    .map((each) => {
      const [at = '', label = ''] = each.split(':').toReversed();
      return { label, type: args[Number(at)]?.type };
    });
  return { kind: 'language', name, args: placed, written };
}

/** Nothing of the program can be in it. */
export function isOfLibrary(type: Type | undefined): boolean {
  if (type?.kind !== 'language') return type?.kind === 'outside' && type.isClosed === true;
  return type.name !== '$func' && type.args.every((each) => isOfLibrary(each.type));
}

export function valueOf(type: Type | undefined): Value | undefined {
  if (type === undefined) return undefined;
  if (type.kind === 'language' && type.held !== undefined) return type.held;
  return type.kind === 'outside' ? type : { kind: 'value', type };
}

export function isFunction({ kind }: Definition): boolean {
  return kind === 'function' || kind === 'method';
}

/** The same, but that it must not be changed: with it what it holds. */
export function asConst(type: Type | undefined): Type | undefined {
  if (type?.kind === 'inside' || type?.kind === 'outside') return { ...type, isConst: true };
  if (type?.kind !== 'language') return type;
  if (!/^\$(?:seq|map|pair|iterator)$/.test(type.name)) return { ...type, isConst: true };
  return {
    ...{ ...type, isConst: true },
    args: type.args.map(({ label, type: its }) => ({ label, type: asConst(its) })),
  };
}

/** The same as a value of its own, which may be changed. */
export function asCopy(type: Type | undefined): Type | undefined {
  if (type?.kind === 'outside' && type.name === undefined) return { ...type, isConst: false };
  if (type?.isConst !== true) return type;
  const { isConst: _, ...free } = type;
  return free;
}

export function isNamespace({ kind }: Definition): boolean {
  return kind === 'module';
}

export function isType(definition: Definition): boolean {
  return !isFunction(definition) && !isVariable(definition);
}

/** It exists when the program runs. */
export function isValue({ kind }: Definition): boolean {
  return kind !== 'interface' && kind !== 'type';
}

export function isVariable({ kind }: Definition): boolean {
  return kind === 'variable' || kind === 'constant';
}

export function isAbstract({ definitions }: FunctionValue): boolean {
  return definitions.every((each) => each.isAbstract);
}

/** With its package, where a text or its imports say that. */
export function beyondOf(name: string, { file }: Context): string | undefined {
  const [first = '', ...rest] = name.split('.');
  const imported = file.imports.get(first)?.beyond;
  if (imported !== undefined) return [imported, ...rest].join('.');
  // Packages begin with a small letter, types do not.
  return /^[a-z]/.test(first) && rest.length > 0 ? name : undefined;
}

/** A type that the program does not define. */
export function outsideType(
  name: string,
  args: LanguageType['args'],
  path: string | undefined,
): Type {
  const types = args.map(({ type }) => type);
  const isClosed = types.every(isOfLibrary);
  return { kind: 'outside', isLibrary: true, name, path, args: types, isClosed };
}

/** Of a function that has members: itself. */
export function typeWithMembers(value: Value): InsideType | undefined {
  if (value.kind === 'function') {
    const [definition] = value.definitions;
    return definition && { kind: 'inside', definition, args: [] };
  }
  return value.kind !== 'scope' && value.kind !== 'outside' && value.type.kind === 'inside'
    ? value.type
    : undefined;
}
