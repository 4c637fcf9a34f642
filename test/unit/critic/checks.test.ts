import { expect, test } from 'vitest';
import { lookAt } from '../../../src/critic/checks/all.js';
import type { ModeInput } from '../../../src/critic/mode.js';
import { context, groundOf, inputOf } from '../../support/critic.js';

/** Rules that are broken, with their lines. */
async function broken(text: string, given: Partial<ModeInput> & { path?: string } = {}) {
  const { checked } = await lookAt(inputOf(text, given));
  return checked.flatMap(({ faults }) =>
    faults.map(({ rule, place }) => `${rule} ${place?.line_start ?? 0}`),
  );
}

test.each<[string, string, string[]]>([
  ['an empty section', '# A\n\ntext\n\n## B\n\n## C\n\ntext\n', ['SECTION_EMPTY 5']],
  ['a section whose text stands below it', '# A\n\n## B\n\ntext\n', []],
  ['a heading twice under one', '# A\n\n## B\n\nx\n\n## B\n\ny\n', ['HEADING_TWICE 7']],
  ['a heading twice under two', '# A\n\n## B\n\nx\n\n# C\n\n## B\n\ny\n', []],
  [
    'what is to come',
    'TODO: write it.\n\nThe owner is still to be decided.\n\n| a |\n|---|\n| TBD |\n',
    ['PLACEHOLDER 1', 'PLACEHOLDER 3', 'PLACEHOLDER 7'],
  ],
  [
    'words about what is to come',
    'The word `TODO` is not allowed.\n\nNobody needs to be there to be written to. It says what is to be done.\n',
    [],
  ],
  ['a list with a vague number', 'There are at least three ways:\n\n- a\n- b\n', []],
  ['a number of something else', 'It waits 3 seconds and does:\n\n- a\n', []],
  [
    'a total',
    '| a | n | m |\n|---|---|---|\n| x | 1,000 | 0.33 |\n| y | 2 | 0.33 |\n| z | 3 | 0.33 |\n| Total | 1,006 | 1.00 |\n',
    ['TOTAL_DIFFERS 6'],
  ],
  [
    'a setting with two values',
    '# A\n\n`waitMs` is 500.\n\n# B\n\n`waitMs` is 300 ms, `waitMs` = 300 ms.\n',
    ['NUMBER_DIFFERS 7', 'NUMBER_DIFFERS 7'],
  ],
  [
    'a step that is not there',
    '## 1. Stop\n\nUndo step 7.\n\n## 2. Start\n\nUndo step 1, see step 9 of the other manual.\n',
    ['STEP_UNKNOWN 3'],
  ],
  [
    'a section that is not there',
    '# A\n\nSee section "Errors" below, section "What follows", section Communication.\n\n## What follows\n\nx\n',
    ['SECTION_UNKNOWN 3', 'SECTION_UNKNOWN 3'],
  ],
  [
    'ids that a table counts',
    '| id | what |\n|---|---|\n| R1 | a |\n| R2 | b |\n| R3 | c |\n\nR1 and R7 hold.\n',
    ['ID_UNDEFINED 7'],
  ],
  [
    'an item word for word',
    '- Agents that vanish stay listed as offline, also over a crash of the broker itself.\n- x\n- Agents that vanish stay listed as offline, also over a crash of the broker itself.\n',
    ['SAID_TWICE 3'],
  ],
  [
    'a password',
    'Log in (password: `hunter2-Sigma!9`), or with token: `<your token>`, `password: "changeme-Now1"`.\n',
    ['SECRET_EXPOSED 1'],
  ],
  [
    'an anchor',
    '# The end\n\n[a](#the-end) [b](#end) [c](#top) [d](#in-html)\n\n<h2>In HTML</h2>\n',
    ['ANCHOR_BROKEN 3'],
  ],
  [
    'a reference',
    'See [a][one] and [b][two], `x[a][b]`.[^1]\n\n[one]: http://a\n',
    ['REFERENCE_UNDEFINED 1'],
  ],
  ['brackets that are none', 'See m[i][j] and [a][b].\n', []],
  [
    'ids',
    '- FR-1: a\n- FR-2: b\n- FR-2: c\n\nFR-3 follows FR-1, in UTF-8.\n',
    ['ID_TWICE 3', 'ID_UNDEFINED 5'],
  ],
  [
    'ids of two numbers',
    '| id | what |\n|---|---|\n| FR-304-003 | a |\n| FR-304-004 (x) | b |\n| FR-304-005 (y) | c |\n',
    [],
  ],
  [
    'blocks of data',
    '```json\n{"a": 1,}\n```\n\n```json\n{"a": ...}\n```\n\n```yaml\na: [1\n```\n\n```json\n{}\n[]\n```\n',
    ['SNIPPET_INVALID 1', 'SNIPPET_INVALID 9'],
  ],
  ['a block without an end', 'a\n\n```ts\nx\n', ['FENCE_OPEN 3']],
  ['a merge', 'a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> main\n', ['MERGE_CONFLICT 2']],
  ['a title that is underlined', 'A title\n=======\n\nx\n', []],
  [
    'secrets',
    'AKIAIOSFODNN7EXAMPLE\nAKIAIOSFODNN7ABCDEFG\n-----BEGIN PRIVATE KEY-----\n',
    ['SECRET_EXPOSED 2'],
  ],
])('%s', async (_, text, expected) => {
  expect((await broken(text)).sort()).toEqual([...expected].sort());
});

test.each<[string, string, string[]]>([
  [
    'src/a.ts',
    'throw new Error("not implemented");\n// throw new Error("not implemented");\n// TODO: later\ntry { a(); } catch {}\ntry {\n} catch (e) {\n}\ntry {\n} catch {\n  // Gone.\n}\ndebugger;\n',
    ['STUB 1', 'PLACEHOLDER 3', 'ERROR_SWALLOWED 4', 'ERROR_SWALLOWED 6', 'DEBUGGER 12'],
  ],
  ['test/a.test.ts', 'it.only("a", b);\n', ['TEST_FOCUSED 1']],
  [
    'src/a.py',
    'try:\n  a()\nexcept Exception:\n  pass\nraise NotImplementedError\n',
    ['ERROR_SWALLOWED 3', 'STUB 5'],
  ],
  ['src/b.ts', 'it.only("a", b);\nconst a = { b: [] };\n', []],
])('code shows by itself: %s', async (path, text, expected) => {
  expect((await broken(text, { path })).sort()).toEqual([...expected].sort());
});

test('links to files are followed in the tree, their anchors too, and never beyond its root', async () => {
  const text =
    '[a](../src/a.ts#L3) [b](b.md#one) [c](b.md#two) [d](./no.md) [e](/src) [f](../../up) [g](http://x) [h](b%20c.md)\n';
  const ground = groundOf({
    'docs/page.md': text,
    'docs/b.md': '# One\n',
    'src/a.ts': '',
    'docs/b c.md': '',
  });
  const { checked } = await lookAt(inputOf(text, { ground }));
  const faults = checked.flatMap((each) => each.faults.map((fault) => fault.text));
  expect(faults).toEqual([
    expect.stringContaining('b.md#two leads nowhere'),
    expect.stringContaining('the tree has no docs/no.md'),
  ]);
  expect(checked.find(({ what }) => what.startsWith('links to files'))?.looked).toBe(6);
  const { unable } = await lookAt(inputOf(text));
  expect(unable[0]).toContain('no tree is known');
});

test('a record of a decision has its sections, under any of their names', async () => {
  const adr = '# ADR 7: The decision on files\n\n## Background\n\nx\n\n## Decision outcome\n\ny\n';
  const given = { path: 'docs/adr/7.md', context: { ...context, target_type: 'TGT-DEC' as const } };
  expect(await broken(adr, given)).toEqual(['SECTION_MISSING 1']);
  expect(await broken(`${adr}\n## Consequences\n\nz\n`, given)).toEqual([]);
  expect(await broken(adr)).toEqual([]);
});

test('an abort ends the checks between two of them', async () => {
  await expect(
    lookAt(inputOf('a', { signal: AbortSignal.abort(new Error('over')) })),
  ).rejects.toThrow('over');
});
