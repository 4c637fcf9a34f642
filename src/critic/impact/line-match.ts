/** Texts with more lines added and removed between their common ends are compared by those ends alone. */
const editsMax = 2_000;

/**
 * Which line of one text is which of another, both from 0: in order, as many as possible. `undefined` where there is none.
 * E. Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1986).
 */
export function matchedLines(
  before: readonly string[],
  after: readonly string[],
): (number | undefined)[] {
  const match = Array.from<number | undefined>({ length: before.length });
  let from = 0;
  let [to, end] = [before.length, after.length];
  for (; from < to && from < end && before[from] === after[from]; from += 1) match[from] = from;
  for (; to > from && end > from && before[to - 1] === after[end - 1]; to -= 1, end -= 1)
    match[to - 1] = end - 1;
  for (const [one, other] of common(before.slice(from, to), after.slice(from, end)))
    match[from + one] = from + other;
  return match;
}

/** Pairs of equal lines of a longest common subsequence; none where the texts differ by more than `editsMax` lines. */
function common(before: readonly string[], after: readonly string[]): [number, number][] {
  const most = Math.min(before.length + after.length, editsMax);
  /** Furthest line of `before` on each diagonal, by the number of edits; diagonal `k` is at `k + edits + 1`. */
  const rounds: Int32Array[] = [];
  let last = new Int32Array(3);
  for (let edits = 0; edits <= most; edits += 1) {
    const furthest = new Int32Array(2 * edits + 5);
    rounds.push(last);
    for (let k = -edits; k <= edits; k += 2) {
      let one = startOf(last, k, edits);
      while (one < before.length && one - k < after.length && before[one] === after[one - k])
        one += 1;
      furthest[k + edits + 2] = one;
      if (one >= before.length && one - k >= after.length) return pairsOf(rounds, one, k);
    }
    last = furthest;
  }
  return [];
}

/** A line is added where that has led further, otherwise one is removed. `last`: of one edit less. */
function startOf(last: Int32Array, k: number, edits: number): number {
  return isAdded(last, k, edits) ? at(last, k + 1, edits) : at(last, k - 1, edits) + 1;
}

function isAdded(last: Int32Array, k: number, edits: number): boolean {
  return k === -edits || (k !== edits && at(last, k - 1, edits) < at(last, k + 1, edits));
}

function at(last: Int32Array, k: number, edits: number): number {
  return last[k + edits + 1] ?? 0;
}

function pairsOf(rounds: readonly Int32Array[], end: number, diagonal: number): [number, number][] {
  const pairs: [number, number][] = [];
  let [one, k] = [end, diagonal];
  for (let edits = rounds.length - 1; edits >= 0; edits -= 1) {
    const last = rounds[edits] ?? new Int32Array();
    const start = edits === 0 ? 0 : startOf(last, k, edits);
    for (; one > start; one -= 1) pairs.push([one - 1, one - 1 - k]);
    if (edits === 0) break;
    const added = isAdded(last, k, edits);
    one = added ? start : start - 1;
    k += added ? 1 : -1;
  }
  return pairs;
}
