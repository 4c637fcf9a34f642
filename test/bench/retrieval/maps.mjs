// Monotone maps from what is known of a hit to a probability. Pure.

const ridge = 1e-2;
const rounds = 100;

/** `model`: `{ intercept, … }`, a weight for each feature. */
export function logisticValue(row, model, features) {
  const logit = features.reduce((sum, name) => sum + model[name] * row[name], model.intercept);
  return 1 / (1 + Math.exp(-logit));
}

/**
 * Maximum likelihood, with a touch of ridge; a row counts as often as its `weight` says, once by default. More of a feature must never mean less: one that would have
 * a negative weight has none.
 */
export function fitLogistic(rows, features) {
  const without = new Set();
  for (;;) {
    const kept = features.filter((name) => !without.has(name));
    const weights = newton(rows, kept);
    const worst = kept
      .map((name, at) => ({ name, weight: weights[at + 1] }))
      .sort((one, other) => one.weight - other.weight)[0];
    if (worst !== undefined && worst.weight < 0) {
      without.add(worst.name);
      continue;
    }
    const entries = features.map((name) => [name, weights[kept.indexOf(name) + 1] ?? 0]);
    const weightOf = new Map(entries);
    for (const name of without) weightOf.set(name, 0);
    return { intercept: weights[0], ...Object.fromEntries(weightOf) };
  }
}

function newton(rows, features) {
  const weights = new Array(features.length + 1).fill(0);
  for (let round = 0; round < rounds; round += 1) {
    const gradient = weights.map((weight, at) => (at === 0 ? 0 : -ridge * weight));
    const hessian = weights.map((_, i) => weights.map((_, j) => (i === j && i > 0 ? ridge : 0)));
    for (const row of rows) {
      const x = [1, ...features.map((name) => row[name])];
      const p = 1 / (1 + Math.exp(-x.reduce((sum, value, at) => sum + value * weights[at], 0)));
      const { weight = 1 } = row;
      const error = weight * (Number(row.right) - p);
      for (let i = 0; i < weights.length; i += 1) {
        gradient[i] += error * x[i];
        for (let j = 0; j < weights.length; j += 1)
          hessian[i][j] += weight * p * (1 - p) * x[i] * x[j];
      }
    }
    const change = solve(hessian, gradient);
    change.forEach((each, at) => (weights[at] += each));
    if (Math.max(...change.map(Math.abs)) < 1e-7) break;
  }
  return weights;
}

/** Gauss elimination with pivoting. */
export function solve(matrix, vector) {
  const rows = matrix.map((row, at) => [...row, vector[at]]);
  for (let i = 0; i < rows.length; i += 1) {
    const pivot = rows
      .slice(i)
      .reduce((best, row, at) => (Math.abs(row[i]) > Math.abs(rows[best][i]) ? i + at : best), i);
    [rows[i], rows[pivot]] = [rows[pivot], rows[i]];
    for (let k = 0; k < rows.length; k += 1) {
      if (k === i) continue;
      const factor = rows[k][i] / rows[i][i];
      for (let j = i; j < rows[k].length; j += 1) rows[k][j] -= factor * rows[i][j];
    }
  }
  return rows.map((row, at) => row.at(-1) / row[at]);
}

/**
 * Pool adjacent violators (Ayer et al. 1955): steps `[from, share]`, ascending in both, of rows
 * `{ score, right }`. From `from` on the share is right.
 */
export function isotonic(rows) {
  const blocks = [];
  for (const { score, right } of [...rows].sort((one, other) => one.score - other.score)) {
    const last = blocks.at(-1);
    if (last?.to === score) {
      last.right += Number(right);
      last.count += 1;
    } else blocks.push({ from: score, to: score, right: Number(right), count: 1 });
    while (blocks.length > 1) {
      const [below, above] = blocks.slice(-2);
      if (below.right / below.count < above.right / above.count) break;
      blocks.splice(-2, 2, {
        from: below.from,
        to: above.to,
        right: below.right + above.right,
        count: below.count + above.count,
      });
    }
  }
  const rounded = (value) => Number(value.toFixed(3));
  return blocks.map(({ from, right, count }) => [rounded(from), rounded(right / count)]);
}

export function isotonicValue(steps, score) {
  return steps.filter(([from]) => from <= score).at(-1)?.[1] ?? steps[0]?.[1] ?? 0;
}
