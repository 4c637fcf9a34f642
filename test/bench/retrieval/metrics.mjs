// What the tables count. Pure: lists and numbers in, numbers out.

const bins = 10;
/** Who opens a citation sees so many lines around it. */
const nearLines = 10;

/** `Container.name`, `path#name`, `#name` → `name`. */
export function plainName(symbol) {
  return symbol.split(/[.#:]/).at(-1);
}

/**
 * Positions of the answers that a place `{ path, symbols, lines }` is. `level`: `file` looks at the path alone;
 * `place` also at its symbols where the answer names one, and at its lines where the answer stands in one.
 */
export function answersAt({ path, symbols = [], lines }, answers, level) {
  const names = symbols.map(plainName);
  return answers.flatMap((answer, at) => {
    if (answer.path !== path) return [];
    if (level === 'file') return [at];
    const isNamed = answer.symbol === undefined || names.includes(plainName(answer.symbol));
    return isNamed && (answer.line === undefined || isNear(answer.line, lines)) ? [at] : [];
  });
}

/** `lines`: first and last of what is cited; a whole file is near nothing in particular. */
function isNear(line, lines) {
  return lines !== undefined && lines[0] - nearLines <= line && line <= lines[1] + nearLines;
}

/**
 * `right`: whether each place of a ranking is an answer. `isNew`: whether it is one that no earlier place was.
 * `total`: the distinct answers; at the level of files several in one file are one.
 */
export function judged(ranking, answers, level) {
  const distinct =
    level === 'place'
      ? answers
      : [...new Set(answers.map(({ path }) => path))].map((path) => ({ path }));
  const seen = new Set();
  const right = [];
  const isNew = [];
  for (const place of ranking) {
    const found = answersAt(place, distinct, level);
    right.push(found.length > 0);
    isNew.push(found.some((at) => !seen.has(at)));
    for (const at of found) seen.add(at);
  }
  return { right, isNew, total: distinct.length };
}

/** 1: a right place is among the first `k`. */
export function hitAt({ right }, k) {
  return right.slice(0, k).includes(true) ? 1 : 0;
}

/** One over the rank of the first right place; 0 without one. */
export function reciprocalRank({ right }) {
  const at = right.indexOf(true);
  return at < 0 ? 0 : 1 / (at + 1);
}

/** Järvelin and Kekäläinen's, with gain 1 for an answer that was not found before it. */
export function ndcgAt({ isNew, total }, k) {
  const discount = (at) => 1 / Math.log2(at + 2);
  const gained = isNew.slice(0, k).reduce((sum, gain, at) => sum + (gain ? discount(at) : 0), 0);
  let ideal = 0;
  for (let at = 0; at < Math.min(k, total); at += 1) ideal += discount(at);
  return ideal === 0 ? 0 : gained / ideal;
}

/**
 * Of `{ stated, right }`: what was stated and what was true, by tenths of what was stated; the expected
 * calibration error (Naeini et al. 2015, ten bins of equal width) and the Brier score.
 */
export function reliability(rows) {
  const tenths = Array.from({ length: bins }, () => ({ count: 0, stated: 0, right: 0 }));
  let squared = 0;
  for (const { stated, right } of rows) {
    const bin = tenths[Math.min(bins - 1, Math.floor(stated * bins))];
    bin.count += 1;
    bin.stated += stated;
    bin.right += Number(right);
    squared += (stated - Number(right)) ** 2;
  }
  const apart = tenths.reduce((sum, { stated, right }) => sum + Math.abs(stated - right), 0);
  return {
    count: rows.length,
    tenths: tenths.map(({ count, stated, right }) => ({
      count,
      stated: count === 0 ? NaN : stated / count,
      right: count === 0 ? NaN : right / count,
    })),
    error: rows.length === 0 ? NaN : apart / rows.length,
    brier: rows.length === 0 ? NaN : squared / rows.length,
  };
}
