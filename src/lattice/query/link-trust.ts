/**
 * How surely a link with checked ends belongs to the answer, when the query entered at the right place: of
 * links with trust t, a share t does.
 *
 * The coefficients are fitted by `test/bench/similarity/fit-links.mjs` (maximum likelihood, logistic in the
 * logarithm of the relevance) on generated chains: a question names a function and says in the words of its
 * documentation what a function of another shard does that the first one calls.
 */
export interface LinkTrustModel {
  intercept: number;
  slope: number;
}

export const linkTrustModel: LinkTrustModel = { intercept: 2.89, slope: 1.19 };

/** No link is certain: the name may be right and the question still mean another call. */
export const linkTrustMax = 0.99;

/** `relevance`: 0 to 1, of the link that was followed, with what it inherited from those before it. */
export function linkTrust(relevance: number, model: LinkTrustModel = linkTrustModel): number {
  if (relevance <= 0) return 0;
  const odds = Math.exp(model.intercept + model.slope * Math.log(relevance));
  return Math.min(linkTrustMax, odds / (1 + odds));
}
