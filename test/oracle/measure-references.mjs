import { isPossible, scopedName } from './product.mjs';

/** Constants, variables, types, and functions that are passed on: the lines that use them. */
export async function measureReferences({ truth, product, symbols }) {
  const rows = [];
  for (const { place, kind, definition } of symbols) {
    // What is no function by name: the place of its line is that of the name, and it may begin before that.
    const asked = truth.definitions.has(place)
      ? scopedName(truth, place)
      : `${definition.file}#${definition.name}`;
    const { answer, ms } = await product.references(asked);
    const lines = (sites) => new Set(sites.map((site) => `${site.file_path}:${site.line}`));
    const given = lines(answer.callers.filter((site) => !isPossible(site) && isCertain(site)));
    const wanted = truth.usesOf(place);
    const called = calledAt(truth, place);
    const isJudged = (line) => truth.files.has(line.slice(0, line.lastIndexOf(':')));
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
