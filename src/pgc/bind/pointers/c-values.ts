import {
  parseExpression,
  parseType,
  type Expression,
  type TypeText,
} from '../../format/expression.js';
import { nameHash } from '../../format/name-hash.js';
import { mayBeVisible } from '../c-visibility.js';
import { nearness } from '../visibility.js';
import type { CNames } from './c-names.js';
import { push, type CProgram, type Place, type Structure } from './c-program.js';

/** Types followed on the way to a structure: they may form circles. */
const depthMax = 16;
const expressionsMax = 50_000;
/** Structures of several definitions, by the files that mean them. */
const nearestMax = 100_000;

/** What a type is: a structure, a pointer to a function, a list of either. Undefined: nothing that has members. */
export type CType =
  | { kind: 'structure'; structure: Structure; prefix: string }
  | { kind: 'function'; result: TypeText | undefined; path: string }
  | { kind: 'list'; of: CType | undefined };

/** What may hold a function: a member, a variable, a parameter. */
export interface Holder {
  key: string;
  place: Place;
  /** As `tailOf` of expressions that stand for it. */
  tail: number;
}

/** What an expression stands for. */
export interface CValue {
  type: CType | undefined;
  /** Where it is kept. */
  holders: readonly Holder[];
  /** Functions that are named. */
  functions: readonly Place[];
}

/** Says what expressions of C stand for. */
export class CValues {
  readonly #parsed = new Map<string, Expression>();
  /** Of parameters of macros; null: several. */
  readonly #macroTypes = new Map<string, CType | null>();
  readonly #types = new Map<Place, string>();
  readonly #parameters = new Map<Place, (Holder | undefined)[]>();
  readonly #members = new Map<Structure, Map<string, Holder>>();
  #names = 0;
  readonly #nearest = new Map<string, Structure | undefined>();

  constructor(
    readonly program: CProgram,
    readonly names: CNames,
  ) {}

  /** `path`: where it is written. */
  evaluate(text: string, path: string): CValue | undefined {
    const { root, steps } = this.parsed(text);
    if (root === undefined) return undefined;
    let value =
      typeof root === 'string' ? this.#named(root, path) : typed(this.#type(root, path, 0));
    for (const step of steps) {
      if (value === undefined) return undefined;
      if (step.kind === 'member') value = this.#member(value, step.name);
      else if (step.kind === 'call') value = typed(this.#result(value));
      else if (step.kind === 'parameter') value = this.#parameter(value, step.at);
    }
    return value;
  }

  parsed(text: string): Expression {
    let expression = this.#parsed.get(text);
    if (expression === undefined) {
      if (this.#parsed.size >= expressionsMax) this.#parsed.clear();
      this.#parsed.set(text, (expression = parseExpression(text)));
    }
    return expression;
  }

  /** A variable or a function, as the file sees it. */
  #named(name: string, path: string): CValue | undefined {
    const places = this.names.visible(name, path);
    for (const place of places) {
      const other = place.kind === 'macro' ? this.#typeOf(place) : '';
      if (other.startsWith('=')) return this.#otherName(other.slice(1), place.file.path);
    }
    const functions = places.filter(({ kind }) => kind === 'function' || kind === 'macro');
    if (functions.length > 0) return { type: undefined, holders: [], functions };
    const variables = places.filter(({ kind }) => kind === 'variable' || kind === 'constant');
    const [first] = variables;
    if (first === undefined) return undefined;
    const written = this.#typeOf(first);
    const { root } = this.parsed(written);
    return {
      type: typeof root === 'object' ? this.#type(root, first.file.path, 0) : undefined,
      holders: variables.map((place) => ({
        ...{ key: `v${place.shard} ${place.symbol}`, place, tail: nameHash(name) },
      })),
      functions: [],
    };
  }

  /** Macros may be names of each other. */
  #otherName(text: string, path: string): CValue | undefined {
    if (this.#names >= depthMax) return undefined;
    this.#names += 1;
    try {
      return this.evaluate(text, path);
    } finally {
      this.#names -= 1;
    }
  }

  #typeOf(place: Place): string {
    let type = this.#types.get(place);
    if (type === undefined) this.#types.set(place, (type = this.program.typeOf(place)));
    return type;
  }

  #member({ type }: CValue, name: string): CValue | undefined {
    if (type?.kind === 'list') {
      const element = typed(type.of);
      return /^\d/.test(name) ? element : element && this.#member(element, name);
    }
    // The only element of something that is no list.
    if (type?.kind === 'function' && name === '0') return typed(type);
    if (type?.kind !== 'structure') return undefined;
    const { structure, prefix } = type;
    const written = prefix + name;
    const full = /^\d/.test(name)
      ? structure.positions.has(written)
        ? `${prefix}${structure.positions.get(written)}`
        : undefined
      : written;
    return full === undefined ? undefined : this.#memberOf(structure, full);
  }

  #memberOf(structure: Structure, full: string, depth = 0): CValue | undefined {
    const method = structure.methods.get(full);
    if (method !== undefined) {
      const { result, file } = method;
      const its: CType = { kind: 'function', result: parseType(result), path: file.path };
      return { type: its, holders: [this.#memberHolder(structure, full, method)], functions: [] };
    }
    const field = structure.fields.get(full);
    if (field !== undefined) {
      const type = this.#type(parseType(field), structure.path, 0);
      return { type, holders: [this.#memberHolder(structure, full)], functions: [] };
    }
    const prefix = `${full}.`;
    if (structure.prefixes.has(prefix)) return typed({ kind: 'structure', structure, prefix });
    if (depth >= depthMax) return undefined;
    for (const macro of structure.macros) {
      // Under each condition the macro may stand for other members.
      const all = this.program.structuresNamed(macro);
      for (const members of equallyNear(all, structure.path, this.program)) {
        const found = this.#memberOf(members, full, depth + 1);
        // It belongs to the structure, not to what the macro is called.
        if (found !== undefined)
          return { ...found, holders: [this.#memberHolder(structure, full)] };
      }
    }
    return undefined;
  }

  /** The same object each time. */
  #memberHolder(structure: Structure, full: string, method?: Place): Holder {
    let its = this.#members.get(structure);
    if (its === undefined) this.#members.set(structure, (its = new Map<string, Holder>()));
    let found = its.get(full);
    if (found === undefined) its.set(full, (found = memberHolder(structure, full, method)));
    return found;
  }

  #result({ type, functions, holders }: CValue): CType | undefined {
    if (type?.kind === 'list') return this.#result({ type: type.of, functions, holders });
    if (type?.kind === 'function') return this.#type(type.result, type.path, 0);
    for (const each of functions) {
      const found = this.#given(each, [], each.file.path, 0);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** What a call gives; `names`: what it takes, as the file at `path` calls it. */
  #given(
    place: Place,
    names: readonly (TypeText | undefined)[],
    path: string,
    depth: number,
  ): CType | undefined {
    const written = parseType(this.#typeOf(place));
    const given = written && substituted(written, names);
    return this.#type(given, place.kind === 'macro' ? path : place.file.path, depth + 1);
  }

  #parameter({ functions, holders }: CValue, at: number): CValue {
    const own = functions.map((place) => this.parameterOf(place, at));
    const through = holders.map(({ key, place, tail }) => ({
      key: `${key}@${at}`,
      place: { ...place, symbol: -1, kind: 'parameter' },
      tail: nameHash(`@${at}`, tail),
    }));
    const [first] = own;
    const type = first && this.#macroTypes.get(first.key);
    return { type: type ?? undefined, holders: [...own, ...through], functions: [] };
  }

  /**
   * Notes what a macro is given for a parameter; what differs says nothing. Returns whether anything is new.
   */
  give(expression: string, source: CType | undefined, path: string): boolean {
    if (source?.kind !== 'structure') return false;
    const { root, steps } = this.parsed(expression);
    const [step] = steps;
    if (typeof root !== 'string' || step?.kind !== 'parameter' || steps.length > 1) return false;
    let isNew = false;
    for (const place of this.names.visible(root, path)) {
      if (place.kind !== 'macro') continue;
      const { key } = this.parameterOf(place, step.at);
      const known = this.#macroTypes.get(key);
      const isSame =
        known === undefined ||
        (known?.kind === 'structure' &&
          known.structure === source.structure &&
          known.prefix === source.prefix);
      if (known === null || (known !== undefined && isSame)) continue;
      this.#macroTypes.set(key, isSame ? source : null);
      isNew = true;
    }
    return isNew;
  }

  /** The same object each time. */
  parameterOf(place: Place, at: number): Holder {
    let all = this.#parameters.get(place);
    if (all === undefined) this.#parameters.set(place, (all = []));
    let found = all[at];
    if (found === undefined) {
      const { shard, symbol, file, name } = place;
      const own = this.program.parameterOf(place, at) || `${at}`;
      found = {
        key: `f${shard} ${symbol}@${at}`,
        place: { shard, symbol: -1, name: own, kind: 'parameter', container: name, file },
        tail: nameHash(`${name}@${at}`),
      };
      all[at] = found;
    }
    return found;
  }

  #type(text: TypeText | undefined, path: string, depth: number): CType | undefined {
    if (text === undefined || depth > depthMax) return undefined;
    const { name, args } = text;
    if (name === '$list') return { kind: 'list', of: this.#type(args[0]?.type, path, depth + 1) };
    if (name === '$macro') {
      const [called, ...names] = args.map((each) => each.type);
      for (const place of called === undefined ? [] : this.names.visible(called.name, path)) {
        const found = this.#given(place, names, path, depth);
        if (found !== undefined) return found;
      }
      return undefined;
    }
    if (name === '$func') return { kind: 'function', result: args[0]?.type, path };
    const structure = this.#structure(name, path);
    if (structure !== undefined) return { kind: 'structure', structure, prefix: '' };
    const alias = nearestOf(this.program.aliasesNamed(name), path, this.program);
    return alias && this.#type(parseType(alias.type), alias.path, depth + 1);
  }

  #structure(name: string, path: string): Structure | undefined {
    const all = this.program.structuresNamed(name);
    if (all.length <= 1) return all[0];
    const key = `${name} ${path}`;
    if (!this.#nearest.has(key)) {
      if (this.#nearest.size >= nearestMax) this.#nearest.clear();
      this.#nearest.set(key, merged(nearestOf(all, path, this.program), all));
    }
    return this.#nearest.get(key);
  }
}

/** `$1` is the second of the names that a macro takes. */
function substituted(
  text: TypeText,
  names: readonly (TypeText | undefined)[],
): TypeText | undefined {
  if (/^\$\d+$/.test(text.name)) return names[Number(text.name.slice(1))];
  const args = text.args.map(({ label, type }) => ({
    label,
    type: type && substituted(type, names),
  }));
  return { name: text.name, args };
}

/** The same structure under several conditions of one file has the members of all. */
function merged(nearest: Structure | undefined, all: readonly Structure[]): Structure | undefined {
  if (nearest === undefined) return undefined;
  for (const other of all) {
    if (other === nearest || other.path !== nearest.path) continue;
    for (const [name, type] of other.fields)
      if (!nearest.fields.has(name)) nearest.fields.set(name, type);
    for (const each of other.prefixes) nearest.prefixes.add(each);
  }
  return nearest;
}

/**
 * What a file means by a name that several define: its own, else what it includes in the fewest steps, else the nearest of
 * those it could see. Undefined: nothing decides.
 */
function nearestOf<Each extends { path: string }>(
  all: readonly Each[],
  from: string,
  program: CProgram,
): Each | undefined {
  return equallyNear(all, from, program)[0];
}

/** All that are as near as the nearest: which of them is meant, conditions decide. */
function equallyNear<Each extends { path: string }>(
  all: readonly Each[],
  from: string,
  { includes }: CProgram,
): readonly Each[] {
  if (all.length <= 1) return all;
  const own = all.filter(({ path }) => path === from);
  if (own.length > 0) return own;
  const seen = includes.seenFrom(from);
  const included = best(all, ({ path }) => -(seen.get(path) ?? Infinity));
  if (included.length > 0) return included;
  const visible = all.filter(({ path }) =>
    mayBeVisible(from, [], { file_path: path, kind: 'struct' }),
  );
  const near = best(visible, ({ path }) => nearness(from, path));
  return new Set(near.map(({ path }) => path)).size === 1 ? near : [];
}

/** Those of the highest score above negative infinity. */
function best<Each>(all: readonly Each[], score: (each: Each) => number): Each[] {
  const byScore = new Map<number, Each[]>();
  for (const each of all) push(byScore, score(each), each);
  byScore.delete(-Infinity);
  return byScore.get(Math.max(...byScore.keys())) ?? [];
}

function memberHolder(structure: Structure, full: string, method?: Place): Holder {
  const dot = full.lastIndexOf('.');
  const place: Place = method ?? {
    ...{ shard: -1, symbol: -1, name: full.slice(dot + 1), kind: 'method' },
    container: dot < 0 ? structure.name : `${structure.name}.${full.slice(0, dot)}`,
    file: { path: structure.path },
  };
  const key = `m${structure.path} ${structure.name}.${full}`;
  return { key, place, tail: nameHash(full.slice(dot + 1)) };
}

function typed(type: CType | undefined): CValue | undefined {
  return type && { type, holders: [], functions: [] };
}
