import type { Place } from './c-program.js';
import type { CValues, Holder } from './c-values.js';

/** Functions in all holders together: more say nothing about any. */
const pairsMax = 8_000_000;

/** Made as needed: most nodes hold little. */
interface Node extends Holder {
  functions: Set<Place> | undefined;
  /** Nodes that are given what this one holds. */
  into: Set<Node> | undefined;
  /** Parameters of the functions that it holds, by number. */
  parameters: Map<number, Node> | undefined;
}

/** Which functions members, variables and parameters may hold. */
export class HeldFunctions {
  readonly #nodes = new Map<string, Node>();
  readonly #open: [node: Node, function_: Place][] = [];
  /** Last names of what holds something. */
  readonly tails = new Set<number>();
  #pairs = 0;

  /** `called`: last names of local ones through which calls go. */
  constructor(
    readonly values: CValues,
    readonly called: ReadonlySet<number>,
  ) {}

  put(function_: Place, holder: Holder): void {
    this.#add(this.#node(holder), function_);
  }

  flow(source: Holder, target: Holder): void {
    const [from, to] = [this.#node(source), this.#node(target)];
    if (from === to || from.into?.has(to) === true) return;
    (from.into ??= new Set()).add(to);
    for (const each of from.functions ?? nothing) this.#pass(to, each);
    // What is called through the parameter or local variable is the member.
    if (from.place.kind === 'method' && this.#isCalled(to)) this.#add(to, from.place);
  }

  /** The parameter of the functions that are called through a holder. */
  parameter(holder: Holder, at: number, of: Holder): void {
    const node = this.#node(of);
    if (node.parameters?.has(at) === true) return;
    const parameter = this.#node(holder);
    (node.parameters ??= new Map()).set(at, parameter);
    for (const each of node.functions ?? nothing)
      if (each.kind === 'function') this.#handOn(parameter, each, at);
  }

  of({ key }: Holder): ReadonlySet<Place> {
    return this.#nodes.get(key)?.functions ?? nothing;
  }

  /** All holders of functions. */
  *all(): Generator<[holder: Holder, functions: ReadonlySet<Place>]> {
    for (const node of this.#nodes.values())
      if (node.functions !== undefined) yield [node, node.functions];
  }

  /** Hands on what was put somewhere, until nothing changes. */
  settle(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const [node, function_] = next;
      for (const to of node.into ?? []) this.#pass(to, function_);
      if (function_.kind === 'function')
        for (const [at, parameter] of node.parameters ?? []) this.#handOn(parameter, function_, at);
    }
  }

  /** A member is passed on as far as the local names go. */
  #pass(to: Node, held: Place): void {
    if (held.kind !== 'method' || this.#isCalled(to)) this.#add(to, held);
  }

  #isCalled({ place, tail }: Node): boolean {
    return place.kind === 'parameter' && this.called.has(tail);
  }

  #handOn(parameter: Node, function_: Place, at: number): void {
    this.flow(parameter, this.values.parameterOf(function_, at));
  }

  #add(node: Node, function_: Place): void {
    if (node.functions?.has(function_) === true || this.#pairs >= pairsMax) return;
    this.#pairs += 1;
    if (node.functions === undefined) this.tails.add(node.tail);
    (node.functions ??= new Set()).add(function_);
    this.#open.push([node, function_]);
  }

  #node({ key, place, tail }: Holder): Node {
    let node = this.#nodes.get(key);
    if (node === undefined) {
      node = { key, place, tail, functions: undefined, into: undefined, parameters: undefined };
      this.#nodes.set(key, node);
    }
    return node;
  }
}

const nothing: ReadonlySet<Place> = new Set();
