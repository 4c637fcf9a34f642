/** Folders that depend on each other in a ring. */
export interface Cycle {
  /** All that can reach each other, sorted. */
  layers: string[];
  /** A shortest ring among them, its first again at the end. */
  path: string[];
}

/**
 * The strongly connected components of at least two nodes, in the order of their first names (R. Tarjan,
 * "Depth-first search and linear graph algorithms", 1972), each with a shortest ring through its first node.
 */
export function cyclesIn(edges: ReadonlyMap<string, ReadonlySet<string>>): Cycle[] {
  const components = new Components(edges);
  return components
    .all()
    .filter((each) => each.length > 1)
    .map((each) => each.sort())
    .sort((one, other) => ((one[0] ?? '') < (other[0] ?? '') ? -1 : 1))
    .map((layers) => ({ layers, path: ringThrough(layers[0] ?? '', new Set(layers), edges) }));
}

class Components {
  readonly #order = new Map<string, number>();
  readonly #low = new Map<string, number>();
  readonly #open: string[] = [];
  readonly #found: string[][] = [];

  constructor(readonly edges: ReadonlyMap<string, ReadonlySet<string>>) {}

  all(): string[][] {
    for (const node of this.edges.keys()) if (!this.#order.has(node)) this.#visit(node);
    return this.#found;
  }

  /** Recursion is as deep as there are layers, which are few. */
  #visit(node: string): void {
    const order = this.#order.size;
    this.#order.set(node, order);
    this.#open.push(node);
    let low = order;
    for (const next of this.edges.get(node) ?? []) {
      if (!this.#order.has(next)) this.#visit(next);
      if (this.#open.includes(next))
        low = Math.min(low, this.#low.get(next) ?? order, this.#order.get(next) ?? order);
    }
    this.#low.set(node, low);
    if (low === order) this.#found.push(this.#open.splice(this.#open.indexOf(node)));
  }
}

function ringThrough(
  start: string,
  within: ReadonlySet<string>,
  edges: ReadonlyMap<string, ReadonlySet<string>>,
): string[] {
  const before = new Map<string, string>();
  let level = [start];
  while (level.length > 0) {
    const next: string[] = [];
    for (const node of level) {
      for (const to of [...(edges.get(node) ?? [])].sort()) {
        if (to === start) return [...backTo(start, node, before), start];
        if (!within.has(to) || before.has(to)) continue;
        before.set(to, node);
        next.push(to);
      }
    }
    level = next;
  }
  return [];
}

function backTo(start: string, end: string, before: ReadonlyMap<string, string>): string[] {
  const path = [end];
  for (let at = end; at !== start;) {
    at = before.get(at) ?? start;
    path.unshift(at);
  }
  return path;
}
