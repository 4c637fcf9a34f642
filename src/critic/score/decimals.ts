/**
 * Scores are compared as they are, never rounded to the places that are printed. But 0.90 - 0.70 is 0.20000000000000007 to
 * a computer, and a weighted mean that is 0.92 may be 0.9199999999999999: so scores are compared in units of a
 * thousand-millionth, which is finer than any score that is given.
 */
const unitsPerOne = 1_000_000_000;

/** In whole units. */
export function unitsOf(value: number): number {
  return Math.round(value * unitsPerOne);
}

export function atLeast(value: number, limit: number): boolean {
  return unitsOf(value) >= unitsOf(limit);
}

/** Strictly. */
export function exceeds(value: number, limit: number): boolean {
  return unitsOf(value) > unitsOf(limit);
}

/** Without the dust of the subtraction: 0.9 - 0.7 is 0.2. */
export function difference(now: number, before: number): number {
  return (unitsOf(now) - unitsOf(before)) / unitsPerOne;
}

/** As it is compared. */
export function figure(value: number): string {
  return String(difference(value, 0));
}

/** For the eye: at most four places, and never rounded up to a threshold that it does not reach. */
export function shortFigure(value: number): string {
  const cut = Math.floor(unitsOf(value) / 100_000) / 10_000;
  return cut.toFixed(4).replace(/0{1,2}$/, '');
}

/** Never rounded up. */
export function percent(share: number): string {
  return `${Math.floor(unitsOf(share) / (unitsPerOne / 100))} %`;
}
