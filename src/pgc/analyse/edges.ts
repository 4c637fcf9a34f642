import type { NodeKey } from './nodes.js';

/**
 * `calls` and `constructs`: by a call site. `slot`: the function is put into a field of a structure, which
 * a call through the field then uses. `value`: it is used without being called, as a function that is registered is.
 * `implements`: it stands or runs in place of the other. `type`: it is mentioned as a type. `imports`: a file imports it and uses it nowhere. `extends`: a type builds on it.
 */
export type EdgeType =
  | 'calls'
  | 'constructs'
  | 'slot'
  | 'value'
  | 'type'
  | 'implements'
  | 'imports'
  | 'extends';

/** How surely one end means the other. */
export interface Meant {
  certainty: 'exact' | 'dispatch' | 'possible';
  /** The method of an interface through which it is called, `Type.method`. */
  via: string;
}

export const exactly: Meant = { certainty: 'exact', via: '' };
export const possibly: Meant = { certainty: 'possible', via: '' };

/** What leads to a neighbour: the first of its sites, and how many there are. */
export interface Edge extends Meant {
  node: NodeKey;
  type: EdgeType;
  site_path: string;
  site_line: number;
  sites: number;
}

const order: readonly Meant['certainty'][] = ['exact', 'dispatch', 'possible'];

/** The edges of one node by their other end. */
export class Edges {
  readonly #byNode = new Map<NodeKey, Edge>();

  constructor(readonly own: NodeKey) {}

  /** What one of its sites proves is proven. */
  add(
    node: NodeKey,
    type: EdgeType,
    [site_path, site_line]: readonly [path: string, line: number],
    meant = exactly,
  ): void {
    const known = this.#byNode.get(node);
    if (known === undefined) {
      if (node !== this.own)
        this.#byNode.set(node, { node, type, site_path, site_line, sites: 1, ...meant });
      return;
    }
    const sites = known.sites + 1;
    const isSurer = order.indexOf(meant.certainty) < order.indexOf(known.certainty);
    this.#byNode.set(
      node,
      isSurer ? { node, type, site_path, site_line, sites, ...meant } : { ...known, sites },
    );
  }

  all(): Edge[] {
    return [...this.#byNode.values()];
  }
}
