import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { callersOf, implementationsOf } from '../../../../../src/pgc/bind/call-sites.js';
import { checkIndex } from '../../../../../src/pgc/build/index-check.js';
import { indexFolder, type IndexReport } from '../../../../../src/pgc/build/index-folder.js';
import type { LayerRequest } from '../../../../../src/pgc/build/binding/precise-layer.js';
import { placeOf, readManifest } from '../../../../../src/pgc/plan/manifest.js';
import { openIndex } from '../../../../../src/pgc/search/open-index.js';
import { writeScip } from '../../../../../src/pgc/scip/write-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';
import { ours, writeScipIndex, type SaidDocument } from '../../../../support/scip.js';

const lib = [
  'export function f() {}',
  'export function g() {}',
  'export class C {',
  '  run() {}',
  '}',
  'export class D {',
  '  run() {}',
  '}',
  '',
].join('\n');
const app = [
  "import { f, g } from './lib';",
  'export function h(x: any, other: any) {',
  '  x.run();',
  '  f();',
  '  other.go();',
  '  g();',
  '}',
  '',
].join('\n');
const python = 'def top():\n    pass\n\ndef low():\n    top()\n';
const files = { 'src/lib.ts': lib, 'src/app.ts': app, 'src/m.py': python };
const define = (line: number, name: string, descriptors: string) =>
  ({ line, name, symbol: ours(descriptors), isDefinition: true }) as const;

const libDocument: SaidDocument = {
  ...{ path: 'src/lib.ts', text: lib },
  occurrences: [
    define(1, 'f', 'lib/f().'),
    define(2, 'g', 'lib/g().'),
    define(3, 'C', 'lib/C#'),
    define(4, 'run', 'lib/C#run().'),
    define(6, 'D', 'lib/D#'),
    define(7, 'run', 'lib/D#run().'),
  ].map((each) => (each.name === 'f' ? { ...each, nth: 2 } : each)),
};
const appDocument: SaidDocument = {
  ...{ path: 'src/app.ts', text: app },
  occurrences: [
    { line: 3, name: 'run', symbol: ours('lib/C#run().') },
    { line: 4, name: 'f', symbol: ours('lib/g().') },
    { line: 5, name: 'go', symbol: 'test npm elsewhere 1.0.0 x/go().' },
    { line: 6, name: 'g', symbol: 'test npm elsewhere 1.0.0 x/g().' },
  ],
};
const pythonDocument: SaidDocument = {
  ...{ path: 'src/m.py', text: python },
  occurrences: [
    { ...define(1, 'top', 'm/top().') },
    { ...define(4, 'low', 'm/low().') },
    { line: 5, name: 'top', symbol: ours('m/top().') },
  ],
};
const documents = [libDocument, appDocument, pythonDocument];

class Bench implements AsyncDisposable {
  private constructor(
    readonly tree: TemporaryTree,
    readonly home: TemporaryTree,
  ) {}

  static async create(its: Record<string, string> = files): Promise<Bench> {
    return new Bench(await TemporaryTree.create(its), await TemporaryTree.create());
  }

  async scip(its: readonly SaidDocument[] = documents, root = this.tree.root): Promise<string[]> {
    return [await writeScipIndex(this.home.root, root, its)];
  }

  async index(scip?: LayerRequest): Promise<IndexReport> {
    const { root } = this.tree;
    return indexFolder({
      ...{ root, home: this.home.root, jobs: 0, shards: { shards: [{ alias: 'a', paths: [''] }] } },
      ...(scip === undefined ? {} : { scip }),
    });
  }

  /** `path:line certainty` of each caller. */
  async callers(symbol: string): Promise<string[]> {
    const { shards } = await openIndex(this.tree.root, this.home.root);
    return shards.flatMap((index) =>
      callersOf(index, [symbol]).map((each) => `${each.file_path}:${each.line} ${each.certainty}`),
    );
  }

  async manifest(): Promise<Awaited<ReturnType<typeof readManifest>>> {
    return readManifest(placeOf(this.tree.root, this.home.root), this.tree.root);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.tree[Symbol.asyncDispose]();
    await this.home[Symbol.asyncDispose]();
  }
}

test('what a SCIP index says of a site wins, and is counted', async () => {
  await using at = await Bench.create();
  await at.index();
  expect(await at.callers('src/lib.ts:C.run')).toEqual(['src/app.ts:3 possible']);
  expect(await at.callers('src/lib.ts:f')).toEqual(['src/app.ts:4 exact']);
  const { scip } = await at.index(await at.scip());
  expect(scip).toEqual({
    ...{ documents: 3, left_out: [], stale: 0, implementations: 0 },
    ...{ added: 1, corrected: 1, denied: 1, same: 1, settled: 1 },
  });
  expect(await at.callers('src/lib.ts:C.run')).toEqual(['src/app.ts:3 exact']);
  expect(await at.callers('src/lib.ts:D.run')).toEqual([]);
  expect(await at.callers('src/lib.ts:f')).toEqual([]);
  expect(await at.callers('src/lib.ts:g')).toEqual(['src/app.ts:4 exact']);
  expect(await at.callers('src/m.py:top')).toEqual(['src/m.py:5 exact']);
});

test('an overload is its definition, and what is no member does not overrule the type of a receiver', async () => {
  const text = [
    'class Bag {',
    '  get(at: string): void;',
    '  get(at: number): void;',
    '  get(at: any) {}',
    '  set(value: any) {}',
    '}',
    'function use(bag: Bag) {',
    '  bag.get(1);',
    '  bag.set(2);',
    '}',
    '',
  ].join('\n');
  await using at = await Bench.create({ 'bag.ts': text });
  const { scip } = await at.index(
    await at.scip([
      {
        ...{ path: 'bag.ts', text },
        occurrences: [
          define(2, 'get', 'bag/Bag#get().'),
          { line: 8, name: 'get', symbol: ours('bag/Bag#get().') },
          { line: 9, name: 'set', symbol: 'test npm builtins 1.0.0 builtins/set#' },
        ],
      },
    ]),
  );
  expect(scip).toMatchObject({ same: 1, added: 0, corrected: 0, denied: 0 });
  expect(await at.callers('bag.ts:Bag.set')).toEqual(['bag.ts:9 exact']);
});

test('implementations are added', async () => {
  await using at = await Bench.create();
  const implementations: [string, string][] = [
    [ours('lib/D#'), ours('lib/C#')],
    [ours('lib/D#run().'), ours('lib/C#run().')],
  ];
  const { scip } = await at.index(
    await at.scip([{ ...libDocument, implementations }, appDocument]),
  );
  expect(scip?.implementations).toBe(2);
  const { shards } = await openIndex(at.tree.root, at.home.root);
  const [index] = shards;
  if (index === undefined) throw new Error('no shard');
  expect(implementationsOf(index, ['src/lib.ts:C']).map((id) => index.symbol(id).name)).toEqual([
    'D',
  ]);
  expect(await at.callers('src/lib.ts:D.run')).toEqual(['src/app.ts:3 dispatch']);
});

test('a layer stays in a refresh, without its SCIP file, but not for a file that has changed', async () => {
  await using at = await Bench.create();
  const scip = await at.scip();
  await at.index(scip);
  await rm(scip[0] ?? '');
  await at.tree.write({ 'src/more.ts': 'export function more() {}\n' });
  await at.index();
  expect(await at.callers('src/lib.ts:C.run')).toEqual(['src/app.ts:3 exact']);
  await at.tree.write({ 'src/app.ts': `${app}// changed\n` });
  const { scip: report } = await at.index();
  expect(report).toMatchObject({ stale: 1, corrected: 0 });
  expect(await at.callers('src/lib.ts:C.run')).toEqual(['src/app.ts:3 possible']);
  await at.tree.write({ 'src/app.ts': app });
  await at.index();
  expect(await at.callers('src/lib.ts:C.run')).toEqual(['src/app.ts:3 exact']);
});

test('a refresh of a tree with a layer gives what a run from scratch gives', async () => {
  await using at = await Bench.create();
  const scip = await at.scip();
  await at.index();
  await at.index(scip);
  const { shards, scip: kept } = await at.manifest();
  await rm(placeOf(at.tree.root, at.home.root).folder, { recursive: true });
  await at.index(scip);
  const fresh = await at.manifest();
  expect(fresh.shards.map(({ bound }) => bound)).toEqual(shards.map(({ bound }) => bound));
  expect(fresh.scip).toEqual(kept);
});

test('a layer is dropped when it is asked for, and its file is removed', async () => {
  await using at = await Bench.create();
  await at.index();
  const without = await at.manifest();
  await at.index(await at.scip());
  await at.index('none');
  const after = await at.manifest();
  expect(after.scip).toBeUndefined();
  expect(after.shards.map(({ bound }) => bound)).toEqual(without.shards.map(({ bound }) => bound));
  const { segments } = placeOf(at.tree.root, at.home.root);
  expect((await readdir(segments)).filter((name) => name.endsWith('.scip'))).toEqual([]);
});

test('a document that does not fit the tree is left out, with the reason', async () => {
  await using at = await Bench.create();
  const { scip } = await at.index(
    await at.scip([
      libDocument,
      {
        ...{ path: 'src/app.ts', text: `\n${app}` },
        occurrences: [{ line: 3, name: 'h', symbol: 'local 0' }],
      },
      { ...pythonDocument, path: '../m.py' },
      { ...pythonDocument, path: '/etc/passwd' },
      { ...pythonDocument, path: 'src/none.py' },
      libDocument,
    ]),
  );
  expect(scip?.documents).toBe(1);
  expect(scip?.left_out).toEqual([
    { reason: 'changed', documents: 1, such_as: 'src/app.ts' },
    { reason: 'outside the tree', documents: 2, such_as: '../m.py' },
    { reason: 'not a file of the index', documents: 1, such_as: 'src/none.py' },
    { reason: 'given twice', documents: 1, such_as: 'src/lib.ts' },
  ]);
});

test('an index of a folder of the tree, or of one around it, is placed', async () => {
  await using at = await Bench.create();
  const inner = documents.map((each) => ({ ...each, path: each.path.replace('src/', '') }));
  const below = await at.index(await at.scip(inner, join(at.tree.root, 'src')));
  expect(below.scip).toMatchObject({ documents: 3, corrected: 1 });
  const folder = basename(at.tree.root);
  const outer = documents.map((each) => ({ ...each, path: `${folder}/${each.path}` }));
  const around = await at.index(await at.scip(outer, dirname(at.tree.root)));
  expect(around.scip).toMatchObject({ documents: 3, corrected: 1 });
});

test('an index that cannot be used leaves all as it was', async () => {
  await using at = await Bench.create();
  await at.index(await at.scip());
  const before = await at.manifest();
  const path = join(at.home.root, 'bad.scip');
  await writeFile(path, 'nothing');
  await expect(at.index([path])).rejects.toMatchObject({ code: 'SCIP_INVALID', data: { path } });
  const foreign = await at.scip([{ ...libDocument, path: 'elsewhere.ts' }]);
  await expect(at.index(foreign)).rejects.toMatchObject({ code: 'SCIP_UNRELATED' });
  await expect(at.index([join(at.home.root, 'none')])).rejects.toMatchObject({
    code: 'SCIP_UNREADABLE',
  });
  expect(await at.manifest()).toEqual(before);
  expect(await checkIndex(at.tree.root, at.home.root)).toMatchObject({
    is_sound: true,
    strays: [],
  });
});

test('a stored layer that is damaged is seen by a check, and dropped by the next run', async () => {
  await using at = await Bench.create();
  await at.index(await at.scip());
  const { scip } = await at.manifest();
  await writeFile(join(placeOf(at.tree.root, at.home.root).segments, scip?.file ?? ''), 'nothing');
  expect(await checkIndex(at.tree.root, at.home.root)).toMatchObject({ is_sound: false });
  const { scip: report } = await at.index();
  expect(report?.left_out.map(({ reason }) => reason)).toEqual([
    'what was kept of SCIP is damaged: give the indexes again',
  ]);
  expect(await checkIndex(at.tree.root, at.home.root)).toMatchObject({ is_sound: true });
  expect(await at.callers('src/lib.ts:f')).toEqual(['src/app.ts:4 exact']);
});

test('what is exported is read back as the same', async () => {
  await using at = await Bench.create({
    ...files,
    'src/shapes.ts': [
      'export interface Shape { area(): number }',
      'export class Square implements Shape { constructor(readonly side: number) {}',
      '  area() { return this.side * this.side; }',
      '}',
      'export function total(shapes: Shape[]) {',
      '  const first: Shape = new Square(2);',
      '  return first.area() + shapes.length;',
      '}',
      '',
    ].join('\n'),
  });
  await at.index();
  const { root, project, shards, manifest } = await openIndex(at.tree.root, at.home.root);
  const path = join(at.home.root, 'ours.scip');
  const textOf = async (name: string): Promise<string> => readFile(join(root, name), 'utf8');
  const exported = await writeScip({ root, project, version: '1', shards, textOf }, path);
  expect(exported).toMatchObject({ left_out: 0, unplaced: 0 });
  expect(exported.references).toBeGreaterThan(3);
  const { scip } = await at.index([path]);
  expect(scip).toMatchObject({ added: 0, corrected: 0, denied: 0, settled: 0, implementations: 0 });
  expect(scip?.same).toBeGreaterThan(3);
  expect((await at.manifest()).shards.map(({ bound }) => bound)).toEqual(
    manifest.shards.map(({ bound }) => bound),
  );
});
