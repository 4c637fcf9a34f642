import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TemporaryTree } from '../support/git-tree.js';
import { sigma } from '../support/sigma.js';
import { ours, writeScipIndex } from '../support/scip.js';

const text = 'def top():\n    pass\n\ndef low(x):\n    x.top()\n';

test('an index is layered and exported on the command line', async () => {
  await using tree = await TemporaryTree.create({ 'm.py': text });
  await using home = await TemporaryTree.create();
  const scip = await writeScipIndex(home.root, tree.root, [
    {
      ...{ path: 'm.py', text },
      occurrences: [
        { line: 1, name: 'top', symbol: ours('m/top().'), isDefinition: true },
        { line: 5, name: 'top', symbol: ours('m/top().') },
      ],
    },
  ]);
  const indexed = await sigma(home.root, ['index', tree.root, '--scip', scip, '--json']);
  expect(indexed.json.scip).toMatchObject({ documents: 1, added: 1, left_out: [] });
  const said = await sigma(home.root, ['index', tree.root, '--scip', scip]);
  expect(said.stdout).toContain('SCIP: 1 documents');
  const out = join(home.root, 'out.scip');
  const exported = await sigma(home.root, ['export', tree.root, '--scip', out, '--json']);
  expect(exported.json).toMatchObject({ path: out, documents: 1, definitions: 2, references: 1 });
  const again = await sigma(home.root, ['index', tree.root, '--scip', out, '--json']);
  expect(again.json.scip).toMatchObject({ documents: 1, corrected: 0, denied: 0 });
  const forgot = await sigma(home.root, ['index', tree.root, '--no-scip', '--json']);
  expect(forgot.json.scip).toBeUndefined();
});

test('a SCIP file that cannot be used, and an index that is not there, are coded errors', async () => {
  await using tree = await TemporaryTree.create({ 'm.py': text });
  await using home = await TemporaryTree.create();
  const bad = join(home.root, 'bad.scip');
  await writeFile(bad, 'nothing');
  const refused = await sigma(home.root, ['index', tree.root, '--scip', bad, '--json']);
  expect([refused.code, refused.json.error.code]).toEqual([1, 'SCIP_INVALID']);
  const missing = await sigma(home.root, ['export', tree.root, '--scip', bad, '--json']);
  expect([missing.code, missing.json.error.code]).toEqual([1, 'INDEX_MISSING']);
  expect(await readFile(bad, 'utf8')).toBe('nothing');
  await sigma(home.root, ['index', tree.root]);
  const folder = ['export', tree.root, '--scip', join(home.root, 'none', 'x.scip'), '--json'];
  expect((await sigma(home.root, folder)).json.error.code).toBe('STORE_UNAVAILABLE');
});
