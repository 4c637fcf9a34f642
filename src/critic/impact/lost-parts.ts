import type { Change, Pair } from './change.js';
import type { Loss } from './loss.js';
import type { Unit, Version } from './version.js';

const quotedChars = 100;

/** A loss before its place is known. */
export type Part = Pick<Loss, 'kind' | 'severity' | 'text' | 'remedy' | 'words'>;

/** `lines`: of the tree's version, which are gone. */
export function lossAt(
  change: Change,
  { before, after }: Pair,
  lines: { line: number; line_end?: number },
  part: Part,
): Loss {
  // What went into its caller is told there.
  const at = change.lineAfter(lines.line);
  const line = Math.min(Math.max(at, after.line), after.line_end);
  const { line: from, line_end: to = from } = lines;
  return {
    ...{ ...part, unit: before.name, line, line_end: line },
    places: [{ path: change.path, line: from, line_end: to, symbol: before.name }],
  };
}

export function named({ name }: Unit): string {
  return name === '' ? 'this file' : `\`${name}\``;
}

export function short(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > quotedChars ? `${line.slice(0, quotedChars - 1)}…` : line;
}

/** Of the tree's version, as it is written. */
export function written({ view }: Version, line: number, most = 1): string {
  return short(view.lines.slice(line - 1, line - 1 + most).join(' '));
}

export const boundish =
  /(?:^|[a-z_#])(?:[Mm]ax|[Mm]in|[Ll]imit|[Bb]ound|[Tt]imeout|[Dd]eadline|[Qq]uota|[Tt]hreshold|[Aa]ttempts|[Cc]apacity|[Ss]ignal|[Aa]borted)(?![a-z])|^(?:MAX|MIN)_|_(?:MAX|MIN|LIMIT|TIMEOUT|SIZE)(?:_|$)/;

const commonNames = new Set(
  'this if return typeof true false null undefined NULL err ret error rc in instanceof of new'.split(
    ' ',
  ),
);

export function subjectsOf(condition: string): string[] {
  return [...new Set(condition.match(/[A-Za-z_$#][\w$]*/g) ?? [])].filter(
    (name) => !commonNames.has(name),
  );
}

/** As many functions of the file have it, without blanks, as before: it stands in another one now. */
export function isElsewhere({ before, after }: Change, code: string): boolean {
  const times = ({ units }: Version): number =>
    units.filter(({ packed }) => packed.includes(code)).length;
  return times(after) >= times(before);
}

export function lineWith(change: Change, unit: Unit, name: string): number | undefined {
  const { view } = change.before;
  const use = new RegExp(`(?<![\\w$])${name.replace(/[$#]/g, '\\$&')}(?![\\w$])`);
  for (let line = unit.line; line <= unit.line_end; line += 1)
    if (change.isRemoved(line) && use.test(view.lines[line - 1] ?? '')) return line;
  return undefined;
}
