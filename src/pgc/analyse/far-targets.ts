import { headersSeen, includesOf, isC, pathOf } from '../bind/index-cache.js';
import type { Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { candidateOf } from '../bind/symbol-candidate.js';
import { isCallable, visibleDefinitions, type Candidate } from '../bind/visibility.js';

/** Names whose symbols are remembered; at the limit the memory starts anew. */
const namesRemembered = 50_000;

/** A symbol of one of several shards, as the rule of visibility sees it. */
export interface PlacedCandidate extends Candidate {
  shard: number;
  id: number;
}

/**
 * What a call means that its own shard does not explain, when all shards are open in this process. The rule
 * is that of one shard (`visibleDefinitions`); only the candidates come from everywhere.
 */
export class FarTargets {
  readonly #named = new Map<string, PlacedCandidate[]>();

  constructor(readonly shards: readonly ShardIndex[]) {}

  /** Every symbol of exactly this name, in the order of the shards. */
  named(name: string): readonly PlacedCandidate[] {
    let known = this.#named.get(name);
    if (known === undefined) {
      known = this.shards.flatMap((index, shard) =>
        index.symbolsNamed(name).map((id) => ({ ...candidateOf(index, id), shard })),
      );
      if (this.#named.size >= namesRemembered) this.#named.clear();
      this.#named.set(name, known);
    }
    return known;
  }

  /** Definitions in other shards than the one of the call, best first. */
  of(shard: number, call: CallRow, lookup: Lookup): PlacedCandidate[] {
    const candidates = this.named(lookup.name).filter((each) => each.shard !== shard);
    if (candidates.length === 0) return [];
    const index = this.#index(shard);
    const includes = includesOf(index, call.file);
    const sees = headersSeen(index, call.file);
    return visibleDefinitions(
      { path: pathOf(index, call.file), lookup, includes, sees },
      candidates,
    );
  }

  /** In C what is declared and defined nowhere in the tree: the first declaration stands for it. */
  declared(name: string): PlacedCandidate[] {
    const callable = this.named(name).filter(
      (each) => isCallable(each) && isC(this.#index(each.shard), this.#fileOf(each)),
    );
    return callable.every((each) => each.declaration) ? callable.slice(0, 1) : [];
  }

  #index(shard: number): ShardIndex {
    const index = this.shards[shard];
    if (index === undefined) throw new RangeError(`no shard ${shard}`);
    return index;
  }

  #fileOf({ shard, id }: PlacedCandidate): number {
    return this.#index(shard).symbol(id).file;
  }
}
