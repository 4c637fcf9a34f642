import type { Component, FileKnowledge, Impact } from './impact.js';
import { plural } from './phrases.js';

/** A figure from 1 to 10 with the facts behind it; null: they are not known. */
export interface Rating {
  value: number | null;
  why: string;
}

const unknown = (why: string): Rating => ({ value: null, why });
const rated = (value: number, why: readonly string[]): Rating => ({
  value: Math.min(10, Math.max(1, value)),
  why: why.join(', '),
});

/** How figures are made; printed with every table. */
export const ratingRules = [
  '**S** (severity) by users within three calls, tests aside: 1–2 → 3, 3–5 → 4, 6–20 → 5, 21–100 → 6, 101–1000 → 7, more → 8; at least 5, 7, 9 for a weakness in it that the security rules rate medium, high, critical; +1 where it can be reached from an entry point.',
  '**O** (occurrence) by decisions in its text: up to 5 → 2, 10 → 3, 20 → 5, 40 → 6, more → 7; +1 from 10 commits of its file, +2 from 30; +2 where the text shows that the error is dropped.',
  '**D** (detection; 10: unseen) by tests that call it: three or more directly → 2, one or two → 3, only through others → 5, none found → 8; −1 where it asserts something or checks a bound. A figure is `-` where the facts for it are not known: no index, no text, no tests in the tree, a call through a table, behind which tests cannot be followed, or calls of a member of the same name that may be of another.',
  'RPN = S × O × D: above 200 critical, 100–200 high, 50–99 medium, below low. A row with a `-` has none.',
];

const reachSteps: readonly (readonly [most: number, value: number])[] = [
  ...([
    [2, 3],
    [5, 4],
    [20, 5],
    [100, 6],
    [1_000, 7],
  ] as const),
];
const threatLeast: Readonly<Record<string, number>> = { medium: 5, high: 7, critical: 9 };

export function severityOf({ reach, threats }: Component): Rating {
  if (reach === undefined) return unknown('who uses it is not known');
  const { consumers, openings, isHeld, isMore, alike } = reach;
  const least = worstOf(threats);
  // Code that exists is used: by a table, a macro, a framework, or by a name that is not unique.
  if (consumers === 0 && least === 0) {
    if (isHeld) return unknown('it is called through a table');
    const isShared = alike.users.length > 0;
    return unknown(isShared ? 'calls of its name may be of another' : 'no user was found');
  }
  if (consumers === 0 && isHeld)
    return rated(least, [`called through a table, ${threatWords(threats)}`]);
  const why = [`${isMore ? 'at least ' : ''}${plural(consumers, 'user')}`];
  let value = reachSteps.find(([most]) => consumers <= most)?.[1] ?? 8;
  if (least > 0) {
    why.push(threatWords(threats));
    value = Math.max(value, least);
  }
  if (openings.length > 0) {
    why.push('reachable from an entry point');
    value += 1;
  }
  return rated(value, why);
}

function worstOf(threats: Component['threats']): number {
  return Math.max(0, ...threats.map(({ severity }) => threatLeast[severity] ?? 0));
}

function threatWords(threats: Component['threats']): string {
  return [...new Set(threats.map(({ type, severity }) => `${type} (${severity})`))]
    .slice(0, 3)
    .join(', ');
}

const branchSteps: readonly (readonly [most: number, value: number])[] = [
  ...([
    [5, 2],
    [10, 3],
    [20, 5],
    [40, 6],
  ] as const),
];

/** `isShown`: the text shows that nothing is done about the failure. */
export function occurrenceOf(
  { branches }: Component,
  file: Pick<FileKnowledge, 'commits'> | undefined,
  isShown: boolean,
): Rating {
  if (branches === undefined) return unknown('its text is not one function');
  const why = [plural(branches, 'path')];
  let value = branchSteps.find(([most]) => branches <= most)?.[1] ?? 7;
  const commits = file?.commits ?? 0;
  if (commits >= 10) {
    why.push(plural(commits, 'commit'));
    value += commits >= 30 ? 2 : 1;
  }
  if (isShown) {
    why.push('the error is dropped');
    value += 2;
  }
  return rated(value, why);
}

export function detectionOf({ reach, checks }: Component, { hasTests }: Impact): Rating {
  if (reach === undefined || !hasTests) return unknown('no tests are known');
  const { tests, testsDirect, isHeld, isMore, alike } = reach;
  const isChecked = checks.some(({ rule }) => rule !== 'complexity');
  const why: string[] = [];
  let value = 8;
  if (testsDirect > 0) {
    value = testsDirect >= 3 ? 2 : 3;
    why.push(`${plural(testsDirect, 'test')} directly`);
  } else if (tests.length > 0) {
    value = 5;
    why.push('tests through others');
  } else if (isHeld || isMore) return unknown('tests cannot be followed to it');
  else if (alike.tests.length > 0) return unknown('tests call something of its name');
  else why.push('no test found');
  if (isChecked) {
    value -= 1;
    why.push('checks something itself');
  }
  return rated(value, why);
}

export function rpnOf(...ratings: readonly Rating[]): number | null {
  return ratings.reduce<number | null>(
    (product, { value }) => (product === null || value === null ? null : product * value),
    1,
  );
}

export function shown(value: number | null): string {
  return value === null ? '-' : String(value);
}
