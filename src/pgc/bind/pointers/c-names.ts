import type { ShardIndex } from '../../format/shard-index.js';
import { visibleDefinitions, type Candidate } from '../visibility.js';
import { isC, push, type CProgram, type Place } from './c-program.js';

interface Named extends Candidate {
  /** Shard and symbol. */
  number: number;
}

const kinds = new Set(['function', 'variable', 'constant', 'macro']);
/** Answers, and symbols of names, that are kept at a time: questions come file by file. */
const visibleMax = 100_000;
const candidatesMax = 200_000;
/** Symbols in one shard, for one number of both. */
const symbolsMax = 2 ** 32;

/** Functions and variables of all shards, by the rule that binds plain calls. */
export class CNames {
  /** Of each name its symbols, with their shards in one number. */
  readonly #named = new Map<string, number[]>();
  readonly #macros = new Set<string>();
  readonly #candidates = new Map<string, readonly Named[]>();
  #candidateCount = 0;
  readonly #places = new Map<number, Place>();
  readonly #visible = new Map<string, readonly Place[]>();

  /** `wanted`: no other name is asked for. */
  constructor(
    readonly program: CProgram,
    wanted: ReadonlySet<string>,
  ) {
    for (const [shard, index] of program.shards.entries())
      for (const [name, symbols] of index.symbolsByName())
        if (wanted.has(name)) this.#add(shard, index, name, symbols);
  }

  #add(shard: number, index: ShardIndex, name: string, symbols: readonly number[]): void {
    for (const symbol of symbols) {
      const { kind, container, file } = index.symbolPlace(symbol);
      if (!kinds.has(kind) || container !== '' || !isC(index, file)) continue;
      push(this.#named, name, shard * symbolsMax + symbol);
      if (kind === 'macro') this.#macros.add(name);
    }
  }

  /** Whether a macro has this name. */
  isMacro(name: string): boolean {
    return this.#macros.has(name);
  }

  /** What a file means by a name. */
  visible(name: string, path: string): readonly Place[] {
    const all = this.#named.get(name);
    if (all === undefined) return [];
    const key = `${name} ${path}`;
    let found = this.#visible.get(key);
    if (found === undefined) {
      const lookup = { name, container: '', line: 0, path: '' };
      const { includes: graph } = this.program;
      const includes = graph.targetsOf(path);
      const sees = (header: string): boolean => graph.seenFrom(path).has(header);
      const use = { path, lookup, includes, sees };
      const seen = visibleDefinitions(use, this.#candidatesOf(name, all));
      found = seen.map((each) => this.#placeOf(each));
      if (this.#visible.size >= visibleMax) this.#visible.clear();
      this.#visible.set(key, found);
    }
    return found;
  }

  #candidatesOf(name: string, all: readonly number[]): readonly Named[] {
    const known = this.#candidates.get(name);
    if (known !== undefined) return known;
    if (this.#candidateCount >= candidatesMax) {
      this.#candidates.clear();
      this.#candidateCount = 0;
    }
    const found = all.map((number): Named => {
      const index = this.program.shards[Math.floor(number / symbolsMax)] as ShardIndex;
      const row = index.symbolPlace(number % symbolsMax);
      return {
        ...{ number, symbol: name, kind: row.kind, container: '', line: row.line_start },
        file_path: index.file(row.file).path,
        ...{ exported: row.exported, declaration: row.declaration },
      };
    });
    this.#candidates.set(name, found);
    this.#candidateCount += found.length;
    return found;
  }

  /** The same object each time. */
  #placeOf({ number, symbol: name, kind, file_path: path }: Named): Place {
    let place = this.#places.get(number);
    if (place === undefined) {
      const shard = Math.floor(number / symbolsMax);
      const symbol = number % symbolsMax;
      place = { shard, symbol, name, kind, container: '', file: { path } };
      this.#places.set(number, place);
    }
    return place;
  }
}
