/**
 * How relevant a hit is, as a probability: of hits with similarity s, a share s answers the question.
 *
 * The coefficients are fitted by `test/bench/similarity/fit.mjs` (maximum likelihood, logistic) on
 * known-item questions: the documentation of a symbol is the question, and the symbol, searched
 * without its documentation, is the one relevant answer; a shard that does not hold it must answer low.
 * README.md has the reliability table on code that the fit did not see.
 */
export interface Features {
  /** Share of the question's idf mass whose concepts stand in the document, times its prior, 0 to 1. */
  coverage: number;
  /** Score over that of the shard's best document: what others answer better is answered there. */
  lead: number;
  /** 1: an identifier of the question is this symbol's very name. */
  exact: number;
}

export interface SimilarityModel {
  intercept: number;
  coverage: number;
  lead: number;
  exact: number;
}

export const similarityModel: SimilarityModel = {
  intercept: -8.17,
  coverage: 5.87,
  lead: 2.99,
  exact: 2.05,
};

/** No hit is certain: a name may match and the question still mean something else. */
export const similarityMax = 0.99;

export function similarityOf(features: Features, model: SimilarityModel = similarityModel): number {
  const logit =
    model.intercept +
    model.coverage * features.coverage +
    model.lead * features.lead +
    model.exact * features.exact;
  return Math.min(similarityMax, 1 / (1 + Math.exp(-logit)));
}
