import { expect, test } from 'vitest';
import { constitutional } from '../../../../src/critic/modes/constitutional.js';
import { readRules } from '../../../../src/critic/rules/read-rules.js';
import { context, inputOf } from '../../../support/critic.js';

const rules = `---
paths: ['docs/**']
---
# Rules

- Every page MUST name its owner.
- Never write about the weather.
- Pages SHOULD be short, and MAY have pictures; \`MUST\` is a word.

> A quote MUST not count.

\`\`\`rules
- id: R1
  text: A page names its owner.
  pattern: '^Owner: @\\w+$'
- id: R2
  level: SHOULD
  max_lines: 5
  required_section: [Limits, Rollback]
- id: R3
  level: MAY
  absent: 'simply|just'
- id: R4
  path_glob: 'docs/**/*.md'
- id: R5
  text: For others.
  applies_to: 'src/**'
\`\`\`
`;
const file = { path: '.claude/rules/pages.md', text: rules };

test('rules are read in words, which only a reader can judge, and in forms, which anyone can', () => {
  const { rules: read, unread } = readRules([file]);
  expect(unread).toEqual([]);
  expect(read.map(({ id, level, checks }) => [id, level, checks.length])).toEqual([
    ['R1', 'HARD', 1],
    ['R2', 'MEDIUM', 3],
    ['R3', 'SOFT', 1],
    ['R4', 'HARD', 1],
    ['R5', 'HARD', 0],
    ['.claude/rules/pages.md:6', 'HARD', 0],
    ['.claude/rules/pages.md:7', 'HARD', 0],
    ['.claude/rules/pages.md:8', 'MEDIUM', 0],
  ]);
  expect(read.every(({ isGovernance }) => isGovernance)).toBe(true);
  expect(read[0]?.appliesTo).toEqual(['docs/**']);
  expect(readRules([{ ...file, path: 'CONTRIBUTING.md' }]).rules[0]?.isGovernance).toBe(false);
  const linked = { ...file, path: 'CONTRIBUTING.md', named: '.claude/rules/x.md' };
  expect(readRules([linked]).rules[0]?.isGovernance).toBe(true);
});

test.each([
  ['- id: A\n  patern: x', 'no field patern'],
  ['- level: HARD', 'has no id'],
  ['- id: A\n  level: VERY', 'none of HARD'],
  ["- id: A\n  pattern: '(?=a)'", 'pattern:'],
  ['- id: A\n  max_lines: -1', 'max_lines'],
  ['- id: A', 'says nothing'],
  ['a: 1', 'rules are a list'],
  ['- [', 'pages.md:1:'],
])('a rule that cannot be read is said to be unread: %j', (yaml, why) => {
  const { rules: read, unread } = readRules([{ ...file, text: `\`\`\`rules\n${yaml}\n\`\`\`\n` }]);
  expect(read).toEqual([]);
  expect(unread).toEqual([expect.stringContaining(why)]);
});

test('each rule is met, broken, or not judged; a broken hard rule of governance ends the review', async () => {
  const page = '# Page\n\nIt is just short.\n\n## Limits\n\nx\n';
  const report = await constitutional.examine(inputOf(page, { rules: [file] }));
  expect(
    report.findings.map(({ rule, line_start, is_hard }) => [rule, line_start, is_hard]),
  ).toEqual([
    ['HARD_RULE_BROKEN', 0, true],
    ['MEDIUM_RULE_BROKEN', 0, false],
    ['SOFT_RULE_BROKEN', 3, false],
  ]);
  expect(report.abort).toBe('GOVERNANCE_VIOLATION');
  const text = (title: string): string =>
    report.sections.find((each) => each.title === title)?.text ?? '';
  expect(text('Compliance Summary')).toMatch(/^FAIL: 6 of 9 rules were judged\./);
  expect(text('Compliance Summary')).toContain('| HARD | 6 | 3 | 1 | 2 |');
  expect(text('Compliance Score')).toMatch(/^50%/);
  expect(report.unable.join()).toContain('3 rules that only a reader can');
  const small = { ...context, criticality: 'C2' as const };
  const routine = await constitutional.examine(inputOf(page, { rules: [file], context: small }));
  expect(routine.abort).toBe('');
});

test('a rule that cannot be read leaves a gap, and no PASS', async () => {
  const rules = [{ path: 'r.md', text: '```rules\n- idd: x\n```\n' }];
  const { gap, sections, unable } = await constitutional.examine(inputOf('# Page\n', { rules }));
  expect(gap).toBe('RULES_UNREAD');
  expect(sections[0]?.text).toMatch(/^PARTIAL: .*1 rule could not be read\./);
  expect(unable.join()).toContain('there is no field idd');
});

test('words of a rule that occur in the text do not meet it', async () => {
  const given = [{ path: 'r.md', text: 'Every page MUST name its owner.' }];
  const page = 'Every page MUST name its owner.';
  const report = await constitutional.examine(inputOf(page, { rules: given }));
  expect(report.sections[0]?.text).toMatch(/^PARTIAL: 2 of 3/);
  expect(report.findings).toEqual([]);
});

test('without rules a secret is a broken hard rule all the same, and nothing is quoted of it', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const report = await constitutional.examine(inputOf(`a\n${secret}\n`));
  expect(report.findings).toMatchObject([
    { rule: 'SECRET_EXPOSED', severity: 'critical', is_hard: true, line_start: 2 },
  ]);
  expect(JSON.stringify(report)).not.toContain(secret);
  expect([report.abort, report.unable]).toEqual([
    '',
    ['to hold it against rules: none were given'],
  ]);
  const clean = await constitutional.examine(inputOf('a\n'));
  expect(clean.sections[0]?.text).toMatch(/^PASS: 2 of 2/);
});
