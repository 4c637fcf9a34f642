/** No source is certain: the words may match and the question still mean something else. */
export const similarityMax = 0.99;

/** Fitted by `test/bench/comprehension/calibrate.mjs` on questions with known answers, and on some that have none. */
const weights = {
  intercept: -3.74,
  score: 1.62,
};

/**
 * How relevant a source is, as a probability: of sources with similarity s, a share s is a function that a right answer must
 * name. `score`: what the ranking says of it.
 */
export function similarityOf(score: number): number {
  const logit = weights.intercept + weights.score * score;
  return Math.min(similarityMax, 1 / (1 + Math.exp(-logit)));
}
