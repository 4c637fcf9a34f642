import type { CodeView } from './code-view.js';

export const gapRules = [
  'ERROR_SWALLOWED',
  'ERROR_CATCH_ALL',
  'LOOP_WITHOUT_END',
  'WAIT_WITHOUT_END',
  'MEMORY_UNCHECKED',
] as const;
export type GapRule = (typeof gapRules)[number];

/** Something that the text itself shows to be missing. */
export interface Gap {
  rule: GapRule;
  line_start: number;
  line_end: number;
  /** What is so, in a clause that begins with a small letter. */
  what: string;
  /** What happens then. */
  then: string;
  remedy: string;
  /** A remark stands there which says why. */
  isExplained: boolean;
}

/** Places of one pattern that are looked at: what each costs is bounded, and so is all of it. */
export const placesMax = 200;

/** A remark in the place, on its line, or on the line above. */
export function isSaid(view: CodeView, from: number, to: number): boolean {
  const { line_start, line_end } = placeOf(view, from, to);
  return view.comments.some(
    (each) => each.line_end >= line_start - 1 && each.line_start <= line_end && each.text !== '',
  );
}

export function* firstOf<T>(all: Iterable<T>, most: number): Generator<T> {
  let count = 0;
  for (const each of all) {
    if ((count += 1) > most) return;
    yield each;
  }
}

export function placeOf(
  view: CodeView,
  from: number,
  to: number,
): { line_start: number; line_end: number } {
  return { line_start: view.lineOf(from), line_end: view.lineOf(Math.max(from, to)) };
}
