import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.js';
import { callersOf } from '../../../../src/lattice/trace/call-sites.js';
import { Lattice } from '../../../../src/lattice/lattice.js';
import { trace } from '../../../../src/lattice/trace/trace.js';
import { blastRadius } from '../../../../src/pgc/analyse/blast-radius.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../src/pgc/search/open-index.js';
import { openShards } from '../../../../src/pgc/serve/open-shards.js';
import type { Shard } from '../../../../src/pgc/serve/shard.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;
const defines = (name: string): string => lines(`int ${name}(int a)`, '{', '\treturn a;', '}');
const calls = (name: string, callee: string, head = `int ${callee}(int);`): string =>
  lines(head, `int ${name}(int a)`, '{', `\treturn ${callee}(a);`, '}');

const files = {
  'arch/arm/send.c': calls('arm_send', 'checksum'),
  'arch/mips/sum.c': defines('checksum'),
  'lib/sum.c': defines('checksum'),
  'arch/arm64/setup.c': calls('setup', 'xen_init'),
  'arch/arm/xen.c': defines('xen_init'),
  'arch/arm/stop.c': calls('arm_stop', 'lib_stop'),
  'arch/stop.py': 'def lib_stop(a):\n    return a\n',
  'lib/stop.c': defines('lib_stop'),
  'lib/start.c': calls('lib_start', 'io_read', '#include "regs/io.h"'),
  'lib/regs/io.h': `static inline ${defines('io_read')}`,
  'lib/begin.c': calls('lib_begin', 'far_read', '#include "far/io.h"'),
  'lib/far/io.h': `static inline ${defines('far_read')}`,
};

let source: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
let shards: Shard[];
let lattice: Lattice;
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const plan = ['arch', 'lib', 'lib/far'].map((path) => ({
    ...{ alias: path.replace('/', '-'), paths: [path] },
  }));
  const request = { root: source.root, home: home.root, jobs: 0, shards: { shards: plan } };
  await indexFolder(request);
  tree = await openIndex(source.root, home.root);
  ({ shards } = await openShards(source.root, home.root));
  lattice = new Lattice(shards, await Promise.all(shards.map((shard) => shard.card())));
});
afterAll(async () => {
  tree[Symbol.dispose]();
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const sites = async (symbol: string): Promise<string[]> =>
  (await callersOf(lattice, symbol)).callers.map((each) => `${each.file_path}:${each.line}`);
const path = async (from: string, to: string): Promise<string[]> =>
  (await trace(lattice, from, to, { clock: systemClock })).path.map(({ symbol }) => symbol);
const users = async (symbol: string): Promise<string[]> =>
  (await blastRadius(tree, symbol, { direction: 'up' })).consumers.map(({ id }) => id);

test('what another architecture has under a name does not keep a call from leaving its shard', async () => {
  expect(await sites('lib/sum.c#checksum')).toEqual(['arch/arm/send.c:4']);
  expect(await sites('arch/mips/sum.c#checksum')).toEqual([]);
  expect(await path('arm_send', 'lib/sum.c#checksum')).toEqual(['arm_send', 'checksum']);
  expect(await users('lib/sum.c#checksum')).toEqual(['arch/arm/send.c#arm_send']);
});

test('an architecture calls what its sister lends it', async () => {
  expect(await path('setup', 'xen_init')).toEqual(['setup', 'xen_init']);
});

test('what another language has under a name is not what a call in C means', async () => {
  expect(await path('arm_stop', 'lib/stop.c#lib_stop')).toEqual(['arm_stop', 'lib_stop']);
});

test('a header of a folder below is seen by the path that includes it, also where nothing else bears the name', async () => {
  expect(await path('lib_start', 'io_read')).toEqual(['lib_start', 'io_read']);
  expect(await path('lib_begin', 'far_read')).toEqual(['lib_begin', 'far_read']);
  expect(await users('io_read')).toEqual(['lib/start.c#lib_start']);
  expect(await users('far_read')).toEqual(['lib/begin.c#lib_begin']);
});
