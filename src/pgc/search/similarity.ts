/**
 * How relevant a source is, as a probability: of sources with similarity s, a share s stands in a file that answers
 * the question. Logistic maps of what a search knows of its hits, fitted by `test/bench/retrieval/fit.mjs`
 * (maximum likelihood, no weight below zero) on questions with known answers; `test/bench/retrieval/results.md` has
 * the reliability on questions that were not fitted, README.md how to fit anew.
 */
export interface Evidence {
  /** Share of the question's idf mass whose concepts stand in the document, times its prior, 0 to 1. */
  coverage: number;
  /** BM25 score of the file around it over the score that no file can exceed, 0 to 1. */
  context: number;
  /** Share of the question's mass that is this very thing's name. */
  exact: number;
  /** Score less that of the best hit in another file, -1 to 1: who stands alone is rarely wrong. */
  margin: number;
  /** What the hits in the same file have of the scores of all. */
  share: number;
  /** Share of the question's mass whose concepts stand anywhere in what was searched. */
  known: number;
  /** Cosine of the model that has read both; absent: there was none, or no time. */
  judged?: number;
}

const features = ['coverage', 'context', 'exact', 'margin', 'share', 'known'] as const;
type Feature = (typeof features)[number] | 'judged';
type SimilarityModel = Readonly<Record<'intercept' | Feature, number>>;

/** Where no model has judged. */
export const wordsModel: SimilarityModel = {
  intercept: -5.05,
  coverage: 3.29,
  context: 0.19,
  exact: 0.97,
  margin: 1.32,
  share: 2.72,
  known: 1.81,
  judged: 0,
};

export const judgedModel: SimilarityModel = {
  intercept: -5.89,
  coverage: 1.35,
  context: 0.67,
  exact: 0,
  margin: 1.68,
  share: 1.52,
  known: 2.03,
  judged: 5,
};

/** No source is certain: the words may match and the question still mean something else. */
export const similarityMax = 0.99;

export function similarityOf(evidence: Evidence): number {
  const { judged = 0 } = evidence;
  const model = evidence.judged === undefined ? wordsModel : judgedModel;
  const said = features.reduce((sum, name) => sum + model[name] * evidence[name], 0);
  return probability(model.intercept + said + model.judged * judged);
}

function probability(logit: number): number {
  return Math.min(similarityMax, 1 / (1 + Math.exp(-logit)));
}
