import { expect, test } from 'vitest';
import { blobId } from '../../../../../src/pgc/source/blob.js';
import { Excerpts } from '../../../../../src/pgc/source/excerpt.js';
import { FileReader, type Reading } from '../../../../../src/pgc/search/locate/reading.js';
import { parseReport } from '../../../../../src/pgc/search/locate/report.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

async function readingOf(text: string, description: string): Promise<Reading> {
  await using tree = await TemporaryTree.create({ 'net/gate.c': text });
  const report = parseReport({ title: 'the gate stays shut', description });
  const reader = new FileReader(new Excerpts(tree.root), report, new Map());
  const blob = blobId(Buffer.from(text));
  return reader.read({ path: 'net/gate.c', blob, language: 'c', lines: 1 });
}

test('strings of the code are looked for in the beginning of a line', async () => {
  const code = 'printk("the hinge is broken");\nprintk("the lock is frozen");\n';
  const log = `[   26.235209] gate: the hinge is broken ${'again '.repeat(400)}the lock is frozen`;
  const { messages } = await readingOf(code, log);
  expect(messages.map(({ at }) => at)).toEqual([1]);
});
