import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { checkIndex } from '../../../../../src/pgc/build/index-check.js';
import { digestOf, indexVersions } from '../../../../../src/pgc/build/share/published.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { objectsIn, sharing, type Sharing } from './share.js';

const slab = '/* Gives memory. */\nvoid *kmalloc(int size)\n{\n\treturn alloc_pages(size);\n}\n';
const pages = '/* Gives pages. */\nvoid *alloc_pages(int order)\n{\n\treturn 0;\n}\n';
const dev = 'int netif_rx(void)\n{\n\treturn kmalloc(1) != 0;\n}\n';
const sources = {
  'mm/slab.c': slab,
  'mm/pages.c': pages,
  'net/dev.c': dev,
  'README.md': '# It\n\n`kmalloc` gives memory.\n',
};
const shards = {
  shards: [
    { alias: 'mm', paths: ['mm'] },
    { alias: 'rest', paths: ['.'] },
  ],
};

async function published(): Promise<Sharing> {
  const at = await sharing(sources);
  await at.here.index({ shards });
  await at.here.publish(at.place);
  return at;
}

const headOf = async ({ folder, here }: Sharing): Promise<string> =>
  join(folder, 'heads', indexVersions, `${here.tree.git('rev-parse', 'HEAD').trim()}.json`);

describe('an index that is published and pulled', () => {
  test('answers for the tree it was pulled into, and as the first does', async () => {
    await using at = await published();
    const report = await at.there.pull(at.place);
    expect(report).toMatchObject({ shards: 2, distance: { ahead: 0, behind: 0, files: 0 } });
    expect(await at.there.graph()).toEqual(await at.here.graph());
    const { root, project, shards: opened } = await openIndex(at.there.tree.root, at.there.home);
    expect(root).toBe(at.there.tree.root);
    for (const { info } of opened) expect(info).toMatchObject({ root, project });
    expect((await checkIndex(at.there.tree.root, at.there.home)).is_sound).toBe(true);
    const manifest = JSON.stringify(await readManifest(placeOf(root, at.there.home), root));
    expect(manifest).not.toContain(at.here.tree.root);
  });

  test('tells nobody where it was built', async () => {
    await using at = await published();
    for (const path of await objectsIn(at.folder))
      expect(gunzipSync(await readFile(path)).includes(at.here.tree.root)).toBe(false);
  });

  test('is not mined again where the tree is at its commit, and is then what a run from scratch makes', async () => {
    await using at = await published();
    await at.there.pull(at.place);
    expect(await at.there.index()).toMatchObject({ files_mined: 0, files_reused: 4 });
    const manifestOf = async ({ tree, home }: Sharing['here']) =>
      (await readManifest(placeOf(tree.root, home), tree.root)).shards;
    expect(await manifestOf(at.there)).toEqual(await manifestOf(at.here));
    expect(await at.there.index()).toMatchObject({ files_mined: 0 });
  });

  test('is mined where the tree differs, with the other files of that shard', async () => {
    await using at = await published();
    await at.there.tree.write({ 'net/dev.c': `${dev}int more(void)\n{\n\treturn 1;\n}\n` });
    at.there.tree.commit('second');
    expect(await at.there.pull(at.place)).toMatchObject({
      distance: { ahead: 1, behind: 0, files: 1 },
    });
    expect(await at.there.index()).toMatchObject({ files_mined: 2, files_total: 4 });
    const { shards: opened } = await openIndex(at.there.tree.root, at.there.home);
    expect(opened.flatMap((index) => index.symbolsNamed('more'))).toHaveLength(1);
    expect(opened.flatMap((index) => index.symbolsNamed('netif_rx'))).toHaveLength(1);
  });

  test('a watcher that saw one change does not take the tree to be as the index was elsewhere', async () => {
    await using at = await published();
    await at.there.tree.write({ 'mm/pages.c': pages.replace('alloc_pages', 'alloc_folios') });
    await at.there.pull(at.place);
    await at.there.index({ changed: new Set(['net/dev.c']) });
    const { shards: opened } = await openIndex(at.there.tree.root, at.there.home);
    expect(opened.flatMap((index) => index.symbolsNamed('alloc_folios'))).toHaveLength(1);
  });

  test('moves what is missing, and nothing else', async () => {
    await using at = await published();
    expect(await at.here.publish(at.place)).toMatchObject({ sent_objects: 3 });
    const first = await at.there.pull(at.place);
    expect(await at.there.pull(at.place)).toMatchObject({ moved_objects: 0, moved_bytes: 0 });
    await at.here.tree.write({ 'net/dev.c': dev.replace('1', '2') });
    at.here.tree.commit('second');
    await at.here.index();
    const { sent_objects } = await at.here.publish(at.place);
    at.there.tree.git('pull', '-q', at.here.tree.root, 'main');
    const second = await at.there.pull(at.place);
    expect(second.commit).toBe(at.here.tree.git('rev-parse', 'HEAD').trim());
    expect(second.moved_objects).toBeLessThan(first.moved_objects);
    // The list and three heads are no files of the index.
    expect(sent_objects - 4).toBe(second.moved_objects);
    expect(await at.there.graph()).toEqual(await at.here.graph());
  });

  test('of the commit that is asked for, or of the nearest one', async () => {
    await using at = await published();
    await at.here.tree.write({ 'net/dev.c': dev.replace('1', '2') });
    const second = at.here.tree.commit('second');
    await at.here.index();
    await at.here.publish(at.place);
    const first = at.there.tree.git('rev-parse', 'HEAD').trim();
    expect(await at.there.pull(at.place)).toMatchObject({ commit: first });
    at.there.tree.git('pull', '-q', at.here.tree.root, 'main');
    await at.there.tree.write({ 'net/own.c': 'int own;\n' });
    at.there.tree.commit('own');
    expect(await at.there.pull(at.place)).toMatchObject({
      commit: second,
      distance: { ahead: 1, files: 1 },
    });
    expect(await at.there.pull(at.place, { asOf: 'HEAD~2' })).toMatchObject({ commit: first });
    await expect(at.there.pull(at.place, { asOf: 'HEAD' })).rejects.toMatchObject({
      code: 'PUBLISHED_MISSING',
    });
  });

  test('into a tree that knows nothing of the commit: what was published last', async () => {
    await using at = await published();
    await rm(join(at.there.tree.root, '.git'), { recursive: true });
    expect(await at.there.pull(at.place)).toMatchObject({ distance: null });
    expect(await at.there.index()).toMatchObject({ files_mined: 0 });
  });
});

describe('what is published', () => {
  test('is the index of a commit, else it is refused with what differs', async () => {
    await using at = await sharing(sources);
    await at.here.tree.write({ 'net/dev.c': dev.replace('1', '2'), 'net/new.c': 'int new;\n' });
    await at.here.index();
    await expect(at.here.publish(at.place)).rejects.toMatchObject({
      code: 'INDEX_UNPINNED',
      message: expect.stringMatching(
        /2 files are not as in commit \w{12}: net\/dev.c, net\/new.c$/,
      ),
    });
    expect(await readdir(at.folder)).toEqual([]);
    await at.here.index({ asOf: 'HEAD' });
    await at.here.publish(at.place);
    expect(await at.there.pull(at.place)).toMatchObject({ distance: { files: 0 } });
  });

  test('a tree without git has no commit to be pinned to', async () => {
    await using at = await sharing(sources);
    await rm(join(at.here.tree.root, '.git'), { recursive: true });
    await at.here.index();
    await expect(at.here.publish(at.place)).rejects.toMatchObject({ code: 'INDEX_UNPINNED' });
  });

  test('is checked first: a damaged index is not passed on', async () => {
    await using at = await sharing(sources);
    await at.here.index();
    const { segments } = placeOf(at.here.tree.root, at.here.home);
    const [segment = ''] = (await readdir(segments)).filter((name) => name.endsWith('.seg'));
    await truncate(join(segments, segment), 200);
    await expect(at.here.publish(at.place)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
  });

  test('the index of a folder within a repository is another one', async () => {
    await using at = await published();
    const inner = { ...at.there, root: join(at.there.tree.root, 'mm') };
    await expect(at.there.pull(at.place, { root: inner.root })).rejects.toMatchObject({
      code: 'PUBLISHED_MISSING',
    });
  });
});

describe('a published index that is not what it says', () => {
  const before = async (at: Sharing): Promise<string[]> => {
    await at.there.index({ shards });
    return at.there.graph();
  };

  test.each([
    ['changed', async (path: string) => writeFile(path, gzipSync('something else'))],
    ['cut', async (path: string) => truncate(path, 30)],
    ['gone', async (path: string) => rm(path)],
    ['endless', async (path: string) => writeFile(path, gzipSync(Buffer.alloc(50_000_000)))],
    ['no gzip', async (path: string) => writeFile(path, 'x'.repeat(100))],
  ])(
    'an object that is %s is refused, the old index stays, and --check mends it',
    async (_, spoil) => {
      await using at = await published();
      const graph = await before(at);
      await at.here.tree.write({ 'net/dev.c': dev.replace('1', '2') });
      at.here.tree.commit('second');
      await at.here.index();
      const known = new Set(await objectsIn(at.folder));
      await at.here.publish(at.place);
      at.there.tree.git('pull', '-q', at.here.tree.root, 'main');
      const [fresh = ''] = (await objectsIn(at.folder)).filter((path) => !known.has(path));
      await spoil(fresh);
      await expect(at.there.pull(at.place)).rejects.toMatchObject({ code: 'PUBLISHED_DAMAGED' });
      expect(await at.there.graph()).toEqual(graph);
      await at.here.publish(at.place, true);
      await at.there.pull(at.place);
      expect(await at.there.graph()).toEqual(await at.here.graph());
    },
  );

  test('a list that leads outside, or names what is none of the index, is refused', async () => {
    await using at = await published();
    const graph = await before(at);
    const headPath = await headOf(at);
    const head = JSON.parse(await readFile(headPath, 'utf8')) as {
      list: { digest: string; bytes: number };
    };
    const { digest } = head.list;
    const honest = gunzipSync(
      await readFile(join(at.folder, 'objects', digest.slice(0, 2), digest)),
    ).toString();
    const forged = async (change: (list: any) => void): Promise<unknown> => {
      const list = JSON.parse(honest) as object;
      change(list);
      const bytes = Buffer.from(JSON.stringify(list));
      const mark = { digest: digestOf(bytes), bytes: bytes.length };
      await at.place.put(`objects/${mark.digest.slice(0, 2)}/${mark.digest}`, gzipSync(bytes));
      await writeFile(headPath, JSON.stringify({ ...head, list: mark }));
      return at.there.pull(at.place).catch((error: unknown) => error);
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
    expect(await at.there.graph()).toEqual(graph);
    expect(await forged(() => undefined)).toMatchObject({ shards: 2 });
  });

  test('of another version: it is said which', async () => {
    await using at = await published();
    const head = JSON.parse(await readFile(await headOf(at), 'utf8')) as object;
    await rm(join(at.folder, 'heads', indexVersions), { recursive: true });
    const theirs = { ...head, versions: '0.0.0', sigma: '9.9.9', format: 99 };
    await writeFile(join(at.folder, 'heads', 'latest.json'), JSON.stringify(theirs));
    await expect(at.there.pull(at.place)).rejects.toMatchObject({
      code: 'PUBLISHED_VERSION',
      data: { theirs: '9.9.9' },
    });
  });

  test('of another commit than its name says, or no head at all', async () => {
    await using at = await published();
    const path = await headOf(at);
    const head = JSON.parse(await readFile(path, 'utf8')) as object;
    for (const text of [
      JSON.stringify({ ...head, commit: 'a'.repeat(40) }),
      '{',
      '{}',
      'x'.repeat(100_000),
    ]) {
      await writeFile(path, text);
      await expect(at.there.pull(at.place)).rejects.toMatchObject({ code: 'PUBLISHED_DAMAGED' });
    }
  });

  test('nothing is published', async () => {
    await using at = await sharing(sources);
    await expect(at.there.pull(at.place)).rejects.toMatchObject({ code: 'PUBLISHED_MISSING' });
  });
});
