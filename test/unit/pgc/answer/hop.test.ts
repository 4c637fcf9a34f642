import { afterAll, beforeAll, expect, test } from 'vitest';
import { analyse } from '../../../../src/pgc/search/question/question.js';
import type { HopAnswer } from '../../../../src/pgc/shapes.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const same = Array.from(
  { length: 12 },
  (_, at) => `/* Squeezes a page of the drum, way ${at}. */
int drum_squeeze_page_${at}(int page) { return page + ${at}; }
`,
);
const files = {
  'fs/writer.c': `#include "drum.h"
int flush_dirty(int page) { return put_out(page); }
`,
  'fs/put.c': `#include "drum.h"
int put_out(int page) { return drum_squeeze_page(page); }
`,
  'fs/drum.h': `int put_out(int page);
int drum_squeeze_page(int page);
int pack_bits(int page);
struct drum_ops { int (*store)(int page); };
`,
  'fs/drum.c': `#include "drum.h"
/* Squeezes a page of the drum. */
int drum_squeeze_page(int page) { return pack_bits(page); }
${same.join('')}`,
  'fs/pack.c': `#include "drum.h"
int pack_bits(int page) { return page >> 1; }
`,
  'fs/ops.c': `#include "drum.h"
/* Seals the vault. */
static int seal_vault(int page) { return page; }
const struct drum_ops drum_ops = { .store = seal_vault };
`,
  'fs/upper.c': `#include "drum.h"
int keep(const struct drum_ops *ops, int page) { return ops->store(page); }
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['fs']);
});
afterAll(() => tree[Symbol.asyncDispose]());

async function asked(question: string): Promise<HopAnswer> {
  const [shard] = tree.shards;
  if (shard === undefined) throw new Error('no shard');
  const answer = await shard.hop({ question, symbols: [], top_k: 5, references_max: 20 });
  return answer;
}

const namesIn = ({ evidence }: HopAnswer): string[] => evidence.map(({ symbol }) => symbol);

test('of many functions of one file a hop names a few, and what they call in other files', async () => {
  const names = namesIn(await asked('How does the drum squeeze a page?'));
  expect(names[0]).toMatch(/^drum_squeeze_page/);
  expect(names).toContain('pack_bits');
  expect(names.length).toBeLessThanOrEqual(10);
});

test('a hop names who calls what the question speaks of', async () => {
  const names = namesIn(await asked('How does the drum squeeze a page?'));
  expect(names).toContain('put_out');
});

test('also who calls it through the member of a structure that holds it', async () => {
  const names = namesIn(await asked('How is the vault sealed?'));
  expect(names).toEqual(expect.arrayContaining(['seal_vault', 'keep']));
});

test('where even the best is worth nothing, what is worth less does not come before it', async () => {
  const words =
    'amber birch cedar dune ember fjord glade heron inlet jetty knoll lagoon maple nectar orchid pebble quartz reed spruce tundra umbra violet willow yarrow'.split(
      ' ',
    );
  const about = (word: string, at: number): [string, string] => [
    `tests/${word}.c`,
    `/* ${word}${at === 0 ? ' and birch' : ''} */\n#define CHECK_${at}(x) (x)\n`,
  ];
  await using aside = await indexedTree(Object.fromEntries(words.map(about)), ['tests']);
  const [shard] = aside.shards;
  if (shard === undefined) throw new Error('no shard');
  const question = `How do ${words.join(', ')} go together?`;
  const { found } = await shard.search.find(analyse(question), new Set(['O1']), 5);
  expect(found[0]?.score).toBeLessThan(0);
  const answer = await shard.hop({ question, symbols: [], top_k: 5, references_max: 20 });
  expect(namesIn(answer)[0]).toBe('CHECK_0');
});
