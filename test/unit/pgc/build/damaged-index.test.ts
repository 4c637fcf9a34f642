import { open, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkIndex } from '../../../../src/pgc/build/index-check.js';
import { indexFolder, type IndexRequest } from '../../../../src/pgc/build/index-folder.js';
import {
  keptPlan,
  placeOf,
  readManifest,
  writeManifest,
  type IndexPlace,
} from '../../../../src/pgc/plan/manifest.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import { diskBytesMin } from '../../../../src/pgc/build/run-budget.js';
import { IndexCleaner } from '../../../../src/pgc/build/index-cleaner.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const sources = { 'mm/a.c': 'int a(void)\n{\n\treturn b();\n}\n', 'net/b.c': 'int b;\n' };
const shards = {
  shards: [
    { alias: 'mm', paths: ['mm'] },
    { alias: 'rest', paths: ['net'] },
  ],
};

interface Bench extends AsyncDisposable {
  tree: TemporaryTree;
  home: string;
  place: IndexPlace;
  index: (more?: Partial<IndexRequest>) => ReturnType<typeof indexFolder>;
}

async function bench(): Promise<Bench> {
  const tree = await TemporaryTree.create(sources);
  const home = await TemporaryTree.create();
  const index: Bench['index'] = (more = {}) =>
    indexFolder({ root: tree.root, home: home.root, jobs: 0, ...more });
  await index({ shards });
  return {
    ...{ tree, home: home.root, place: placeOf(tree.root, home.root), index },
    [Symbol.asyncDispose]: async () => {
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

const aliases = ({ shards: all }: { shards: { alias: string }[] }): string[] =>
  all.map(({ alias }) => alias);

describe('a manifest', () => {
  test('that says something else than was written is damaged', async () => {
    await using at = await bench();
    const text = await readFile(at.place.manifest, 'utf8');
    await writeFile(at.place.manifest, text.replace('"lines": 4', '"lines": 5'));
    await expect(checkIndex(at.tree.root, at.home)).rejects.toMatchObject({
      code: 'INDEX_CORRUPT',
      data: { detail: 'digest' },
    });
    await at.index();
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
  });

  test('of another format says so, and its plan is kept', async () => {
    await using at = await bench();
    const manifest = await readManifest(at.place, at.tree.root);
    const older = { ...manifest, format: 1, segment_format: 1 };
    await writeFile(at.place.manifest, JSON.stringify(older));
    await rm(at.place.plan);
    await expect(openIndex(at.tree.root, at.home)).rejects.toMatchObject({
      code: 'INDEX_CORRUPT',
      message: expect.stringMatching(/another version wrote it: format 1\.1, not /) as string,
    });
    const report = await at.index();
    expect([aliases(report), report.files_mined]).toEqual([['mm', 'rest'], 0]);
  });

  test('that names vectors, as an earlier version did, is served without them, and the next run removes them', async () => {
    await using at = await bench();
    const file = 'mm-1.03f66363.vec';
    await writeFile(join(at.place.segments, file), 'signs');
    const manifest = await readManifest(at.place, at.tree.root);
    const [first, second] = manifest.shards;
    const vectors = { fingerprint: 'a model', file, symbols: 1, left_out: 0 };
    const { digest: _, ...rest } = manifest;
    await writeManifest(at.place, { ...rest, shards: [{ ...first!, vectors } as never, second!] });
    expect(await readFile(at.place.manifest, 'utf8')).toContain(file);
    expect(aliases(await readManifest(at.place, at.tree.root))).toEqual(['mm', 'rest']);
    expect((await openIndex(at.tree.root, at.home)).shards).toHaveLength(2);
    const { is_sound, strays } = await checkIndex(at.tree.root, at.home);
    expect([is_sound, strays]).toEqual([true, [file]]);
    const report = await at.index();
    expect(report.files_mined).toBe(0);
    expect(await readdir(at.place.segments)).not.toContain(file);
  });

  test.each(['', '{'])('that is lost (%j) takes the plan with it not', async (left) => {
    await using at = await bench();
    if (left === '') await rm(at.place.manifest);
    else await writeFile(at.place.manifest, left);
    expect(await keptPlan(at.place)).toMatchObject({ mode: 'explicit', ...shards });
    expect(aliases(await at.index())).toEqual(['mm', 'rest']);
  });

  test('that is lost with its plan is made by a new one', async () => {
    await using at = await bench();
    await rm(at.place.manifest);
    await rm(at.place.plan);
    expect(await keptPlan(at.place)).toBeUndefined();
    expect((await at.index()).files_total).toBe(2);
  });
});

describe('a run', () => {
  test('mines again what was damaged of what it mined', async () => {
    await using at = await bench();
    await at.index({ collects: true });
    await at.tree.write({ 'mm/new.c': 'int now;\n' });
    // The log of LevelDB holds what was written last; its checksums are not looked at once it is a table.
    await at.index({ collects: true });
    const names = (await readdir(at.place.facts)).filter((name) => /\.(?:ldb|log)$/.test(name));
    for (const name of names) await writeFile(join(at.place.facts, name), '');
    await at.tree.write({ 'net/b.c': 'int c;\n' });
    expect(await at.index()).toMatchObject({ files_total: 3, files_mined: 3 });
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
  });

  test('that fails leaves nothing behind but what it mined, and the old index', async () => {
    await using at = await bench();
    const before = (await readdir(at.place.segments)).sort();
    await at.tree.write({ 'mm/a.c': 'int changed;\n' });
    const stop = new AbortController();
    const failing = at.index({
      signal: stop.signal,
      onProgress: ({ phase }) => {
        if (phase === 'history') stop.abort();
      },
    });
    await expect(failing).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect((await readdir(at.place.segments)).sort()).toEqual(before);
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
    expect((await at.index()).files_mined).toBe(0);
  });

  test('that finds damage where nothing was written is followed by one that looks at everything', async () => {
    await using at = await bench();
    const files = (await readdir(at.place.segments)).map((name) => join(at.place.segments, name));
    const long = new Date('2001-01-01');
    for (const path of files) await utimes(path, long, long);
    // Reads them all, as their times are other ones, and believes them from now on.
    await at.index({ collects: true });
    for (const path of files.filter((each) => /\/mm-.*\.seg$/.test(each))) {
      const file = await open(path, 'r+');
      await file.write(Buffer.alloc(32, 1), 0, 32, 0);
      await file.close();
      await utimes(path, long, long);
    }
    await at.tree.write({ 'net/b.c': 'int c;\n' });
    await expect(at.index()).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
    await at.index();
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
  });

  test('that would exceed its disk says so, and the old index is served', async () => {
    await using at = await bench();
    await writeFile(join(at.place.folder, 'large'), Buffer.alloc(diskBytesMin));
    await at.tree.write({ 'mm/a.c': 'int changed;\n' });
    await expect(at.index({ diskBytes: diskBytesMin })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    const { shards: served } = await openIndex(at.tree.root, at.home);
    expect(served[0]?.callsTo('b')).toHaveLength(1);
    await rm(join(at.place.folder, 'large'));
    await at.index({ diskBytes: diskBytesMin });
    expect((await openIndex(at.tree.root, at.home)).shards[0]?.callsTo('b')).toHaveLength(0);
  });

  test('with too little memory allowed is wrong usage', async () => {
    await using at = await bench();
    await expect(at.index({ memoryBytes: 1 })).rejects.toMatchObject({ code: 'USAGE' });
  });
});

test('where it is not known what is served, only what is half written is removed', async () => {
  await using at = await bench();
  await writeFile(join(at.place.segments, 'x.seg.1.tmp'), '');
  const before = (await readdir(at.place.segments)).sort();
  await using cleaner = await IndexCleaner.begin(at.place, undefined);
  expect((await readdir(at.place.segments)).sort()).toEqual(
    before.filter((name) => !name.endsWith('.tmp')),
  );
  await cleaner.setServed({ shards: [] });
  expect(await readdir(at.place.segments)).toEqual([]);
});
