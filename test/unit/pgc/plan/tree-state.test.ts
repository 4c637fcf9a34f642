import { chmod, rename, rm, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { TreeStates, type TreeState } from '../../../../src/pgc/plan/tree-state.js';
import { openShards } from '../../../../src/pgc/serve/open-shards.js';
import { statesText } from '../../../../src/render/tree-state.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const files = {
  'a.go': 'package p\nfunc one() { two() }\n',
  'b.go': 'package p\nfunc two() {}\n',
  'c.go': 'package p\nfunc three() {}\n',
};
let tree: TemporaryTree;
let home: TemporaryTree;
let commit: string;

beforeEach(async () => {
  tree = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  commit = tree.commit('all');
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
});
afterEach(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function stateOf(
  paths: string[] = [],
  versions?: ReadonlyMap<string, string>,
): Promise<TreeState> {
  const state = await new TreeStates(home.root).of(tree.root, paths, versions);
  if (state === undefined) throw new Error('no state');
  return state;
}

test('a tree that is as it was is up to date at its commit', async () => {
  const state = await stateOf(['a.go']);
  expect(state).toMatchObject({ commit, files_changed: 0, compared: 'all', changed: [] });
  expect(statesText([state])).toMatch(
    new RegExp(`work tree at ${commit.slice(0, 9)}, up to date$`),
  );
});

test('what has changed since is counted, and named where the answer names it', async () => {
  await tree.write({ 'a.go': 'package p\nfunc one() {}\n', 'new.go': 'package p\n' });
  await rm(join(tree.root, 'b.go'));
  const state = await stateOf(['a.go', 'c.go', 'new.go']);
  expect(state).toMatchObject({ files_changed: 2, changed: ['a.go'] });
  expect(statesText([state])).toContain('; 2 files changed since, shown here: a.go');
  expect(statesText([await stateOf()])).toContain(
    '; 2 files changed since, none of them shown here',
  );
});

test('a file that was written again with the same content has not changed', async () => {
  await tree.write(files);
  await chmod(join(tree.root, 'b.go'), 0o600);
  expect(await stateOf(['a.go', 'b.go'])).toMatchObject({ files_changed: 0, changed: [] });
});

test('of a commit nothing changes; of a shard that is not served any more it is said', async () => {
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, asOf: 'HEAD' });
  await tree.write({ 'a.go': 'package p\n' });
  const state = await stateOf(['a.go'], new Map([[aliasOf(await shards()), 'an earlier one']]));
  expect(state).toMatchObject({ commit, of: 'commit', changed: [], is_replaced: true });
  expect(statesText([state])).toContain(
    `commit ${commit.slice(0, 9)}; a newer index came while this was answered`,
  );
});

test('a file that was too young for a stamp is compared when its folder was exchanged', async () => {
  await tree.write({ 'old/d.go': 'package d\nfunc four() {}\n' });
  await wait(100);
  await tree.write({ 'src/d.go': 'package d\n' });
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  await wait(100);
  await rename(join(tree.root, 'src'), join(tree.root, 'away'));
  await rename(join(tree.root, 'old'), join(tree.root, 'src'));
  expect(await stateOf(['src/d.go'])).toMatchObject({ changed: ['src/d.go'] });
});

test('what is touched and not read is unsure, and read files alone are changed', async () => {
  await utimes(join(tree.root, 'a.go'), new Date(), new Date());
  const state = await new TreeStates(home.root, 4).of(tree.root, ['a.go']);
  if (state === undefined) throw new Error('no state');
  expect(state).toMatchObject({ files_changed: 0, changed: [] });
  // Others may have been written just before the run.
  expect(state.files_unsure).toBeGreaterThan(0);
  expect(statesText([state])).toMatch(/; \d files? touched since, not compared$/);
});

test('one who asks again is told what has changed meanwhile', async () => {
  const states = new TreeStates(home.root);
  expect(await states.of(tree.root, [])).toMatchObject({ files_changed: 0 });
  await tree.write({ 'c.go': 'package p\n' });
  expect(await states.of(tree.root, ['c.go'])).toMatchObject({ files_changed: 1 });
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  expect(await states.of(tree.root, ['c.go'])).toMatchObject({ files_changed: 0, changed: [] });
  // A run that finds nothing new writes no manifest.
  await utimes(join(tree.root, 'a.go'), new Date(1_000), new Date(1_000));
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  expect(await states.of(tree.root, [])).toMatchObject({ files_changed: 0, files_unsure: 0 });
});

test('a question whose evidence has changed since is not answered with a no', async () => {
  await tree.write({ 'c.go': 'package p\n\nfunc three() {}\n' });
  await indexFolder({ root: tree.root, home: home.root, jobs: 0 });
  await tree.write({ 'c.go': 'package p\n' });
  const [shard] = await shards();
  const asked = { question: 'where is three', overlays: ['O1'], roles: [], top_k: 5 };
  const answer = await shard?.ask(asked);
  expect(answer?.errors.map(({ code }) => code)).toEqual(['INDEX_BEHIND']);
  expect(answer?.overlay_warnings.join()).toContain('changed since it was indexed: c.go');
});

async function shards(): Promise<Awaited<ReturnType<typeof openShards>>['shards']> {
  return (await openShards(tree.root, home.root)).shards;
}

function aliasOf([first]: Awaited<ReturnType<typeof shards>>): string {
  return first?.index.info.alias ?? '';
}
