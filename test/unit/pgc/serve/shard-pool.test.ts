import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ShardPool, waitingMax } from '../../../../src/pgc/serve/shard-pool.js';
import { ShardSource } from '../../../../src/pgc/serve/shard-source.js';
import { shardMessages } from '../../../../src/pgc/serve/messages.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openShards } from '../../../../src/pgc/serve/open-shards.js';
import { areDescriptorsListed, openBelow } from '../../../support/descriptors.js';
import { TemporaryTree } from '../../../support/git-tree.js';

interface Gate {
  promise: Promise<void>;
  open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const promise = new Promise<void>((resolve) => (open = resolve));
  return { promise, open };
}

/** Shards of which the key tells the cost; what is open now, and the most that ever was. */
function poolOf(budgetBytes: number) {
  const open = new Map<string, number>();
  const seen = { most: 0, twice: 0, oversize: [] as string[] };
  const costOf = (key: string): number => Number(key.split(':')[1]);
  const pool = new ShardPool<string>({
    budgetBytes,
    costOf,
    open: async (key) => {
      await Promise.resolve();
      if (open.has(key)) seen.twice += 1;
      open.set(key, costOf(key));
      seen.most = Math.max(
        seen.most,
        [...open.values()].reduce((sum, each) => sum + each, 0),
      );
      return { value: key, close: () => void open.delete(key) };
    },
    onOversize: (key) => void seen.oversize.push(key),
  });
  return { pool, open, seen };
}

const turn = (): Promise<void> => new Promise(setImmediate);

test('whatever is asked, no more is open than the budget allows, none twice, and every question is answered', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 3 })), {
        maxLength: 40,
      }),
      async (asks) => {
        const { pool, open, seen } = poolOf(10);
        const costs = [3, 4, 5, 6, 10, 1];
        const answers = await Promise.all(
          asks.map(([shard, turns]) =>
            pool.use(`${shard}:${costs[shard]}`, async (key) => {
              for (let at = 0; at < turns; at += 1) await turn();
              expect(open.has(key)).toBe(true);
              return key;
            }),
          ),
        );
        expect(answers).toEqual(asks.map(([shard]) => `${shard}:${costs[shard]}`));
        expect([seen.most <= 10, seen.twice, seen.oversize]).toEqual([true, 0, []]);
        expect(pool.counts).toMatchObject({ waiting: 0, open: open.size });
      },
    ),
    { numRuns: 60 },
  );
});

test('the one that was not asked for longest is closed, never one that is answering', async () => {
  const { pool, open } = poolOf(10);
  const use = (key: string): Promise<void> => pool.use(key, () => Promise.resolve());
  await use('a:4');
  await use('b:4');
  await use('a:4');
  await use('c:4');
  expect([...open.keys()]).toEqual(['a:4', 'c:4']);
  const busy = gate();
  const answering = pool.use('a:4', () => busy.promise);
  await use('d:6');
  expect([...open.keys()]).toEqual(['a:4', 'd:6']);
  busy.open();
  await answering;
});

test('who finds no room waits in line, and leaves it when nobody wants the answer any more', async () => {
  const { pool, open } = poolOf(10);
  const busy = gate();
  const answering = pool.use('a:8', () => busy.promise);
  const abort = new AbortController();
  const given = pool.use('b:8', () => Promise.resolve('b'), abort.signal);
  const waiting = pool.use('c:8', () => Promise.resolve('c'));
  const behind = pool.use('a:8', () => Promise.resolve('a'));
  abort.abort();
  await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(pool.counts.waiting).toBe(2);
  busy.open();
  await answering;
  expect([await waiting, await behind]).toEqual(['c', 'a']);
  expect([...open.keys()]).toEqual(['a:8']);
});

test('of those that wait for room there is one too many at a limit, and it is told to come later', async () => {
  const { pool } = poolOf(10);
  const busy = gate();
  const answering = pool.use('a:8', () => busy.promise);
  const waiting = Array.from({ length: waitingMax }, () => pool.use('b:8', () => turn()));
  const refused = pool.use('b:8', () => turn());
  await expect(refused).rejects.toMatchObject({ code: 'HOST_BUSY', retryable: true });
  expect(pool.counts.waiting).toBe(waitingMax);
  busy.open();
  await Promise.all([answering, ...waiting]);
  expect(await pool.use('b:8', (key) => Promise.resolve(key))).toBe('b:8');
});

test('what is reserved for something else closes shards that nobody asks, and is given back', async () => {
  const { pool, open, seen } = poolOf(10);
  const use = (key: string): Promise<void> => pool.use(key, () => Promise.resolve());
  const busy = gate();
  await use('a:4');
  const answering = pool.use('b:4', () => busy.promise);
  const reserved = pool.reserve(8);
  await turn();
  expect([...open.keys()]).toEqual(['b:4']);
  // No room beside the one that answers; it is not closed.
  const waiting = use('a:4');
  await turn();
  expect(pool.counts).toMatchObject({ open: 1, waiting: 1 });
  busy.open();
  await Promise.all([answering, waiting]);
  // However much is reserved, half of the budget stays.
  await use('c:1');
  expect([[...open.keys()], seen.oversize]).toEqual([['a:4', 'c:1'], []]);
  reserved[Symbol.dispose]();
  reserved[Symbol.dispose]();
  await use('b:4');
  expect([...open.keys()]).toEqual(['a:4', 'c:1', 'b:4']);
  await use('d:4');
  expect([...open.keys()]).toEqual(['c:1', 'b:4', 'd:4']);
});

test('one that is larger than the budget is opened alone', async () => {
  const { pool, open, seen } = poolOf(10);
  await pool.use('small:2', () => Promise.resolve());
  await pool.use('large:50', () => Promise.resolve());
  expect([[...open.keys()], seen.oversize]).toEqual([['large:50'], ['large:50']]);
});

test('an older version is closed after its last answer, and the next question opens the newer one', async () => {
  const { pool } = poolOf(10);
  const busy = gate();
  let opened = 0;
  const answering = pool.use('a:4', () => busy.promise);
  await turn();
  pool.drop('a:4');
  await pool.use('a:4', () => {
    opened = pool.counts.opened;
    return Promise.resolve();
  });
  expect([opened, pool.counts.closed, pool.counts.bytes]).toEqual([2, 0, 8]);
  busy.open();
  await answering;
  expect([pool.counts.closed, pool.counts.bytes]).toEqual([1, 4]);
});

test('one that cannot be opened is tried again by the next question', async () => {
  let attempts = 0;
  const pool = new ShardPool<string>({
    budgetBytes: 10,
    costOf: () => 4,
    open: (key) => {
      attempts += 1;
      if (attempts === 1) return Promise.reject(new Error('damaged'));
      return Promise.resolve({ value: key, close: () => undefined });
    },
  });
  await expect(pool.use('a', () => Promise.resolve())).rejects.toThrow('damaged');
  expect(await pool.use('a', (shard) => Promise.resolve(shard))).toBe('a');
  expect(pool.counts.bytes).toBe(4);
});

test('real shards under a budget of one answer as they do without, and their cards do not open them', async () => {
  const aliases = ['one', 'two', 'three'];
  const files = Object.fromEntries(
    aliases.map((name) => [`${name}/a.c`, `int ${name}_first(void) { return 1; }\n`]),
  );
  await using tree = await TemporaryTree.create(files);
  await using home = await TemporaryTree.create();
  const shards = { shards: aliases.map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards });
  if (areDescriptorsListed) expect(openBelow(home.root)).toBe(0);
  const direct = await openShards(tree.root, home.root);
  const source = await ShardSource.open(tree.root, home.root, {});
  const served = [...source.shards.values()];
  expect(served.map(({ alias, version }) => [alias, version])).toEqual(
    direct.shards.map((shard) => [shard.agent, shard.version]),
  );
  const pool = new ShardPool({
    budgetBytes: Math.max(...served.map(({ bytes }) => bytes)),
    costOf: (alias) => source.shards.get(alias)?.bytes ?? 0,
    open: (alias) => source.openShard(alias),
  });
  for (const shard of direct.shards)
    expect(shardMessages.card.answer.decode(await source.card(shard.agent))).toEqual(
      shardMessages.card.answer.decode(shardMessages.card.answer.encode(await shard.card())),
    );
  expect(pool.counts.opened).toBe(0);
  for (const { agent } of [...direct.shards, ...direct.shards]) {
    const found = await pool.use(agent, (shard) => shard.definitions([`${agent}_first`]));
    expect(found).toMatchObject([{ file_path: `${agent}/a.c`, line: 1 }]);
    expect(pool.counts.open).toBe(1);
  }
  expect(pool.counts.opened).toBe(6);
  direct[Symbol.dispose]();
  pool.closeAll();
  await turn();
  if (areDescriptorsListed) expect(openBelow(home.root)).toBe(0);
});

test('so many wait in line, and one more is told that the host is busy', async () => {
  const { pool } = poolOf(4);
  const busy = gate();
  const working = pool.use('a:4', () => busy.promise);
  const waiting = Array.from({ length: waitingMax }, () =>
    pool.use('b:4', (key) => Promise.resolve(key)),
  );
  await expect(pool.use('b:4', () => Promise.resolve())).rejects.toMatchObject({
    code: 'HOST_BUSY',
  });
  busy.open();
  await working;
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['b:4']));
});

test('what a shard takes when it is open has the words that a report opens', async () => {
  await using tree = await TemporaryTree.create({ 'one/a.c': 'int first(void) { return 1; }\n' });
  await using home = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: 'auto' });
  const bytes = async (): Promise<number> => {
    const [shard] = (await ShardSource.open(tree.root, home.root, {})).shards.values();
    return shard?.bytes ?? 0;
  };
  const whole = await bytes();
  const files = readdirSync(home.root, { recursive: true, withFileTypes: true });
  const [words] = files.filter(({ name }) => name.endsWith('.words'));
  const file = path.join(words?.parentPath ?? '', words?.name ?? '');
  const { size } = statSync(file);
  truncateSync(file);
  expect(whole - (await bytes())).toBe(size);
});

test('whoever waits when all is closed is not let in any more, and nothing is opened again', async () => {
  const { pool, open } = poolOf(4);
  const busy = gate();
  const working = pool.use('a:4', () => busy.promise);
  const waiting = expect(pool.use('b:4', () => Promise.resolve())).rejects.toMatchObject({
    code: 'CANCELLED',
  });
  pool.closeAll();
  await waiting;
  busy.open();
  await working;
  await turn();
  expect([...open.keys()]).toEqual([]);
  expect(pool.counts).toMatchObject({ open: 0, opened: 1, waiting: 0 });
});
