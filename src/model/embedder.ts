/** Texts to vectors that are near one another when the texts mean much the same. */
export interface Embedder extends AsyncDisposable {
  /**
   * What made a vector: model, dimensions, digest of the weights, pooling. Vectors of two embedders can be
   * compared when this is the same.
   */
  readonly fingerprint: string;
  /** Numbers in a vector; 0: not known before the first answer. */
  readonly dims: number;
  /**
   * Vectors of length 1 in the order of the texts. Throws EMBEDDING_UNAVAILABLE, EMBEDDING_REFUSED,
   * EMBEDDING_INVALID, and the reason of `signal`.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]>;
}

/** In place. A vector of zeros stays: nothing is known of its text. */
export function toUnitLength(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const each of vector) squares += each * each;
  const length = Math.sqrt(squares);
  if (length > 0)
    for (let at = 0; at < vector.length; at += 1) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}

/** The cosine of two vectors of length 1. */
export function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at += 1) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
