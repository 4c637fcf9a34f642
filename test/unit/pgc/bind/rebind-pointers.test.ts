import { afterAll, beforeAll, expect, test } from 'vitest';
import { Change } from '../../../../src/pgc/bind/change/change.js';
import { MovedSymbols } from '../../../../src/pgc/bind/change/moved-symbols.js';
import { rebindPointers } from '../../../../src/pgc/bind/pointers/rebind-pointers.js';
import type { ShardIndex } from '../../../../src/pgc/format/shard-index.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'include/ops.h': `struct ops { int (*open)(int nr); int (*stop)(int nr); };
struct file { const struct ops *ops; int count; };
int hand_on(int (*fn)(int), int nr);
`,
  'core/core.c': `#include "ops.h"
int hand_on(int (*fn)(int), int nr) { return fn(nr); }
int core_open(struct file *file) { return file->ops->open(1); }
int core_stop(struct file *file) { return file->ops->stop(1); }
`,
  'drv/drv.c': `#include "ops.h"
static int drv_open(int nr) { return nr; }
static int drv_stop(int nr) { return nr; }
static const struct ops drv_ops = { .open = drv_open };
int drv_run(struct file *file) { return hand_on(drv_stop, 2) + file->ops->open(2); }
`,
};

const folders = ['include', 'core', 'drv'];
let was: IndexedTree;
beforeAll(async () => {
  was = await indexedTree(files, folders);
});
afterAll(() => was[Symbol.asyncDispose]());

/** What is said after one text has changed: the calls of that text, or everything. */
async function after(path: string, edit: (text: string) => string): Promise<string> {
  await using is = await indexedTree({ ...files, [path]: edit(files[path] ?? '') }, folders);
  const before = was.shards.flatMap(({ index }) =>
    index.bound === undefined ? [] : [{ index, bound: index.bound }],
  );
  const isOf = (index: ShardIndex): boolean => index.fileAt(path) !== undefined;
  const units = is.shards.map(({ index }, at) => (isOf(index) ? index : before[at]!.index));
  const same = units.flatMap((index, at): [number, number][] => (isOf(index) ? [] : [[at, at]]));
  const change = new Change(units, before, same);
  const { calls, isWhole, implementations } = rebindPointers(change, new MovedSymbols(change));
  if (isWhole) return 'everything';
  expect(implementations).toBeUndefined();
  return [...calls]
    .map(({ shard, call, binding, targets }) => {
      const { line = 0 } = units[shard]?.site(call) ?? {};
      return `${line} ${binding} ${targets.map((each) => `${each.container}.${each.name}`).join()}`;
    })
    .join(' · ');
}

test('of a changed body the calls are bound as the same ones were', async () => {
  const more = (text: string): string => text.replace('int core_open', 'int more;\nint core_open');
  expect(await after('core/core.c', more)).toBe(
    '2 dispatch hand_on.fn · 4 dispatch ops.open · 5 dispatch ops.stop',
  );
});

test('a function, a macro or a declaration that no other text speaks of changes nothing else', async () => {
  const drv = (text: string): string => `${text}int drv_more(void) { return 1; }\n`;
  expect(await after('drv/drv.c', drv)).toBe('5 dispatch ops.open');
  const header = (text: string): string => `${text}#define MORE 1\nint more_of(int nr);\n`;
  expect(await after('include/ops.h', header)).toBe('');
});

test('where a function is put, what is meant, or what is included may differ, everything is bound anew', async () => {
  const anew = async (path: string, from: string, to: string): Promise<string> =>
    after(path, (text) => text.replace(from, to));
  const all = await Promise.all([
    anew('drv/drv.c', '.open = drv_open', '.stop = drv_open'),
    anew('drv/drv.c', '#include "ops.h"\n', ''),
    anew('include/ops.h', 'int (*stop)(int nr);', 'int stop;'),
    anew('core/core.c', 'int hand_on', 'int hand_over'),
  ]);
  expect(new Set(all)).toEqual(new Set(['everything']));
});
