import { isPossible, scopedName } from './product.mjs';

/** Constants, variables, types, and functions that are passed on: the lines that use them. */
export async function measureReferences({ truth, product, symbols }) {
  const rows = [];
  for (const { place, kind, definition } of symbols) {
    const asked = askedFor(truth, place, definition);
    const { answer, ms } = await product.references(asked);
    const lines = (sites) => new Set(sites.map((site) => `${site.file_path}:${site.line}`));
    const given = lines(answer.callers.filter((site) => !isPossible(site) && isCertain(site)));
    const wanted = truth.usesOf(place);
    const called = calledAt(truth, place);
    const isJudged = (line) => truth.isJudged(definition.name, line);
    rows.push({
      ...{ kind, asked, ms, isKnown: answer.definitions.length > 0 },
      wanted: wanted.size,
      found: [...wanted].filter((line) => given.has(line)).length,
      missed: [...wanted].filter((line) => !given.has(line)),
      invented: [...given].filter(
        (line) => isJudged(line) && !wanted.has(line) && !called.has(line),
      ),
      isNone: given.size + answer.possible_total === 0,
    });
  }
  return rows;
}

/** By name: a line is that of the name, and a definition may begin before it. A method may have the name of a field. */
function askedFor(truth, place, { file, container = '', name, start }) {
  const isLike = (other) =>
    other?.file === file && (other.container ?? '') === container && other.name === name;
  if (truth.definitions.has(place))
    return [...truth.named.values()].some(isLike) ? place : scopedName(truth, place);
  const isShared = truth
    .definitionsNamed(name)
    .some((other) => isLike(truth.definitions.get(other)));
  if (isShared && start !== undefined) return `${file}:${start}`;
  return `${file}#${container === '' ? '' : `${container}.`}${name}`;
}

/** Where it is called, also under the name of what holds it: there it is right, and not asked for. */
function calledAt(truth, place) {
  if (!truth.definitions.has(place)) return new Set();
  const { static: own, value } = truth.callersOf(place);
  return new Set(
    [...own, ...value].flatMap(({ file, line, start }) => [`${file}:${line}`, `${file}:${start}`]),
  );
}

/** A call through an interface does not name the method. */
function isCertain({ certainty }) {
  return certainty !== 'dispatch';
}
