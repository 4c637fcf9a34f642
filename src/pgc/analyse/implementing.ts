import type { BoundTarget } from '../format/bound-calls.js';
import type { FarTargets, PlacedCandidate } from './far-targets.js';
import type { NodeKey, Nodes } from './nodes.js';

/** Where the one that stands in place of another is defined. */
type Place = readonly [path: string, line: number];
/** Names whose places are kept. */
const namesMax = 10_000;
type Linked = Map<NodeKey, Map<NodeKey, Place>>;

/** What may stand, or run, in place of what, over all shards; worked out once per tree. */
export class Implementing {
  readonly #by: Linked = new Map();
  readonly #of: Linked = new Map();
  /** By name, then by file and container. */
  readonly #places = new Map<string, Map<string, PlacedCandidate[]>>();

  constructor(
    readonly nodes: Nodes,
    readonly far: FarTargets,
  ) {
    for (const [shard, { bound }] of nodes.shards.entries()) {
      if (bound === undefined) continue;
      for (const [target, by] of bound.implementations()) {
        const stood = this.#nodeOf(shard, bound.target(target));
        const standing = this.#nodeOf(shard, bound.target(by));
        if (stood !== undefined && standing !== undefined) this.#link(stood, standing);
      }
    }
  }

  /** Types that implement this one or build on it; methods that run where this one is called. */
  standingFor(node: NodeKey): Iterable<[NodeKey, Place]> {
    return this.#by.get(node) ?? [];
  }

  stoodFor(node: NodeKey): Iterable<[NodeKey, Place]> {
    return this.#of.get(node) ?? [];
  }

  #link(stood: NodeKey, standing: NodeKey): void {
    const { file_path, line } = this.nodes.facts(standing);
    const place = [file_path, line] as const;
    add(this.#by, stood, standing, place);
    add(this.#of, standing, stood, place);
  }

  #nodeOf(
    shard: number,
    { symbol, path, container, name, line }: BoundTarget,
  ): NodeKey | undefined {
    if (symbol >= 0) return this.nodes.of(shard, symbol);
    const found = this.#at(name, `${path} ${container}`).find(
      (each) => line === 0 || this.nodes.index(each.shard).symbolPlace(each.id).line_start === line,
    );
    return found && this.nodes.of(found.shard, found.id);
  }

  /** A name may be one of thousands of definitions, each of which is asked for. */
  #at(name: string, place: string): readonly PlacedCandidate[] {
    let places = this.#places.get(name);
    if (places === undefined) {
      if (this.#places.size >= namesMax) this.#places.clear();
      this.#places.set(name, (places = new Map<string, PlacedCandidate[]>()));
      for (const each of this.far.named(name)) {
        const its = `${each.file_path} ${each.container}`;
        const known = places.get(its);
        if (known === undefined) places.set(its, [each]);
        else known.push(each);
      }
    }
    return places.get(place) ?? [];
  }
}

function add(linked: Linked, from: NodeKey, to: NodeKey, place: Place): void {
  const known = linked.get(from);
  if (known === undefined) linked.set(from, new Map([[to, place]]));
  else known.set(to, place);
}
