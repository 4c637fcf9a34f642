import { featureNames, type FeatureName } from './features.js';

/** What each feature is worth, as `test/bench/comprehension/learn.mjs` has learned it. */
const weights: Partial<Record<FeatureName, number>> = {
  words: 0.733,
  in_name: -0.133,
  in_path: 0.267,
  in_body: 0.267,
  exact: 0.5,
  file: 0.067,
  called: 0.2,
  near: 0.133,
  walk: 0.017,
  lines: 0.02,
  callees: 0.013,
  is_function: 0.2,
  meaning: 0.04,
  meaning_near: 0.02,
};
const columns = featureNames.map((name) => weights[name] ?? 0);

export function weightsOf(): Partial<Record<FeatureName, number>> {
  return weights;
}

/** Orders hits: the more, the likelier it belongs to the answer. */
export function scoreOf(row: ArrayLike<number>): number {
  return columns.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0);
}
