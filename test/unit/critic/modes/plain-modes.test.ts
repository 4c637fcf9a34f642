import { expect, test } from 'vitest';
import { llmAsJudge } from '../../../../src/critic/modes/llm-as-judge.js';
import { selfRefine } from '../../../../src/critic/modes/self-refine.js';
import { standard } from '../../../../src/critic/modes/standard.js';
import { steelman } from '../../../../src/critic/modes/steelman.js';
import { inputOf, reportOf } from '../../../support/critic.js';

const page = `# Store

We will keep mail in one file, because writes are rare.

## Assumptions

The disk is never full.

## Next steps

- Improve things
- Copy \`a.db\` daily
- See https://example.org/x
- [how](#nowhere)
`;

test('a steelman quotes thesis and assumptions from the sections of the artifact', async () => {
  const { sections, score } = await steelman.examine(inputOf(page));
  const text = (title: string): string => sections.find((each) => each.title === title)?.text ?? '';
  expect(text('Core Thesis')).toBe(
    '- line 3: We will keep mail in one file, because writes are rare.',
  );
  expect(text('Explicit Assumptions')).toBe('- line 7: The disk is never full.');
  expect(text('Strongest Reasoning Chain')).toContain('No section gives its reasons');
  expect(score).toBeNull();
});

test('self-refine lists what is wrong and scores nothing', async () => {
  const { findings, score } = await selfRefine.examine(inputOf(page));
  expect(findings.map(({ rule, line_start }) => [rule, line_start])).toEqual([
    ['ANCHOR_BROKEN', 14],
  ]);
  expect(score).toBeNull();
});

test('criteria that can be checked are met or not; words are for a reader', async () => {
  const criteria =
    '- required_section: Next steps\n- required_section: Rollback\n- pattern: ^We will\n- It is nice';
  const { score, unable } = await standard.examine(inputOf(page, { criteria }));
  const given = Object.fromEntries(score?.dimensions.map((each) => [each.name, each.score]) ?? []);
  expect(given.Alignment).toBeCloseTo(2 / 3, 12);
  expect(given.Completeness).toBeNull();
  expect(unable.join()).toContain('to judge 1 criteria');
});

test('claims that were verified before are the evidence that a judge can count', async () => {
  const claims = { verified: 3, contradicted: 1, unverified: 1 };
  const cov = reportOf({ mode: 'chain-of-verification', claims });
  const { score, findings } = await llmAsJudge.examine(inputOf(page, { before: [cov] }));
  const evidence = score?.dimensions.find(({ name }) => name === 'Evidence Quality');
  expect(evidence?.score).toBeCloseTo(4 / 6, 12);
  const known = reportOf({ findings });
  const again = await llmAsJudge.examine(inputOf(page, { before: [known] }));
  expect(again.findings).toEqual([]);
});

test('what a mode is given has no scores of others, by its type', () => {
  const [before] = inputOf(page, { before: [reportOf({})] }).before;
  // @ts-expect-error: a mode that reads it does not compile.
  expect(before?.score).toBeNull();
});
