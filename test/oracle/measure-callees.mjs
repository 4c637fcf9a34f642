import { isPossible, scopedName } from './product.mjs';
import { isOn } from './truth.mjs';

/** Each function or method with a body: which of its calls into the tree were bound to the right definition. */
export async function measureCallees({ truth, product, symbols }) {
  const rows = [];
  for (const { place, kind } of symbols) {
    const calls = truth.calleesOf(place);
    if (calls.length === 0) continue;
    const { answer, ms } = await product.callees(scopedName(truth, place));
    const bound = answer.callees.filter((each) => each.definition !== '' && !isPossible(each));
    rows.push({ kind, place, ms, ...judged({ truth, calls, bound }) });
  }
  return rows;
}

function judged({ truth, calls, bound }) {
  const isOf = ({ site, target }) => {
    return (each) =>
      each.definition === target && each.file_path === site.file && isOn(site, each.line);
  };
  const wanted = calls.filter(({ via }) => via === 'static');
  const found = wanted.filter((call) => bound.some(isOf(call)));
  // Types that are constructed are no calls.
  const judgedRows = bound.filter((each) => truth.definitions.has(each.definition));
  const isTrue = (each) => truth.leads(each.file_path, each.line, each.definition);
  return {
    wanted: wanted.length,
    found: found.length,
    right: judgedRows.filter((each) => isTrue(each) === true).length,
    invented: judgedRows
      .filter((each) => isTrue(each) === false)
      .map((each) => ({ site: `${each.file_path}:${each.line}`, to: each.definition })),
    missed: wanted
      .filter((call) => !found.includes(call))
      .map(({ site, target }) => ({ site: `${site.file}:${site.line}`, to: target })),
  };
}
