import { targetsOfCall } from '../../bind/call-graph.js';
import { isC } from '../../bind/index-cache.js';
import type { CallTargets } from '../../bind/index-cache.js';
import type { CallBinding } from '../../format/bound-calls.js';
import type { CallRow, ShardIndex } from '../../format/shard-index.js';
import type { CodeGraph } from '../code-graph.js';

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
  readonly #bound = new WeakMap<CallTargets, CallMeaning>();

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

  #asBound(shard: number, call: CallRow, binding: CallBinding): CallMeaning {
    const targets = targetsOfCall(this.#graph.nodes.index(shard), call);
    let known = this.#bound.get(targets);
    if (known === undefined) {
      const near = targets.inside.map((symbol) => ({ shard, symbol }));
      const far = targets.lookups.flatMap((lookup) => this.#graph.far.of(shard, call, lookup));
      const all = [...near, ...far.map(({ shard: at, id: symbol }) => ({ shard: at, symbol }))];
      const isProven = binding === 'exact' || binding === 'dispatch';
      if (isProven) known = { ...nothing, proven: all };
      else known = { ...nothing, possible: all, isOpen: all.length === 0 };
      this.#bound.set(targets, known);
    }
    return known;
  }

  /** Alternatives of the preprocessor are one node; of several nodes nothing says which one is meant. */
  #inC(index: ShardIndex, call: CallRow, nodes: readonly number[]): CallMeaning {
    if (nodes.length === 0)
      // The field of a structure says nothing about the function that it holds.
      return index.file(call.file).language === 'c' && call.kind === 'member' ? nothing : anything;
    const symbols = nodes.flatMap((node) => {
      const { shard } = this.#graph.nodes.at(node);
      return this.#graph.nodes.symbolsOf(node).map((symbol) => ({ shard, symbol }));
    });
    return nodes.length === 1 ? { ...nothing, proven: symbols } : { ...nothing, possible: symbols };
  }
}

function bindingOf({ bound }: ShardIndex, call: number): CallBinding {
  return call < 0 ? 'unbound' : (bound?.bindingOf(call) ?? 'unbound');
}
