import type { Edge } from './edges.js';
import type { NodeKey } from './nodes.js';

/** How a node was reached first, which is by a shortest path. */
export interface Reached {
  node: NodeKey;
  /** Edges from the nearest start. */
  depth: number;
  /** The edge that led here and the node it came from; undefined for a start. */
  edge: Edge | undefined;
  before: Reached | undefined;
}

export interface Spread {
  /** In the order of the levels, the starts first. */
  reached: ReadonlyMap<NodeKey, Reached>;
  /** There is more: the limit of nodes, or the end of the time, was met before the limit of depth. */
  truncated: boolean;
  /** It was the time. */
  isLate: boolean;
}

/**
 * Breadth-first search, a level at a time (E. F. Moore, 1959). A node is marked when its level is made and
 * never before, so its depth is the least of all paths to it.
 */
export function spread(
  starts: readonly NodeKey[],
  neighbours: (node: NodeKey) => readonly Edge[],
  limits: { depthMax: number; nodesMax: number; isOver?: () => boolean },
): Spread {
  const reached = new Map<NodeKey, Reached>();
  for (const node of starts)
    reached.set(node, { node, depth: 0, edge: undefined, before: undefined });
  let level = [...reached.values()];
  for (let depth = 1; depth <= limits.depthMax && level.length > 0; depth += 1) {
    const next: Reached[] = [];
    for (const before of level) {
      if (limits.isOver?.() === true) return { reached, truncated: true, isLate: true };
      for (const edge of neighbours(before.node)) {
        if (reached.has(edge.node)) continue;
        if (reached.size - starts.length >= limits.nodesMax)
          return { reached, truncated: true, isLate: false };
        const found = { node: edge.node, depth, edge, before };
        reached.set(edge.node, found);
        next.push(found);
      }
    }
    level = next;
  }
  return { reached, truncated: false, isLate: false };
}

/** From the start to a node, both included. */
export function pathTo(end: Reached): NodeKey[] {
  const path: NodeKey[] = [];
  for (let at: Reached | undefined = end; at !== undefined; at = at.before) path.unshift(at.node);
  return path;
}
