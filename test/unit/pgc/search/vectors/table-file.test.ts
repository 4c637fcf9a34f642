import { readFile, stat, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import {
  readTable,
  tableFingerprint,
  tablePath,
  writeTable,
} from '../../../../../src/pgc/search/vectors/table-file.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { tinyTable, tinyVocabulary } from '../../../../support/tiny-table.js';

test('a table that was written embeds as it did', async () => {
  await using home = await TemporaryTree.create();
  expect(await readTable(home.root)).toBeUndefined();
  await writeTable(home.root, tinyTable(), tinyVocabulary);
  const table = await readTable(home.root);
  expect(table?.fingerprint).toBe(tableFingerprint);
  expect(table?.table).toEqual(tinyTable());
  expect(table?.tokenizer.vocabulary).toEqual(tinyVocabulary);
  expect((await stat(tablePath(home.root))).mode & 0o777).toBe(0o600);
});

test('a damaged table is not used', async () => {
  await using home = await TemporaryTree.create();
  await writeTable(home.root, tinyTable(), tinyVocabulary);
  const bytes = await readFile(tablePath(home.root));
  bytes[bytes.length - 9] = bytes[bytes.length - 9]! ^ 1;
  await writeFile(tablePath(home.root), bytes);
  await expect(readTable(home.root)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
});

test('a table that does not fit its vocabulary is not used', async () => {
  await using home = await TemporaryTree.create();
  await writeTable(home.root, tinyTable(), tinyVocabulary.slice(1));
  await expect(readTable(home.root)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
});
