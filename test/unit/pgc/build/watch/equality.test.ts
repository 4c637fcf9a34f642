import fc from 'fast-check';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { readLeftOut } from '../../../../../src/pgc/build/left-out-files.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { servedFiles } from '../../../../support/served-files.js';
import { runs } from '../../../../support/runs.js';

const path = fc.constantFrom('mm/a.c', 'mm/b.c', 'net/a.c', 'net/deep/b.c', 'doc/a.md', 'data.bin');
const text = fc.constantFrom(
  'int alpha(int a) { return beta(a); }\n',
  '/* See alpha() and gamma(). */\nint beta(int a) { return alpha(a); }\n',
  '# About\n\nCall `gamma()` before anything else is done here.\n',
  '',
);
const edit = fc.oneof(
  fc.record({ what: fc.constant('write' as const), path, text }),
  fc.record({ what: fc.constant('remove' as const), path }),
  fc.record({ what: fc.constant('rename' as const), path, to: path }),
);
const step = fc.record({
  edits: fc.array(edit, { maxLength: 4 }),
  /** Of what becomes of HEAD, of which no watcher tells a path. */
  head: fc.constantFrom('stays', 'stays', 'commit', 'switch'),
});
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** Returns the paths that a watcher would tell. */
async function apply(tree: TemporaryTree, each: Edit): Promise<string[]> {
  const at = join(tree.root, each.path);
  if (each.what === 'write') await tree.write({ [each.path]: each.text });
  if (each.what === 'remove') await rm(at, { force: true });
  if (each.what !== 'rename') return [each.path];
  await mkdir(dirname(join(tree.root, each.to)), { recursive: true });
  await rename(at, join(tree.root, each.to)).catch(() => undefined);
  return [each.path, each.to];
}

test('however a tree and its HEAD change, a watched index is what a first run would make', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
      await using tree = await TemporaryTree.create({
        // No edit takes it away: a tree without any source is not indexed.
        'root.c': 'int root;\n',
        'mm/a.c': 'int start(void) { return 0; }\n',
        'net/a.c': 'int other(void) { return start(); }\n',
      });
      await using home = await TemporaryTree.create();
      await using fresh = await TemporaryTree.create();
      const shards = {
        mode: 'explicit' as const,
        shards: [
          { alias: 'mm', paths: ['mm'] },
          { alias: 'rest', paths: ['.'] },
        ],
      };
      const index = (folder: string, changed?: readonly string[]) =>
        indexFolder({
          ...{ root: tree.root, home: folder, shards, jobs: 0 },
          ...(changed === undefined ? {} : { changed: new Set(changed) }),
        });
      const first = tree.commit('first', { author: 'ann' });
      await index(home.root);
      for (const [at, { edits, head }] of steps.entries()) {
        const paths: string[] = [];
        for (const each of edits) paths.push(...(await apply(tree, each)));
        // There is something to commit.
        if (head === 'commit') await tree.write({ 'mm/step.c': `int step_${at};\n` });
        if (head === 'commit') tree.commit(`step ${at}`, { author: at % 2 === 0 ? 'ann' : 'bob' });
        if (head === 'switch') tree.git('checkout', '-q', '-f', '--detach', first);
        await index(home.root, head === 'stays' ? paths : undefined);
      }
      await index(fresh.root);
      expect(await servedFiles(tree.root, home.root)).toEqual(
        await servedFiles(tree.root, fresh.root),
      );
      const leftOut = async (folder: string) => (await readLeftOut(tree.root, folder)).sort(byPath);
      expect(await leftOut(home.root)).toEqual(await leftOut(fresh.root));
    }),
    { numRuns: runs(4) },
  );
}, 120_000);

test('a file that comes back has its history again, and one that git does not know has none', async () => {
  await using tree = await TemporaryTree.create({
    'a.c': 'int a;\n',
    'b.c': 'int b;\n',
    'c.c': '',
  });
  await using home = await TemporaryTree.create();
  await using fresh = await TemporaryTree.create();
  tree.commit('first', { author: 'ann' });
  const index = (folder: string, changed?: string[]) =>
    indexFolder({
      ...{ root: tree.root, home: folder, jobs: 0 },
      ...(changed === undefined ? {} : { changed: new Set(changed) }),
    });
  await index(home.root);
  await rm(join(tree.root, 'b.c'));
  await index(home.root, ['b.c']);
  // What is back, what was empty, what is new.
  const back = { 'b.c': 'int b = 1;\n', 'c.c': 'int c;\n', 'd.c': 'int d;\n' };
  await tree.write(back);
  const { history } = await index(home.root, Object.keys(back));
  expect(history).toEqual({ commits: 1, is_complete: true, why: '' });
  await index(fresh.root);
  expect(await servedFiles(tree.root, home.root)).toEqual(await servedFiles(tree.root, fresh.root));
});

test('a file that is empty costs no second look at the history of the others', async () => {
  await using tree = await TemporaryTree.create({ 'a.py': 'a = 1\n', '__init__.py': '' });
  await using home = await TemporaryTree.create();
  const first = tree.commit('first', { author: 'ann' });
  await tree.write({ 'a.py': 'a = 2\n' });
  tree.commit('second', { author: 'bob' });
  const request = { root: tree.root, home: home.root, jobs: 0 };
  const { history } = await indexFolder(request);
  expect(history).toEqual({ commits: 2, is_complete: true, why: '' });
  // Whoever reads it again finds it broken.
  await rm(join(tree.root, '.git/objects', first.slice(0, 2), first.slice(2)));
  await tree.write({ 'a.py': 'a = 3\n' });
  expect((await indexFolder(request)).history).toEqual(history);
  expect((await indexFolder({ ...request, layers: ['O3'] })).history.why).toBe('broken');
});

function byPath(one: { path: string }, other: { path: string }): number {
  return one.path < other.path ? -1 : 1;
}
