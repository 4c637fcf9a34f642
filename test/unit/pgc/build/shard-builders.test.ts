import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { encodeFacts } from '../../../../src/pgc/format/packed-facts.js';
import { placeOf } from '../../../../src/pgc/plan/manifest.js';
import { Miner } from '../../../../src/pgc/mine/mine.js';
import { openBuilders, type ShardBuilder } from '../../../../src/pgc/build/shard-builders.js';
import type { MinedFile, ShardOrder } from '../../../../src/pgc/build/shard-files.js';

/** Worth two threads. */
const lines = 250_000;
let home: string;
let mined: (MinedFile & { facts: Uint8Array })[];

beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'sigma-builders-'));
  await using miner = new Miner();
  mined = [];
  for (const name of ['alpha', 'beta']) {
    const text = `/* Runs ${name}. */\nint ${name}(char *to) { strcpy(to, name()); return 1; }\n`;
    const facts = encodeFacts(await miner.mine('c', Buffer.from(text)));
    const blob = createHash('sha1').update(name).digest('hex');
    mined.push({ file: { path: `${name}.c`, blob, language: 'c', lines: 2 }, facts });
  }
});
afterAll(async () => {
  await rm(home, { recursive: true });
});

/** A place of its own for each test. */
async function orderIn(name: string, alias: string): Promise<ShardOrder> {
  const place = placeOf('/src/tree', path.join(home, name));
  await mkdir(place.segments, { recursive: true });
  const shard = {
    ...{ alias, scope: ['.'], version: 'v1', base: 'v1', made_with: 'm' },
    segment: `${alias}-v1.seg`,
  };
  return { place, digests: {}, shard, kept: undefined };
}

async function* inBatches(files: readonly MinedFile[]): AsyncGenerator<MinedFile[]> {
  for (const file of files) yield await Promise.resolve([file]);
}

const nothingToMend = (): never => {
  throw new Error('nothing is broken');
};

async function filesIn({ place }: ShardOrder): Promise<Record<string, string>> {
  const names = (await readdir(place.segments)).sort();
  const entries = names.map(async (name) => {
    const bytes = await readFile(path.join(place.segments, name));
    return [name, createHash('sha256').update(bytes).digest('hex')] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

test('threads write what this thread writes', async () => {
  const write = async (name: string, threads: number) => {
    const orders = [await orderIn(name, 'one'), await orderIn(name, 'two')];
    const used = new Set<ShardBuilder>();
    await using builders = openBuilders(threads, lines, 512);
    const shards = new Map<string, unknown>();
    await builders.all(orders, async (builder, order) => {
      used.add(builder);
      const { alias } = order.shard;
      shards.set(alias, await builder.build(order, inBatches(mined), nothingToMend));
    });
    const made = [shards.get('one'), shards.get('two')];
    return { files: await filesIn(orders[0]!), made, used: used.size };
  };
  const here = await write('here', 0);
  const threads = await write('threads', 2);
  expect(here.used).toBe(1);
  expect(threads.used).toBe(2);
  expect(threads.made).toEqual(here.made);
  expect(threads.files).toEqual(here.files);
  expect(Object.keys(here.files)).toContain('one-v1.seg');
  expect(here.made[0]).toMatchObject({ files: 2, lines: 4, items: { O1: 2, O2: 2 }, calls: 4 });
});

test.each([
  ['this thread', 0],
  ['a thread', 1],
])('in %s facts that are lost or damaged are asked for again', async (_, threads) => {
  const order = await orderIn(`mended-${threads}`, 'one');
  await using builders = openBuilders(threads, lines, 512);
  const asked: string[] = [];
  const broken = [
    { ...mined[0]!, facts: Buffer.from('no facts') },
    { file: mined[1]!.file, facts: undefined },
  ];
  await builders.all([order], async (builder) => {
    const shard = await builder.build(order, inBatches(broken), (file) => {
      asked.push(file.path);
      return Promise.resolve(mined.find((each) => each.file === file)!.facts);
    });
    expect(shard).toMatchObject({ files: 2, items: { O1: 2 } });
  });
  expect(asked).toEqual(['alpha.c', 'beta.c']);
});

test('a failure in a thread keeps its code, and nothing else is begun', async () => {
  const order = await orderIn('full', 'one');
  await rm(order.place.segments, { recursive: true });
  await using builders = openBuilders(1, lines, 512);
  const begun: string[] = [];
  const all = builders.all([order, order], async (builder, { shard }) => {
    begun.push(shard.alias);
    await builder.build(order, inBatches(mined), nothingToMend);
  });
  await expect(all).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  expect(begun).toEqual(['one']);
});

test('a thread that dies fails its shard and does not hang', async () => {
  const dying = path.join(home, 'dying.mjs');
  await writeFile(
    dying,
    `import { parentPort } from 'node:worker_threads';
     parentPort.on('message', ({ what }) => {
       if (what === 'add') process.exit(3);
       parentPort.postMessage({ broken: [] });
     });`,
  );
  const order = await orderIn('dying', 'one');
  await using builders = openBuilders(1, lines, 512, pathToFileURL(dying));
  const all = builders.all([order], async (builder) => {
    await builder.build(order, inBatches(mined), nothingToMend);
  });
  await expect(all).rejects.toMatchObject({
    code: 'MINER_FAILED',
    data: { detail: 'the thread ended with code 3' },
  });
});
