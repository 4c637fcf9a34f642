import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import type { VectorOrder, Vectors } from '../../../../../src/pgc/search/vectors/shard-vectors.js';
import { writeTable } from '../../../../../src/pgc/search/vectors/table-file.js';
import { VectorThreads } from '../../../../../src/pgc/search/vectors/vector-threads.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { tinyTable, tinyVocabulary } from '../../../../support/tiny-table.js';

const source = {
  'net/skb.c': '/* Drops a packet. */\nvoid put_away(struct packet *p) { drop(p); }\n',
  'mm/page.c': '/* Releases a page. */\nvoid free_page(struct page *p) { drop(p); }\n',
};
const never = new AbortController().signal;

let tree: TemporaryTree;
let home: TemporaryTree;
let orders: VectorOrder[];
let made: Map<string, Vectors | undefined>;
beforeAll(async () => {
  tree = await TemporaryTree.create(source);
  home = await TemporaryTree.create();
  await writeTable(home.root, tinyTable(), tinyVocabulary);
  await indexFolder({
    ...{ root: tree.root, home: home.root, jobs: 0 },
    shards: { shards: ['mm', 'net'].map((alias) => ({ alias, paths: [alias] })) },
    embedding: { settings: 'auto', env: {} },
  });
  const place = placeOf(tree.root, home.root);
  const { shards } = await readManifest(place, tree.root);
  made = new Map(shards.map(({ alias, vectors }) => [alias, vectors]));
  orders = shards.map((shard) => ({ segments: place.segments, shard, room: 100 }));
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Name and bytes of all vectors. */
async function vectorFiles(): Promise<[string, string][]> {
  const { segments } = placeOf(tree.root, home.root);
  const names = (await readdir(segments)).filter((name) => name.endsWith('.vec')).sort();
  return Promise.all(
    names.map(async (name) => [name, (await readFile(path.join(segments, name))).toString('hex')]),
  );
}

test('threads write what one thread writes, byte by byte', async () => {
  const before = await vectorFiles();
  expect(before.map(([name]) => name.split('-')[0])).toEqual(['mm', 'net']);
  const { segments } = placeOf(tree.root, home.root);
  for (const [name] of before) await rm(path.join(segments, name));
  await using threads = new VectorThreads(2, home.root);
  const found = new Map<string, Vectors>();
  await threads.all(orders, never, ({ shard }, vectors) => found.set(shard.alias, vectors));
  expect(await vectorFiles()).toEqual(before);
  expect(found).toEqual(made);
});

test('where there is no room nothing is written, and what is left out is told', async () => {
  await using threads = new VectorThreads(1, home.root);
  const found: Vectors[] = [];
  const full = orders.slice(0, 1).map((order) => ({ ...order, room: 0 }));
  await threads.all(full, never, (_, vectors) => found.push(vectors));
  expect(found).toMatchObject([{ file: '', symbols: 0, left_out: 1 }]);
});

test('what a thread fails with is thrown, and so is the reason of the signal', async () => {
  await using threads = new VectorThreads(1, home.root);
  const ignore = (): void => undefined;
  const lost = orders.map((order) => ({
    ...order,
    shard: { ...order.shard, segment: 'gone.seg' },
  }));
  await expect(threads.all(lost, never, ignore)).rejects.toMatchObject({ code: 'INDEX_MISSING' });
  const enough = new Error('enough');
  await expect(threads.all(orders, AbortSignal.abort(enough), ignore)).rejects.toBe(enough);
});

test('a thread that dies fails its shard and does not hang', async () => {
  const dying = path.join(home.root, 'dying.mjs');
  await writeFile(
    dying,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', () => process.exit(3));`,
  );
  await using threads = new VectorThreads(2, home.root, pathToFileURL(dying));
  await expect(threads.all(orders, never, () => undefined)).rejects.toMatchObject({
    code: 'MINER_FAILED',
    data: { detail: 'the thread ended with code 3' },
  });
});
