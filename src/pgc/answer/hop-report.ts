import { citeCall, citeDocument, type Excerpts } from './citation.js';
import type { Sought } from './deciding.js';
import {
  edgeOf,
  lineEvidence,
  reasons,
  symbolEvidence,
  type Reading,
  type Unnumbered,
} from './evidence.js';
import { citationsMax, type Evidence, type FlowEdge, type Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';

/** A function on the way of a question through a shard. */
export interface Node {
  symbol: number;
  depth: number;
  /** 0 to 1: how surely the question is still about this function. */
  strength: number;
  /** Of the entry at which its way begins. */
  entry: number;
  /** An entry that was found by search and that this one calls; absent: this one was found itself. */
  above?: Node;
  parent: Node | undefined;
  /** The call that led here. */
  call: CallRow | undefined;
}

/** A call that leaves the shard. */
export interface Outgoing {
  node: Node;
  call: CallRow;
  relevance: number;
  lookup: Lookup;
}

/** Gathers what a hop found: definitions, and the calls that lead on. */
export class Report {
  readonly evidence: Evidence[] = [];
  readonly flow: FlowEdge[] = [];
  readonly #ids = new Map<string, number>();
  readonly #reading: Reading;

  constructor(
    readonly index: ShardIndex,
    readonly excerpts: Excerpts,
    readonly similarities: Map<number, number>,
    readonly sought: Sought,
  ) {
    this.#reading = { index, excerpts, sought };
  }

  named(node: Node): void {
    this.#once(`s${node.symbol}`, () => {
      const similarity = this.#similarity(node);
      const citation = citeDocument(this.index, this.excerpts, node.symbol, similarity);
      if (citation === undefined) return undefined;
      const evidence = symbolEvidence(this.#reading, node.symbol, citation);
      const { name } = this.index.symbol(node.symbol);
      const text = `${name} ${evidence.said} ${evidence.excerpt.map((each) => each.text).join(' ')}`;
      return { ...evidence, why: reasons(this.sought.question, false, text) };
    });
  }

  /** The calls from the entry to the place where the question leaves the shard, of which the last one is shown. */
  reference(outgoing: Outgoing): void {
    const path = pathTo(outgoing.node);
    const calls = [...path.slice(1).map((each) => each.call), outgoing.call];
    for (const [at, call] of calls.entries()) {
      const caller = path[at];
      if (call === undefined || caller === undefined) continue;
      const { file, line, callee } = call;
      const name = this.index.symbol(caller.symbol).name;
      const site = `${this.index.file(file).path}:${line}`;
      if (this.flow.some((edge) => edge.site === site && edge.to === callee)) continue;
      const id = call === outgoing.call ? this.#callAt(caller, call, site) : 0;
      this.flow.push(edgeOf(this.index, name, call, id));
    }
  }

  #callAt(caller: Node, { file, line, callee }: CallRow, site: string): number {
    const { name } = this.index.symbol(caller.symbol);
    return this.#once(`c${site}:${callee}`, () => {
      const its = { caller: name, callee, file, line };
      const citation = citeCall(this.index, this.excerpts, its, this.#similarity(caller));
      const how = { kind: 'call', name: callee, container: name };
      return citation === undefined ? undefined : lineEvidence(this.#reading, citation, how);
    });
  }

  #similarity(node: Node): number {
    const own = this.similarities.get(node.symbol) ?? 0;
    const [first] = pathTo(node);
    const found = first && foundAt(first);
    if (found === undefined || found.strength === 0) return own;
    // Along a chain of calls the words of the question fade; what the chain leads from still counts.
    const entry = this.similarities.get(found.symbol) ?? 0;
    return Math.max(own, (entry * node.strength) / found.strength);
  }

  /** The id of a piece of evidence that is made when it is first needed; 0: there is none. */
  #once(key: string, make: () => Unnumbered | undefined): number {
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    if (this.evidence.length >= citationsMax) return 0;
    const made = make();
    if (made === undefined) return 0;
    const id = this.evidence.push({ id: this.evidence.length + 1, ...made });
    this.#ids.set(key, id);
    return id;
  }
}

/** What search found, where an entry only calls it. */
function foundAt(entry: Node): Node {
  return entry.above === undefined ? entry : foundAt(entry.above);
}

/** From the entry to the node. */
export function pathTo(node: Node): Node[] {
  const path: Node[] = [];
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) path.unshift(at);
  return path;
}
