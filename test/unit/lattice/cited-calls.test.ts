import { expect, test } from 'vitest';
import { callersOf } from '../../../src/lattice/call-sites.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { verify } from '../../../src/pgc/answer/verify.js';
import { indexedTree } from '../../support/indexed-tree.js';

test('call sites say whether their result is looked at, and those that ignore it are cited first', async () => {
  await using tree = await indexedTree(
    {
      'app/main.c': `int load(void);
int first(void) { return load(); }
void second(void) { load(); }
`,
      'lib/load.c': `int load(void) { return 1; }
void third(void)
{
	if (load())
		load();
}
`,
    },
    ['app', 'lib'],
  );
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  const lattice = new Lattice(tree.shards, cards);
  const { callers, citations } = await callersOf(lattice, 'load', { cite: 3 });
  expect(callers.map(({ file_path, line, ignored }) => [`${file_path}:${line}`, ignored])).toEqual([
    ['app/main.c:2', false],
    ['app/main.c:3', true],
    ['lib/load.c:4', false],
    ['lib/load.c:5', true],
  ]);
  expect(citations.map(({ file_path, line_start }) => `${file_path}:${line_start}`)).toEqual([
    'app/main.c:3',
    'lib/load.c:5',
    'app/main.c:2',
  ]);
  const verdicts = await Promise.all(citations.map((each) => verify(each, tree.root)));
  expect(verdicts.map(({ status }) => status)).toEqual(['valid', 'valid', 'valid']);
  expect((await callersOf(lattice, 'load')).citations).toEqual([]);
});
