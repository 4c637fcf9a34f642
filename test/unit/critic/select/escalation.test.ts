import { expect, test } from 'vitest';
import { loadEscalation } from '../../../../src/critic/select/escalation-file.js';
import {
  escalationBytesMax,
  parseEscalation,
  standingOf,
  withOperators,
} from '../../../../src/critic/select/escalation.js';

const shipped = loadEscalation();
const rulesOf = (path: string, text = '', maturity = ''): string[] =>
  standingOf(shipped, { path, text }, { maturity }).escalated.map(({ rule }) => rule);

test.each([
  ['docs/governance/JERRY_CONSTITUTION.md', ['AE-001']],
  ['/home/me/tree/docs/governance/JERRY_CONSTITUTION.md', ['AE-001']],
  ['.claude/rules/architecture-standards.md', ['AE-002']],
  ['docs/../.claude/rules/x.md', ['AE-002']],
  ['.\\.claude\\rules\\x.md', ['AE-002']],
  ['.context/rules/quality.md', ['AE-002']],
  ['AGENTS.md', ['AE-002']],
  ['docs/adr/0003-bus.md', ['AE-003']],
  ['projects/PROJ-001/decisions/ADR-003.md', ['AE-003']],
  ['src/auth/login.ts', ['AE-005']],
  ['crypto/aes_generic.c', ['AE-005']],
  ['SECURITY.md', ['AE-005']],
  ['src/access-control.py', ['AE-005']],
  ['src/authors.ts', []],
  ['src/net/socket.ts', []],
  ['', []],
])('%s: %j', (path, rules) => {
  expect(rulesOf(path)).toEqual(rules);
});

test('a baselined decision is C4, whether its maturity says so or its text', () => {
  const path = 'docs/adr/0003-bus.md';
  expect(rulesOf(path, '', 'MAT-BASE')).toEqual(['AE-003', 'AE-004']);
  expect(rulesOf(path, '# Bus\n\n- **Status:** Baselined\n')).toEqual(['AE-003', 'AE-004']);
  expect(rulesOf(path, '---\nstatus: baselined\n---\n')).toEqual(['AE-003', 'AE-004']);
  expect(rulesOf(path, 'Status: accepted\n')).toEqual(['AE-003']);
  expect(rulesOf(path, `${'\n'.repeat(100)}Status: baselined\n`)).toEqual(['AE-003']);
});

test('a link is what it is named and what it leads to', () => {
  for (const [path, named] of [
    ['notes/x.md', 'docs/governance/x.md'],
    ['docs/governance/x.md', 'notes/x.md'],
  ] as const)
    expect(standingOf(shipped, { path, named, text: '' }, {}).escalated).toMatchObject([
      { rule: 'AE-001', least: 'C3' },
    ]);
  const { detected } = standingOf(
    shipped,
    { path: 'x.md', named: 'docs/architecture/x.md', text: '' },
    {},
  );
  expect(detected).toMatchObject({ criticality: 'C3', target_type: 'TGT-ARCH' });
});

test.each([
  ['src/net/socket.ts', 'C2', 'TGT-CODE'],
  ['test/net/socket.test.ts', 'C1', 'TGT-CODE'],
  ['docs/architecture/layers.md', 'C3', 'TGT-ARCH'],
  ['docs/adr/0001.md', 'C2', 'TGT-DEC'],
  ['docs/requirements/bus.md', 'C2', 'TGT-REQ'],
  ['research/queues.md', 'C2', 'TGT-RES'],
  ['CONTRIBUTING.md', 'C2', 'TGT-PROC'],
  ['notes.txt', 'C2', undefined],
])('%s is %s by itself, and %s', (path, criticality, target_type) => {
  const { detected } = standingOf(shipped, { path, text: '' }, {});
  expect([detected.criticality, detected.target_type]).toEqual([criticality, target_type]);
});

test('an operator adds to what is shipped, or replaces it', () => {
  const rule = `{rule: AE-002, least: C4, reason: r, paths: ['**/.claude/**']}`;
  const [path, text] = ['.claude/rules/x.md', ''];
  const stricter = withOperators(shipped, parseEscalation(`escalation: [${rule}]`, 'f'));
  expect(standingOf(stricter, { path, text }, {}).escalated).toMatchObject([
    { rule: 'AE-002', least: 'C4' },
  ]);
  const alone = withOperators(shipped, parseEscalation('shipped: false', 'f'));
  expect(standingOf(alone, { path, text }, {}).escalated).toEqual([]);
  // What is shipped stays: it cannot be lowered by a rule of the same name.
  const lower = parseEscalation(`escalation: [${rule.replace('C4', 'C1')}]`, 'f');
  expect(standingOf(withOperators(shipped, lower), { path, text }, {}).escalated).toMatchObject([
    { rule: 'AE-002', least: 'C3' },
  ]);
});

test.each([
  ['escalation: 3', 'escalation: it must be a list'],
  ['escalation: [{rule: AE-9, least: C5, reason: r, paths: [a]}]', 'escalation.0.least'],
  ['escalation: [{rule: AE-9, least: C3, reason: r, paths: ["a[b"]}]', 'a [ has no ]'],
  ['escalations: []', 'it takes no escalations'],
  ['a: &a 1\nb: *a', 'aliases are not read'],
  ['a: [', 'Flow sequence'],
])('%s is refused with its field', (text, detail) => {
  expect(() => parseEscalation(text, 'mine.yaml')).toThrow(
    expect.objectContaining({
      code: 'CRITIC_POLICY_INVALID',
      message: expect.stringContaining(detail) as string,
    }),
  );
});

test('a file of rules is bounded', () => {
  // Also of a file that has no end.
  expect(() => loadEscalation('/dev/zero')).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
  const text = `# ${'x'.repeat(escalationBytesMax)}`;
  expect(() => parseEscalation(text, 'f')).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
});
