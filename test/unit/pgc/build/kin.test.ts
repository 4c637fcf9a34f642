import { cp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { indexFolder, type IndexReport } from '../../../../src/pgc/build/index-folder.js';
import { placeOf } from '../../../../src/pgc/plan/manifest.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { servedFiles } from '../../../support/served-files.js';

const texts = {
  'a.c': 'int alpha(void) { return beta(); }\n',
  'net/b.c': 'int beta(void) { return 1; }\n',
};

/** A folder that holds trees, and a home for their indexes. */
async function grounds() {
  const all = await TemporaryTree.create();
  const home = join(all.root, 'home');
  const tree = (name: string): string => join(all.root, name);
  const index = (name: string, collects = false): Promise<IndexReport> =>
    indexFolder({ root: tree(name), home, jobs: 0, collects });
  const write = (name: string, files: Record<string, string>): Promise<void> =>
    all.write(Object.fromEntries(Object.entries(files).map(([at, its]) => [`${name}/${at}`, its])));
  return {
    ...{ home, tree, index, write, root: all.root },
    git: (name: string, ...args: string[]) => all.git('-C', tree(name), ...args),
    commit: (name: string) => {
      all.git('-C', tree(name), 'init', '-q');
      all.git('-C', tree(name), 'add', '-A');
      all.git('-C', tree(name), 'commit', '-qm', 'all');
    },
    [Symbol.asyncDispose]: () => all[Symbol.asyncDispose](),
  };
}

/** What is served of a tree is what a first run without any kin would make. */
async function expectAsNew(root: string, home: string, above: string): Promise<void> {
  const fresh = join(above, 'fresh');
  await indexFolder({ root, home: fresh, jobs: 0 });
  expect(await servedFiles(root, home)).toEqual(await servedFiles(root, fresh));
  await rm(fresh, { recursive: true });
}

test('a tree that was moved keeps its index, and one that takes its place does not get it', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  expect(await all.index('tree')).toMatchObject({ files_mined: 2 });
  const before = await readdir(join(all.home, 'pgc'));
  await rename(all.tree('tree'), all.tree('moved'));
  await all.write('tree', { 'c.c': 'int other(void) { return 2; }\n' });
  expect(await all.index('moved')).toMatchObject({ files_mined: 0, files_total: 2, notes: [] });
  expect(await readdir(join(all.home, 'pgc'))).not.toEqual(before);
  expect(await all.index('tree')).toMatchObject({ files_mined: 1, files_total: 1 });
  await all.write('moved', { 'a.c': 'int gamma(void) { return beta(); }\n' });
  expect(await all.index('moved')).toMatchObject({ files_mined: 1, files_total: 2 });
});

test('a copy does not take the index of its original', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  await all.index('tree');
  await cp(all.tree('tree'), all.tree('copy'), { recursive: true });
  expect(await all.index('copy')).toMatchObject({ files_mined: 2 });
  expect(await all.index('tree')).toMatchObject({ files_mined: 0, files_total: 2 });
});

test('a second work tree begins with the index of the first, and neither takes anything from the other', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  all.commit('tree');
  await all.index('tree');
  all.git('tree', 'worktree', 'add', '-q', '-b', 'other', all.tree('second'));
  await all.write('second', { 'a.c': 'int changed(void) { return beta(); }\n' });
  const note = expect.stringMatching(
    /begins with that of .*tree, and takes over the plan of its shards/,
  );
  const first = { files_mined: 1, files_total: 2, notes: [note] };
  expect(await all.index('second', true)).toMatchObject(first);
  expect((await all.index('second')).notes).toEqual([]);
  // Facts of the first that the second does not need are still there.
  await all.write('tree', { 'c.c': 'int new_one;\n' });
  expect(await all.index('tree', true)).toMatchObject({ files_mined: 1, files_total: 3 });
  await expectAsNew(all.tree('tree'), all.home, all.root);
  const { folder } = placeOf(all.tree('tree'), all.home);
  await rm(folder, { recursive: true });
  await all.write('second', { 'd.c': 'int one_more;\n' });
  expect(await all.index('second')).toMatchObject({ files_mined: 1, files_total: 3 });
});

test('a clone begins with the index of what it was cloned from, and another repository does not', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  all.commit('tree');
  await all.index('tree');
  all.git('tree', 'clone', '-q', all.tree('tree'), all.tree('clone'));
  expect(await all.index('clone')).toMatchObject({ files_mined: 0, files_total: 2 });
  await all.write('stranger', { 'a.c': 'int nothing_alike;\n' });
  all.commit('stranger');
  expect(await all.index('stranger')).toMatchObject({ files_mined: 1 });
  // Nothing half made is left.
  expect((await readdir(join(all.home, 'pgc'))).filter((name) => name.endsWith('.tmp'))).toEqual(
    [],
  );
});

test('what was begun with the index of another tree is not served, and no watcher knows how the two differ', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  all.commit('tree');
  await all.index('tree');
  all.git('tree', 'worktree', 'add', '-q', '-b', 'other', all.tree('second'));
  await all.write('second', { 'a.c': 'int changed(void) { return beta(); }\n' });
  const stop = new AbortController();
  const request = { root: all.tree('second'), home: all.home, jobs: 0, changed: new Set<string>() };
  const killed = indexFolder({
    ...{ ...request, signal: stop.signal },
    onProgress: () => stop.abort(),
  });
  await expect(killed).rejects.toMatchObject({ code: 'INTERRUPTED' });
  await expect(openIndex(all.tree('second'), all.home)).rejects.toMatchObject({
    code: 'INDEX_MISSING',
  });
  expect(await indexFolder(request)).toMatchObject({ files_mined: 1, files_total: 2 });
  const [index] = (await openIndex(all.tree('second'), all.home)).shards;
  expect(['alpha', 'changed'].map((name) => index?.symbolsNamed(name).length)).toEqual([0, 1]);
});

test('what a killed run has left of the facts of a tree is written to by none that begins with them', async () => {
  await using all = await grounds();
  await all.write('tree', texts);
  all.commit('tree');
  await all.index('tree');
  const { facts } = placeOf(all.tree('tree'), all.home);
  const last = Math.max(
    ...(await readdir(facts)).map((name) => Number(/\d+/.exec(name)?.[0] ?? 0)),
  );
  const left = Array.from({ length: 20 }, (_, at) =>
    join(facts, `${String(last + 1 + at).padStart(6, '0')}.ldb`),
  );
  for (const path of left) await writeFile(path, 'half a table');
  all.git('tree', 'worktree', 'add', '-q', '-b', 'other', all.tree('second'));
  await all.write('second', { 'c.c': 'int one_more;\n' });
  expect(await all.index('second', true)).toMatchObject({ files_mined: 1, files_total: 3 });
  for (const path of left) expect(await readFile(path, 'utf8')).toBe('half a table');
});
