import type { FactsLanguage, TypeFact } from '../../format/facts.js';
import type { SourceText } from './source-text.js';
import type { Definition } from './definition.js';
import type { Giving, InsideType, Type } from './values.js';
import type { ImportRow, TypeRow } from '../../format/shard-index.js';

/** What a file that describes modules says of them. */
export interface Manifest {
  path: string;
  types: readonly TypeFact[];
}

/** How names are looked up in one language; everything else is the same for all. */
export interface LanguageRules {
  languages: readonly FactsLanguage[];
  /** Languages whose definitions may be meant, but of which nothing is bound here. */
  others?: readonly FactsLanguage[];
  /**
   * Namespaces stand in texts: what is in one is found like a member of a type. A function may be declared in one text and
   * defined in another one.
   */
  namespaces?: boolean;
  /** The scopes of all files of the program, and what an import in one of them means. */
  placesOf(files: readonly { path: string; types: readonly TypeRow[] }[]): Places;
  /** Names of the language itself, which no file defines. */
  builtins: ReadonlySet<string>;
  /** A type fits an interface by its methods; else only what it says that it is based on. */
  isStructural: boolean;
  /** Names of the methods that run when a type is constructed. */
  constructors: readonly string[];
  /** A function that has members is a type as well. */
  functionsAreTypes?: boolean;
  /** The name of what a whole scope is where it is used as a value. */
  whole?: string;
  /** By which a text means its own scope as others see it: what they alone know is `name#itself`. */
  itself?: string;
  /**
   * Types are known in part only: all that is assigned or returned counts, not the first that is known; what is based
   * on something unknown may have any member.
   */
  isDynamic?: boolean;
  /** A type is called to construct a value of it, and a method that is asked of a type by its name is that one. */
  typesAreCalled?: boolean;
  /** The steps that stand for what is done with a value of a type of the program. */
  operators?: Readonly<Partial<Record<Operator, readonly string[]>>>;
  /** A type that has one of these methods may have any member. */
  anyMember?: readonly string[];
  /** What a library gives may be what it was given: nothing is known of it. */
  librariesGiveBack?: boolean;
  /** Members of the runtime that give what they are given, or what that gives. */
  handingOn?: ReadonlySet<string>;
  /** A name that nothing in the program defines is one of what it runs in. */
  isClosed?: boolean;
  /** What the members of the language's own types give, as steps from a value of the type. */
  members?: Readonly<Record<string, LanguageMembers>>;
  standard?: Library;
  /** By name: types that are made of others. */
  composed?: Readonly<Record<string, Giving>>;
  /** Several functions of a name are told apart by their arguments; a function and a value may have the same name. */
  overloads?: Overloads;
  /** Constructors are called like their type, and not inherited. */
  constructorsAreTypes?: boolean;
  /** What a function defines inside itself is seen in it, and what it defines has members by its name alone. */
  localItems?: boolean;
  /** Whether a name that nothing defines, with a member of it, is that of a package. */
  isPackage?(name: string): boolean;
}

/**
 * A value of a type of the program is called, indexed, gone through; `read`: it is read as a member of another one;
 * `behind`: what has the members that it has not itself.
 */
export type Operator = 'call' | 'element' | 'each' | 'read' | 'behind';

/** What everybody knows of types that no file of the program defines. */
export interface Library {
  /** By name: the type of the language that it is like; `=`: a method of its first type argument is one of it. */
  types: ReadonlyMap<string, string>;
  /** Methods that each type may have, and that give the same type. */
  same: ReadonlySet<string>;
  /** Whether it has a type of this name. `path`: with its package, where that is known. */
  isKnown?(name: string, path?: string): boolean;
  /** What a method of one of its types gives; undefined: that depends, or is not known. */
  gives?(type: string, method: string, path?: string): Giving | undefined;
  /** Macros that open a method of a class that is based on what they are given first. */
  fixtures?: ReadonlySet<string>;
}

export interface Overloads {
  /** The type that every other one is based on, and what its methods give. */
  everything: string;
  everyMember: ReadonlyMap<string, Giving>;
  /** How far types that no file defines are apart; infinite: the one is never given as the other. */
  distance(given: string, wanted: string): number | undefined;
  /** No type is based on it. */
  isFinal(name: string): boolean;
  /** Takes the place of all that is said of types otherwise: how far what is given is from what is wanted. */
  between?(given: Type, wanted: Type, among: TypeRelations): number | undefined;
  /** How far a parameter is from a value of its own type by what may be done with the value; undefined: not known. */
  reference?(parameter: ReferenceTo, given: Taken): number | undefined;
  /** From this distance on, a constructor or an operator makes what is wanted of what is given. */
  made?: number;
  /** Every value of it is something. */
  isPlain(name: string): boolean;
  /** From this distance on, a plain value is made an object, or an object a plain value: only where nothing else fits. */
  boxing?: number;
  /** Of an interface that a function may be given as. */
  shapeOf(name: string): Shape | undefined;
}

/** `mark`: see the miner; `isOpen`: a type parameter, which becomes what is given. */
export interface ReferenceTo {
  mark: string;
  isConst: boolean;
  isOpen: boolean;
}

/** An argument: whether it stays where it is, and whether it must not be changed. Undefined: not known. */
export interface Taken {
  stays: boolean | undefined;
  isConst: boolean | undefined;
}

/** What is known of types of the program. */
export interface TypeRelations {
  basesOf(type: InsideType): readonly (Type | undefined)[];
  /** Its own functions of a name. */
  functionsOf(type: InsideType, name: string): readonly Definition[];
  /** It says itself what it can be given as. */
  hasConversion(type: InsideType): boolean;
}

/** How many a function takes, and whether it gives something. */
export interface Shape {
  takes: number;
  gives: boolean;
}

export interface LanguageMembers {
  /** By the name of the member: what a call of it comes to, or `unknown`. */
  results: Readonly<Record<string, string>>;
  /** The same, where it is a type that holds what the type holds. */
  made?: Readonly<Record<string, (args: readonly (Type | undefined)[]) => Type>>;
  /** Types in it, by what it holds. */
  types?: Readonly<Record<string, (args: readonly (Type | undefined)[]) => Type | undefined>>;
  /** Members that are no functions. */
  values?: Readonly<Record<string, (args: readonly (Type | undefined)[]) => Type | undefined>>;
  /** By the name of the member: the parameters of the function that it takes. Empty: any other one. */
  parameters: Readonly<Record<string, readonly string[]>>;
}

export interface Places {
  /** In the order of the files. */
  scopes: string[];
  /** Has the paths of all files that one sees. */
  sees?(path: string): { has(path: string): boolean };
  /** A scope that is a name of another one; undefined: there is none. */
  inner?(scope: string, name: string): string | undefined;
  imported(
    path: string,
    imports: readonly ImportRow[],
    types: readonly TypeRow[],
  ): Pick<SourceText, 'imports' | 'exports' | 'wildcards' | 'isOpen'>;
}
