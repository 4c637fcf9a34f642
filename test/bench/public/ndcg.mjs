// The metric of the benchmark, to the letter: what is compared with published figures must be counted as they were.

const depth = 10;

/** Either may be given from a deeper root. */
function isSamePath(one, other) {
  return one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`);
}

/** `lines`: of a place, where it has any; a target without a span is met by its file. */
function covers({ path, lines }, target) {
  if (!isSamePath(path, target.path)) return false;
  if (target.start_line === undefined || lines === undefined) return true;
  return lines[0] <= target.end_line && target.start_line <= lines[1];
}

function gainAt(index) {
  return 1 / Math.log2(index + 2);
}

/**
 * Binary NDCG of the first ten places: each target counts where it is first covered, two at one rank once; the best that
 * could be has all targets, ten at most.
 */
export function ndcgOf(places, targets) {
  const first = places.slice(0, depth);
  const ranks = new Set(targets.map((target) => first.findIndex((each) => covers(each, target))));
  ranks.delete(-1);
  const gained = [...ranks].reduce((sum, rank) => sum + gainAt(rank), 0);
  const count = Math.min(depth, targets.length);
  const ideal = Array.from({ length: count }, (_, at) => gainAt(at)).reduce((a, b) => a + b, 0);
  return ideal === 0 ? 0 : gained / ideal;
}

/** Each file once, without lines. */
export function filesOf(places) {
  return [...new Set(places.map(({ path }) => path))].map((path) => ({ path }));
}

/** Lists of files as one: G. Cormack et al., "Reciprocal Rank Fusion", 2009, with its constant of 60. */
export function fused(...lists) {
  const scores = new Map();
  for (const list of lists)
    filesOf(list).forEach(({ path }, at) =>
      scores.set(path, (scores.get(path) ?? 0) + 1 / (60 + at + 1)),
    );
  return [...scores].sort((one, other) => other[1] - one[1]).map(([path]) => ({ path }));
}
