import fc from 'fast-check';
import { mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asBusError, BusError } from '../../../../src/errors/bus-error.js';
import { OpenFiles } from '../../../../src/pgc/format/container/section-file.js';
import type { FileFacts, SymbolFact } from '../../../../src/pgc/format/facts.js';
import { bodyTermsOf, identifiersOf, wordsOf } from '../../../../src/pgc/format/words.js';
import { segmentLayout, writeSections } from '../../../../src/pgc/format/container/segment-file.js';
import { SegmentWriter } from '../../../../src/pgc/format/segment-writer.js';
import { Segment } from '../../../../src/pgc/format/segment.js';
import type { FileRow, ShardInfo } from '../../../../src/pgc/format/shard-index.js';
import type { Field } from '../../../../src/pgc/format/fields.js';

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-segment-'));
});
afterAll(() => rm(folder, { recursive: true }));

const info: ShardInfo = {
  agent: 'mm',
  alias: 'mm',
  project: 'linux',
  root: '/src/linux',
  scope: ['mm'],
  languages: ['c'],
  files: 2,
  lines: 60,
  version: 'v1',
  overlays: { O1: 5, O3: 5 },
  abbreviations: [],
};

function symbolFact(name: string, line_start: number, more: Partial<SymbolFact> = {}): SymbolFact {
  return {
    name,
    kind: 'function',
    line_start,
    line_end: line_start + 4,
    signature: `function:${name} | params:1 | returns:int`,
    container: '',
    exported: true,
    doc: '',
    declaration: false,
    ...more,
  };
}

const slab: FileRow = { path: 'mm/slab.c', blob: 'a'.repeat(40), language: 'c', lines: 40 };
const slabFacts: FileFacts = {
  language: 'c',
  lines: 40,
  bytes: 900,
  error_bytes: 0,
  symbols: [
    symbolFact('kmalloc', 20, { doc: 'Allocates memory. Memory may sleep.' }),
    symbolFact('cache_grow', 5, { exported: false }),
  ],
  // `caller` counts from one into `symbols`, which need not be in order of the text.
  calls: [
    {
      callee: 'kmalloc',
      line: 23,
      caller: 1,
      kind: 'direct',
      receiver: '',
      ...{ expression: '', unused: false },
    },
    {
      callee: 'alloc_pages',
      line: 22,
      caller: 1,
      kind: 'direct',
      receiver: '',
      ...{ expression: '', unused: false },
    },
    {
      callee: 'grow',
      line: 7,
      caller: 2,
      kind: 'member',
      receiver: 'cache->ops',
      ...{ expression: '', unused: false },
    },
    {
      callee: 'alloc_pages',
      line: 38,
      caller: 0,
      kind: 'direct',
      receiver: '',
      ...{ expression: '', unused: false },
    },
  ],
  uses: [
    {
      ...{ callee: 'GFP_KERNEL', line: 24, caller: 1, kind: 'value', receiver: '' },
      ...{ expression: 'GFP_KERNEL', unused: false },
    },
  ],
  types: [],
  imports: [{ target: 'linux/slab.h', names: [], line: 1 }],
  words: ['page', 'order', 'lock'],
  documents: [
    { word: [0, 1], count: [2, 1] },
    { word: [2], count: [3] },
    { word: [0], count: [9] },
  ],
  items: [],
  scanned_names: [],
  scanned_lines: [],
  generated: false,
};
const header: FileRow = { path: 'include/slab.h', blob: 'b'.repeat(40), language: 'c', lines: 20 };
const headerFacts: FileFacts = {
  language: 'c',
  lines: 20,
  bytes: 300,
  error_bytes: 0,
  symbols: [
    symbolFact('kmalloc', 3, { declaration: true }),
    symbolFact('kzalloc', 9, { exported: false }),
    symbolFact('naïve_名', 15, { kind: 'macro' }),
  ],
  calls: [
    {
      callee: 'kmalloc',
      line: 11,
      caller: 2,
      kind: 'direct',
      receiver: '',
      ...{ expression: '', unused: false },
    },
  ],
  uses: [],
  types: [],
  imports: [],
  words: [],
  documents: [],
  items: [],
  scanned_names: [],
  scanned_lines: [],
  generated: false,
};

async function segmentOf(rows: [FileRow, FileFacts][], about: ShardInfo = info): Promise<string> {
  const writer = new SegmentWriter();
  for (const [row, facts] of rows) writer.add(row, facts);
  files += 1;
  const path = join(folder, `s${files}.seg`);
  await writeSections(path, segmentLayout, writer.finish(about));
  return path;
}

const both = (): Promise<string> =>
  segmentOf([
    [header, headerFacts],
    [slab, slabFacts],
  ]);

describe('a segment', () => {
  test('gives back files, imports and symbols in order of the text', async () => {
    const index = await Segment.open(await both());
    expect([index.fileCount, index.symbolCount, index.documentCount]).toEqual([2, 5, 7]);
    expect(index.info).toEqual(info);
    expect(index.file(1)).toEqual(slab);
    expect(index.fileAt('mm/slab.c')).toBe(1);
    expect(index.fileAt('include/slab.h')).toBe(0);
    expect(index.fileAt('mm/nothing.c')).toBeUndefined();
    expect(index.symbolsOf(1).map((id) => index.symbol(id).name)).toEqual([
      'cache_grow',
      'kmalloc',
    ]);
    expect(index.importsOf(1)).toEqual([{ target: 'linux/slab.h', names: [], line: 1 }]);
    expect(index.symbol(4)).toEqual({
      name: 'kmalloc',
      kind: 'function',
      file: 1,
      line_start: 20,
      line_end: 24,
      signature: 'function:kmalloc | params:1 | returns:int',
      container: '',
      exported: true,
      declaration: false,
      doc: 'Allocates memory. Memory may sleep.',
    });
  });

  test('finds symbols by exact name, definitions before declarations', async () => {
    const index = await Segment.open(await both());
    expect(index.symbolsNamed('kmalloc')).toEqual([4, 0]);
    expect(index.symbolsNamed('naïve_名')).toEqual([2]);
    expect(index.symbolsNamed('kmal')).toEqual([]);
    expect(index.symbolsNamed('')).toEqual([]);
  });

  test('exports what a header defines as static, because includers see it', async () => {
    const index = await Segment.open(await both());
    expect(index.symbol(1)).toMatchObject({ name: 'kzalloc', exported: true });
    expect(index.defines()).toEqual(['kmalloc', 'kzalloc', 'naïve_名']);
  });

  test('knows calls both ways, with the callers of facts that were out of order', async () => {
    const index = await Segment.open(await both());
    expect(index.callsFrom(4).map((call) => [call.callee, call.line])).toEqual([
      ['alloc_pages', 22],
      ['kmalloc', 23],
    ]);
    expect(index.callsFrom(3)).toEqual([
      {
        id: 1,
        callee: 'grow',
        caller: 3,
        file: 1,
        line: 7,
        kind: 'member',
        receiver: 'cache->ops',
        unused: false,
      },
    ]);
    expect(index.callsTo('kmalloc').map((call) => [call.file, call.line, call.caller])).toEqual([
      [0, 11, 1],
      [1, 23, 4],
    ]);
    expect(index.callsTo('alloc_pages').map((call) => [call.line, call.caller])).toEqual([
      [22, 4],
      [38, -1],
    ]);
    expect(index.callsTo('nobody')).toEqual([]);
    expect(index.callsOutside()).toMatchObject([{ callee: 'alloc_pages', line: 38, caller: -1 }]);
    // A file is no symbol, though documents number it behind the last.
    expect(index.callsFrom(index.symbolCount)).toEqual([]);
    expect(index.unresolved()).toEqual([
      { name: 'alloc_pages', sites: 2 },
      { name: 'grow', sites: 1 },
    ]);
  });

  test('has the same postings, lengths and frequencies as a count by hand', async () => {
    const word = fc.constantFrom('page', 'lock', 'order', 'dma_map', 'Buffer', 'e1000', 'naïve');
    const text = fc.array(word, { maxLength: 6 }).map((words) => words.join(' '));
    const document = fc.uniqueArray(
      fc.record({ word: fc.nat(4), count: fc.integer({ min: 1, max: 300 }) }),
      {
        selector: (each) => each.word,
      },
    );
    const symbol = fc.record({ name: word, doc: text, signature: text, body: document });
    const file = fc.record({ symbols: fc.array(symbol, { maxLength: 5 }), rest: document });
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 5 }), async (tree) => {
        const vocabulary = ['page', 'lock', 'order', 'zone', 'free'];
        const expected: [string, number, Field, number][] = [];
        const rests: [string, number, Field, number][][] = [];
        const rows: [FileRow, FileFacts][] = tree.map((each, n) => {
          const path = `mm/lock_${n}.c`;
          const body = (
            row: { word: number; count: number }[],
            id: number,
          ): [string, number, Field, number][] =>
            row.map(({ word, count }) => [vocabulary[word]!, id, 4, count]);
          const count = (words: string[], id: number, field: Field): void => {
            for (const term of new Set(words)) {
              expected.push([term, id, field, words.filter((other) => other === term).length]);
            }
          };
          let id = tree.slice(0, n).reduce((sum, before) => sum + before.symbols.length, 0);
          for (const { name, doc, signature, body: counts } of each.symbols) {
            count(wordsOf(name), id, 0);
            count(wordsOf(path), id, 1);
            count(
              identifiersOf(signature).flatMap((one) => [...bodyTermsOf(one)]),
              id,
              2,
            );
            count(
              identifiersOf(doc).flatMap((one) => [...bodyTermsOf(one)]),
              id,
              3,
            );
            expected.push(...body(counts, id));
            id += 1;
          }
          rests.push([
            ...wordsOf(path).map((term): [string, number, Field, number] => [term, n, 1, 1]),
            ...body(each.rest, n),
          ]);
          const split = (row: { word: number; count: number }[]) => ({
            word: row.map((one) => one.word),
            count: row.map((one) => one.count),
          });
          return [
            { ...slab, path },
            {
              ...slabFacts,
              calls: [],
              uses: [],
              words: vocabulary,
              symbols: each.symbols.map((one, at) =>
                symbolFact(one.name, at + 1, { doc: one.doc, signature: one.signature }),
              ),
              documents: [...each.symbols.map((one) => split(one.body)), split(each.rest)],
            },
          ];
        });
        const symbols = tree.reduce((sum, each) => sum + each.symbols.length, 0);
        for (const [n, rest] of rests.entries()) {
          for (const [term, , field, times] of rest)
            expected.push([term, symbols + n, field, times]);
        }
        const index = await Segment.open(await segmentOf(rows));
        const found: [string, number, Field, number][] = [];
        for (const { term, documents } of index.terms()) {
          const seen: number[] = [];
          index.postings(term, (id, field, times) => {
            found.push([term, id, field, times]);
            seen.push(id);
          });
          expect(seen).toEqual([...seen].sort((a, b) => a - b));
          expect(new Set(seen).size).toBe(documents);
          expect(index.documentFrequency(term)).toBe(documents);
        }
        const sorted = (all: [string, number, Field, number][]) =>
          all.map((each) => each.join(' ')).sort();
        expect(sorted(found)).toEqual(sorted(expected));
        for (let id = 0; id < index.documentCount; id += 1) {
          for (const field of [0, 1, 2, 3, 4] as const) {
            const length = expected
              .filter((each) => each[1] === id && each[2] === field)
              .reduce((sum, each) => sum + each[3], 0);
            expect(index.length(id, field)).toBe(length);
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('averages the length of a field over the documents that have it', async () => {
    const index = await Segment.open(await both());
    expect(index.averageLength(3)).toBe(index.length(4, 3));
    expect(index.averageLength(4)).toBe((3 + 3 + 9) / 3);
  });

  test('is refused as damaged wherever one bit is wrong', async () => {
    const path = await both();
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 7) {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ 0x10;
      await writeFile(path, damaged);
      await expect(Segment.open(path)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
    }
  });

  test('is the same read part by part, and a damaged part is refused when it is read', async () => {
    const path = await both();
    const answers = (each: Segment): unknown => [
      ...[each.symbolCount, each.fileCount, each.documentCount, [...each.names()]],
      ...[[...each.calls()], each.symbol(0), each.file(1), each.importsOf(0), each.terms()],
    ];
    const wanted = answers(await Segment.open(path));
    expect(answers(await Segment.open(path, {}, '', new OpenFiles()))).toEqual(wanted);
    const whole = await readFile(path);
    for (let at = 0; at < whole.length; at += 13) {
      const damaged = Buffer.from(whole);
      damaged[at] = damaged[at]! ^ 0x10;
      await writeFile(path, damaged);
      const given = await Segment.open(path, {}, '', new OpenFiles())
        .then(answers)
        .catch(asBusError);
      if (given instanceof BusError) expect(given.code).toBe('INDEX_CORRUPT');
      else expect(given).toEqual(wanted);
    }
  });

  test('is refused where the path is a folder', async () => {
    for (const reading of ['whole', new OpenFiles()] as const)
      await expect(Segment.open(folder, {}, '', reading)).rejects.toMatchObject({
        code: 'INDEX_CORRUPT',
      });
  });

  test('is refused as damaged at any shorter length', async () => {
    const path = await both();
    const { length } = await readFile(path);
    for (const shorter of [length - 1, length >> 1, 460, 40, 31, 3, 0]) {
      await truncate(path, shorter);
      await expect(Segment.open(path)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
    }
  });

  test('that is absent is missing, not damaged', async () => {
    await expect(Segment.open(join(folder, 'no.seg'))).rejects.toMatchObject({
      code: 'INDEX_MISSING',
    });
  });
});
