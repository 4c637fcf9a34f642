/** Limits of the delegation protocol: above the first is high, from the second on medium. */
export const highAbove = 0.85;
export const mediumFrom = 0.7;

export type Confidence = 'high' | 'medium' | 'low';

/** Rounding step: finer than any similarity, coarser than floating-point errors. */
const meanSteps = 1e12;

/** 0 of none. */
export function meanOf(values: readonly number[]): number {
  if (values.length === 0) return 0;
  const mean = values.reduce((sum, each) => sum + each, 0) / values.length;
  return Math.round(mean * meanSteps) / meanSteps;
}

/** The mean over the cited sources; an answer without sources is low. */
export function confidenceOf(similarities: readonly number[]): Confidence {
  if (similarities.length === 0) return 'low';
  const mean = meanOf(similarities);
  if (mean > highAbove) return 'high';
  return mean >= mediumFrom ? 'medium' : 'low';
}
