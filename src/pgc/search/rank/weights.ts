import { featureNames, type FeatureName } from './features.js';

/** What each feature is worth, as `test/bench/comprehension/learn.mjs` has learned it. */
const weights: Partial<Record<FeatureName, number>> = {
  words: 2.002,
  in_body: 0.267,
  exact: 0.466,
  file: 0.198,
  called: 0.973,
  near: 0.336,
  walk: 0.031,
  lines: 0.036,
  callees: 0.056,
  is_function: 0.237,
  meaning: 0.034,
  meaning_near: 0.05,
};
/**
 * The same for a question of a few words: it mostly names a place, and the calls of that place say little. Chosen on the half
 * `tune` of the questions of `test/bench/public`.
 */
const weightsOfBrief: typeof weights = {
  words: 2,
  exact: 0.9,
  file: 0.5,
  lines: 0.04,
  meaning: 0.05,
};
const columns = featureNames.map((name) => weights[name] ?? 0);
const columnsOfBrief = featureNames.map((name) => weightsOfBrief[name] ?? 0);

export function weightsOf(): Partial<Record<FeatureName, number>> {
  return weights;
}

/** Orders hits: the more, the likelier it belongs to the answer. */
export function scoreOf(row: ArrayLike<number>, isBrief = false): number {
  const its = isBrief ? columnsOfBrief : columns;
  return its.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0);
}
