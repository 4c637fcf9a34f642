import { afterAll, beforeAll, expect, test } from 'vitest';
import { llmAsJudge } from '../../../src/critic/modes/llm-as-judge.js';
import { standard } from '../../../src/critic/modes/standard.js';
import type { TreeGround } from '../../../src/critic/artifact/tree-ground.js';
import { inputOf, reportOf } from '../../support/critic.js';
import { groundIn } from '../../support/ground.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

let tree: IndexedTree;
let ground: TreeGround;

beforeAll(async () => {
  tree = await indexedTree(
    {
      'src/store.ts': 'export function openStore(path: string): string {\n  return path;\n}\n',
      'src/close.ts': 'export function closeStore(): number {\n  return 1;\n}\n',
    },
    ['src'],
  );
  ground = await groundIn(tree);
});
afterAll(() => tree[Symbol.asyncDispose]());

const page =
  '# Store\n\n`openStore` is defined in `src/store.ts`. `closeStore` is defined in `src/store.ts`.\n';

test.each([
  [llmAsJudge, 'Evidence Quality'],
  [standard, 'Accuracy'],
] as const)('$name looks claims up itself where nobody has', async (mode, dimension) => {
  const { findings, score } = await mode.examine(inputOf(page, { ground }));
  expect(findings.filter(({ rule }) => rule === 'CLAIM_CONTRADICTED')).toMatchObject([
    { mode: mode.name, line_start: 3, text: expect.stringContaining('closeStore') },
  ]);
  const its = score?.dimensions.find(({ name }) => name === dimension);
  expect(its?.why).toMatch(/names in the code and claims about it that hold/);
});

test('what was told before is counted, and not told again', async () => {
  const claims = { verified: 9, contradicted: 1, unverified: 0 };
  const before = [reportOf({ mode: 'chain-of-verification', claims })];
  const { findings, score } = await llmAsJudge.examine(inputOf(page, { ground, before }));
  expect(findings).toEqual([]);
  const its = score?.dimensions.find(({ name }) => name === 'Evidence Quality');
  expect(its?.score).toBe(10 / 12);
});

test('a hard rule that is contradicted ends the review, whoever found it', async () => {
  const hard = '# Store\n\nCallers MUST use `closeStore`, which is defined in `src/store.ts`.\n';
  const { abort } = await llmAsJudge.examine(inputOf(hard, { ground }));
  expect(abort).toBe('HARD_RULE_CONTRADICTED');
});
