import type { Function as FunctionNode } from 'unbash';
import { attentionLimits } from '../shapes.js';
import type { Word } from './shell.js';

/** What a variable may hold; more is not told apart. */
const valuesMax = 8;

/** The number of what the same text has started has a name that nobody knows: this one stands for it. */
export const startedHere = '\u0001started-here';

/** What a shell knows at a place of its text: variables, functions, aliases, arguments, folder. */
export class ShellScope {
  /** Undefined: set, but to what is not known. */
  readonly variables: Map<string, string[] | undefined>;
  readonly arrays: Map<string, Word[]>;
  readonly functions: Map<string, FunctionNode>;
  readonly aliases: Map<string, string>;
  /** Undefined: not known. */
  positionals: Word[] | undefined;
  /** `$0`. */
  name: string;
  /** Below the root, or from `/` or `~`; undefined: not known. */
  cwd: string | undefined;
  /** How many branches it is in: what is set there holds perhaps. */
  branches = 0;

  constructor(parts: { cwd: string | undefined; name?: string; positionals?: Word[] }) {
    this.variables = new Map();
    this.arrays = new Map();
    this.functions = new Map();
    this.aliases = new Map();
    this.cwd = parts.cwd;
    this.name = parts.name ?? '';
    this.positionals = parts.positionals;
  }

  /** A subshell: it knows all, and what it sets is lost. */
  fork(): ShellScope {
    const copy = new ShellScope({ cwd: this.cwd, name: this.name });
    copy.positionals = this.positionals;
    copy.branches = this.branches;
    for (const [key, value] of this.variables) copy.variables.set(key, value);
    for (const [key, value] of this.arrays) copy.arrays.set(key, value);
    for (const [key, value] of this.functions) copy.functions.set(key, value);
    for (const [key, value] of this.aliases) copy.aliases.set(key, value);
    return copy;
  }

  /** A function of it, called: what that sets is kept by `returned`. */
  called(positionals: Word[]): ShellScope {
    const inner = this.fork();
    inner.positionals = positionals;
    return inner;
  }

  returned(inner: ShellScope): void {
    for (const [key, value] of inner.variables) this.variables.set(key, value);
    for (const [key, value] of inner.arrays) this.arrays.set(key, value);
    for (const [key, value] of inner.functions) this.functions.set(key, value);
    this.cwd = inner.cwd;
  }

  /** False: it sets more names than are remembered. */
  define(name: string, body: FunctionNode): boolean {
    if (this.functions.size >= attentionLimits.names && !this.functions.has(name)) return false;
    this.functions.set(name, body);
    return true;
  }

  /** Beyond the limit of names a value is one that is not known. */
  assign(name: string, values: string[] | undefined): void {
    if (this.variables.size >= attentionLimits.names && !this.variables.has(name)) return;
    const before = this.variables.get(name);
    const isKnown = this.variables.has(name);
    const all = this.branches > 0 && isKnown && before && values ? [...before, ...values] : values;
    const distinct = all === undefined ? undefined : [...new Set(all)];
    const isTooMany = distinct !== undefined && distinct.length > valuesMax;
    this.variables.set(name, isTooMany ? undefined : distinct);
    this.arrays.delete(name);
  }

  assignWord(name: string, word: Word, array?: Word[]): void {
    this.assign(name, word.isStatic ? [word.text] : undefined);
    if (array !== undefined && (this.arrays.size < attentionLimits.names || this.arrays.has(name)))
      this.arrays.set(name, array);
  }

  /** Undefined: not known, or inherited. */
  valuesOf(name: string): string[] | undefined {
    if (name === '!') return [startedHere];
    const known = this.variables.get(name);
    if (known !== undefined || this.variables.has(name)) return known;
    if (name === 'HOME') return ['~'];
    if (name === 'PWD') return this.cwd === undefined ? undefined : [this.cwd || '.'];
    if (name === 'IFS') return [' '];
    return undefined;
  }
}
