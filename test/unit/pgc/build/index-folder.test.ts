import { copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkIndex } from '../../../../src/pgc/build/index-check.js';
import { indexFolder, type IndexRequest } from '../../../../src/pgc/build/index-folder.js';
import { readLeftOut } from '../../../../src/pgc/build/left-out-files.js';
import { placeOf, readManifest } from '../../../../src/pgc/plan/manifest.js';
import { readShardRequest } from '../../../../src/pgc/plan/shard-request.js';
import { OverlayFile } from '../../../../src/pgc/overlay/overlay-file.js';
import { overlayNames } from '../../../../src/pgc/shapes.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import type { IndexProgress } from '../../../../src/pgc/build/source-mining.js';
import { factsLayout } from '../../../../src/store/layouts.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { openTestStore } from '../../../support/store.js';

const slab = 'void *kmalloc(int size)\n{\n\treturn alloc_pages(size);\n}\n';
const pages = '/* Gives pages. */\nvoid *alloc_pages(int order)\n{\n\treturn 0;\n}\n';
const dev = 'int netif_rx(void)\n{\n\treturn kmalloc(1) != 0;\n}\n';
const sources = { 'mm/slab.c': slab, 'mm/pages.c': pages, 'net/dev.c': dev };
const twoShards = {
  shards: [
    { alias: 'mm', paths: ['mm'] },
    { alias: 'net', paths: ['net'] },
  ],
};

interface Bench extends AsyncDisposable {
  tree: TemporaryTree;
  home: string;
  index: (more?: Partial<IndexRequest>) => ReturnType<typeof indexFolder>;
}

async function bench(files: Record<string, string | Buffer> = sources): Promise<Bench> {
  const tree = await TemporaryTree.create(files);
  const home = await TemporaryTree.create();
  return {
    tree,
    home: home.root,
    index: (more = {}) => indexFolder({ root: tree.root, home: home.root, jobs: 0, ...more }),
    [Symbol.asyncDispose]: async () => {
      await tree[Symbol.asyncDispose]();
      await home[Symbol.asyncDispose]();
    },
  };
}

const segmentsOf = ({ tree, home }: Bench): Promise<string[]> =>
  readdir(placeOf(tree.root, home).segments).then((names) =>
    names.filter((name) => name.endsWith('.seg')).sort(),
  );

describe('an index', () => {
  test('reports what it read and can be opened', async () => {
    await using at = await bench({
      ...sources,
      'notes.xyz': '# x\n',
      'mm/blob.c': Buffer.from('a\0b'),
    });
    const report = await at.index({ shards: twoShards });
    expect(report).toMatchObject({
      shards: [
        { alias: 'mm', scope: ['mm'], files: 2, lines: 9, items: { O1: 2, O3: 1 } },
        { alias: 'net', scope: ['net'], files: 1, lines: 4, items: { O1: 1, O3: 1 } },
      ],
      files_total: 3,
      files_mined: 3,
      files_reused: 0,
      lines_total: 13,
      left_out: { 'unknown language': 1, binary: 1 },
    });
    expect(report.disk_bytes).toBeGreaterThan(1_000);
    const { shards, root } = await openIndex(at.tree.root, at.home);
    expect(root).toBe(at.tree.root);
    expect(shards.map((shard) => shard.info.alias)).toEqual(['mm', 'net']);
    expect(shards[0]!.info).toMatchObject({ agent: 'mm', root, scope: ['mm'], files: 2, lines: 9 });
    expect(shards[0]!.callsTo('alloc_pages')).toMatchObject([{ line: 3, kind: 'direct' }]);
    expect(shards[1]!.unresolved()).toEqual([{ name: 'kmalloc', sites: 1 }]);
    expect(await readLeftOut(at.tree.root, at.home)).toEqual([
      { path: 'notes.xyz', reason: 'unknown language' },
      { path: 'mm/blob.c', reason: 'binary' },
    ]);
  });

  test('that holds files of another shard is found unsound, and mended by the next run', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    const place = placeOf(at.tree.root, at.home);
    const [mm, net] = await segmentsOf(at);
    await copyFile(join(place.segments, net!), join(place.segments, mm!));
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(false);
    await at.index();
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
  });

  test('says how much of each language there is, and how much of it could not be read', async () => {
    const broken = 'int f(void) { return 1 1 1; }\n';
    const list = Array.from({ length: 2_100 }, (_, at) => `#define REG_${at} ${at}\n`).join('');
    await using at = await bench({
      'a/a.c': broken,
      'a/list.h': list,
      'b/b.py': 'def g(): pass\n',
    });
    const report = await at.index({ shards: 2 });
    const { c, python, ...others } = report.languages;
    expect(others).toEqual({});
    expect(c).toMatchObject({
      files: 2,
      lines: 2_101,
      bytes: broken.length + list.length,
      scanned: 1,
    });
    expect(c?.error_bytes).toBeGreaterThan(0);
    expect(c?.error_bytes).toBeLessThan(broken.length);
    expect(python).toEqual({ files: 1, lines: 1, bytes: 14, error_bytes: 0, scanned: 0 });
    // Shards that are kept are counted too.
    expect((await at.index()).languages).toEqual(report.languages);
  });

  test('mines only new contents and writes only changed shards when refreshed', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    const [mm, net] = await segmentsOf(at);
    await at.tree.write({ 'net/dev.c': `${dev}int more;\n`, 'net/copy.c': slab });
    expect(await at.index()).toMatchObject({ files_total: 4, files_mined: 1, files_reused: 3 });
    const after = await segmentsOf(at);
    expect(after[0]).toBe(mm);
    expect(after).toHaveLength(2);
    expect(after).not.toContain(net);
  });

  test('keeps its plan when refreshed without one', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    await at.tree.write({ 'mm/new.c': 'int new_thing;\n', 'lib/a.c': 'int a;\n' });
    const report = await at.index();
    expect(report.shards.map((shard) => [shard.alias, shard.files])).toEqual([
      ['mm', 3],
      ['net', 1],
    ]);
    expect(report.left_out).toEqual({ 'outside the plan': 1 });
  });

  test('drops a shard whose files are gone', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    await rm(join(at.tree.root, 'net'), { recursive: true });
    await at.index();
    expect((await openIndex(at.tree.root, at.home)).shards).toHaveLength(1);
  });

  test('with the same content is the same, wherever the files come from', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    const walked = await segmentsOf(at);
    at.tree.commitAll();
    await at.index();
    expect(await segmentsOf(at)).toEqual(walked);
  });

  test('is served as it was until the new one is complete', async () => {
    await using at = await bench();
    await at.index();
    const before = (await openIndex(at.tree.root, at.home)).shards[0]!.info.version;
    await at.tree.write({ 'mm/slab.c': `${slab}int x;\n` });
    const stop = new AbortController();
    const interrupted = at.index({
      signal: stop.signal,
      onProgress: ({ phase }) => {
        if (phase === 'write') stop.abort();
      },
    });
    await expect(interrupted).rejects.toMatchObject({ code: 'INTERRUPTED' });
    expect((await openIndex(at.tree.root, at.home)).shards[0]!.info.version).toBe(before);
    // What the interrupted run mined is not mined again.
    expect(await at.index()).toMatchObject({ files_mined: 0 });
    expect((await openIndex(at.tree.root, at.home)).shards[0]!.info.version).not.toBe(before);
  });

  test('ignores and removes what a killed run left half written', async () => {
    await using at = await bench();
    await at.index();
    const place = placeOf(at.tree.root, at.home);
    await writeFile(join(place.segments, 'mm-123.seg.99.tmp'), 'half');
    await writeFile(`${place.manifest}.99.tmp`, '{"format":');
    expect((await openIndex(at.tree.root, at.home)).shards).toHaveLength(1);
    await at.index();
    expect(await segmentsOf(at)).toHaveLength(1);
    expect((await readdir(place.folder)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('whose segment or manifest is damaged says so, and indexing repairs it', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    const place = placeOf(at.tree.root, at.home);
    const [segment = ''] = await segmentsOf(at);
    const path = join(place.segments, segment);
    const bytes = await readFile(path);
    bytes[bytes.indexOf('"alias"')]! ^= 1;
    for (const damage of [
      () => writeFile(path, bytes),
      () => rm(path),
      () => writeFile(place.manifest, '{'),
    ]) {
      await damage();
      const read = openIndex(at.tree.root, at.home).then(({ shards }) =>
        shards.map(({ info }) => info.abbreviations),
      );
      await expect(read).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
      expect(await at.index({ shards: twoShards })).toMatchObject({ files_mined: 0 });
      expect((await openIndex(at.tree.root, at.home)).shards).toHaveLength(2);
    }
  });

  test('that another process builds cannot be built at the same time', async () => {
    await using at = await bench();
    await at.index();
    await using store = await openTestStore(placeOf(at.tree.root, at.home).facts, factsLayout);
    expect(await store.get('meta/schema')).toBeDefined();
    await expect(at.index()).rejects.toMatchObject({ code: 'INDEX_BUILDING' });
    expect((await openIndex(at.tree.root, at.home)).shards).toHaveLength(1);
  });

  test('tells its progress phase by phase', async () => {
    await using at = await bench();
    const told: IndexProgress[] = [];
    await at.index({ onProgress: (progress) => told.push(progress) });
    const phases = ['list', 'mine', 'write', 'history'];
    expect([...new Set(told.map((each) => each.phase))]).toEqual(phases);
    expect(told.at(-2)).toEqual({ phase: 'write', done: 1, total: 1, lines: 13 });
  });

  test('that was never built is missing', async () => {
    await using at = await bench();
    await expect(openIndex(at.tree.root, at.home)).rejects.toMatchObject({ code: 'INDEX_MISSING' });
  });
});

describe('a check of an index', () => {
  test('finds what is damaged, and says what nothing names', async () => {
    await using at = await bench();
    await at.index({ shards: twoShards });
    const place = placeOf(at.tree.root, at.home);
    const sound = await checkIndex(at.tree.root, at.home);
    expect([sound.is_sound, sound.strays, sound.files.length]).toEqual([true, [], 18]);
    const overlay = sound.files.find(({ file }) => file.endsWith('.O2.ovl'))!.file;
    const bytes = await readFile(join(place.segments, overlay));
    bytes[bytes.length - 1]! ^= 1;
    await writeFile(join(place.segments, overlay), bytes);
    await writeFile(join(place.segments, 'stray.seg'), 'x');
    const report = await checkIndex(at.tree.root, at.home);
    expect(report.is_sound).toBe(false);
    expect(report.strays).toEqual(['stray.seg']);
    const broken = report.files.filter(({ problem }) => problem !== '');
    expect(broken.map(({ file }) => file)).toEqual([overlay]);
    expect(broken[0]?.problem).toContain('checksum');
    await at.index();
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
  });

  test('facts of contents that are gone stay until they are collected', async () => {
    await using at = await bench();
    await at.index({ shards: 1 });
    await at.tree.write({ 'mm/slab.c': 'int other;\n' });
    expect((await at.index()).facts_collected).toBe(0);
    await at.tree.write({ 'mm/slab.c': slab });
    expect((await at.index()).files_mined).toBe(0);
    expect((await at.index({ collects: true })).facts_collected).toBe(1);
    await at.tree.write({ 'mm/slab.c': 'int other;\n' });
    expect((await at.index()).files_mined).toBe(1);
  });
});

describe('overlays of an index', () => {
  const itemsOf = async (at: Bench, overlay: string) => {
    const place = placeOf(at.tree.root, at.home);
    const { shards } = await readManifest(place, at.tree.root);
    const items = [];
    for (const shard of shards) {
      const file = await OverlayFile.open(
        join(place.segments, shard.overlays[overlay]?.file ?? 'absent'),
      );
      for (const item of file.items())
        items.push(`${item.file_path}:${item.line_start} ${item.text}`);
    }
    return items;
  };

  test('are all ready, each with what made it, and hold what was mined', async () => {
    await using at = await bench({
      'mm/slab.c': 'void grow(char *b)\n{\n\tstrcpy(b, "x");\n\tBUG_ON(!b);\n}\n',
      'mm/Kconfig': 'config SLAB\n\tbool "Slab"\n',
      'README.md': '# Slab\n\nIt allocates.\n',
    });
    const report = await at.index({ shards: 1 });
    expect(report.shards[0]?.items).toEqual({ O1: 1, O2: 1, O3: 2, O4: 1, O5: 1, O6: 1, O7: 0 });
    const { shards } = await readManifest(placeOf(at.tree.root, at.home), at.tree.root);
    expect(Object.keys(shards[0]?.overlays ?? {}).sort()).toEqual([...overlayNames]);
    expect(shards[0]?.overlays.O2).toMatchObject({
      state: 'ready',
      generator: 'security',
      items: 1,
    });
    expect(await itemsOf(at, 'O2')).toEqual([
      'mm/slab.c:3 strcpy copies a constant without a bound',
    ]);
    expect(await itemsOf(at, 'O4')).toEqual(['README.md:1 Slab: It allocates.']);
    expect(await itemsOf(at, 'O5')).toEqual(['mm/Kconfig:1 CONFIG_SLAB: Slab']);
  });

  test('of coherence say what no shard knows, and change with any of them', async () => {
    await using at = await bench({
      'mm/slab.c': '#ifdef CONFIG_SLAB\nint a;\n#endif\n#ifdef CONFIG_GONE\nint b;\n#endif\n',
      'mm/Kconfig': 'config SLAB\n\tbool\n',
      'doc/a.md': '# A\n\nCall grow_slab() and shrink_slab() then.\n',
      'net/dev.c': 'int grow_slab(void) { return 0; }\n',
    });
    const plan = { shards: [twoShards.shards[0]!, { alias: 'net', paths: ['net', 'doc'] }] };
    await at.index({ shards: plan });
    expect(await itemsOf(at, 'O7')).toEqual([
      'mm/slab.c:4 uses CONFIG_GONE, which no Kconfig defines',
      'doc/a.md:3 speaks of shrink_slab(), which stands nowhere in the code',
    ]);
    const [kept] = await segmentsOf(at);
    await at.tree.write({ 'net/dev.c': 'int shrink_slab(void) { return 0; }\n' });
    await at.index();
    expect((await segmentsOf(at))[0]).toBe(kept);
    expect(await itemsOf(at, 'O7')).toEqual([
      'mm/slab.c:4 uses CONFIG_GONE, which no Kconfig defines',
      'doc/a.md:3 speaks of grow_slab(), which stands nowhere in the code',
    ]);
    // Nothing changed: nothing is written.
    const before = await readManifest(placeOf(at.tree.root, at.home), at.tree.root);
    await at.index();
    expect(await readManifest(placeOf(at.tree.root, at.home), at.tree.root)).toEqual(before);
  });
});

describe('git', () => {
  test('tells who and when and why, until a revision that is asked for', async () => {
    await using at = await bench({ 'mm/slab.c': 'int old;\n' });
    const first = at.tree.commit('slab: begin', { author: 'Ann', date: '2020-01-02T00:00:00Z' });
    await at.tree.write({ 'mm/slab.c': 'int newer;\n', 'mm/late.c': 'int late;\n' });
    at.tree.commit('slab: grow', { author: 'Ben', date: '2021-01-02T00:00:00Z' });
    await at.tree.write({ 'mm/slab.c': 'int uncommitted;\n' });

    const histories = async () => {
      const { overlay } = await openIndex(at.tree.root, at.home);
      const files = await overlay('O3');
      return files.flatMap((file) =>
        [...file.items((rule) => rule === 'history')].map(
          (item) => `${item.file_path} ${item.text}`,
        ),
      );
    };
    const names = async () => [
      ...(await openIndex(at.tree.root, at.home)).shards[0]!.symbolNames(),
    ];

    const report = await at.index({ shards: 1 });
    expect(report.history).toEqual({ commits: 2, is_complete: true, why: '' });
    expect((await checkIndex(at.tree.root, at.home)).is_sound).toBe(true);
    expect(await names()).toEqual(['late', 'uncommitted']);
    expect(await histories()).toEqual([
      'mm/late.c 1 commit by 1 author since 2021-01-02, last 2021-01-02 by Ben: slab: grow',
      'mm/slab.c 2 commits by 2 authors since 2020-01-02, last 2021-01-02 by Ben: slab: grow',
    ]);

    await at.index({ asOf: first });
    expect(await names()).toEqual(['old']);
    expect(await histories()).toEqual([
      'mm/slab.c 1 commit by 1 author since 2020-01-02, last 2020-01-02 by Ann: slab: begin',
    ]);
    const { manifest } = await openIndex(at.tree.root, at.home);
    expect(manifest.as_of).toBe(first);

    await at.index();
    expect(await names()).toEqual(['late', 'uncommitted']);
    await expect(at.index({ asOf: 'no-such-revision' })).rejects.toMatchObject({ code: 'USAGE' });
    expect(await names()).toEqual(['late', 'uncommitted']);
  });
});

describe('indexing is refused', () => {
  test('for a folder without source files', async () => {
    await using at = await bench({ 'notes.xyz': '# nothing\n' });
    await expect(at.index()).rejects.toMatchObject({ code: 'REPO_EMPTY' });
  });

  test('for a folder that does not exist', async () => {
    await using at = await bench();
    await expect(at.index({ root: '/no/such/tree' })).rejects.toMatchObject({
      code: 'REPO_UNREADABLE',
    });
  });

  test('for a planned path that holds nothing', async () => {
    await using at = await bench();
    const shards = { shards: [{ alias: 'mm', paths: ['mm', 'mmm'] }] };
    await expect(at.index({ shards })).rejects.toMatchObject({ code: 'SHARD_PLAN_INVALID' });
  });

  test('for a planned path that leads outside, by its text or over a link', async () => {
    await using outside = await TemporaryTree.create({ 'a.c': 'int a;\n' });
    await using at = await bench();
    await symlink(outside.root, join(at.tree.root, 'link'));
    for (const path of ['../x', '/etc', 'link']) {
      const shards = { shards: [{ alias: 'x', paths: [path] }] };
      await expect(at.index({ shards })).rejects.toMatchObject({ code: 'PATH_OUTSIDE_ROOT' });
    }
  });
});

test('a shard request is auto, a number or a file', async () => {
  await using at = await bench();
  const file = join(at.tree.root, 'plan.json');
  await writeFile(file, JSON.stringify(twoShards));
  await mkdir(join(at.tree.root, 'empty'));
  expect(await readShardRequest('auto', at.tree.root)).toBe('auto');
  expect(await readShardRequest('4', at.tree.root)).toBe(4);
  expect(await readShardRequest(file, at.tree.root)).toEqual(twoShards);
  for (const wrong of ['four', '-1', join(at.tree.root, 'empty')]) {
    await expect(readShardRequest(wrong, at.tree.root)).rejects.toMatchObject({
      code: 'SHARD_PLAN_INVALID',
    });
  }
});
