import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ChangeWatch, doubtsOf, type Seen } from '../../src/executor/changes.js';
import { TemporaryTree } from '../support/git-tree.js';

const ring = 'int ring(int size)\n{\n\treturn size;\n}\n';
let tree: TemporaryTree;
beforeEach(async () => {
  tree = await TemporaryTree.create({
    'src/ring.c': ring,
    'src/macro.c': 'FOR_EACH(x {\n',
    'src/old.c': 'int old;\n',
    '.gitignore': 'build/\n',
  });
  tree.commitAll();
  // Uncommitted before: not of the work that is watched.
  await tree.write({ 'src/ring.c': `int before;\n${ring}`, 'mine.txt': 'untracked' });
});
afterEach(() => tree[Symbol.asyncDispose]());

async function seenAfter(work: () => Promise<void>, folder = ''): Promise<Seen | undefined> {
  await using watch = await ChangeWatch.open(path.join(tree.root, folder), undefined);
  await work();
  return await watch?.seen();
}

test('what was changed is seen: written, new and deleted files, and nothing that was so before', async () => {
  const status = tree.git('status', '--porcelain');
  expect(await seenAfter(() => Promise.resolve())).toEqual({ files: [], broken: [] });
  expect(tree.git('status', '--porcelain')).toBe(status);
  const seen = await seenAfter(async () => {
    await tree.write({ 'src/ring.c': 'int after;\n', 'src/new.c': '', 'build/ring.o': 'x' });
    await rm(path.join(tree.root, 'src/old.c'));
    // As it was: no change.
    await tree.write({ 'mine.txt': 'untracked' });
  });
  expect(seen?.files).toEqual(['src/new.c', 'src/old.c', 'src/ring.c']);
  const below = await seenAfter(() => tree.write({ 'src/new.c': 'int a;', 'mine.txt': '' }), 'src');
  expect(below?.files).toEqual(['new.c']);
});

test('where an attempt finds the work of an earlier one, that is what was changed', async () => {
  await using watch = await ChangeWatch.open(tree.root, undefined);
  expect((await watch?.seen())?.files).toEqual([]);
  expect((await watch?.seen({ isAgain: true }))?.files).toEqual(['mine.txt', 'src/ring.c']);
  await tree.write({ 'src/old.c': 'int older;\n' });
  expect((await watch?.seen({ isAgain: true }))?.files).toEqual(['src/old.c']);
});

test('an agent that commits its work has changed as much', async () => {
  const seen = await seenAfter(async () => {
    await tree.write({ 'src/ring.c': 'int after;\n' });
    tree.commit('its work');
  });
  expect(seen?.files).toEqual(['src/ring.c']);
});

test('a file that could be parsed and cannot any more is told with its line', async () => {
  const seen = await seenAfter(() =>
    tree.write({
      'src/ring.c': ring.slice(0, -2),
      'src/macro.c': 'FOR_EACH(y {\n',
      'src/old.c': 'int older;\n',
    }),
  );
  expect(seen?.broken.map(({ file }) => file)).toEqual(['src/ring.c']);
  expect(seen?.broken[0]?.line).toBeGreaterThan(0);
});

test('outside of git nothing can be seen', async () => {
  await using plain = await TemporaryTree.create({ 'a.c': '' });
  await writeFile(path.join(plain.root, 'a.c'), 'int a;');
  expect(await ChangeWatch.open(plain.root, undefined)).toBeUndefined();
});

test('a report is held against what was seen', () => {
  const seen = { files: ['src/ring.c'], broken: [] };
  expect(doubtsOf('Renamed it in src/ring.c; src/user.c calls it.', seen)).toEqual([]);
  expect(doubtsOf('Renamed it in `ring.c`.', seen)).toEqual([]);
  expect(doubtsOf('Renamed it in lib/src/ring.c.', seen)).toEqual([]);
  expect(doubtsOf('Renamed it.', seen)).toEqual([]);
  expect(doubtsOf('Renamed it in src/user.c.', seen)).toEqual([
    'it names src/user.c, and changed src/ring.c',
  ]);
  expect(doubtsOf('Renamed it in src/ring.c.', { files: [], broken: [] })).toEqual([
    'it says that it is done, and no file was changed',
  ]);
  expect(doubtsOf('Done.', { ...seen, broken: [{ file: 'src/ring.c', line: 3 }] })).toEqual([
    'src/ring.c could be parsed before and cannot any more, from line 3',
  ]);
});
