import { expect, test } from 'vitest';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { openShards } from '../../../../../src/pgc/serve/open-shards.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

/** Files that were written to this shortly before a run are read by the next one whatever it is told. */
const settledMs = 2_100;

test('a refresh believes what it is told has changed, below a folder too, and a whole one finds the rest', async () => {
  const text = (name: string): string => `int ${name}(void) { return 1; }\n`;
  await using tree = await TemporaryTree.create({
    'a.c': text('a_old'),
    'b.c': text('b_old'),
    'deep/er/c.c': text('c_old'),
  });
  await using home = await TemporaryTree.create();
  await new Promise((resolve) => setTimeout(resolve, settledMs));
  const refresh = async (changed?: string[]): Promise<string[]> => {
    const more = changed === undefined ? {} : { changed: new Set(changed) };
    await indexFolder({ root: tree.root, home: home.root, jobs: 0, ...more });
    const { shards } = await openShards(tree.root, home.root);
    return shards.flatMap(({ index }) => [...index.symbolNames()]).sort();
  };
  expect(await refresh()).toEqual(['a_old', 'b_old', 'c_old']);
  await tree.write({
    'a.c': text('a_new'),
    'b.c': text('b_new'),
    'deep/er/c.c': text('c_new'),
    'd.c': text('d_new'),
  });
  expect(await refresh(['a.c', 'deep'])).toEqual(['a_new', 'b_old', 'c_new']);
  expect(await refresh(['d.c'])).toEqual(['a_new', 'b_old', 'c_new', 'd_new']);
  expect(await refresh([])).toEqual(['a_new', 'b_old', 'c_new', 'd_new']);
  expect(await refresh()).toEqual(['a_new', 'b_new', 'c_new', 'd_new']);
});
