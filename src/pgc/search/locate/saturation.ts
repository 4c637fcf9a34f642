/**
 * BM25: S. Robertson, H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009. `k1`: how slowly a word
 * that comes again counts less; `b`: how far the length counts.
 */
interface Saturation {
  k1: number;
  b: number;
}

export const usual: Saturation = { k1: 1.2, b: 0.75 };
/** One word of a title stands for itself; those of a description are as many as the file has to say about it. */
export const once: Saturation = { k1: 0.5, b: 0.3 };
export const often: Saturation = { k1: 4, b: 0.9 };
/** The most that a word is worth, with any saturation. */
export const wordMax = usual.k1 + 1;

/** `length`: by the mean length. */
export function saturated(count: number, length: number, { k1, b }: Saturation): number {
  return count === 0 ? 0 : (count * wordMax) / (count + k1 * (1 - b + b * length));
}
