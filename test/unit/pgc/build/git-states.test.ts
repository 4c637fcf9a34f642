import { chmod, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { readLeftOut } from '../../../../src/pgc/build/left-out-files.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { servedFiles } from '../../../support/served-files.js';

const text = (name: string): string => `int ${name}(void) { return 1; }\n`;

/** A tree that is indexed, then changed by git and indexed again. */
class Refreshed implements AsyncDisposable {
  private constructor(
    readonly tree: TemporaryTree,
    readonly home: TemporaryTree,
  ) {}

  static async of(files: Record<string, string>): Promise<Refreshed> {
    const all = new Refreshed(await TemporaryTree.create(files), await TemporaryTree.create());
    all.tree.commit('first');
    await all.refresh();
    return all;
  }

  /** Resolves with the number of files that were mined. `changed`: as a watcher tells. */
  async refresh(changed?: string[]): Promise<number> {
    const told = changed === undefined ? {} : { changed: new Set(changed) };
    const { root } = this.tree;
    return (await indexFolder({ root, home: this.home.root, jobs: 0, ...told })).files_mined;
  }

  /** The index is what a first run makes. */
  async expectAsNew(): Promise<void> {
    await using fresh = await TemporaryTree.create();
    const { root } = this.tree;
    await indexFolder({ root, home: fresh.root, jobs: 0 });
    expect(await servedFiles(root, this.home.root)).toEqual(await servedFiles(root, fresh.root));
    expect(await readLeftOut(root, this.home.root)).toEqual(await readLeftOut(root, fresh.root));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tree[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

test('after a switch, a stash and a rebase only contents that were never seen are mined', async () => {
  await using all = await Refreshed.of({ 'a.c': text('a'), 'net/b.c': text('b') });
  const { tree } = all;
  tree.git('checkout', '-qb', 'other');
  await tree.write({ 'a.c': text('other'), 'net/c.c': text('c') });
  tree.commit('second');
  expect(await all.refresh()).toBe(2);
  tree.git('checkout', '-q', 'main');
  expect(await all.refresh()).toBe(0);
  await all.expectAsNew();
  await tree.write({ 'net/b.c': text('stashed') });
  expect(await all.refresh()).toBe(1);
  tree.git('stash', '-q');
  expect(await all.refresh()).toBe(0);
  tree.git('stash', 'pop', '-q');
  expect(await all.refresh()).toBe(0);
  tree.commit('third');
  tree.git('checkout', '-q', 'other');
  tree.git('rebase', '-q', 'main');
  expect(await all.refresh()).toBe(0);
  await all.expectAsNew();
}, 120_000);

test('what a sparse checkout leaves out goes, and comes back without being mined', async () => {
  await using all = await Refreshed.of({ 'a.c': text('a'), 'net/b.c': text('b') });
  all.tree.git('sparse-checkout', 'set', '--no-cone', '/a.c');
  expect(await all.refresh()).toBe(0);
  await all.expectAsNew();
  all.tree.git('sparse-checkout', 'disable');
  expect(await all.refresh()).toBe(0);
  await all.expectAsNew();
});

test('a submodule is a repository of its own, also when its HEAD moves', async () => {
  await using module = await TemporaryTree.create({ 'm.c': text('m') });
  module.commit('first');
  await using all = await Refreshed.of({ 'a.c': text('a') });
  const { tree } = all;
  tree.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', module.root, 'sub');
  expect(await all.refresh()).toBe(0);
  await tree.write({ 'sub/m.c': text('moved') });
  tree.git('-C', 'sub', 'commit', '-qam', 'second');
  expect(await all.refresh(['sub/m.c'])).toBe(0);
  await all.expectAsNew();
  // It becomes a part of this tree.
  await rm(join(tree.root, 'sub/.git'));
  tree.git('rm', '-qf', '--cached', 'sub');
  expect(await all.refresh()).toBe(1);
  await all.expectAsNew();
});

test('a watched tree sees what is ignored now, and what is tracked though it is ignored', async () => {
  await using all = await Refreshed.of({ 'a.c': text('a'), '.gitignore': 'out.c\n' });
  const { tree } = all;
  await tree.write({ 'out.c': text('out'), 'new/n.c': text('n'), 'new/out.c': text('deep') });
  expect(await all.refresh(['out.c', 'new'])).toBe(1);
  await all.expectAsNew();
  // Git's index tells, no path of the tree does.
  tree.git('add', '-f', 'out.c');
  expect(await all.refresh([])).toBe(1);
  await tree.write({ '.gitignore': 'n.c\n' });
  expect(await all.refresh(['.gitignore'])).toBe(1);
  await tree.write({ '.gitattributes': 'a.c linguist-generated\n' });
  await all.refresh(['.gitattributes']);
  await all.expectAsNew();
  await rename(join(tree.root, 'new'), join(tree.root, 'NEW'));
  expect(await all.refresh(['new', 'NEW'])).toBe(0);
  await all.expectAsNew();
});

test('a watched folder of a repository sees what is ignored by a file above it', async () => {
  await using tree = await TemporaryTree.create({ 'deep/sub/a.c': text('a') });
  await using home = await TemporaryTree.create();
  tree.commit('first');
  await tree.write({ 'deep/sub/out.c': text('out') });
  // Until then, git's index may change again unseen, so that everything is listed.
  await wait(2_100);
  const root = join(tree.root, 'deep/sub');
  const index = () => indexFolder({ root, home: home.root, jobs: 0, changed: new Set() });
  expect(await index()).toMatchObject({ files_total: 2 });
  await tree.write({ '.gitignore': 'out.c\n' });
  expect(await index()).toMatchObject({ files_total: 1 });
});

test('a watched tree without git lists what changed as a whole listing would', async () => {
  await using tree = await TemporaryTree.create({ 'a.c': text('a'), 'src/b.c': text('b') });
  await using home = await TemporaryTree.create();
  const index = (changed?: string[]) =>
    indexFolder({
      ...{ root: tree.root, home: home.root, jobs: 0 },
      ...(changed === undefined ? {} : { changed: new Set(changed) }),
    });
  const paths = async (): Promise<string[]> =>
    (await readLeftOut(tree.root, home.root)).map(({ path, reason }) => `${path}: ${reason}`);
  await index();
  await tree.write({ '.cache/c.c': text('c'), 'src/dist/d.c': text('d'), 'src/e.c': text('e') });
  await symlink('a.c', join(tree.root, 'src/link.c'));
  const news = ['.cache', 'src/dist', 'src/e.c', 'src/link.c'];
  expect(await index(news)).toMatchObject({ files_total: 4, files_mined: 2 });
  expect(await paths()).toEqual(['.cache: skipped folder', 'src/link.c: symbolic link']);
  // Beside a project file, it is what that project makes.
  await tree.write({ 'src/package.json': '{}\n' });
  expect(await index(['src/package.json'])).toMatchObject({ files_total: 4 });
  expect(await paths()).toContain('src/dist: skipped folder');
  await rm(join(tree.root, 'src'), { recursive: true });
  expect(await index(['src'])).toMatchObject({ files_total: 1, files_mined: 0 });
});

test('a mode, a link in place of a file, and clocks that go back are seen', async () => {
  await using all = await Refreshed.of({ 'a.c': text('a'), 'b.c': text('b'), 'c.c': text('c') });
  const { root } = all.tree;
  await chmod(join(root, 'a.c'), 0o755);
  expect(await all.refresh()).toBe(0);
  await rm(join(root, 'b.c'));
  await symlink('a.c', join(root, 'b.c'));
  expect(await all.refresh()).toBe(0);
  await all.expectAsNew();
  const past = new Date('2001-01-01');
  for (const [mined, name] of [
    [1, 'one'],
    [1, 'two'],
  ] as const) {
    await writeFile(join(root, 'c.c'), text(name));
    await utimes(join(root, 'c.c'), past, past);
    expect(await all.refresh()).toBe(mined);
  }
  await all.expectAsNew();
});
