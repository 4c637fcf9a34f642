import type { ShardIndex } from '../../format/shard-index.js';
import { visibleDefinitions, type Candidate } from '../visibility.js';
import { isC, push, type CProgram, type Place } from './c-program.js';

interface Named extends Candidate {
  place: Place;
}

const kinds = new Set(['function', 'variable', 'constant', 'macro']);

/** Functions and variables of all shards, by the rule that binds plain calls. */
export class CNames {
  readonly #named = new Map<string, Named[]>();
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
      const row = index.symbolPlace(symbol);
      if (!kinds.has(row.kind) || row.container !== '' || !isC(index, row.file)) continue;
      const { path } = index.file(row.file);
      push(this.#named, name, {
        place: { shard, symbol, name, kind: row.kind, container: '', file: { path } },
        ...{ symbol: name, kind: row.kind, container: '', file_path: path, line: row.line_start },
        ...{ exported: row.exported, declaration: row.declaration },
      });
    }
  }

  /** What a file means by a name. */
  visible(name: string, path: string): readonly Place[] {
    const all = this.#named.get(name);
    if (all === undefined) return [];
    const key = `${name} ${path}`;
    let found = this.#visible.get(key);
    if (found === undefined) {
      const lookup = { name, container: '', line: 0, path: '' };
      const includes = this.program.includes.targetsOf(path);
      found = visibleDefinitions({ path, lookup, includes }, all).map(({ place }) => place);
      this.#visible.set(key, found);
    }
    return found;
  }
}
