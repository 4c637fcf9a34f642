import type { Severity } from '../shapes.js';
import type { ModeName } from '../strategies.js';
import type { Change, Pair } from './change.js';
import type { CodePlace } from './quote.js';
import type { Unit, Version } from './unit.js';

/** What a change takes away or adds, worst first, and the mode that reports it: each asks another question of a change. */
export const lossModes = {
  // How it fails from now on.
  ...{ 'lock-lost': 'fmea', 'result-unchecked': 'fmea', 'release-lost': 'fmea' },
  ...{ 'await-lost': 'fmea', 'handler-lost': 'fmea' },
  // What other code notices, and late.
  ...{ 'name-gone': 'pre-mortem', 'arguments-left': 'pre-mortem', 'field-gone': 'pre-mortem' },
  'error-lost': 'pre-mortem',
  // Defences that are gone, and entry points that are new.
  ...{ 'weakness-new': 'red-team', 'secret-logged': 'red-team', 'check-lost': 'red-team' },
  // Guarantees.
  ...{ 'assertion-lost': 'inversion', 'bound-lost': 'inversion' },
  // What is taken for granted.
  ...{ 'arguments-swapped': 'devils-advocate', 'border-moved': 'devils-advocate' },
} as const satisfies Record<string, ModeName>;
export type LossKind = keyof typeof lossModes;

export interface Loss {
  kind: LossKind;
  severity: Severity;
  /** In the artifact, 1-based. */
  line: number;
  line_end: number;
  /** What is so now, in a sentence. */
  text: string;
  remedy: string;
  /** By which it is known in another version. */
  words: string;
  /** In the tree: what the artifact no longer has comes first. */
  places: CodePlace[];
}

/** A loss before its place is known. */
export type LossPart = Pick<Loss, 'kind' | 'severity' | 'text' | 'remedy' | 'words'>;

/** `line`, `line_end`: of the tree's version, where what is gone stood. `at`: where something else stands in its place. */
export function lossAt(
  change: Change,
  { before, after }: Pair,
  { line: from, line_end: to = from }: { line: number; line_end?: number },
  { at, ...part }: LossPart & { at?: number },
): Loss {
  const line = at ?? Math.min(Math.max(change.lineAfter(from), after.line), after.line_end);
  return {
    ...{ ...part, line, line_end: line },
    places: [{ path: change.path, line: from, line_end: to, symbol: before.name }],
  };
}

export function inUnit({ name }: Unit): string {
  return name === '' ? '' : ` in \`${name}\``;
}

const quotedChars = 100;

export function short(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > quotedChars ? `${line.slice(0, quotedChars - 1)}…` : line;
}

/** Lines of a version, as they are written. */
export function written({ code }: Version, line: number, most = 1): string {
  return short(code.lines.slice(line - 1, line - 1 + most).join(' '));
}
