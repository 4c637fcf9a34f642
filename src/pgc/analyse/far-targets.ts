import { filesByModule, importsInto, includesOf, isC, pathOf } from '../bind/index-cache.js';
import { ForwardWalk } from '../bind/module-calls.js';
import { forwarded, forwardOf } from '../bind/scope.js';
import type { Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';
import { candidateOf } from '../bind/symbol-candidate.js';
import {
  constructorsOf,
  isCallable,
  visibleDefinitions,
  type Candidate,
} from '../bind/visibility.js';

/** Re-exports that are followed, as inside one shard. */
const forwardsMax = 4;
/** Names whose symbols are remembered; at the limit the memory starts anew. */
const namesRemembered = 50_000;

/** A symbol of one of several shards, as the rule of visibility sees it. */
export interface PlacedCandidate extends Candidate {
  shard: number;
  id: number;
}

/** A file of a language with modules. */
interface Holder {
  module: string;
  shard: number;
  file: number;
}

/**
 * What a call means that its own shard does not explain, when all shards are open in this process. The rule
 * is that of one shard (`visibleDefinitions`); only the candidates come from everywhere.
 */
export class FarTargets {
  readonly #named = new Map<string, PlacedCandidate[]>();
  #byTail: Map<string, Holder[]> | undefined;

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

  /** Definitions in other shards than the one of the call, best first; a constructor after its class. */
  of(shard: number, call: CallRow, lookup: Lookup): PlacedCandidate[] {
    for (const wanted of this.throughForwards(lookup)) {
      const found = this.#visible(shard, call, wanted);
      if (found.length === 0) continue;
      const constructors = constructorsOf(wanted).flatMap((each) =>
        this.#visible(shard, call, each),
      );
      return [...found, ...constructors];
    }
    return [];
  }

  /** In C what is declared and defined nowhere in the tree: the first declaration stands for it. */
  declared(lookup: Lookup): PlacedCandidate[] {
    if (lookup.modules.length > 0) return [];
    const callable = this.named(lookup.name).filter(
      (each) => isCallable(each, lookup) && isC(this.#index(each.shard), this.#fileOf(each)),
    );
    return callable.every((each) => each.declaration) ? callable.slice(0, 1) : [];
  }

  /** The lookup, then what the modules that pass the name on make of it, nearest first. */
  *throughForwards(lookup: Lookup): Generator<Lookup> {
    yield lookup;
    const walk = new ForwardWalk();
    let level = [lookup];
    for (let depth = 0; depth < forwardsMax && level.length > 0; depth += 1) {
      level = level.flatMap((each) => this.#forwards(each, depth, walk));
      yield* level;
    }
  }

  /** Paths of the files that are one of the modules. */
  filesOf(modules: readonly string[]): string[] {
    return modules
      .flatMap((module) => this.#holders(module))
      .map(({ shard, file }) => this.#index(shard).file(file).path);
  }

  #forwards(lookup: Lookup, depth: number, walk: ForwardWalk): Lookup[] {
    const wanted = lookup.container || (lookup.kind === 'member' ? '' : lookup.name);
    if (wanted === '') return [];
    return lookup.modules
      .filter((module) => walk.enter(module, lookup, depth))
      .flatMap((module) => this.#holders(module))
      .flatMap(({ shard, file }) => {
        const forward = forwardOf(importsInto(this.#index(shard), file), wanted);
        return forward === undefined || forward.modules.length === 0
          ? []
          : [forwarded(lookup, forward)];
      });
  }

  #visible(shard: number, call: CallRow, lookup: Lookup): PlacedCandidate[] {
    const candidates = this.named(lookup.name).filter((each) => each.shard !== shard);
    if (candidates.length === 0) return [];
    const index = this.#index(shard);
    const use = { path: pathOf(index, call.file), lookup, includes: includesOf(index, call.file) };
    return visibleDefinitions(use, candidates);
  }

  /** Files that are a module; one that begins with two stars is any that ends so. */
  #holders(module: string): Holder[] {
    this.#byTail ??= this.#tails();
    const sameTail = this.#byTail.get(tailOf(module)) ?? [];
    return module.startsWith('**/')
      ? sameTail.filter((each) => `/${each.module}`.endsWith(module.slice(2)))
      : sameTail.filter((each) => each.module === module);
  }

  #tails(): Map<string, Holder[]> {
    const byTail = new Map<string, Holder[]>();
    for (const [shard, index] of this.shards.entries()) {
      for (const [module, file] of filesByModule(index)) {
        const tail = tailOf(module);
        const known = byTail.get(tail);
        if (known === undefined) byTail.set(tail, [{ module, shard, file }]);
        else known.push({ module, shard, file });
      }
    }
    return byTail;
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

function tailOf(module: string): string {
  return module.slice(module.lastIndexOf('/') + 1);
}
