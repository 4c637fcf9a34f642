/** What a file was where we changed it, and what it is there now: the one place where both differ. */
export interface Splice {
  before: string;
  after: string;
  /** There was no file, and these folders above it were not there, innermost first. */
  made?: string[];
}

export function spliceOf(before: string, after: string): Splice {
  const [from, back] = sameEnds(before, after);
  const middle = (text: string): string => text.slice(from, text.length - back);
  return { before: middle(before), after: middle(after) };
}

/** The text without our change, however much was changed around it; undefined: that cannot be said. */
export function undone(text: string, { before, after }: Splice): string | undefined {
  const place = text.indexOf(after);
  if (after === '' || place === -1 || text.includes(after, place + 1)) return undefined;
  return text.slice(0, place) + before + text.slice(place + after.length);
}

/** Lines around a change that are shown with it. */
const contextLines = 3;

/** As `diff -u` shows it; every change of ours is in one place. */
export function diffOf(
  file: string,
  before: string | undefined,
  after: string | undefined,
): string {
  const [old, its] = [linesOf(before), linesOf(after)];
  const [from, back] = sameEnds(old, its);
  const first = Math.max(0, from - contextLines);
  const behind = old.slice(old.length - back).slice(0, contextLines);
  const range = (lines: readonly string[]): string =>
    `${lines.length === 0 ? 0 : first + 1},${Math.max(0, Math.min(lines.length, lines.length - back + contextLines) - first)}`;
  return [
    `--- ${before === undefined ? '/dev/null' : file}`,
    `+++ ${after === undefined ? '/dev/null' : file}`,
    `@@ -${range(old)} +${range(its)} @@`,
    ...old.slice(first, from).map((line) => ` ${line}`),
    ...old.slice(from, old.length - back).map((line) => `-${line}`),
    ...its.slice(from, its.length - back).map((line) => `+${line}`),
    ...behind.map((line) => ` ${line}`),
  ].join('\n');
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === '') return [];
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === '' ? lines.slice(0, -1) : lines;
}

type Sequence = string | readonly string[];

/** How many stand at the beginning of both, and how many at the end of what is left. */
function sameEnds(one: Sequence, other: Sequence): [number, number] {
  const shorter = Math.min(one.length, other.length);
  let from = 0;
  while (from < shorter && one[from] === other[from]) from += 1;
  let back = 0;
  while (back < shorter - from && one.at(-1 - back) === other.at(-1 - back)) back += 1;
  return [from, back];
}
