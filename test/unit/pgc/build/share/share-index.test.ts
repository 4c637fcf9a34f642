import { link, mkdir, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkIndex } from '../../../../../src/pgc/build/index-check.js';
import { FolderPlace } from '../../../../../src/pgc/build/share/folder-place.js';
import {
  digestOf,
  indexVersions,
  type Head,
} from '../../../../../src/pgc/build/share/published.js';
import { readLeftOut } from '../../../../../src/pgc/build/left-out-files.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import {
  dev,
  guestOf,
  objectsIn,
  pages,
  sharing,
  sideOf,
  type Sharing,
  type Side,
} from './share.js';

let at: Sharing;

beforeAll(async () => {
  at = await sharing();
});

afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

const definitionsOf = async ({ tree, home }: Side, name: string): Promise<number> =>
  (await openIndex(tree.root, home)).shards.flatMap((index) => index.symbolsNamed(name)).length;

describe('an index that is published and pulled', () => {
  test('answers for the tree it was pulled into, as where it was built, and nothing is mined again', async () => {
    await using guest = await guestOf(at, at.second);
    const { there } = guest;
    const report = await there.pull(guest.place);
    expect(report).toMatchObject({ shards: 2, distance: { ahead: 0, behind: 0, files: 0 } });
    expect(await there.graph()).toEqual(await at.here.graph());
    const { root, project, shards: opened } = await openIndex(there.tree.root, there.home);
    expect(root).toBe(there.tree.root);
    for (const { info } of opened) expect(info).toMatchObject({ root, project });
    expect(await checkIndex(root, there.home)).toMatchObject({ is_sound: true, strays: [] });
    const shardsOf = async ({ tree, home }: Side) =>
      (await readManifest(placeOf(tree.root, home), tree.root)).shards;
    // The files were written a moment ago, so that each is read again.
    for (const _ of ['unstamped', 'too new to be stamped']) {
      expect(await there.index()).toMatchObject({ files_mined: 0, files_total: 4 });
      expect(await shardsOf(there)).toEqual(await shardsOf(at.here));
    }
  });

  test('knows what its modules are called, when a call of another one is bound', async () => {
    await using tree = await TemporaryTree.create({
      'go.mod': 'module example.org/it\n\ngo 1.20\n',
      'store/store.go': 'package store\n\nfunc Put() int { return 1 }\n',
      'cmd/main.go': 'package main\n\nfunc main() {}\n',
    });
    await using home = await TemporaryTree.create();
    await using published = await TemporaryTree.create();
    await using clone = await TemporaryTree.create();
    await using other = await TemporaryTree.create();
    const [here, there] = [sideOf(tree, home.root), sideOf(clone, other.root)];
    const place = new FolderPlace(published.root);
    tree.commit('first');
    await here.index();
    await here.publish(place);
    clone.git('clone', '-q', tree.root, '.');
    await there.pull(place);
    const main = 'import "example.org/it/store"\n\nfunc main() { store.Put() }\n';
    await clone.write({ 'cmd/main.go': `package main\n\n${main}` });
    await there.index();
    const [index] = (await openIndex(clone.root, other.root)).shards;
    expect(index?.callsTo('Put').map(({ id }) => index.bound?.bindingOf(id))).toEqual(['exact']);
  });

  test('does not tell where it was built', async () => {
    for (const path of await objectsIn(at.folder))
      expect(gunzipSync(await readFile(path)).includes(at.here.tree.root)).toBe(false);
  });

  test('where the tree has gone on, it is mined, with the other files of that shard', async () => {
    await using guest = await guestOf(at, at.second);
    const { there } = guest;
    await there.tree.write({ 'net/dev.c': `${dev}int more(void)\n{\n\treturn 1;\n}\n` });
    there.tree.commit('third');
    // Changed, and seen by the run alone.
    await there.tree.write({ 'mm/pages.c': pages.replace('alloc_pages', 'alloc_folios') });
    expect(await there.pull(guest.place)).toMatchObject({
      ...{ commit: at.second, distance: { ahead: 1, behind: 0, files: 1 } },
    });
    expect(await there.index({ changed: new Set(['net/dev.c']) })).toMatchObject({
      files_mined: 4,
    });
    for (const name of ['more', 'netif_rx', 'alloc_folios', 'kmalloc'])
      expect(await definitionsOf(there, name)).toBe(1);
  });

  test('moves what is missing, and nothing else', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, place } = guest;
    const first = await there.pull(place);
    expect(await there.pull(place)).toMatchObject({ moved_objects: 0, moved_bytes: 0 });
    there.tree.git('checkout', '-q', at.second);
    const second = await there.pull(place);
    expect([first.commit, second.commit]).toEqual([at.first, at.second]);
    expect(second.moved_objects).toBeGreaterThan(0);
    expect(second.moved_objects).toBeLessThan(first.moved_objects / 2);
    expect(await there.graph()).toEqual(await at.here.graph());
  });

  test('writes to no served file, of which a killed run has left another name', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, place } = guest;
    await there.pull(place);
    const { incoming, segments } = placeOf(there.tree.root, there.home);
    const of = (names: string[], start: string): string =>
      names.find((name) => name.startsWith(start) && name.endsWith('.seg')) ?? '';
    const served = of(await readdir(segments), 'mm-');
    const ours = placeOf(at.here.tree.root, at.here.home);
    const wanted = of(await readdir(ours.segments), 'rest-');
    await mkdir(join(incoming, 'segments'), { recursive: true });
    const left = join(incoming, 'segments', `${wanted}.${process.pid}.tmp`);
    await link(join(segments, served), left);
    there.tree.git('checkout', '-q', at.second);
    await there.pull(place);
    expect((await checkIndex(there.tree.root, there.home)).is_sound).toBe(true);
    expect(await there.graph()).toEqual(await at.here.graph());
  });

  test('is that of the commit that is asked for, or none', async () => {
    await using guest = await guestOf(at, at.second);
    const { there, place } = guest;
    expect(await there.pull(place, { asOf: 'HEAD~1' })).toMatchObject({
      ...{ commit: at.first, distance: { ahead: 1, files: 1 } },
    });
    await there.tree.write({ 'net/own.c': 'int own;\n' });
    there.tree.commit('own');
    await expect(there.pull(place, { asOf: 'HEAD' })).rejects.toMatchObject({
      code: 'PUBLISHED_MISSING',
    });
    const inner = { root: join(there.tree.root, 'mm') };
    await expect(there.pull(place, inner)).rejects.toMatchObject({ code: 'PUBLISHED_MISSING' });
  });

  test('where nothing is known of any commit, it is what was published last', async () => {
    await using guest = await guestOf(at, at.second);
    await rm(join(guest.there.tree.root, '.git'), { recursive: true });
    expect(await guest.there.pull(guest.place)).toMatchObject({
      commit: at.second,
      distance: null,
    });
  });
});

describe('what is published', () => {
  test('is sent once', async () => {
    expect(await at.here.publish(at.place)).toMatchObject({ sent_objects: 5 });
  });

  test('is the index of a commit, else it is refused with what differs', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, folder, place } = guest;
    await rm(folder, { recursive: true });
    await there.tree.write({ 'net/dev.c': dev.replace('1', '3'), 'net/new.c': 'int new;\n' });
    await there.index();
    const message = expect.stringMatching(
      /2 files are not as in commit \w{12}: net\/dev.c, net\/new.c$/,
    );
    await expect(there.publish(place)).rejects.toMatchObject({ code: 'INDEX_UNPINNED', message });
    await expect(readdir(folder)).rejects.toMatchObject({ code: 'ENOENT' });
    await there.index({ asOf: 'HEAD' });
    expect(await there.publish(place)).toMatchObject({ commit: at.first });
    const { segments } = placeOf(there.tree.root, there.home);
    const [segment = ''] = (await readdir(segments)).filter((name) => name.endsWith('.seg'));
    await truncate(join(segments, segment), 200);
    await expect(there.publish(place)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
    await rm(join(there.tree.root, '.git'), { recursive: true });
    await there.index();
    await expect(there.publish(place)).rejects.toMatchObject({ code: 'INDEX_UNPINNED' });
  });

  test('is refused where a file differs that is not read but decides, or that was not read for what it holds', async () => {
    const marks = 'net/* linguist-vendored\n';
    await using tree = await TemporaryTree.create({
      ...{ 'net/dev.c': dev, 'mm/pages.c': pages },
      '.gitattributes': marks,
      '.gitignore': '.sigma\n',
    });
    await using home = await TemporaryTree.create();
    await using published = await TemporaryTree.create();
    const [side, place] = [sideOf(tree, home.root), new FolderPlace(published.root)];
    tree.commit('first');
    const changes: Record<string, string> = {
      '.gitattributes': marks.replace('net', 'mm'),
      'net/.gitattributes': marks,
      '.sigma/security.json': '{ "rules": [] }\n',
      'net/dev.c': `${dev}\0`,
    };
    for (const [path, text] of Object.entries(changes)) {
      await tree.write({ [path]: text });
      await side.index();
      const message = expect.stringMatching(new RegExp(`1 files are not .*: ${path}$`));
      await expect(side.publish(place), path).rejects.toMatchObject({ message });
      await rm(join(tree.root, path));
      tree.git('checkout', '-q', '.');
    }
    await rm(join(tree.root, 'net/dev.c'));
    await side.index();
    await expect(side.publish(place)).rejects.toMatchObject({ code: 'INDEX_UNPINNED' });
    tree.git('checkout', '-q', '.');
    await side.index();
    expect(await side.publish(place)).toMatchObject({
      commit: tree.git('rev-parse', 'HEAD').trim(),
    });
  });

  test('names no file that the commit does not have', async () => {
    await using tree = await TemporaryTree.create({ 'net/dev.c': dev, 'logo.png': 'x' });
    await using home = await TemporaryTree.create();
    await using published = await TemporaryTree.create();
    await using clone = await TemporaryTree.create();
    await using other = await TemporaryTree.create();
    const [here, there] = [sideOf(tree, home.root), sideOf(clone, other.root)];
    tree.commit('first');
    await tree.write({ 'passwords-of-bob.xyz': '1' });
    await here.index();
    await here.publish(new FolderPlace(published.root));
    for (const path of await objectsIn(published.root))
      expect(gunzipSync(await readFile(path)).includes('passwords')).toBe(false);
    clone.git('clone', '-q', tree.root, '.');
    await there.pull(new FolderPlace(published.root));
    expect(await readLeftOut(clone.root, other.root)).toEqual([
      { path: 'logo.png', reason: 'unknown language' },
    ]);
  });
});

describe('a place of several repositories', () => {
  test('gives each the index that is its own, and none to one that has none there', async () => {
    await using guest = await guestOf(at, at.second);
    const { there, place, folder } = guest;
    await using tree = await TemporaryTree.create({ 'src/other.c': pages });
    await using strange = await TemporaryTree.create({ 'src/third.c': dev });
    await using home = await TemporaryTree.create();
    const [other, stranger] = [sideOf(tree, home.root), sideOf(strange, home.root)];
    const its = tree.commit('of another repository');
    strange.commit('of a third one');
    await other.index();
    await other.publish(place);
    // As for trees that have gone on by more commits than are asked for.
    for (const commit of [at.first, at.second, its])
      await rm(join(folder, 'heads', indexVersions, `${commit}.json`));
    expect(await there.pull(place)).toMatchObject({ commit: at.second });
    expect(await other.pull(place)).toMatchObject({ commit: its });
    const missing = { code: 'PUBLISHED_MISSING' };
    await expect(stranger.pull(place)).rejects.toMatchObject(missing);
    for (const { root } of [strange, there.tree]) await rm(join(root, '.git'), { recursive: true });
    await expect(stranger.pull(place)).rejects.toMatchObject(missing);
    await expect(there.pull(place)).rejects.toMatchObject(missing);
  });
});

describe('a published index that is not what it says', () => {
  const spoilt: Record<string, (path: string) => Promise<void>> = {
    changed: (path) => writeFile(path, gzipSync('something else')),
    cut: (path) => truncate(path, 30),
    gone: (path) => rm(path),
    endless: (path) => writeFile(path, gzipSync(Buffer.alloc(5_000_000))),
    'too long': (path) => writeFile(path, Buffer.alloc(5_000_000)),
    'no gzip': (path) => writeFile(path, 'x'.repeat(100)),
  };

  test('is refused by object, the old index stays, and --check mends it', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, place, folder } = guest;
    await there.pull(place);
    const graph = await there.graph();
    there.tree.git('checkout', '-q', at.second);
    const { incoming, segments } = placeOf(there.tree.root, there.home);
    const here = new Set(
      await Promise.all(
        (await readdir(segments)).map(async (name) =>
          digestOf(await readFile(join(segments, name))),
        ),
      ),
    );
    const head = join(folder, 'heads', indexVersions, `${at.second}.json`);
    here.add((JSON.parse(await readFile(head, 'utf8')) as Head).list.digest);
    const fresh = (await objectsIn(folder)).filter((path) => !here.has(path.slice(-64)));
    for (const [how, spoil] of Object.entries(spoilt)) {
      for (const path of fresh) await spoil(path);
      await expect(there.pull(place), how).rejects.toMatchObject({ code: 'PUBLISHED_DAMAGED' });
      expect(await there.graph()).toEqual(graph);
      await at.here.publish(place, true);
    }
    await mkdir(incoming, { recursive: true });
    await writeFile(join(incoming, 'rest'), 'of a killed run');
    await there.pull(place);
    await expect(readdir(incoming)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await there.graph()).toEqual(await at.here.graph());
  });

  test('a list that leads outside, or names what is none of the index, is refused', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, place, folder } = guest;
    const path = join(folder, 'heads', indexVersions, `${at.first}.json`);
    const head = JSON.parse(await readFile(path, 'utf8')) as Head;
    const { digest } = head.list;
    const honest = gunzipSync(await readFile(join(folder, 'objects', digest.slice(0, 2), digest)));
    const forged = async (change: (list: any) => void): Promise<unknown> => {
      const list = JSON.parse(honest.toString()) as object;
      change(list);
      const bytes = Buffer.from(JSON.stringify(list));
      const mark = { digest: digestOf(bytes), bytes: bytes.length };
      await place.put(`objects/${mark.digest.slice(0, 2)}/${mark.digest}`, gzipSync(bytes));
      await writeFile(path, JSON.stringify({ ...head, list: mark }));
      return there.pull(place).catch((error: unknown) => error);
    };
    const changes: ((list: any) => void)[] = [
      (list) => (list.files[0].name = '../../evil.seg'),
      (list) => (list.files[0].name = 'other.seg'),
      (list) => list.files.push({ ...list.files[0], name: 'more.seg' }),
      (list) => list.files.push(list.files[0]),
      (list) => list.files.shift(),
      (list) => (list.manifest.shards[0].alias = '../mm'),
      (list) => (list.manifest.shards[0].version = '../mm'),
      (list) => (list.manifest.shards[0].segment = '../mm.seg'),
      (list) => (list.manifest.shards[0].scope = ['../..']),
      (list) => (list.manifest.plan.shards[0].paths = ['/etc']),
      (list) => (list.manifest.history.commit = '--output=/tmp/x'),
      (list) => (list.manifest.shards[0].files += 1),
      (list) => (list.manifest = null),
    ];
    for (const change of changes)
      expect(await forged(change), String(change)).toMatchObject({ code: 'PUBLISHED_DAMAGED' });
    await expect(there.graph()).rejects.toMatchObject({ code: 'INDEX_MISSING' });
    expect(await forged(() => undefined)).toMatchObject({ shards: 2 });
  });

  test('a head of another version, of another commit than its name says, or none at all', async () => {
    await using guest = await guestOf(at, at.first);
    const { there, place, folder } = guest;
    const path = join(folder, 'heads', indexVersions, `${at.first}.json`);
    const head = JSON.parse(await readFile(path, 'utf8')) as object;
    const texts = [JSON.stringify({ ...head, commit: at.second }), '{', '{}', 'x'.repeat(100_000)];
    for (const text of texts) {
      await writeFile(path, text);
      await expect(there.pull(place)).rejects.toMatchObject({ code: 'PUBLISHED_DAMAGED' });
    }
    await rm(join(folder, 'heads', indexVersions), { recursive: true });
    const theirs = { ...head, versions: '0.0.0', sigma: '9.9.9', format: 99 };
    await writeFile(join(folder, 'heads', 'latest', 'any.json'), JSON.stringify(theirs));
    const refused = { code: 'PUBLISHED_VERSION', data: { theirs: '9.9.9' } };
    await expect(there.pull(place)).rejects.toMatchObject(refused);
    const nowhere = new FolderPlace(join(folder, 'nowhere'));
    await expect(there.pull(nowhere)).rejects.toMatchObject({ code: 'PUBLISHED_MISSING' });
  });
});
