import { isC } from '../../bind/index-cache.js';
import type { BoundTarget, CallBinding } from '../../format/bound-calls.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
import type { CodeGraph } from '../code-graph.js';

/** Bindings that are remembered; at the limit the memory starts anew. */
const boundMax = 100_000;

/** A symbol of one of the shards, by the number of the shard. */
export interface MeantSymbol {
  shard: number;
  symbol: number;
}

/** What a call runs, or of which nothing proves that it does. */
export interface CallMeaning {
  proven: readonly MeantSymbol[];
  possible: readonly MeantSymbol[];
  /** Anything that bears the name may be meant. */
  isOpen: boolean;
}

const nothing: CallMeaning = { proven: [], possible: [], isOpen: false };
const anything: CallMeaning = { ...nothing, isOpen: true };

/**
 * What calls mean, symbol by symbol, as the binder says or in C the rule of visibility: the facts of the graph
 * that `callers` and `blast-radius` follow, with overloads told apart.
 */
export class CallMeanings {
  readonly #graph: CodeGraph;
  readonly #bound = new Map<string, CallMeaning>();
  readonly #ofNodes = new WeakMap<readonly number[], CallMeaning>();

  constructor(graph: CodeGraph) {
    this.#graph = graph;
  }

  of(shard: number, call: CallRow): CallMeaning {
    return this.ofAll(shard, [call])[0] ?? nothing;
  }

  /** Of calls of one name. */
  ofAll(shard: number, calls: readonly CallRow[]): CallMeaning[] {
    const index = this.#graph.nodes.index(shard);
    const bindings = calls.map(({ id }) => bindingOf(index, id));
    const byRule = calls.filter(({ file }, at) => bindings[at] === 'unbound' && isC(index, file));
    const nodes = this.#graph.targetsOfAll(shard, byRule);
    const ofRule = new Map(byRule.map((call, at) => [call, nodes[at] ?? []]));
    return calls.map((call, at) => {
      const meant = ofRule.get(call);
      if (meant !== undefined) return this.#inC(index, call, meant);
      const binding = bindings[at] ?? 'unbound';
      if (binding === 'outside') return nothing;
      return binding === 'unbound' ? anything : this.#asBound(shard, call, binding);
    });
  }

  /** What a variable or a member holds is run, not the variable itself. */
  #asBound(shard: number, call: CallRow, binding: CallBinding): CallMeaning {
    const { bound } = this.#graph.nodes.index(shard);
    const targets = bound?.targetsOf(call.id) ?? [];
    const key = `${shard} ${binding} ${targets.join(' ')}`;
    const known = this.#bound.get(key);
    if (known !== undefined) return known;
    const all = targets
      .flatMap((each) => [
        each,
        ...(binding === 'dispatch' ? (bound?.implementing(each) ?? []) : []),
      ])
      .flatMap((each) => bound?.target(each) ?? [])
      .filter(({ kind }) => isUse(call) || kind !== 'variable')
      .flatMap((target) => this.#symbolsOf(shard, call, target));
    const isProven = binding === 'exact' || binding === 'dispatch';
    const meaning = isProven
      ? { ...nothing, proven: all }
      : { ...nothing, possible: all, isOpen: all.length === 0 };
    if (this.#bound.size >= boundMax) this.#bound.clear();
    this.#bound.set(key, meaning);
    return meaning;
  }

  #symbolsOf(shard: number, call: CallRow, target: BoundTarget): MeantSymbol[] {
    const { symbol, path, container, name, line } = target;
    if (symbol >= 0) return [{ shard, symbol }];
    const far = this.#graph.far.of(shard, call, { path, container, name, line });
    return far.map(({ shard: at, id }) => ({ shard: at, symbol: id }));
  }

  /** Alternatives of the preprocessor are one node; of several nodes nothing says which one is meant. */
  #inC(index: ShardIndex, call: CallRow, nodes: readonly number[]): CallMeaning {
    if (nodes.length === 0)
      // The field of a structure says nothing about the function that it holds.
      return index.file(call.file).language === 'c' && call.kind === 'member' ? nothing : anything;
    const known = this.#ofNodes.get(nodes);
    if (known !== undefined) return known;
    const symbols = nodes.flatMap((node) => {
      const { shard } = this.#graph.nodes.at(node);
      return this.#graph.nodes.symbolsOf(node).map((symbol) => ({ shard, symbol }));
    });
    const meaning =
      nodes.length === 1 ? { ...nothing, proven: symbols } : { ...nothing, possible: symbols };
    this.#ofNodes.set(nodes, meaning);
    return meaning;
  }
}

/** A name that is not called. */
export function isUse({ kind }: CallRow): boolean {
  return kind === 'value' || kind === 'type';
}

function bindingOf({ bound }: ShardIndex, call: number): CallBinding {
  return call < 0 ? 'unbound' : (bound?.bindingOf(call) ?? 'unbound');
}
