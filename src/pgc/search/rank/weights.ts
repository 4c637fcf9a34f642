import { featureNames, type FeatureName } from './features.js';

/** What each feature is worth, as `test/bench/comprehension/learn.mjs` has learned it. */
const weights: Partial<Record<FeatureName, number>> = {
  words: 1.2,
  in_body: 0.7,
  exact: 0.4,
  file: 0.5,
  called: 0.25,
  near: 0.6,
  walk: 0.03,
  lines: 0.045,
  callees: 0.055,
  is_function: 0.22,
  meaning: 0.05,
  meaning_near: 0.03,
};
const columns = featureNames.map((name) => weights[name] ?? 0);

export function weightsOf(): Partial<Record<FeatureName, number>> {
  return weights;
}

/** Orders hits: the more, the likelier it belongs to the answer. */
export function scoreOf(row: ArrayLike<number>): number {
  return columns.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0);
}
