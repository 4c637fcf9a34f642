import { LinearPattern } from '../../base/pattern/linear-pattern.js';
import { normalised } from '../finding.js';
import { pathGlob } from '../../pgc/source/path-glob.js';
import type { MarkdownText } from '../artifact/markdown.js';
import type { Rule, RuleCheck } from './rule.js';

/** What became of one rule. */
export interface Judged {
  rule: Rule;
  /** `unjudged`: only a reader can. */
  verdict: 'met' | 'broken' | 'unjudged' | 'elsewhere';
  /** Where it is broken; 0: nowhere in particular. */
  line: number;
  why: string;
}

/** Of all patterns of a review: characters gone through, each in at most `stepsMax` steps. */
const charsMax = 40_000_000;
/** Between two looks at the signal. */
const charsAtOnce = 1_000_000;

/** Each rule on its own. Throws what the signal says. */
export async function applyRules(
  rules: readonly Rule[],
  { path, read, signal }: { path: string; read: MarkdownText; signal: AbortSignal },
): Promise<Judged[]> {
  const work = { chars: 0, seen: 0 };
  const judged: Judged[] = [];
  for (const rule of rules) {
    signal.throwIfAborted();
    if (work.chars - work.seen > charsAtOnce) {
      work.seen = work.chars;
      await new Promise(setImmediate);
    }
    judged.push(judge(rule, path, read, work));
  }
  return judged;
}

function judge(rule: Rule, path: string, read: MarkdownText, work: { chars: number }): Judged {
  const isMeant = rule.appliesTo.length === 0 || rule.appliesTo.some((glob) => lies(path, glob));
  if (!isMeant) return { rule, verdict: 'elsewhere', line: 0, why: 'it is for other files' };
  if (rule.checks.length === 0)
    return { rule, verdict: 'unjudged', line: 0, why: 'only a reader can judge it' };
  for (const check of rule.checks) {
    if (work.chars > charsMax)
      return { rule, verdict: 'unjudged', line: 0, why: 'too much text for so many patterns' };
    const broken = brokenAt(check, path, read, work);
    if (broken !== undefined) return { rule, verdict: 'broken', ...broken };
  }
  return { rule, verdict: 'met', line: 0, why: '' };
}

function brokenAt(
  check: RuleCheck,
  path: string,
  read: MarkdownText,
  work: { chars: number },
): { line: number; why: string } | undefined {
  const { lines } = read;
  if (check.kind === 'path_glob')
    return lies(path, check.glob) ? undefined : { line: 0, why: `${path} is not ${check.glob}` };
  if (check.kind === 'max_lines') {
    const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
    const why = `it has ${count} lines, ${check.lines} are allowed`;
    return count <= check.lines ? undefined : { line: check.lines + 1, why };
  }
  if (check.kind === 'required_section') {
    const isThere = read.headings.some(({ title }) => sameTitle(title, check.title));
    return isThere ? undefined : { line: 0, why: `no heading says "${check.title}"` };
  }
  const pattern = new LinearPattern(check.pattern);
  const found = lines.findIndex((line) => {
    work.chars += line.length;
    return pattern.test(line);
  });
  if (check.kind === 'absent')
    return found < 0 ? undefined : { line: found + 1, why: `matches /${check.pattern}/` };
  return found >= 0 ? undefined : { line: 0, why: `no line matches /${check.pattern}/` };
}

function lies(path: string, glob: string): boolean {
  return pathGlob(glob, { classes: true, below: 'plain' }).matches(path);
}

/** `2.1 Rollback plan` is `rollback plan`. */
function sameTitle(one: string, other: string): boolean {
  const plain = (title: string): string => normalised(title.replace(/^[\d.\s§)]+/, ''));
  return plain(one) === plain(other);
}
