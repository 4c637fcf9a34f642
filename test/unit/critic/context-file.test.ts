import { expect, test } from 'vitest';
import {
  contextBytesMax,
  modesIn,
  readContext,
  requestOf,
  type PsContext,
} from '../../../src/critic/orchestration/context-file.js';

const whole = `# A review

## PS CONTEXT (REQUIRED)
- **PS ID:** work-024
- **Entry ID:** e-304
- **Iteration:** 2 (1-based)
- **Artifact to Critique:** docs/adr/ADR-003.md
- **Generator Agent:** ps-architect

## ADVERSARIAL CONTEXT (NEW - optional, triggers adversarial mode)
- **Mode:** steelman, llm-as-judge
- **Criticality:** C2
- **Phase:** PH-DESIGN
- **Target Type:** TGT-ARCH
- **Maturity:** MAT-DRAFT
- **Team:** TEAM-MULTI
- **Enforcement:** ENF-FULL
- **Platform:** PLAT-CC
- **Token Budget:** TOK-FULL
- **Previous Score:** 0.78

## EVALUATION CRITERIA
Is every claim *shown*?

\`\`\`
## PS CONTEXT in a fence is no section
\`\`\`

## IMPROVEMENT THRESHOLD
- **Target Score:** 0.92
- **Max Iterations:** 3
`;

const read: PsContext = {
  ps_id: 'work-024',
  entry_id: 'e-304',
  iteration: 2,
  artifact: 'docs/adr/ADR-003.md',
  generator: 'ps-architect',
  adversarial: {
    modes: ['steelman', 'llm-as-judge'],
    words: {
      ...{ criticality: 'C2', phase: 'PH-DESIGN', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
      ...{ team: 'TEAM-MULTI', enforcement: 'ENF-FULL', platform: 'PLAT-CC' },
      token_budget: 'TOK-FULL',
    },
    previous_score: 0.78,
  },
  criteria: 'Is every claim *shown*?\n\n```\n## PS CONTEXT in a fence is no section\n```',
  threshold: 0.92,
  iterations_max: 3,
};

test('a context is read with all that it says', () => {
  expect(readContext(whole, 'c.md')).toEqual({ context: read, warnings: [] });
});

test('without an adversarial section it is the plain review', () => {
  const text = '## PS CONTEXT\n- **Artifact to Critique:** a.md\n';
  const request = requestOf(readContext(text, 'c.md').context);
  expect([request.is_adversarial, request.modes]).toEqual([false, []]);
  expect(requestOf(read)).toMatchObject({ is_adversarial: true, iteration: 2, threshold: 0.92 });
});

test('what nobody filled in is told in one line, what is misspelt with its place; of words the selection tells', () => {
  const text = [
    '## PS CONTEXT (REQUIRED)',
    '- **PS ID:** {ps_id}',
    '- **Iteration:** {iteration_number} (1-based)',
    '- **Artifact to Critique:** a.md',
    '- **Generater Agent:** x',
    '## ADVERSARIAL CONTEXT',
    '- **Mode:** {explicit mode(s) OR "auto"}',
    '- **Criticality:** C9',
    '- **Phase:** {PH-EXPLORE|PH-DESIGN}',
    '- **Team:** null',
  ].join('\n');
  const { context, warnings } = readContext(text, 'c.md');
  expect(context).toEqual({
    ...{ ps_id: '', entry_id: '', artifact: 'a.md', generator: '', criteria: '' },
    adversarial: { modes: [], words: { criticality: 'C9' } },
  });
  expect(warnings.map(({ code, text: said }) => `${code} ${said.split(': ')[0] ?? ''}`)).toEqual([
    'CONTEXT_PLACEHOLDER c.md:2:14',
    'CONTEXT_FIELD c.md:5:24',
  ]);
  expect(warnings[0]?.text).toMatch(
    /^c\.md:2:14: PS ID was not filled in: .*; so is that of Iteration \(line 3\), Mode \(line 7\)$/,
  );
});

test.each([
  ['', 1, 1, 'there is no section ## PS CONTEXT'],
  ['## PS CONTEXT\n- **PS ID:** a\n- **PS ID:** b', 3, 1, 'PS ID is given twice'],
  ['## PS CONTEXT\n\n## PS CONTEXT', 3, 1, 'PS CONTEXT stands here a second time'],
  ['## PS CONTEXT\n- **Iteration:** two', 2, 18, 'Iteration must be a whole number from 1 to 64'],
  ['## PS CONTEXT\n- **Iteration:** 0', 2, 18, 'Iteration must be a whole number from 1 to 64'],
  [
    '## PS CONTEXT\n## ADVERSARIAL CONTEXT\n- **Previous Score:** 1.2',
    ...([3, 23, 'Previous Score must be a number from 0 to 1, or null'] as const),
  ],
])('%j is refused at %i:%i', (text, line, column, detail) => {
  expect(() => readContext(text, 'c.md')).toThrow(
    expect.objectContaining({
      code: 'CRITIC_CONTEXT_INVALID',
      message: `c.md:${line}:${column}: ${detail}`,
    }),
  );
});

test('a mode that nobody knows is refused in the words of the document', () => {
  expect(modesIn('red-team, `LLM-as-judge`,')).toEqual(['red-team', 'llm-as-judge']);
  expect(() => modesIn('red-team,blue-team')).toThrow(
    "Unknown mode 'blue-team'. Available modes: self-refine, steelman, inversion, constitutional, devils-advocate, pre-mortem, fmea, chain-of-verification, llm-as-judge, red-team",
  );
});

test('a context is bounded', () => {
  const text = `## PS CONTEXT\n${'x'.repeat(contextBytesMax)}`;
  expect(() => readContext(text, 'c.md')).toThrow(expect.objectContaining({ code: 'TOO_LARGE' }));
});
