/** Parts of a name: `parseAsync` and `parse_async` have two. */
export function partsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((part) => part !== '');
}

/** Edits (one letter more, less, or another) between two words; `max + 1` where there are more than `max`. */
export function edits(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) > max) return max + 1;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at += 1) {
    const next = [at];
    for (let to = 1; to <= other.length; to += 1) {
      const same = one[at - 1] === other[to - 1] ? 0 : 1;
      next.push(Math.min((row[to] ?? 0) + 1, (next[to - 1] ?? 0) + 1, (row[to - 1] ?? 0) + same));
    }
    if (Math.min(...next) > max) return max + 1;
    row = next;
  }
  return row[other.length] ?? 0;
}

/** Letters that a name of this length may be wrong in and still be the same one, misspelt. */
function editsOf(name: string): number {
  return name.length < 6 ? 0 : name.length < 10 ? 1 : 2;
}

/** They differ in a letter or two. */
export function isSlip(name: string, other: string): boolean {
  const max = editsOf(name);
  return max > 0 && edits(name.toLowerCase(), other.toLowerCase(), max) <= max;
}

/**
 * What a name that is nowhere probably means: a name that differs in a letter or two, or in one of at least three parts.
 */
export function nearest(name: string, known: Iterable<string>): string | undefined {
  const parts = partsOf(name);
  const max = editsOf(name);
  let best: { name: string; worth: number } | undefined;
  for (const each of known) {
    if (each === name) continue;
    const count = max === 0 ? 1 : edits(name.toLowerCase(), each.toLowerCase(), max);
    const worth = count <= max ? 100 - count : sharedParts(parts, each);
    if (worth > (best?.worth ?? 0)) best = { name: each, worth };
  }
  return best?.name;
}

/** How many parts are shared, where all but one are, in their order; 0: fewer. */
function sharedParts(parts: readonly string[], other: string): number {
  if (parts.length < 2) return 0;
  const others = partsOf(other);
  if (Math.abs(others.length - parts.length) > 1 || others.length < 2) return 0;
  let begin = 0;
  while (begin < parts.length && parts[begin] === others[begin]) begin += 1;
  let end = 0;
  const left = Math.min(parts.length, others.length) - begin;
  while (end < left && parts.at(-1 - end) === others.at(-1 - end)) end += 1;
  const shared = begin + end;
  const longest = Math.max(parts.length, others.length);
  return shared >= longest - 1 && (longest >= 3 || shared >= 2) ? shared : 0;
}
