import { featureNames, type FeatureName } from './features.js';

/** What each feature is worth, as `test/bench/comprehension/learn.mjs` has learned it. */
const weights: Partial<Record<FeatureName, number>> = {
  words: 1.2,
  coverage: 0.2,
  called: 0.4,
  near: 0.33,
  in_path: 0.47,
  in_body: 0.13,
  name_mass: 0.07,
  rarest: 0.07,
  matched: -0.07,
  lines: 0.027,
  callees: 0.02,
  is_function: 0.05,
  is_data: -0.02,
  is_text: -0.05,
  exact: 0.7,
};
const columns = featureNames.map((name) => weights[name] ?? 0);

export function weightsOf(): Partial<Record<FeatureName, number>> {
  return weights;
}

/** Orders hits: the more, the likelier it belongs to the answer. */
export function scoreOf(row: ArrayLike<number>): number {
  return columns.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0);
}
