/** First and last of a range of UTF-16 units. */
export type UnitRange = readonly [from: number, to: number];

const unitMax = 0xffff;
const tableUnits = 128;

/** A set of UTF-16 units: constant lookup time for ASCII, logarithmic for the rest. */
export class UnitSet {
  /** In order, and apart from each other. */
  readonly ranges: readonly UnitRange[];
  readonly #table = new Uint8Array(tableUnits);

  constructor(ranges: readonly UnitRange[]) {
    this.ranges = merged(ranges);
    for (const [from, to] of this.ranges) this.#table.fill(1, from, Math.min(to + 1, tableUnits));
  }

  has(unit: number): boolean {
    if (unit < tableUnits) return this.#table[unit] === 1;
    let low = 0;
    let high = this.ranges.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.ranges[middle]?.[1] ?? unitMax) < unit) low = middle + 1;
      else high = middle;
    }
    const [from, to] = this.ranges[low] ?? [1, 0];
    return from <= unit && unit <= to;
  }

  /** All other units. */
  negated(): UnitSet {
    const others: UnitRange[] = [];
    let next = 0;
    for (const [from, to] of this.ranges) {
      if (from > next) others.push([next, from - 1]);
      next = to + 1;
    }
    if (next <= unitMax) others.push([next, unitMax]);
    return new UnitSet(others);
  }
}

function merged(ranges: readonly UnitRange[]): UnitRange[] {
  const found: [number, number][] = [];
  for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last !== undefined && from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

function between(...pairs: readonly string[]): UnitSet {
  return new UnitSet(
    pairs.map((pair): UnitRange => [pair.charCodeAt(0), pair.charCodeAt(pair.length - 1)]),
  );
}

export const digitUnits = between('09');
export const wordUnits = between('09', 'AZ', '__', 'az');
/** White space and line ends of ECMAScript. */
export const spaceUnits = between(
  ...['\t\r', ' ', '\u00a0', '\u1680', '\u2000\u200a', '\u2028\u2029'],
  ...['\u202f', '\u205f', '\u3000', '\ufeff'],
);
/** What `.` finds. */
export const inLineUnits = between('\n', '\r', '\u2028\u2029').negated();
