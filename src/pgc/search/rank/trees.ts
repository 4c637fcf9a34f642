/**
 * A ranking learned as a sum of regression trees (J. Friedman, "Greedy Function Approximation: A Gradient Boosting
 * Machine", 2001). Each tree is complete: node `i` has the children `2i + 1` and `2i + 2`, the leaves follow the last node.
 */
export interface Trees {
  depth: number;
  /** Column that each node looks at, tree after tree. */
  features: readonly number[];
  /** A row goes left where its value is not above this. */
  thresholds: readonly number[];
  /** Of the leaves, tree after tree. */
  values: readonly number[];
}

export function scoreOf({ depth, features, thresholds, values }: Trees, row: ArrayLike<number>): number {
  const nodes = 2 ** depth - 1;
  let score = 0;
  for (let tree = 0; tree * nodes < features.length; tree += 1) {
    let node = 0;
    while (node < nodes) {
      const at = tree * nodes + node;
      const isLeft = (row[features[at] ?? 0] ?? 0) <= (thresholds[at] ?? 0);
      node = 2 * node + (isLeft ? 1 : 2);
    }
    score += values[tree * (nodes + 1) + node - nodes] ?? 0;
  }
  return score;
}
