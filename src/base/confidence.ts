/** Limits of the delegation protocol: above the first is high, from the second on medium. */
export const highAbove = 0.85;
export const mediumFrom = 0.7;

export type Confidence = 'high' | 'medium' | 'low';

/** The mean over the cited sources; an answer without sources is low. */
export function confidenceOf(similarities: readonly number[]): Confidence {
  if (similarities.length === 0) return 'low';
  const mean = similarities.reduce((sum, each) => sum + each, 0) / similarities.length;
  if (mean > highAbove) return 'high';
  return mean >= mediumFrom ? 'medium' : 'low';
}
