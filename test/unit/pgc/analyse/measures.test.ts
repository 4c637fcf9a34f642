import { afterAll, beforeAll, expect, test } from 'vitest';
import { measures } from '../../../../src/pgc/analyse/measures.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

let source: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  source = await TemporaryTree.create({
    'lib/copy.c': 'int raw(char *to, char *from)\n{\n\tstrcpy(to, from);\n\treturn 0;\n}\n',
    'lib/deep/add.c': 'int add(int a)\n{\n\treturn a;\n}\n',
    'main.c': 'int main(void) { return 0; }\n',
  });
  source.commit('begin', { author: 'Ann', date: '2026-01-01T00:00:00Z' });
  await source.write({ 'lib/deep/add.c': 'int add(int a)\n{\n\treturn a + 1;\n}\n' });
  source.commit('one more', { author: 'Ben', date: '2026-02-03T00:00:00Z' });
  home = await TemporaryTree.create();
  const shards = {
    shards: [
      { alias: 'lib', paths: ['lib'] },
      { alias: 'main', paths: ['main.c'] },
    ],
  };
  await indexFolder({ root: source.root, home: home.root, jobs: 0, shards });
  tree = await openIndex(source.root, home.root);
});
afterAll(async () => {
  tree[Symbol.dispose]();
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

test('a folder has the sums of all below it, over the shards', async () => {
  const { total, rows, warnings } = await measures(tree, '', 1);
  const lib = {
    path: 'lib',
    is_file: false,
    files: 2,
    lines: 9,
    weaknesses: 1,
    grave: 1,
    commits: 3,
  };
  expect(rows[0]).toEqual({ ...lib, changed: '2026-02-03' });
  expect(rows[1]).toMatchObject({
    path: 'main.c',
    is_file: true,
    commits: 1,
    changed: '2026-01-01',
  });
  expect(total).toMatchObject({ path: '', files: 3, lines: 10, weaknesses: 1, commits: 4 });
  expect(warnings).toEqual([]);
});

test('the whole tree and its folders may be named as in a shell', async () => {
  const whole = await measures(tree, '', 1);
  expect(await measures(tree, '.', 1)).toEqual(whole);
  expect(await measures(tree, './lib/', 1)).toEqual(await measures(tree, 'lib', 1));
  expect(whole.rows.length).toBeGreaterThan(0);
});

test('as many levels as are wanted, below the folder that is asked about', async () => {
  const { rows } = await measures(tree, 'lib/', 2);
  expect(rows.map(({ path }) => path).sort()).toEqual(['lib/copy.c', 'lib/deep', 'lib/deep/add.c']);
  const { rows: near } = await measures(tree, 'lib', 1);
  expect(near.map(({ path }) => path).sort()).toEqual(['lib/copy.c', 'lib/deep']);
});

test('a file has its history', async () => {
  const { total, rows, history } = await measures(tree, 'lib/deep/add.c', 1);
  expect(total).toMatchObject({ is_file: true, files: 1, lines: 4, commits: 2 });
  expect(rows).toEqual([]);
  const [first] = history.filter(({ rule }) => rule === 'history');
  expect(first?.text).toContain('last 2026-02-03 by Ben: one more');
  expect(
    history
      .filter(({ rule }) => rule === 'author')
      .map(({ subject }) => subject)
      .sort(),
  ).toEqual(['Ann', 'Ben']);
});

test('of what is not there nothing is counted, nor of what only begins alike', async () => {
  const { total, rows } = await measures(tree, 'li', 1);
  expect([total.files, rows.length]).toEqual([0, 0]);
});
