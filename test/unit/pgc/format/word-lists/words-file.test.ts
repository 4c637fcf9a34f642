import fc from 'fast-check';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { BusError } from '../../../../../src/errors/bus-error.js';
import { VarintReader } from '../../../../../src/pgc/format/bytes.js';
import type { FileFacts } from '../../../../../src/pgc/format/facts.js';
import { Section } from '../../../../../src/pgc/format/container/section.js';
import {
  HashedLists,
  hashOf,
  packHashed,
} from '../../../../../src/pgc/format/word-lists/hashed-lists.js';
import { WordsFile } from '../../../../../src/pgc/format/word-lists/words-file.js';
import { WordsWriter } from '../../../../../src/pgc/format/word-lists/words-writer.js';
import { Miner } from '../../../../../src/pgc/mine/mine.js';
import { languageOf } from '../../../../../src/pgc/source/language.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

async function written(
  folder: string,
  files: Record<string, string>,
  change: (facts: FileFacts) => void = () => undefined,
): Promise<string> {
  await using miner = new Miner();
  const writer = new WordsWriter();
  for (const path of Object.keys(files).sort()) {
    const language = languageOf(path)!;
    const facts = await miner.mine(language, Buffer.from(files[path]!));
    change(facts);
    writer.add({ path, language, blob: '11'.repeat(20), lines: facts.lines }, facts);
  }
  const path = join(folder, 'a-1.words');
  await writer.write(path, { alias: 'a', version: '1' });
  return path;
}

function postingsOf(file: WordsFile, word: string): [path: string, ...numbers: number[]][] {
  const found: [string, ...number[]][] = [];
  file.postings(hashOf(word), (at, count, definitions) =>
    found.push([file.path(at), count, definitions]),
  );
  return found;
}

const tree = {
  'net/Kconfig': 'config FOO\n\tbool "Foo support"\n\thelp\n\t  Queues are stuck without it.\n',
  'net/foo_queue.c':
    '/* Restarts a stuck queue. */\nint foo_restart(void)\n{\n\treturn foo_stuck(1) + foo_stuck(2);\n}\nint foo_stuck(int queue);\n',
  'net/readme.md': '# Stuck queues\n\nA queue is stuck when nobody restarts it.\n',
};

test('a word is found in code, documents and recipes, with its counts in text and names', async () => {
  await using folder = await TemporaryTree.create();
  const file = await WordsFile.open(await written(folder.root, tree));
  expect(postingsOf(file, 'queue')).toEqual([
    ['net/Kconfig', 1, 0],
    ['net/foo_queue.c', 2, 0],
    ['net/readme.md', 2, 1],
  ]);
  // A declaration defines nothing.
  expect(postingsOf(file, 'foo_stuck')).toEqual([['net/foo_queue.c', 3, 0]]);
  expect(postingsOf(file, 'foo_restart')).toEqual([['net/foo_queue.c', 1, 1]]);
  expect(postingsOf(file, 'absent')).toEqual([]);
});

test('a name is found where it is defined, in its own letters', async () => {
  await using folder = await TemporaryTree.create();
  const file = await WordsFile.open(await written(folder.root, tree));
  expect(file.places(hashOf('foo_restart'))).toEqual([{ file: 1, line: 2 }]);
  expect(file.places(hashOf('FOO_RESTART'))).toEqual([]);
  expect(file.places(hashOf('foo_stuck'))).toEqual([]);
  expect(file.places(hashOf('CONFIG_FOO'))).toEqual([{ file: 0, line: 1 }]);
});

test('what recipes build is known', async () => {
  await using folder = await TemporaryTree.create();
  const makefile = 'obj-$(CONFIG_FOO) += foo.o bar/\nfoo-$(CONFIG_BAR) += queue.o\n';
  const file = await WordsFile.open(await written(folder.root, { 'net/Makefile': makefile }));
  expect(file.steps()).toEqual([
    { file: 0, option: 'CONFIG_FOO', parts: ['foo.o', 'bar/'], into: 'obj' },
    { file: 0, option: 'CONFIG_BAR', parts: ['queue.o'], into: 'foo' },
  ]);
});

test('rows of files are as they were given', async () => {
  await using folder = await TemporaryTree.create();
  const file = await WordsFile.open(await written(folder.root, tree));
  expect(file.info).toEqual({ alias: 'a', version: '1', languages: ['kconfig', 'c', 'markdown'] });
  expect(file.fileCount).toBe(3);
  expect(file.file(2)).toEqual({
    ...{ path: 'net/readme.md', language: 'markdown', blob: '11'.repeat(20), lines: 3 },
  });
});

test('of a text whose words are not known, what was found in it is indexed', async () => {
  await using folder = await TemporaryTree.create();
  const path = await written(folder.root, tree, (facts) => {
    facts.words = [];
    facts.documents = [];
  });
  const file = await WordsFile.open(path);
  expect(postingsOf(file, 'support')).toEqual([]);
  expect(postingsOf(file, 'stuck').map(([name]) => name)).toContain('net/Kconfig');
});

test('any count comes back as it went in', async () => {
  await using folder = await TemporaryTree.create();
  const counts = [1, 6, 7, 8, 127, 128, 255];
  const files = Object.fromEntries(
    counts.map((count, at) => [`f${at}.md`, `# t\n\n${'zebra '.repeat(count)}\n`]),
  );
  const file = await WordsFile.open(await written(folder.root, files));
  expect(postingsOf(file, 'zebra').map(([, count]) => count)).toEqual(counts);
});

test('every key of a packed table gives its own list, and others give none', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { maxLength: 200 }), (keys) => {
      const { buckets, lists } = packHashed(keys, (key, list) => list.pushVarint(key * 1_000));
      const table = new HashedLists(buckets, Section.of(lists));
      const read = (reader: VarintReader | undefined): number | undefined => reader?.next();
      keys.forEach((key, at) => expect(read(table.find(hashOf(key)))).toBe(at * 1_000));
      expect(table.find(hashOf(`${keys.join('')}?`))).toBeUndefined();
    }),
  );
});

test('a file that was changed is refused', async () => {
  await using folder = await TemporaryTree.create();
  const path = await written(folder.root, tree);
  const { length } = await readFile(path);
  const handle = await open(path, 'r+');
  await handle.write(Buffer.from([0xff]), 0, 1, length - 9);
  await handle.close();
  await expect(WordsFile.open(path)).rejects.toThrow(
    new BusError('INDEX_CORRUPT', { path, detail: 'checksum' }),
  );
});
