import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { trace } from '../../../src/lattice/trace.js';
import { shardMessages } from '../../../src/pgc/serve/messages.js';
import type { Card, ShardPort } from '../../../src/pgc/shapes.js';
import { chainFiles } from '../../support/chain-tree.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

/** What is called under names that imports and re-exports have changed. */
const renamed = {
  'app/main.ts': `import { seal as close } from '../lib/index.js';
import { stamp as mark } from '../core/stamp.js';
export function post(text: string): string { return close(text); }
export function send(text: string): string { return mark(post(text)); }
`,
  'lib/index.ts': `export { stamp as seal } from '../core/stamp.js';
export function seal2(text: string): string { return text; }
`,
  'core/stamp.ts': `export function stamp(text: string): string { return ink(text); }
function ink(text: string): string { return text; }
`,
};

/** The same by many callers of one name, so that the search goes on from its end. */
const crowded = {
  ...chainFiles,
  'drivers/many.c': Array.from(
    { length: 40 },
    (_, at) => `int drv_${at}(void) { return nic_log_${at}() + drv_${(at + 1) % 40}(); }\n`,
  ).join(''),
  'drivers/entry.c': `int entry(void) { ${Array.from({ length: 40 }, (_, at) => `drv_${at}();`).join(' ')} return nic_open(0); }\n`,
};

describe.each([
  ['C', crowded, ['drivers', 'include', 'kernel', 'mm']],
  ['TypeScript', renamed, ['app', 'lib', 'core']],
])('%s', (_, files, aliases) => {
  let tree: IndexedTree;
  const asked: string[] = [];
  let plain: Lattice;
  let packed: Lattice;
  beforeAll(async () => {
    tree = await indexedTree(files, aliases);
    const ports = tree.shards.map((shard): ShardPort =>
      Object.assign(Object.create(shard) as ShardPort, {
        callers: (symbols: string[]) => {
          asked.push(shard.agent);
          return shard.callers(symbols);
        },
      }),
    );
    const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
    const { answer } = shardMessages.card;
    const overBus = (card: Card): Card => answer.decode(answer.encode(card));
    plain = new Lattice(ports, cards);
    packed = new Lattice(ports, cards.map(overBus));
  });
  afterAll(() => tree[Symbol.asyncDispose]());

  test('cards that say what is left open change no path and spare requests', async () => {
    const names = [...new Set(tree.shards.flatMap(({ index }) => allNames(index)))];
    let [all, some, found] = [0, 0, 0];
    const limits = { clock: systemClock };
    for (const from of names)
      for (const to of names) {
        asked.length = 0;
        const one = await trace(plain, from, to, limits);
        all += asked.length;
        asked.length = 0;
        const other = await trace(packed, from, to, limits);
        some += asked.length;
        found += Number(one.found && one.path.length > 1);
        expect({ ...other, elapsed_ms: 0 }, `${from} ${to}`).toEqual({ ...one, elapsed_ms: 0 });
      }
    expect(found).toBeGreaterThan(2);
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all * 0.7);
  });
});

test('what is called from everywhere is come to from the other end, whether cards say so or not', async () => {
  const callers = Array.from(
    { length: 60 },
    (_, at) => `int use_${at}(void) { return get_data(); }\n`,
  );
  const files = {
    'core/data.c': 'int get_data(void) { return 1; }\n',
    'core/wrap.c': 'int get_wrapped(void) { return get_data(); }\n',
    'drivers/many.c': callers.join(''),
    'drivers/one.c':
      'int probe(void) { return get_wrapped() + more(); }\nint more(void) { return 2; }\n',
  };
  await using tree = await indexedTree(files, ['core', 'drivers']);
  const asked: string[][] = [];
  const ports = tree.shards.map((shard): ShardPort =>
    Object.assign(Object.create(shard) as ShardPort, {
      callers: (symbols: string[]) => {
        asked.push(symbols);
        return shard.callers(symbols);
      },
    }),
  );
  const made = await Promise.all(tree.shards.map((shard) => shard.card()));
  const { answer } = shardMessages.card;
  for (const cards of [made, made.map((card) => answer.decode(answer.encode(card)))]) {
    const limits = { clock: systemClock };
    const { path } = await trace(new Lattice(ports, cards), 'probe', 'get_data', limits);
    expect(path.map(({ symbol }) => symbol)).toEqual(['probe', 'get_wrapped', 'get_data']);
  }
  expect(asked).toEqual([]);
});

function allNames(index: IndexedTree['shards'][number]['index']): string[] {
  const names: string[] = [];
  for (let id = 0; id < index.symbolCount; id += 1) {
    const { name, declaration } = index.symbol(id);
    if (!declaration && !/^drv_[1-9]/.test(name)) names.push(name);
  }
  return names;
}
