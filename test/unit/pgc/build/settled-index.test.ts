import { open, readdir, readlink, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { indexFolder, type IndexRequest } from '../../../../src/pgc/build/index-folder.js';
import {
  filesOf,
  placeOf,
  readManifest,
  type IndexPlace,
} from '../../../../src/pgc/plan/manifest.js';
import { TemporaryTree } from '../../../support/git-tree.js';

let tree: TemporaryTree;
let home: TemporaryTree;
let place: IndexPlace;
/** What was brought to the disk, in its order: names of files and folders, as they are called in the end. */
let synced: string[];

beforeEach(async () => {
  tree = await TemporaryTree.create({
    'mm/page.c': '/* Releases a page. */\nvoid free_page(struct page *p) { strcpy(p, q); }\n',
    'mm/page.rst': 'Pages\n=====\n\nThe lock must be held before a page is released.\n',
    'net/skb.c': '/* Drops a packet. */\nvoid put_away(struct packet *p) { free_page(p); }\n',
  });
  home = await TemporaryTree.create();
  place = placeOf(tree.root, home.root);
  synced = [];
  const handle = await open(tree.root, 'r');
  const handles = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  const sync = Object.getOwnPropertyDescriptor(handles, 'sync')?.value as FileHandle['sync'];
  vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
    const name = basename(await readlink(`/proc/self/fd/${this.fd}`));
    await sync.call(this);
    synced.push(name.replace(/\.\d+\.tmp$/, ''));
  });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** What a run has brought to the disk before the manifest, and what that names. */
interface Settled {
  before: string[];
  named: string[];
}

async function run(more: Partial<IndexRequest> = {}): Promise<Settled> {
  synced = [];
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, ...more });
  const { shards } = await readManifest(place, tree.root);
  return {
    before: synced.slice(0, synced.indexOf('manifest.json')),
    named: shards.flatMap(filesOf).sort(),
  };
}

const shards = {
  shards: ['mm', 'net'].map((alias) => ({ alias, paths: [alias] })),
};
/** Each file before its folder, and the folder before the manifest. */
const filesIn = (before: readonly string[]): string[] => {
  const folder = before.lastIndexOf('segments');
  return before.slice(0, Math.max(folder, 0)).filter((name) => name !== 'segments');
};
/** Of what the manifest names, as often as it was brought there. */
const namedIn = ({ before, named }: Settled): string[] =>
  filesIn(before)
    .filter((name) => named.includes(name))
    .sort();

test('all that a manifest names has reached the disk before it: segments, words, overlays', async () => {
  const settled = await run({ shards });
  const endings = [...new Set(settled.named.map((name) => name.split('.').pop()))].sort();
  expect(endings).toEqual(['bound', 'ovl', 'seg', 'words']);
  expect(namedIn(settled)).toEqual(settled.named);
});

test('a refresh brings what is new to the disk, and nothing else of what is served', async () => {
  const first = await run({ shards });
  const unchanged = await run();
  expect(namedIn(unchanged)).toEqual([]);
  await tree.write({ 'net/skb.c': 'void put_away(struct packet *p) { }\n' });
  const settled = await run();
  const fresh = settled.named.filter((name) => !first.named.includes(name));
  expect(fresh.length).toBeGreaterThan(0);
  expect(namedIn(settled)).toEqual(fresh);
});

test('what is made again in the place of a file that was lost or damaged reaches the disk too', async () => {
  const { named } = await run({ shards });
  for (const name of named) await rm(join(place.segments, name));
  const again = await run();
  expect(again.named).toEqual(named);
  expect(namedIn(again)).toEqual(named);
  for (const name of named) await writeFile(join(place.segments, name), '');
  const mended = await run();
  expect([...new Set(namedIn(mended))]).toEqual(named);
});

test('what a killed run has left is made again, and not taken for what has reached the disk', async () => {
  const { named } = await run({ shards });
  await rm(place.manifest);
  const { before } = await run();
  expect(filesIn(before)).toEqual(expect.arrayContaining(named));
  expect((await readdir(place.segments)).sort()).toEqual(named);
});
