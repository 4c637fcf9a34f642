import {
  appendFile,
  mkdir,
  mkdtemp,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SeenTree } from '../../../../src/pgc/build/seen-tree.js';
import { SourceTree } from '../../../../src/pgc/source/source-tree.js';
import { placeOf } from '../../../../src/pgc/plan/manifest.js';
import { indexFolder, type IndexReport } from '../../../../src/pgc/build/index-folder.js';

let folder: string;
let root: string;
const zeroes = join('zeroes', 'a.c');
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-stamps-'));
  root = join(folder, 'tree');
  for (const name of ['zeroes', 'indexed', 'moved'])
    await mkdir(join(root, name), { recursive: true });
  for (const name of ['same.c', 'longer.c', 'dated.c', 'moved.c', 'gone.c', 'b.c'])
    await writeFile(join(root, name), 'int a;\n');
  await writeFile(join(root, 'moved/a.c'), 'int a;\n');
  await writeFile(join(root, zeroes), '\0');
  await writeFile(join(root, 'indexed/a.c'), 'int alpha(void) { return beta(); }\n');
  await writeFile(join(root, 'indexed/b.c'), 'int beta(void) { return 1; }\n');
  await writeFile(join(root, 'indexed/c.c'), `${'x'.repeat(20_000)}\n`);
  // Longer than a file may have changed unseen.
  await wait(2_100);
});
afterAll(() => rm(folder, { recursive: true }));

const row = (path: string) => ({ path, language: 'c' as const, blob: 'a'.repeat(40), lines: 3 });

const seenIn = async (path: string, of = root): Promise<SeenTree> => {
  const seen = await SeenTree.read(path, await SourceTree.open(of), { digests: {} });
  await seen.list();
  return seen;
};

async function remembered(...paths: string[]): Promise<SeenTree> {
  const first = await seenIn(join(folder, 'none'));
  for (const path of paths) {
    first.recall(path);
    first.note(row(path));
  }
  await first.write(join(folder, 'seen'), '');
  return seenIn(join(folder, 'seen'));
}

test('a file is known for as long as nobody has written to it', async () => {
  const stamps = await remembered('same.c', 'longer.c', 'dated.c', 'moved.c', 'gone.c');
  await appendFile(join(root, 'longer.c'), 'int b;\n');
  await utimes(join(root, 'dated.c'), 1, 1);
  await writeFile(join(root, 'other.c'), 'int c;\n');
  await rename(join(root, 'other.c'), join(root, 'moved.c'));
  await rm(join(root, 'gone.c'));
  const known = ['same.c', 'longer.c', 'dated.c', 'moved.c', 'gone.c', 'new.c'].map((path) =>
    stamps.recall(path),
  );
  expect(known).toEqual([row('same.c'), ...Array<undefined>(5).fill(undefined)]);
});

test('a file that has just changed is not trusted: it may change again within a tick of the clock', async () => {
  await writeFile(join(root, 'fresh.c'), 'int a;\n');
  const stamps = await remembered('fresh.c');
  expect(stamps.recall('fresh.c')).toBeUndefined();
});

test('a folder that has become a link is another folder', async () => {
  expect((await remembered('moved/a.c')).recall('moved/a.c')).toEqual(row('moved/a.c'));
  await rename(join(root, 'moved'), join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), join(root, 'moved'));
  const stamps = await seenIn(join(folder, 'seen'));
  expect(stamps.recall('moved/a.c')).toBeUndefined();
});

test('what was not opened for another reason than its content is tried again', async () => {
  const first = await seenIn(join(folder, 'none'));
  first.recall(zeroes);
  first.note({ path: zeroes, reason: 'binary' });
  first.recall('b.c');
  first.note({ path: 'b.c', reason: 'unreadable' });
  await first.write(join(folder, 'seen'), '');
  const stamps = await seenIn(join(folder, 'seen'));
  expect(stamps.recall(zeroes)).toEqual({ path: zeroes, reason: 'binary' });
  expect(stamps.recall('b.c')).toBeUndefined();
});

test('what was seen is not believed when it is damaged', async () => {
  await remembered('b.c');
  expect((await seenIn(join(folder, 'seen'))).recall('b.c')).toEqual(row('b.c'));
  await appendFile(join(folder, 'seen'), 'x');
  expect((await seenIn(join(folder, 'seen'))).recall('b.c')).toBeUndefined();
});

test('an index of files that are known is the same, and sees every change', async () => {
  const tree = join(root, 'indexed');
  const index = () => indexFolder({ root: tree, home: join(folder, 'home'), jobs: 0 });
  const served = ({ shards, lines_total, left_out }: IndexReport) => ({
    ...{ shards, lines_total, left_out },
  });
  const first = await index();
  const { seen } = placeOf(tree, join(folder, 'home'));
  expect((await seenIn(seen, tree)).recall('a.c')).toMatchObject({ lines: 1 });
  const again = await index();
  expect(served(again)).toEqual(served(first));
  expect(again).toMatchObject({ files_mined: 0, left_out: { generated: 1 }, lines_total: 2 });
  await appendFile(join(tree, 'b.c'), 'int gamma(void) { return 2; }\n');
  const changed = await index();
  expect(changed).toMatchObject({ files_mined: 1, files_reused: 1, lines_total: 3 });
});
