import { lookAt } from '../checks/all.js';
import { quoted, type Checked } from '../checks/check.js';
import { linksWithin } from '../checks/references.js';
import type { Found } from '../finding.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { applyRules, type Judged } from '../rules/apply-rules.js';
import { readRules } from '../rules/read-rules.js';
import { levels, type Level } from '../rules/rule.js';
import type { Finding, Section, Severity } from '../shapes.js';
import { plural } from '../impact/phrases.js';
import { examinedOf, findingsOf, listed, sectionsOf, told } from './looked.js';

const severityOf: Readonly<Record<Level, Severity>> = {
  ...{ HARD: 'critical', MEDIUM: 'major', SOFT: 'minor' },
};
/**
 * Rules that always hold: no secret in the open, no half of a merge, no link within the document
 * that leads nowhere. None of them is governance.
 */
const builtIn: readonly {
  id: string;
  level: Level;
  rule: string;
  text: string;
  /** What was looked at for it, as a check calls it; absent: every line. */
  of?: string;
}[] = [
  {
    id: 'BUILT-IN-1',
    level: 'HARD',
    rule: 'SECRET_EXPOSED',
    text: 'The text holds no secret of a form that is known.',
  },
  {
    id: 'BUILT-IN-2',
    level: 'HARD',
    rule: 'MERGE_CONFLICT',
    text: 'The text holds no mark of an unfinished merge.',
  },
  {
    id: 'BUILT-IN-3',
    level: 'MEDIUM',
    rule: 'ANCHOR_BROKEN',
    text: 'Links within the document lead somewhere.',
    of: linksWithin,
  },
];

const brokenRule = '_RULE_BROKEN';

/** Checks an artifact against written rules. Those that only a reader can judge are listed as unjudged. */
export const constitutional: Mode = {
  name: 'constitutional',
  sections: [
    'Compliance Summary',
    'HARD Rule Evaluation',
    'MEDIUM Rule Evaluation',
    'SOFT Rule Evaluation',
    'Violation Details',
    'Compliance Score',
  ],
  optionalSections: ['SOFT Rule Evaluation'],
  text: 'critic-constitutional',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const { rules, unread } = readRules(input.rules);
    const { path } = input.artifact;
    const applied = await applyRules(rules, { path, read, signal: input.signal });
    const own = builtIns(checked);
    const judged = [...own.judged, ...applied.filter(({ verdict }) => verdict !== 'elsewhere')];
    const broken = applied.filter(({ verdict }) => verdict === 'broken');
    const faults = [...own.faults, ...broken.map(faultOf)];
    const findings = await findingsOf('constitutional', faults, input, read.isCode);
    const open = judged.filter(({ verdict }) => verdict === 'unjudged');
    return examinedOf({
      findings,
      abort: isGoverned(broken, input) ? 'GOVERNANCE_VIOLATION' : '',
      sections: compliance(judged, findings, unread.length),
      ...(unread.length > 0 && { gap: 'RULES_UNREAD' as const }),
      unable: [
        // What a check could not see is no matter of rules.
        ...unable.filter((each) => checked.every((its) => its.unable !== each)),
        ...unread.map((each) => `to read a rule: ${each}`),
        ...(rules.length === 0 && unread.length === 0
          ? ['to hold it against rules: none were given']
          : []),
        ...(open.length > 0
          ? [
              `to judge ${plural(open.length, 'rule')} that only a reader can: ${open
                .slice(0, 10)
                .map(({ rule }) => rule.id)
                .join(', ')}${open.length > 10 ? ', …' : ''}`,
            ]
          : []),
      ],
    });
  },

  /** `sections`: those of the rules. Counts are of rules that were applied; what a model found is told beside them. */
  retold({ sections, findings }): Section[] {
    const broken = findings.filter(({ by, rule }) => by === 'model' && rule.endsWith(brokenRule));
    const isHard = broken.some(({ rule }) => rule.startsWith('HARD'));
    const beside =
      broken.length === 0
        ? ''
        : `\n\nA model finds ${broken.length} more rules broken; see the findings.`;
    const verdict = isHard ? 'FAIL by what a model finds. By the rules that were looked up: ' : '';
    return sections
      .filter(({ title }) => title === 'Compliance Summary' || title === 'Compliance Score')
      .map(({ title, text }) => ({
        title,
        text: `${title === 'Compliance Summary' ? verdict : ''}${text}${beside}`,
      }));
  },
};

/** Those of which there was something to look at. */
function builtIns(checked: readonly Checked[]): { judged: Judged[]; faults: Found[] } {
  const faults = checked.flatMap((each) => each.faults);
  const isThere = ({ rule, of }: (typeof builtIn)[number]): boolean =>
    of === undefined ||
    faults.some((fault) => fault.rule === rule) ||
    checked.some(({ what, looked }) => what === of && looked > 0);
  const found: Found[] = [];
  const judged = builtIn.filter(isThere).map(({ id, level, rule, text }): Judged => {
    const its = faults.filter((fault) => fault.rule === rule);
    found.push(...its.map((fault) => ({ ...fault, severity: severityOf[level] })));
    const line = its[0]?.place?.line_start ?? 0;
    return {
      rule: { id, level, text, file: '', line: 0, checks: [], appliesTo: [], isGovernance: false },
      ...{ verdict: its.length > 0 ? 'broken' : 'met', line, why: its[0]?.text ?? '' },
    };
  });
  return { judged, faults: found };
}

function faultOf({ rule, line, why }: Judged): Found {
  return {
    rule: `${rule.level}${brokenRule}`,
    severity: severityOf[rule.level],
    isHard: rule.level === 'HARD',
    text: `${rule.id} of ${rule.file}:${rule.line} is broken, ${why}. It says: ${quoted(rule.text)}`,
    remedy: 'Follow the rule, or have it changed.',
    ...(line > 0 && { place: { line_start: line, line_end: line } }),
    words: `${rule.file} ${rule.id}`,
  };
}

function isGoverned(broken: readonly Judged[], { context }: ModeInput): boolean {
  const isSerious = context.criticality === 'C3' || context.criticality === 'C4';
  return isSerious && broken.some(({ rule }) => rule.isGovernance && rule.level === 'HARD');
}

function compliance(
  judged: readonly Judged[],
  findings: readonly Finding[],
  unread: number,
): Section[] {
  const of = (level: Level): Judged[] => judged.filter(({ rule }) => rule.level === level);
  const count = (all: readonly Judged[], verdict: Judged['verdict']): number =>
    all.filter((each) => each.verdict === verdict).length;
  const rows = levels.map((level) => {
    const all = of(level);
    return `| ${level} | ${all.length} | ${count(all, 'met')} | ${count(all, 'broken')} | ${count(all, 'unjudged')} |`;
  });
  const met = count(judged, 'met');
  const seen = met + count(judged, 'broken');
  const share =
    seen === 0 ? 'none: no rule was judged' : `${Number(((100 * met) / seen).toFixed(1))}%`;
  return sectionsOf({
    'Compliance Summary': [
      `${summaryOf(judged, unread)}: ${seen} of ${judged.length} rules were judged.${unread > 0 ? ` ${plural(unread, 'rule')} could not be read.` : ''}`,
      '',
      '| Level | Rules | Met | Broken | Not judged |',
      '|---|---|---|---|---|',
      ...rows,
    ].join('\n'),
    'HARD Rule Evaluation': evaluation(of('HARD')),
    'MEDIUM Rule Evaluation': evaluation(of('MEDIUM')),
    'SOFT Rule Evaluation': evaluation(of('SOFT')),
    'Violation Details': listed(
      findings.map((each) => `${told(each)} ${each.remedy}`),
      'No rule that was judged is broken.',
    ),
    'Compliance Score': `${share} of the rules that were judged are met (${met} of ${seen}).`,
  });
}

/** FAIL: a HARD rule is broken. PASS: every HARD and MEDIUM rule was read, was judged and is met. */
function summaryOf(judged: readonly Judged[], unread: number): 'PASS' | 'PARTIAL' | 'FAIL' {
  const isBroken = judged.some((each) => each.verdict === 'broken' && each.rule.level === 'HARD');
  if (isBroken) return 'FAIL';
  const isMet = judged.every((each) => each.verdict === 'met' || each.rule.level === 'SOFT');
  return isMet && unread === 0 ? 'PASS' : 'PARTIAL';
}

const words: Readonly<Record<Judged['verdict'], string>> = {
  ...{ met: 'met', broken: 'BROKEN', unjudged: 'not judged', elsewhere: 'for other files' },
};

function evaluation(judged: readonly Judged[]): string {
  const order: readonly Judged['verdict'][] = ['broken', 'unjudged', 'met'];
  const inOrder = order.flatMap((verdict) => judged.filter((each) => each.verdict === verdict));
  return listed(
    inOrder.map(({ rule, verdict, why }) => {
      const broken = verdict === 'broken' ? `, ${why}` : '';
      return `${words[verdict]}: ${rule.id} ${quoted(rule.text)}${broken}`;
    }),
    'There is none.',
  );
}
