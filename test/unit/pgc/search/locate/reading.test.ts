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

test('what a file is about: its path, how its first comment begins, its functions', async () => {
  const text = '/* Opens gates. */\n\nint gate_open(int gate)\n{\n\treturn gate;\n}\n';
  const { about } = await readingOf(text, '');
  expect(about).toBe('net gate. Opens gates. gate open');
});

test('a comment with a long row of stars is read in linear time', async () => {
  const { about } = await readingOf(`/* Opens ${'*'.repeat(1_000_000)} gates. */\n`, '');
  expect(about).toBe('net gate. Opens  ');
});

test('strings of the code are looked for in the beginning of a line', async () => {
  const code = 'printk("the hinge is broken");\nprintk("the lock is frozen");\n';
  const log = `[   26.235209] gate: the hinge is broken ${'again '.repeat(400)}the lock is frozen`;
  const { messages } = await readingOf(code, log);
  expect(messages.map(({ at }) => at)).toEqual([1]);
});
