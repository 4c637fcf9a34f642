import { expect, test } from 'vitest';
import { blobId } from '../../../../src/pgc/source/blob.js';
import { citeCall, citeDocument, citeItem } from '../../../../src/pgc/answer/citation.js';
import { Excerpts } from '../../../../src/pgc/source/excerpt.js';
import type { OverlayItem } from '../../../../src/pgc/overlay/overlay-file.js';
import type { Citation } from '../../../../src/pgc/shapes.js';
import type { ShardIndex, SymbolRow } from '../../../../src/pgc/format/shard-index.js';
import { verify } from '../../../../src/pgc/answer/verify.js';
import { TemporaryTree } from '../../../support/git-tree.js';

/** An index of one file and one symbol: what citing asks of it. */
function indexOf(text: string, symbol: Partial<SymbolRow> = {}): ShardIndex {
  const lines = text.split('\n').length - 1;
  const blob = blobId(Buffer.from(text));
  const row = { kind: 'function', name: 'run', file: 0, signature: '', line_start: 1 };
  const parts = {
    info: { agent: 'a' },
    symbolCount: 1,
    file: () => ({ path: 'a.py', blob, language: 'python', lines }),
    symbol: () => ({ ...row, line_end: lines, ...symbol }),
    isTest: () => false,
  };
  return parts as unknown as ShardIndex;
}

async function cited(
  text: string,
  cite: (index: ShardIndex, excerpts: Excerpts) => Citation | undefined,
  symbol: Partial<SymbolRow> = {},
): Promise<Citation | undefined> {
  await using tree = await TemporaryTree.create({ 'a.py': text });
  const citation = cite(indexOf(text, symbol), new Excerpts(tree.root));
  if (citation !== undefined)
    expect(await verify(citation, tree.root)).toMatchObject({ status: 'valid' });
  return citation;
}
const symbolOf = (index: ShardIndex, excerpts: Excerpts): Citation | undefined =>
  citeDocument(index, excerpts, 0, 0.5);
const fileOf = (index: ShardIndex, excerpts: Excerpts): Citation | undefined =>
  citeDocument(index, excerpts, 1, 0.5);

test('a symbol below a tower of decorators is cited from the line with its name', async () => {
  const text = `${'@decorated\n'.repeat(20)}def run():\n    pass\n`;
  const lines = { line_start: 21, line_end: 22, content: 'def run():\n    pass', symbol: 'run' };
  expect(await cited(text, symbolOf)).toMatchObject(lines);
});

test('a symbol whose name stands only as a part of words is cited without its name', async () => {
  const text = 'define_runner()\nrunning = 1\n';
  expect(await cited(text, symbolOf)).toMatchObject({ line_start: 1, line_end: 2, symbol: '' });
});

test('a symbol whose name stands behind the cut of a long line is cited without its name', async () => {
  const text = `${'x'.repeat(499)}😀 run\n\n`;
  const citation = await cited(text, symbolOf);
  expect(citation).toMatchObject({ content: 'x'.repeat(499), line_end: 1, symbol: '' });
});

test('a file is cited from its first line that is not blank, a blank file not at all', async () => {
  const text = `${'\n'.repeat(15)}import os\n`;
  expect(await cited(text, fileOf)).toMatchObject({ line_start: 16, content: 'import os' });
  expect(await cited('\n \n', fileOf)).toBeUndefined();
});

test('a call is cited only when its line holds the name as a word', async () => {
  const call = (callee: string) => (index: ShardIndex, excerpts: Excerpts) =>
    citeCall(index, excerpts, { caller: 'run', callee, file: 0, line: 1 }, 0.5);
  expect(await cited('    runner(1)\n', call('runner'))).toMatchObject({ symbol: 'runner' });
  expect(await cited('    runner(1)\n', call('run'))).toBeUndefined();
});

test('an item whose function begins above the cited line says which one it is', async () => {
  const text = 'def run():\n    pass\n    return environ["HOME"]\n';
  const told = { overlay: 'O5', text: 'environment variable HOME', file_path: 'a.py' };
  const item = { ...told, blob: blobId(Buffer.from(text)), symbol: 'run' };
  const at = (line: number): Promise<Citation | undefined> =>
    cited(text, (index, excerpts) =>
      citeItem(index, excerpts, { ...item, line_start: line, line_end: line } as OverlayItem, 0.5),
    );
  expect(await at(3)).toMatchObject({ symbol: '', text: 'environment variable HOME | in:run' });
  expect(await at(1)).toMatchObject({ symbol: 'run', text: 'environment variable HOME' });
  Object.assign(item, { overlay: 'O4' });
  expect(await at(3)).toMatchObject({ symbol: '', text: 'environment variable HOME' });
});
