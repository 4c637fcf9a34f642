import { nameHash } from '../../format/name-hash.js';
import { visibleDefinitions, type Candidate } from '../visibility.js';
import type { ShardIndex } from '../../format/shard-index.js';
import { push, type CProgram, type Place } from './c-program.js';
import { nameKinds } from './name-table.js';

interface Named extends Candidate {
  shard: number;
  number: number;
  /** Among all of its name. */
  order: number;
}

interface Own {
  shard: number;
  symbol: number;
  order: number;
}

/** What a name may mean, over all files. */
interface Meanings {
  /** Public definitions, and all declarations. */
  shared: readonly Named[];
  /** What one file defines for itself, with its order: made when that file asks, because files are many. */
  own: ReadonlyMap<string, readonly Own[]>;
}

const kinds = new Set(['function', 'variable', 'constant', 'macro']);
/** Answers, and symbols of names, that are kept at a time: questions come file by file. */
const visibleMax = 100_000;
const meaningsMax = 600_000;

/** Functions and variables of all shards, by the rule that binds plain calls. */
export class CNames {
  readonly #meanings = new Map<string, Meanings>();
  #kept = 0;
  readonly #places = new Map<number, Map<number, Place>>();
  /** By path and name. */
  readonly #visible = new Map<string, Map<string, readonly Place[]>>();
  #answers = 0;

  constructor(readonly program: CProgram) {}

  /** Whether a macro may have this name. */
  isMacro(name: string): boolean {
    return (this.program.names.kindsOf(nameHash(name)) & nameKinds.macro) !== 0;
  }

  /** What a file means by a name. */
  visible(name: string, path: string): readonly Place[] {
    let its = this.#visible.get(path);
    if (its === undefined) this.#visible.set(path, (its = new Map<string, readonly Place[]>()));
    let found = its.get(name);
    if (found === undefined) {
      found = this.#seen(name, path);
      this.#answers += 1;
      if (this.#answers > visibleMax) this.#forget();
      its.set(name, found);
    }
    return found;
  }

  #forget(): void {
    this.#visible.clear();
    this.#answers = 0;
  }

  #seen(name: string, path: string): readonly Place[] {
    if (!this.program.isValue(name)) return [];
    const { shared, own } = this.#meaningsOf(name);
    const its = own.get(path);
    const candidates =
      its === undefined
        ? shared
        : [...shared, ...its.map((each) => this.#named(each))].sort(
            (one, other) => one.order - other.order,
          );
    if (candidates.length === 0) return [];
    const { includes: graph } = this.program;
    const lookup = { name, container: '', line: 0, path: '' };
    const use = {
      ...{ path, lookup, includes: graph.targetsOf(path) },
      sees: (header: string): boolean => graph.seenFrom(path).has(header),
    };
    return visibleDefinitions(use, candidates).map((each) => this.#placeOf(each));
  }

  #meaningsOf(name: string): Meanings {
    const known = this.#meanings.get(name);
    if (known !== undefined) return known;
    const shared: Named[] = [];
    const own = new Map<string, Own[]>();
    let count = 0;
    for (const {
      shard,
      symbol,
      kind,
      container,
      path,
      exported,
      declaration,
    } of this.program.symbolsNamed(name)) {
      if (!kinds.has(kind) || container !== '') continue;
      const each = { shard, symbol, order: count };
      count += 1;
      if (exported || declaration) shared.push(this.#named(each));
      else push(own, path, each);
    }
    if (this.#kept + count > meaningsMax) {
      this.#meanings.clear();
      this.#kept = 0;
    }
    this.#kept += count;
    const found = { shared, own };
    this.#meanings.set(name, found);
    return found;
  }

  #named({ shard, symbol: number, order }: Own): Named {
    const index = this.program.shards[shard] as ShardIndex;
    const { name, kind, file, line_start, exported, declaration } = index.symbolPlace(number);
    return {
      ...{ shard, number, order, symbol: name, kind, container: '', line: line_start },
      ...{ file_path: this.program.pathOf(shard, file), exported, declaration },
    };
  }

  /** The same object each time. */
  #placeOf({ shard, number: symbol, symbol: name, kind, file_path: path }: Named): Place {
    let its = this.#places.get(shard);
    if (its === undefined) this.#places.set(shard, (its = new Map<number, Place>()));
    let place = its.get(symbol);
    if (place === undefined)
      its.set(symbol, (place = { shard, symbol, name, kind, container: '', file: { path } }));
    return place;
  }
}
