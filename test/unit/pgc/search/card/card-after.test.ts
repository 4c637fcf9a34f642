import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShardIndex } from '../../../../../src/pgc/format/shard-index.js';
import { partsAfter } from '../../../../../src/pgc/search/card/card-after.js';
import { cardOf } from '../../../../../src/pgc/search/card/card.js';
import { indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files = {
  'net/dev.h':
    'struct dev { int (*open)(int); };\nint near(int);\nint lone(int);\nstatic int lone(int x) { return 0; }\n',
  'net/queue.c':
    '#include "dev.h"\nint wake(struct dev *d) { near(1); far(2); far(3); gone(); return d->open(4); }\n',
  'net/near.c': 'int near(int x) { return helper(x); }\n',
  'net/ops.c':
    '#include "dev.h"\nint dev_open(int x) { return lone(near(x)); }\nstruct dev d = { .open = dev_open };\nmodule_init(dev_open);\n',
  'net/Tool.java': 'class Tool { void run() { helper(); Other.go(); } void helper() {} }\n',
  'drv/far.c': 'int far(int x) { return x; }\nint helper(int x) { return far(x); }\n',
  'drv/Other.java': 'public class Other { public static void go() {} }\n',
};

const opened: IndexedTree[] = [];
const indexOf = async (changed: Record<string, string | undefined>): Promise<ShardIndex> => {
  const texts: Record<string, string | undefined> = { ...files, ...changed };
  const all = Object.entries(texts).flatMap(([path, text]) =>
    text === undefined ? [] : [[path, text] as const],
  );
  const tree = await indexedTree(Object.fromEntries(all), ['net', 'drv']);
  opened.push(tree);
  return tree.shards[0]?.index ?? expect.fail('no shard');
};
let before: ShardIndex;
beforeAll(async () => {
  before = await indexOf({});
});
afterAll(async () => {
  for (const tree of opened) await tree[Symbol.asyncDispose]();
});

test.each([
  ['nothing', {}],
  [
    'calls come and go',
    {
      'net/queue.c': `${files['net/queue.c']}int more(void) { return far(1) + fresh(near(2)); }\n`,
      'net/near.c': 'int near(int x) { return x; }\n',
    },
  ],
  [
    'what was defined is private, or gone',
    {
      'net/near.c': 'static int near(int x) { return helper(x); }\nint far(int x) { return x; }\n',
      'net/ops.c': files['net/ops.c'].replace('int dev_open', 'static int dev_open'),
    },
  ],
  [
    'another shard has no such definition any more',
    {
      'drv/far.c': 'int helper(int x) { return x; }\n',
      'drv/Other.java': 'class Another {}\n',
    },
  ],
  ['a stand-in is the real one', { 'net/dev.h': files['net/dev.h'].replace('int lone(int);', '') }],
])('of names, %s: what a card of everything says', async (_, changed) => {
  const index = await indexOf(changed);
  const { defines, stand_ins, unresolved } = cardOf(index);
  expect(partsAfter(index, { index: before, card: cardOf(before) })).toEqual({
    ...{ defines, stand_ins, unresolved },
  });
});

test('where texts include something else, all calls are looked at again', async () => {
  const text = files['net/queue.c'].replace('#include "dev.h"\n', '');
  for (const changed of [{ 'net/queue.c': text }, { 'net/near.c': undefined }]) {
    const parts = partsAfter(await indexOf(changed), { index: before, card: cardOf(before) });
    expect(Object.keys(parts)).toEqual(['defines', 'stand_ins']);
  }
});
