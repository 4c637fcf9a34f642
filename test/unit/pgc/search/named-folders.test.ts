import { afterAll, beforeAll, expect, test } from 'vitest';
import { NamedFolders } from '../../../../src/pgc/search/named-folders.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';
import type { ShardIndex } from '../../../../src/pgc/format/shard-index.js';
import { chainTree, type ChainTree } from '../../../support/chain-tree.js';

let tree: ChainTree;
let drivers: ShardIndex;

beforeAll(async () => {
  tree = await chainTree({
    'drivers/igb/main.c': 'int igb_open(void) { return 0; }\n',
    'drivers/igbvf/main.c': 'int vf_open(void) { return 0; }\n',
    'drivers/ice/main.c': `int ice_open(void) { return 0; }
/* Like igb does it. */
int ice_close(void) { int igb = 0; return igb; }
`,
    'drivers/base.c': 'int base_open(void) { return 0; }\n',
    'include/a.h': 'int a;\n',
    'kernel/a.c': 'int b;\n',
    'mm/a.c': 'int c;\n',
  });
  drivers = tree.shards[0]?.index as ShardIndex;
});
afterAll(async () => tree[Symbol.asyncDispose]());

function shareOf(question: string, name: string): number {
  const [symbol = -1] = drivers.symbolsNamed(name);
  const { path } = drivers.file(drivers.symbol(symbol).file);
  return new NamedFolders(drivers, analyse(question)).shareOf(symbol, path);
}

test('a driver that is named comes before its kin, and its kin before the drivers beside it', () => {
  const question = 'How does igb open?';
  const shares = ['igb_open', 'vf_open', 'ice_close', 'ice_open'].map((name) =>
    shareOf(question, name),
  );
  expect(shares).toEqual([...shares].sort((one, other) => other - one));
  expect(new Set(shares).size).toBe(4);
  expect(shares[0]).toBe(1);
});

test('the prefix of a symbol names a driver too', () => {
  expect(shareOf('What does igb_open do?', 'igb_open')).toBe(1);
  expect(shareOf('What does igb_open do?', 'ice_open')).toBeLessThan(1);
});

test('what lies in no folder beside the named one is left alone, and so is everything when none is named', () => {
  expect(shareOf('How does igb open?', 'base_open')).toBe(1);
  expect(shareOf('How does a card open?', 'ice_open')).toBe(1);
});
