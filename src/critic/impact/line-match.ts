/** A pair of texts with more unlike lines is compared by the lines that stand once in both alone. */
const cellsMax = 4_000_000;

/**
 * Which line of one text is which of another, both from 0: in order, as many as possible. `undefined` where there is none.
 * Common ends first, then the lines that are unique in both (B. Cohen's patience diff), then the longest common subsequence
 * of what lies between.
 */
export function matchedLines(
  before: readonly string[],
  after: readonly string[],
): (number | undefined)[] {
  const match = Array.from<number | undefined>({ length: before.length });
  const spans: [number, number, number, number][] = [[0, before.length, 0, after.length]];
  for (let span = spans.pop(); span !== undefined; span = spans.pop()) {
    let [from, to, at, end] = span;
    for (; from < to && at < end && before[from] === after[at]; from += 1, at += 1)
      match[from] = at;
    for (; from < to && at < end && before[to - 1] === after[end - 1]; to -= 1, end -= 1)
      match[to - 1] = end - 1;
    if (from === to || at === end) continue;
    const anchors = anchorsOf(before, after, [from, to, at, end]);
    if (anchors.length === 0) {
      if ((to - from) * (end - at) <= cellsMax) common(before, after, [from, to, at, end], match);
      continue;
    }
    let [left, right] = [from, at];
    for (const [one, other] of [...anchors, [to, end] as const]) {
      spans.push([left, one, right, other]);
      if (one < to) match[one] = other;
      [left, right] = [one + 1, other + 1];
    }
  }
  return match;
}

type Span = readonly [number, number, number, number];

/** Lines that stand once on either side, in the longest order that both have. */
function anchorsOf(
  before: readonly string[],
  after: readonly string[],
  [from, to, at, end]: Span,
): (readonly [number, number])[] {
  const places = new Map<string, { one: number; other: number; times: number; their: number }>();
  for (let line = from; line < to; line += 1) {
    const its = places.get(before[line] ?? '');
    if (its === undefined)
      places.set(before[line] ?? '', { one: line, other: -1, times: 1, their: 0 });
    else its.times += 1;
  }
  for (let line = at; line < end; line += 1) {
    const its = places.get(after[line] ?? '');
    if (its === undefined) continue;
    its.other = line;
    its.their += 1;
  }
  const pairs = [...places.values()]
    .filter(({ times, their }) => times === 1 && their === 1)
    .map(({ one, other }) => [one, other] as const);
  return longestRising(pairs);
}

/** Of pairs in order of the first, the longest run in which the second rises, too. */
function longestRising(
  pairs: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  const tails: number[] = [];
  const previous: number[] = [];
  pairs.forEach(([, other], index) => {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((pairs[tails[middle] ?? 0]?.[1] ?? 0) < other) low = middle + 1;
      else high = middle;
    }
    previous[index] = low > 0 ? (tails[low - 1] ?? -1) : -1;
    tails[low] = index;
  });
  const run: (readonly [number, number])[] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = previous[at] ?? -1) {
    const pair = pairs[at];
    if (pair !== undefined) run.push(pair);
  }
  return run.reverse();
}

function common(
  before: readonly string[],
  after: readonly string[],
  [from, to, at, end]: Span,
  match: (number | undefined)[],
): void {
  const width = end - at + 1;
  const lengths = new Uint32Array((to - from + 1) * width);
  for (let one = to - 1; one >= from; one -= 1)
    for (let other = end - 1; other >= at; other -= 1) {
      const cell = (one - from) * width + (other - at);
      lengths[cell] =
        before[one] === after[other]
          ? (lengths[cell + width + 1] ?? 0) + 1
          : Math.max(lengths[cell + width] ?? 0, lengths[cell + 1] ?? 0);
    }
  for (let one = from, other = at; one < to && other < end;) {
    const cell = (one - from) * width + (other - at);
    if (before[one] === after[other]) {
      match[one] = other;
      one += 1;
      other += 1;
    } else if ((lengths[cell + width] ?? 0) >= (lengths[cell + 1] ?? 0)) one += 1;
    else other += 1;
  }
}
