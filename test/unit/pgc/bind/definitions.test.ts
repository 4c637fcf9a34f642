import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calleesOf, callersOf } from '../../../../src/pgc/bind/call-sites.js';
import {
  definitionsOf,
  parseReference,
  resolveSymbol,
} from '../../../../src/pgc/bind/definitions.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex } from '../../../../src/pgc/search/open-index.js';
import type { ShardIndex } from '../../../../src/pgc/format/shard-index.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const sources = {
  'include/dma.h': [
    'void *dma_alloc(int size);',
    'static inline void *dma_zalloc(int size)',
    '{',
    '\treturn dma_alloc(size);',
    '}',
    '',
  ].join('\n'),
  'kernel/dma.c': [
    '#include "dma.h"',
    'static int check(int size)',
    '{',
    '\treturn size > 0;',
    '}',
    'void *dma_alloc(int size)',
    '{',
    '\tif (!check(size))',
    '\t\treturn 0;',
    '\treturn page_alloc(size);',
    '}',
    '',
  ].join('\n'),
  'drivers/nic.c': [
    '#include "dma.h"',
    'static int check(int size)',
    '{',
    '\treturn 1;',
    '}',
    'int nic_open(struct nic *nic)',
    '{',
    '\tnic->ring = dma_zalloc(4096);',
    '\treturn check(1) && nic->ops->check(1);',
    '}',
    '',
  ].join('\n'),
  'drivers/other.c': 'int probe(void)\n{\n\treturn check(2);\n}\n',
  'web/frame.ts': 'export function encode(text: string): string {\n  return text;\n}\n',
  'web/noise.ts': 'export function encode(text: string): string {\n  return text + text;\n}\n',
  'web/send.ts': [
    "import { encode as pack } from './frame.js';",
    "import { join } from 'node:path';",
    'export function send(text: string): string {',
    '  return join(pack(text));',
    '}',
    '',
  ].join('\n'),
  'c#/m.ts': 'export function sharp(): number {\n  return 1;\n}\n',
  'web/a#b.ts': 'export function flat(): number {\n  return 2;\n}\n',
  'web/path.ts': 'export function join(text: string): string {\n  return text;\n}\n',
};

let tree: TemporaryTree;
let home: TemporaryTree;
let index: ShardIndex;
beforeAll(async () => {
  tree = await TemporaryTree.create(sources);
  home = await TemporaryTree.create();
  await indexFolder({ root: tree.root, home: home.root, shards: 1, jobs: 0 });
  index = (await openIndex(tree.root, home.root)).shards[0]!;
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const callees = (anchor: string): string[][] =>
  calleesOf(index, [anchor]).flatMap(({ calls }) =>
    calls.map((call) => [call.symbol, call.definition]),
  );
const callers = (symbol: string): string[] =>
  callersOf(index, [symbol]).map((site) => `${site.symbol} ${site.file_path}:${site.line}`);

describe('a symbol', () => {
  test.each([
    ['f', '', 'f'],
    ['mm/slab.c#f', 'mm/slab.c', 'f'],
    ['mm/slab.c:f', 'mm/slab.c', 'f'],
    ['./mm/slab.c#f', 'mm/slab.c', 'f'],
    ['#private', '', '#private'],
    ['src/a.ts##private', 'src/a.ts', '#private'],
    ['src/a.ts#Class.#private', 'src/a.ts', 'Class.#private'],
    ['Class.#private', '', 'Class.#private'],
    ['std::move', '', 'std::move'],
    ['c#/m.ts:1', 'c#/m.ts', '1'],
    ['c#/m.ts:sharp', 'c#/m.ts', 'sharp'],
    ['c#/m.ts#sharp', 'c#/m.ts', 'sharp'],
    ['web/a#b.ts##flat', 'web/a#b.ts', '#flat'],
  ])('%s is read as path "%s" and name "%s"', (text, path, name) => {
    expect(parseReference(text)).toEqual({ path, name });
  });

  test('is found by name: definitions before declarations', () => {
    const found = definitionsOf(index, ['dma_alloc']);
    expect(found.map((each) => [each.file_path, each.line, each.declaration])).toEqual([
      ['kernel/dma.c', 6, false],
      ['include/dma.h', 1, true],
    ]);
  });

  test('is found by any tail of its path, and only at a slash', () => {
    expect(resolveSymbol(index, 'nic.c#check')).toHaveLength(1);
    expect(resolveSymbol(index, 'drivers/nic.c:check')).toHaveLength(1);
    expect(resolveSymbol(index, 'ic.c#check')).toEqual([]);
    expect(resolveSymbol(index, 'check')).toHaveLength(2);
  });

  test('is found by the line on which it begins', () => {
    expect(definitionsOf(index, ['kernel/dma.c:6']).map((each) => each.symbol)).toEqual([
      'dma_alloc',
    ]);
    expect(resolveSymbol(index, 'kernel/dma.c:7')).toEqual([]);
  });

  test.each([
    ['c#/m.ts:1', 'sharp'],
    ['c#/m.ts#sharp', 'sharp'],
    ['web/a#b.ts:1', 'flat'],
    ['a#b.ts#flat', 'flat'],
  ])('is found as %s in a path that holds a #', (text, symbol) => {
    expect(definitionsOf(index, [text]).map((each) => each.symbol)).toEqual([symbol]);
  });
});

describe('a call means', () => {
  test('the function of its own file, a static inline of a header, or nothing behind a pointer', () => {
    expect(callees('drivers/nic.c#nic_open')).toEqual([
      ['dma_zalloc', 'include/dma.h:2'],
      ['check', 'drivers/nic.c:2'],
      ['check', ''],
    ]);
  });

  test('the definition, never the declaration', () => {
    expect(callees('dma_zalloc')).toEqual([['dma_alloc', 'kernel/dma.c:6']]);
  });

  test('never a static function of another file', () => {
    expect(callees('probe')).toEqual([['check', '']]);
  });

  test('nothing here when another shard defines it', () => {
    expect(callees('dma_alloc')).toEqual([
      ['check', 'kernel/dma.c:2'],
      ['page_alloc', ''],
    ]);
  });

  test('what the import says, under its real name, and no namesake', () => {
    expect(callees('send')).toEqual([
      ['join', ''],
      ['encode', 'web/frame.ts:1'],
    ]);
  });
});

test('callees say what their files include', () => {
  expect(calleesOf(index, ['nic_open', 'nobody'])).toMatchObject([
    { anchor: 'nic_open', includes: ['dma.h'] },
    { anchor: 'nobody', calls: [], includes: [] },
  ]);
});

describe('callers', () => {
  test('of a name are all its call sites', () => {
    expect(callers('check')).toEqual([
      'nic_open drivers/nic.c:9',
      'nic_open drivers/nic.c:9',
      'probe drivers/other.c:3',
      'dma_alloc kernel/dma.c:8',
    ]);
  });

  test('of a static function with its path are those that mean it', () => {
    expect(callers('drivers/nic.c#check')).toEqual(['nic_open drivers/nic.c:9']);
    expect(callers('kernel/dma.c#check')).toEqual(['dma_alloc kernel/dma.c:8']);
  });

  test('of a function of another shard are the calls that nothing here explains', () => {
    expect(callers('mm/page.c#page_alloc')).toEqual(['dma_alloc kernel/dma.c:10']);
  });

  test('come once each when a symbol is asked for twice', () => {
    expect(callersOf(index, ['dma_alloc', 'dma_alloc', 'kernel/dma.c#dma_alloc'])).toMatchObject([
      {
        symbol: 'dma_zalloc',
        file_path: 'include/dma.h',
        line: 4,
        definition: 'include/dma.h:2',
        kind: 'direct',
      },
    ]);
  });
});
