import { citeCall, citeDocument, type Excerpts } from './citation.js';
import { describe, sentence } from './compose.js';
import { citationsMax, type Citation, type Lookup } from '../shapes.js';
import type { CallRow, ShardIndex } from '../format/shard-index.js';

/** A function on the way of a question through a shard. */
export interface Node {
  symbol: number;
  depth: number;
  /** 0 to 1: how surely the question is still about this function. */
  strength: number;
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

/** Gathers sentences and their sources; a source is numbered when the first sentence needs it. */
export class Report {
  readonly citations: Citation[] = [];
  readonly #sentences: string[] = [];
  readonly #numbers = new Map<string, number>();

  constructor(
    readonly index: ShardIndex,
    readonly excerpts: Excerpts,
    readonly similarities: Map<number, number>,
  ) {}

  entry(node: Node): void {
    const row = this.index.symbol(node.symbol);
    const number = this.#number(`s${node.symbol}`, () =>
      citeDocument(this.index, this.excerpts, node.symbol, this.#similarity(node)),
    );
    const shown = this.citations[number - 1]?.content ?? '';
    if (number > 0)
      this.#sentences.push(sentence(describe(row, this.index.file(row.file).path, shown), number));
  }

  /** The calls from the entry to the place where the question leaves the shard. */
  reference(outgoing: Outgoing): void {
    const path = pathTo(outgoing.node);
    // Where the question leaves from is worth a word of its own, when it is not among the best hits.
    const [first] = path;
    if (first !== undefined && !this.#numbers.has(`s${first.symbol}`)) this.entry(first);
    const calls = [...path.slice(1).map((each) => each.call), outgoing.call];
    const clauses = calls.flatMap((call, at) => {
      const caller = path[at];
      if (call === undefined || caller === undefined) return [];
      const name = this.index.symbol(caller.symbol).name;
      const number = this.#number(`c${call.file}:${call.line}:${call.callee}`, () =>
        citeCall(
          this.index,
          this.excerpts,
          { caller: name, callee: call.callee, file: call.file, line: call.line },
          this.#similarity(caller),
        ),
      );
      const where = `${this.index.file(call.file).path}:${call.line}`;
      return [`\`${name}\` calls \`${call.callee}\` ${number > 0 ? `[${number}]` : `(${where})`}`];
    });
    if (clauses.length > 0) this.#sentences.push(`${clauses.join(', and ')}.`);
  }

  text(): string {
    return this.#sentences.join(' ');
  }

  #similarity(node: Node): number {
    const own = this.similarities.get(node.symbol) ?? 0;
    const [first] = pathTo(node);
    if (first === undefined || first.strength === 0) return own;
    // Along a chain of calls the words of the question fade; what the chain leads from still counts.
    const entry = this.similarities.get(first.symbol) ?? 0;
    return Math.max(own, (entry * node.strength) / first.strength);
  }

  #number(key: string, make: () => Citation | undefined): number {
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    if (this.citations.length >= citationsMax) return 0;
    const made = make();
    if (made === undefined) return 0;
    this.citations.push(made);
    this.#numbers.set(key, this.citations.length);
    return this.citations.length;
  }
}

/** From the entry to the node. */
export function pathTo(node: Node): Node[] {
  const path: Node[] = [];
  for (let at: Node | undefined = node; at !== undefined; at = at.parent) path.unshift(at);
  return path;
}
