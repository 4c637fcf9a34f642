// Learns a sum of features from lists with right answers: the likelihood of what is right in a softmax over each list
// (Z. Cao et al., "Learning to rank: from pairwise approach to listwise approach", 2007).
import { solve } from '../retrieval/maps.mjs';

/** Of the squares of the weights, in standard deviations of their features. */
export const ridge = { usual: 0.03, brief: 0.1 };
const rounds = 60;
const halvings = 20;
/** What a round gains at least: the third digit of a weight is settled then. */
const gainMin = 1e-6;

/**
 * `lists`: `{ rows, rights }`; a list has a row of features for each hit, and for each thing that is right the hits that show it.
 * The weights of `used` features, 0 for the others. The same lists give the same weights.
 */
export function fitLists(lists, used, strength) {
  const { means, deviations } = spreadOf(lists, used);
  const scaled = lists
    .filter(({ rights }) => rights.length > 0)
    .map(({ rows, rights }) => ({
      rows: rows.map((row) => used.map((at, i) => (row[at] - means[i]) / deviations[i])),
      rights,
    }));
  let weights = used.map(() => 0);
  let reached = likelihoodOf(scaled, weights, strength);
  for (let round = 0; round < rounds; round += 1) {
    const slope = weights.map((weight) => -2 * strength * weight);
    const bend = weights.map((_, i) => weights.map((_, j) => (i === j ? 2 * strength : 0)));
    for (const list of scaled) addTo(slope, bend, list, weights, 1 / scaled.length);
    const step = solve(bend, slope);
    const before = reached;
    for (let part = 1, tries = 0; tries < halvings; part /= 2, tries += 1) {
      const moved = weights.map((weight, at) => weight + part * step[at]);
      const likelihood = likelihoodOf(scaled, moved, strength);
      if (!(likelihood > reached)) continue;
      weights = moved;
      reached = likelihood;
      break;
    }
    if (reached - before < gainMin) break;
  }
  const width = lists[0]?.rows[0]?.length ?? 0;
  const found = new Array(width).fill(0);
  used.forEach((at, i) => (found[at] = weights[i] / deviations[i]));
  return found;
}

function likelihoodOf(lists, weights, strength) {
  const sum = lists.reduce((all, { rows, rights }) => {
    const odds = oddsOf(rows, weights);
    const each = rights.map((hits) => Math.log(hits.reduce((some, hit) => some + odds[hit], 0)));
    return all + each.reduce((some, one) => some + one, 0) / rights.length;
  }, 0);
  return sum / lists.length - strength * weights.reduce((all, each) => all + each ** 2, 0);
}

/** The bend of the bound that holds what shows a right thing as it is now (A. Dempster et al., 1977): it never points uphill. */
function addTo(slope, bend, { rows, rights }, weights, share) {
  const odds = oddsOf(rows, weights);
  const mean = meanOf(rows, odds);
  for (const hits of rights) {
    const sum = hits.reduce((all, hit) => all + odds[hit], 0);
    for (const hit of hits)
      rows[hit].forEach((value, at) => {
        slope[at] += (share / rights.length) * (odds[hit] / sum) * value;
      });
  }
  mean.forEach((value, at) => (slope[at] -= share * value));
  rows.forEach((row, hit) => {
    const weight = share * odds[hit];
    if (weight < 1e-12) return;
    for (let i = 0; i < row.length; i += 1)
      for (let j = 0; j < row.length; j += 1)
        bend[i][j] += weight * (row[i] - mean[i]) * (row[j] - mean[j]);
  });
}

function oddsOf(rows, weights) {
  const scores = rows.map((row) => dot(row, weights));
  const highest = scores.reduce((most, each) => Math.max(most, each), -Infinity);
  const odds = scores.map((score) => Math.exp(score - highest));
  const all = odds.reduce((sum, each) => sum + each, 0);
  return odds.map((each) => each / all);
}

function meanOf(rows, odds) {
  const mean = rows[0].map(() => 0);
  rows.forEach((row, hit) => row.forEach((value, at) => (mean[at] += odds[hit] * value)));
  return mean;
}

function spreadOf(lists, used) {
  const rows = lists.flatMap((list) => list.rows);
  const means = used.map((at) => rows.reduce((sum, row) => sum + row[at], 0) / rows.length);
  const deviations = used.map((at, i) => {
    const squares = rows.reduce((sum, row) => sum + (row[at] - means[i]) ** 2, 0);
    return Math.sqrt(squares / rows.length) || 1;
  });
  return { means, deviations };
}

export function dot(row, weights) {
  let sum = 0;
  for (let at = 0; at < weights.length; at += 1) sum += weights[at] * row[at];
  return sum;
}
