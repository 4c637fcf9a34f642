// How far a stated probability can be trusted. `pairs`: `{ id, said, right }`, right 0 or 1; one counts `weight` times, once by default.

const bins = 10;
const samples = 1000;

/** Of equal mass. */
export function binsOf(pairs) {
  const total = massOf(pairs);
  const found = Array.from({ length: bins }, () => []);
  let before = 0;
  for (const each of pairs.toSorted((one, other) => one.said - other.said)) {
    found[Math.min(bins - 1, Math.floor((before / total) * bins))].push(each);
    before += weightOf(each);
  }
  return found.filter((bin) => bin.length > 0);
}

function weightOf({ weight = 1 }) {
  return weight;
}

function massOf(pairs) {
  return pairs.reduce((sum, each) => sum + weightOf(each), 0);
}

function shareOf(bin, what) {
  return bin.reduce((sum, each) => sum + weightOf(each) * each[what], 0) / massOf(bin);
}

export function lineOf(bin) {
  return [shareOf(bin, 'said').toFixed(2), shareOf(bin, 'right').toFixed(2), bin.length];
}

/** Expected calibration error over bins of equal mass. */
export function errorOf(pairs) {
  return binsOf(pairs).reduce(
    (sum, bin) =>
      sum + (massOf(bin) / massOf(pairs)) * Math.abs(shareOf(bin, 'said') - shareOf(bin, 'right')),
    0,
  );
}

/** How often what is right has the higher value than what is not. */
export function areaOf(pairs) {
  const right = pairs.filter((each) => each.right === 1);
  const wrong = pairs.filter((each) => each.right === 0);
  const won = right.flatMap((one) =>
    wrong.map((other) => (one.said > other.said ? 1 : one.said === other.said ? 0.5 : 0)),
  );
  return won.reduce((sum, each) => sum + each, 0) / won.length;
}

/** 95 % of what a figure is in bootstrap samples over questions: the pairs of one are not independent. */
export function interval(pairs, figure = errorOf) {
  const byId = new Map();
  for (const pair of pairs) byId.set(pair.id, [...(byId.get(pair.id) ?? []), pair]);
  const byQuestion = [...byId.values()];
  let state = 1;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const figures = Array.from({ length: samples }, () =>
    figure(byQuestion.flatMap(() => byQuestion[Math.floor(random() * byQuestion.length)] ?? [])),
  ).sort((one, other) => one - other);
  return [figures[Math.floor(0.025 * samples)], figures[Math.floor(0.975 * samples)]];
}

export function withInterval(pairs, figure) {
  const [low, high] = interval(pairs, figure);
  return `${figure(pairs).toFixed(3)} (95 %: ${low.toFixed(3)} to ${high.toFixed(3)})`;
}

/** Puts the weights of a model into a file of the product. */
export function writtenInto(text, model) {
  const lines = Object.entries(model).map(([name, weight]) => `  ${name}: ${weight.toFixed(2)},`);
  return text.replace(/(= \{\n)(?:  \w+: -?[\d.]+,\n)+(\};)/, `$1${lines.join('\n')}\n$2`);
}
