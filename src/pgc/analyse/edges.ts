import type { NodeKey } from './nodes.js';

/**
 * `calls` and `constructs`: by a call site. `slot`: the function is put into a field of a structure, which
 * a call through the field then uses. `imports`: a file imports it and calls it nowhere. `extends`:
 * a type builds on it.
 */
export type EdgeType = 'calls' | 'constructs' | 'slot' | 'imports' | 'extends';

/** What leads to a neighbour: the first of its sites, and how many there are. */
export interface Edge {
  node: NodeKey;
  type: EdgeType;
  site_path: string;
  site_line: number;
  sites: number;
}

/** The edges of one node by their other end. */
export class Edges {
  readonly #byNode = new Map<NodeKey, Edge>();

  constructor(readonly own: NodeKey) {}

  add(node: NodeKey, type: EdgeType, site_path: string, site_line: number): void {
    const known = this.#byNode.get(node);
    if (known !== undefined) known.sites += 1;
    else if (node !== this.own)
      this.#byNode.set(node, { node, type, site_path, site_line, sites: 1 });
  }

  all(): Edge[] {
    return [...this.#byNode.values()];
  }
}
