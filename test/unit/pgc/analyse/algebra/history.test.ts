import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../../../../../src/pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../../../../../src/pgc/analyse/algebra/expression.js';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

let at: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  at = await TemporaryTree.create({
    'mm/slab.c': 'int grow(void) { return 0; }\nint shrink(void) { return grow(); }\n',
    'net/dev.c': '#define RX 1\nint rx(void) { return RX; }\n',
  });
  at.commit('begin', { author: 'Ann', date: '2020-01-02T00:00:00Z' });
  await at.write({ 'net/dev.c': 'int rx(void) { return 2; }\n' });
  at.commit('net: two', { author: 'Ben Ito', date: '2021-03-04T00:00:00Z' });
  await at.write({ 'new.c': 'int fresh;\n' });
  home = await TemporaryTree.create();
  await indexFolder({ root: at.root, home: home.root, jobs: 0, shards: 1 });
  tree = await openIndex(at.root, home.root);
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function names(text: string): Promise<string[]> {
  const { anchors, errors, warnings } = await evaluate(parseExpression(text), tree);
  expect([errors, warnings]).toEqual([[], []]);
  return anchors.map(({ file_path, symbol }) => `${file_path}#${symbol}`);
}

describe('the history of git as a set', () => {
  test.each<[what: string, text: string, expected: string[]]>([
    ['what an author has worked on', 'O1 & O3[author="Ben Ito"]', ['net/dev.c#rx']],
    [
      'as one of those of most commits',
      'O3[author=Ann]',
      ['mm/slab.c#', 'mm/slab.c#grow', 'mm/slab.c#shrink', 'net/dev.c#', 'net/dev.c#rx'],
    ],
    [
      'as the last one',
      'O3[history, author=Ann, kind=function]',
      ['mm/slab.c#grow', 'mm/slab.c#shrink'],
    ],
    ['by a pattern', 'O3[author~"^Be", name=rx]', ['net/dev.c#rx']],
    ['changed since a day', 'O1 & O3[since=2021-03-04]', ['net/dev.c#rx']],
    ['since a month', 'O1 & O3[since=2021-03]', ['net/dev.c#rx']],
    ['until a year', 'O1 & O3[until=2020]', ['mm/slab.c#grow', 'mm/slab.c#shrink']],
    ['between two days', 'O3[since=2020-02-01, until=2021-03-03]', []],
    ['by one item', 'O1 & O3[author=Ann, since=2021]', []],
    ['with calls', 'O3[called] & O3[until=2020]', ['mm/slab.c#grow']],
    ['what git does not know', 'O1 - O3[history]', ['new.c#fresh']],
    [
      'calls alone, where nothing of git is asked for',
      'O3',
      ['mm/slab.c#grow', 'mm/slab.c#shrink'],
    ],
  ])('%s', async (_what, text, expected) => {
    expect(await names(text)).toEqual(expected);
  });

  test('tells what put a symbol there', async () => {
    const { anchors } = await evaluate(parseExpression('O3[author=Ann, name=rx]'), tree);
    expect(anchors[0]?.items).toEqual([
      {
        ...{ overlay: 'O3', rule: 'author', file_path: 'net/dev.c', line: 1 },
        text: '1 of 2 commits by Ann',
      },
    ]);
  });

  test('refuses what is no day', () => {
    for (const text of [
      'O3[since=yesterday]',
      'O3[since~2020]',
      'O3[until!=2020]',
      'O1[since=2020]',
    ])
      expect(() => parseExpression(text), text).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});
