/** Judges by meaning what was found by words. */
export interface Reranker {
  /**
   * How near each text is to the question, 0 to 1, in their order, the best candidates first; undefined for those
   * that the time was too short for. Rejects with the reason of `signal`.
   */
  scores(
    question: string,
    texts: readonly string[],
    budgetMs: number,
    signal?: AbortSignal,
  ): Promise<readonly (number | undefined)[]>;
}
