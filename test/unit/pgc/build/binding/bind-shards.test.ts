import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checkIndex } from '../../../../../src/pgc/build/index-check.js';
import { indexFolder, type IndexRequest } from '../../../../../src/pgc/build/index-folder.js';
import { placeOf, readManifest, type Manifest } from '../../../../../src/pgc/plan/manifest.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const shards = {
  shards: ['a', 'b'].map((alias) => ({ alias, paths: [alias] })),
};

/** One of several texts that define, embed, and call what the other shard defines. */
function fileOf(folder: string, seed: number): string {
  const other = folder === 'a' ? 'b' : 'a';
  const method = ['Get', 'Put', 'Close'][seed % 3] ?? '';
  return [
    `package ${folder}`,
    `import "example.com/${other}"`,
    `type T${seed % 4} struct { ${seed % 2 === 0 ? `*${other}.T1` : `x ${other}.T2`} }`,
    `type I${seed % 2} interface { ${method}() error }`,
    `func (t *T${seed % 4}) ${method}() error { return nil }`,
    `func use${seed % 5}(i ${other}.I${seed % 2}, t *T1) { i.${method}(); t.Get(); t.x.Put() }`,
    '',
  ].join('\n');
}

async function built(
  root: string,
  home: string,
  more: Partial<IndexRequest> = {},
): Promise<Manifest> {
  await indexFolder({ root, home, jobs: 0, shards, ...more });
  return readManifest(placeOf(root, home), root);
}

const files = ({ shards: all }: Manifest): unknown[] =>
  all.map(({ segment, bound }) => ({ segment, bound }));

test('after any edits the calls are bound as in a run from scratch', async () => {
  const start: Record<string, string> = {};
  for (const folder of ['a', 'b']) {
    start[`${folder}/go.mod`] = `module example.com/${folder}\n`;
    for (const at of [0, 1, 2]) start[`${folder}/f${at}.go`] = fileOf(folder, at);
  }
  await using tree = await TemporaryTree.create(start);
  await using home = await TemporaryTree.create();
  let before = await built(tree.root, home.root);
  let moved = 0;
  for (let edit = 0; edit < 8; edit += 1) {
    const folder = edit % 3 === 0 ? 'a' : 'b';
    const path = join(tree.root, folder, `f${edit % 3}.go`);
    if (edit === 5) await rm(path);
    else await writeFile(path, fileOf(folder, 7 * edit + 3));
    const after = await built(tree.root, home.root);
    await using fresh = await TemporaryTree.create();
    expect(files(after)).toEqual(files(await built(tree.root, fresh.root)));
    // An edit of one shard may change what the other one means.
    for (const [at, { segment, bound }] of after.shards.entries())
      if (segment === before.shards[at]?.segment && bound !== before.shards[at].bound) moved += 1;
    before = after;
  }
  expect(moved).toBeGreaterThan(0);
}, 120_000);

test('a damaged file of bound calls is written anew, and an unchanged tree writes none', async () => {
  await using tree = await TemporaryTree.create({
    'a/f.go': 'package a\nfunc f() { g() }\nfunc g() {}\n',
    'b/f.go': 'package b\n',
  });
  await using home = await TemporaryTree.create();
  const first = await built(tree.root, home.root);
  const path = join(placeOf(tree.root, home.root).segments, first.shards[0]?.bound ?? '');
  const { mtimeMs } = await stat(path);
  expect(files(await built(tree.root, home.root))).toEqual(files(first));
  expect((await stat(path)).mtimeMs).toBe(mtimeMs);
  await writeFile(path, 'nothing');
  expect(files(await built(tree.root, home.root))).toEqual(files(first));
  expect((await stat(path)).size).toBeGreaterThan(100);
});

test.each(['an unchanged tree', 'a changed one', 'one that is watched'])(
  'damage within a file of bound calls is mended in %s',
  async (kind) => {
    await using tree = await TemporaryTree.create({
      'a/f.go': 'package a\nfunc f() { g() }\nfunc g() {}\n',
      'b/f.go': 'package b\nfunc f() { g() }\nfunc g() {}\n',
    });
    await using home = await TemporaryTree.create();
    const { segments } = placeOf(tree.root, home.root);
    for (const { bound = '' } of (await built(tree.root, home.root)).shards) {
      const bytes = await readFile(join(segments, bound));
      // The texts of the targets end the file.
      await writeFile(join(segments, bound), bytes.fill(0, bytes.length - 8));
    }
    const isWatched = kind === 'one that is watched';
    const isChanged = kind !== 'an unchanged tree';
    if (isChanged) await tree.write({ 'a/f.go': 'package a\nfunc f() {}\n' });
    const changed = new Set(['a/f.go']);
    const after = await built(tree.root, home.root, isWatched ? { changed } : {});
    expect((await checkIndex(tree.root, home.root)).is_sound).toBe(true);
    await using fresh = await TemporaryTree.create();
    expect(files(after)).toEqual(files(await built(tree.root, fresh.root)));
  },
);
