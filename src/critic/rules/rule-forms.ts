import { LinearPattern } from '../../base/pattern/linear-pattern.js';
import { pathGlob } from '../../pgc/source/path-glob.js';
import type { Level, Rule, RuleCheck } from './rule.js';

/** A rule as it is written. */
export type Written = Record<string, unknown> | null | undefined;

const levelWords: Readonly<Record<string, Level>> = {
  ...{ HARD: 'HARD', MUST: 'HARD', 'MUST NOT': 'HARD', SHALL: 'HARD', NEVER: 'HARD' },
  ...{ MEDIUM: 'MEDIUM', SHOULD: 'MEDIUM', SOFT: 'SOFT', MAY: 'SOFT', CONSIDER: 'SOFT' },
};
const known = new Set([
  'id',
  'level',
  'text',
  'pattern',
  'absent',
  'required_section',
  'max_lines',
  'path_glob',
  'applies_to',
]);
/** A longer one is no id, text or pattern of a rule. */
const charsMax = 500;
const checksMax = 20;

/** Reads one rule. A word that is not known is wrong: it could be the one that matters, misspelt. */
export function ruleOf(
  written: Written,
  own: Pick<Rule, 'file' | 'line' | 'appliesTo' | 'isGovernance'>,
): Rule | { wrong: string } {
  if (typeof written !== 'object' || written === null) return { wrong: 'it is no mapping' };
  const strange = Object.keys(written).find((key) => !known.has(key));
  if (strange !== undefined) return { wrong: `there is no field ${strange.slice(0, charsMax)}` };
  const { id, level = 'HARD', text = '' } = written;
  if (typeof id !== 'string' || id === '' || id.length > charsMax) return { wrong: 'it has no id' };
  const levelRead = typeof level === 'string' ? levelWords[level.toUpperCase()] : undefined;
  if (levelRead === undefined) return { wrong: `${id}: its level is none of HARD, MEDIUM, SOFT` };
  if (typeof text !== 'string' || text.length > charsMax)
    return { wrong: `${id}: its text is none` };
  const checks = checksOf(written);
  if (typeof checks === 'string') return { wrong: `${id}: ${checks}` };
  if (checks.length === 0 && text === '') return { wrong: `${id}: it says nothing` };
  const appliesTo = strings(written.applies_to);
  const wrongGlob = appliesTo?.find((glob) => globWrong(glob));
  if (appliesTo === undefined || wrongGlob !== undefined)
    return { wrong: `${id}: applies_to is no list of paths` };
  const scope = appliesTo.length > 0 ? appliesTo : own.appliesTo;
  return {
    ...own,
    id,
    level: levelRead,
    text: text === '' ? saidOf(checks) : text,
    checks,
    appliesTo: scope,
  };
}

/** What is wrong with them, or the checks. */
export function checksOf(written: Record<string, unknown>): RuleCheck[] | string {
  const checks: RuleCheck[] = [];
  for (const kind of ['pattern', 'absent'] as const)
    for (const pattern of strings(written[kind]) ?? ['\\']) {
      const wrong = patternWrong(pattern);
      if (wrong !== undefined) return `${kind}: ${wrong}`;
      checks.push({ kind, pattern });
    }
  const titles = strings(written.required_section);
  if (titles === undefined) return 'required_section is no title';
  for (const title of titles) checks.push({ kind: 'required_section', title });
  const { max_lines: lines } = written;
  if (lines !== undefined) {
    if (!Number.isSafeInteger(lines) || (lines as number) < 1)
      return 'max_lines is no number of lines';
    checks.push({ kind: 'max_lines', lines: lines as number });
  }
  const globs = strings(written.path_glob);
  if (globs === undefined || globs.some(globWrong)) return 'path_glob is no pattern of a path';
  for (const glob of globs) checks.push({ kind: 'path_glob', glob });
  return checks.length > checksMax ? `it has more than ${checksMax} checks` : checks;
}

export function saidOf(checks: readonly RuleCheck[]): string {
  return checks
    .map((check) => {
      if (check.kind === 'pattern') return `a line matches /${check.pattern}/`;
      if (check.kind === 'absent') return `no line matches /${check.pattern}/`;
      if (check.kind === 'required_section') return `there is a section "${check.title}"`;
      if (check.kind === 'max_lines') return `it has at most ${check.lines} lines`;
      return `it lies at ${check.glob}`;
    })
    .join('; ');
}

/** Absent: none. Undefined: it is something else. */
function strings(value: unknown): string[] | undefined {
  const all = value === undefined ? [] : [value].flat();
  const isRight = (each: unknown): each is string =>
    typeof each === 'string' && each !== '' && each.length <= charsMax;
  return all.every(isRight) ? all : undefined;
}

function patternWrong(pattern: string): string | undefined {
  try {
    new LinearPattern(pattern);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function globWrong(glob: string): boolean {
  try {
    pathGlob(glob, { classes: true, below: 'plain' });
    return false;
  } catch {
    return true;
  }
}
