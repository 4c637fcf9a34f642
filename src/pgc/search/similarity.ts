/**
 * How relevant a source is, as a probability: of sources with similarity s, a share s belongs to the answer. A logistic map
 * of what a search knows of its hits, fitted by `test/bench/comprehension/calibrate.mjs` on questions with known answers.
 */
export interface Evidence {
  /** What the ranking says of it. */
  score: number;
  /** Share of the question's mass whose concepts stand in it, 0 to 1. */
  coverage: number;
  /** Share of the question's mass that is this very thing's name. */
  exact: number;
  /** Share of the question's mass whose concepts stand anywhere in what was searched. */
  known: number;
}

/** No source is certain: the words may match and the question still mean something else. */
export const similarityMax = 0.99;

const weights: Readonly<Record<'intercept' | keyof Evidence, number>> = {
  intercept: -4.2,
  score: 2.6,
  coverage: 0.5,
  exact: 2,
  known: 0.5,
};

export function similarityOf(evidence: Evidence): number {
  const { intercept, score, coverage, exact, known } = weights;
  const logit =
    intercept +
    score * evidence.score +
    coverage * evidence.coverage +
    exact * evidence.exact +
    known * evidence.known;
  return Math.min(similarityMax, 1 / (1 + Math.exp(-logit)));
}
