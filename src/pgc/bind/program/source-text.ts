import type { TypeRow } from '../../format/shard-index.js';

/** A file as names are looked up in it. */
export interface SourceText {
  shard: number;
  file: number;
  path: string;
  /** Of its own top-level names: a package, a module. */
  scope: string;
  /** By local name. */
  imports: ReadonlyMap<string, Imported>;
  /** Names that it passes on otherwise than it calls them itself. */
  exports?: ReadonlyMap<string, Imported>;
  /** Scopes of which every name is visible, or passed on to those who import this one. */
  wildcards: readonly string[];
  /** What the text says about types of others. */
  types: readonly TypeRow[];
  /** One of the wildcards leaves the program: a name that is not found may be there. */
  isOpen: boolean;
  /** Of another language: it is known what it defines, and nothing of it is bound. */
  isBare: boolean;
}

/** What a local name stands for. */
export interface Imported {
  /** Where it may be; none: it leaves the program. */
  scopes: readonly string[];
  /** What it is called there; empty: the whole scope is meant. */
  name: string;
  /** It leaves the program for the standard library of the language. */
  isStandard?: boolean;
  /** Where it leaves the program to, with its name. */
  beyond?: string;
  /** Functions of other scopes that have the same local name. */
  others?: readonly Imported[];
}
