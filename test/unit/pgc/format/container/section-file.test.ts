import { openSync, renameSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  Descriptors,
  OpenFiles,
  SectionFile,
} from '../../../../../src/pgc/format/container/section-file.js';
import { areDescriptorsListed, openBelow } from '../../../../support/descriptors.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const texts = ['one', 'two', 'six', 'ten'];
const folderOf = (): Promise<TemporaryTree> =>
  TemporaryTree.create(Object.fromEntries(texts.map((text) => [text, text])));
const textIn = (file: SectionFile): string => {
  const bytes = Buffer.alloc(3);
  file.read(bytes, 0);
  return bytes.toString();
};
const gone = expect.objectContaining({ code: 'INDEX_MISSING' }) as Error;

test('no more files are open than the limit, and all of them are read', async () => {
  await using folder = await folderOf();
  const among = new Descriptors(2);
  const files = texts.map((text) => new SectionFile(join(folder.root, text), among));
  expect(among.count).toBe(2);
  for (const _ of ['first', 'again']) expect(files.map(textIn)).toEqual(texts);
  expect(among.count).toBe(2);
});

test('a file that is removed is read on while it is open, and is gone when it was closed', async () => {
  await using folder = await folderOf();
  const among = new Descriptors(2);
  const [one, two] = ['one', 'two'].map((text) => new SectionFile(join(folder.root, text), among));
  for (const text of ['one', 'two']) rmSync(join(folder.root, text));
  one?.[Symbol.dispose]();
  expect(() => textIn(one as SectionFile)).toThrow(gone);
  expect(textIn(two as SectionFile)).toBe('two');
});

test('another file of the same name is not taken for the one that was closed', async () => {
  await using folder = await folderOf();
  const among = new Descriptors(2);
  using file = new SectionFile(join(folder.root, 'one'), among);
  file[Symbol.dispose]();
  await writeFile(join(folder.root, 'new'), 'new');
  renameSync(join(folder.root, 'new'), file.path);
  expect(() => textIn(file)).toThrow(gone);
  expect(among.count).toBe(0);
});

test('where the system grants no more, some are given back; without any, it is to be tried again, not damaged', async () => {
  await using folder = await folderOf();
  let granted = 2;
  const among: Descriptors = new Descriptors(10, (path, mode) => {
    if (among.count < granted) return openSync(path, mode);
    throw Object.assign(new Error('EMFILE: too many open files'), { code: 'EMFILE' });
  });
  const files = texts.map((text) => new SectionFile(join(folder.root, text), among));
  expect(files.map(textIn)).toEqual(texts);
  granted = 0;
  const refused = expect.objectContaining({ code: 'STORE_UNAVAILABLE', retryable: true }) as Error;
  expect(() => files.map(textIn)).toThrow(refused);
  granted = 2;
  expect(files.map(textIn)).toEqual(texts);
});

test.runIf(areDescriptorsListed)(
  'files that were opened together are closed together',
  async () => {
    await using folder = await folderOf();
    const opened = new OpenFiles();
    const files = texts.map((text) => opened.open(join(folder.root, text)));
    expect([files.map(textIn), openBelow(folder.root)]).toEqual([texts, texts.length]);
    opened[Symbol.dispose]();
    expect(openBelow(folder.root)).toBe(0);
  },
);
