import { featureNames, type FeatureName } from './features.js';

type Weights = Partial<Record<FeatureName, number>>;

/**
 * What each feature is worth, as `test/bench/comprehension/learn.mjs` has learned it. A question of a few words mostly names a
 * place: the names of files, folders and classes tell more of it, and calls less.
 */
const weights: Record<'usual' | 'brief', Weights> = {
  usual: {
    words: 0.522,
    in_body: 2.324,
    exact: 0.5,
    file: 0.265,
    called: 0.411,
    near: 0.552,
    walk: 0.025,
    lines: 0.066,
    callees: 0.049,
    is_method: 0.111,
    meaning: 0.05,
    meaning_near: 0.035,
    file_meaning: 0.065,
    file_symbols: -0.05,
  },
  brief: {
    words: 0.522,
    exact: 1.963,
    file: 0.404,
    meaning_near: 0.104,
    scope: 0.36,
    file_name: 0.361,
    folders: 0.143,
    file_meaning: 0.101,
  },
};
const columns = { usual: columnsOf(weights.usual), brief: columnsOf(weights.brief) };

function columnsOf(its: Weights): readonly number[] {
  return featureNames.map((name) => its[name] ?? 0);
}

export function weightsOf(isBrief = false): Weights {
  return isBrief ? weights.brief : weights.usual;
}

/** Orders hits: the more, the likelier it belongs to the answer. */
export function scoreOf(row: ArrayLike<number>, isBrief = false): number {
  const its = isBrief ? columns.brief : columns.usual;
  return its.reduce((sum, weight, at) => sum + weight * (row[at] ?? 0), 0);
}
