import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FileFacts, SymbolFact } from '../../../../src/pgc/format/facts.js';
import { OverlayFile, OverlayWriter } from '../../../../src/pgc/overlay/overlay-file.js';
import { PostingWriter } from '../../../../src/pgc/format/posting-writer.js';
import { Section } from '../../../../src/pgc/format/container/section.js';
import { segmentLayout, writeSections } from '../../../../src/pgc/format/container/segment-file.js';
import { SegmentWriter } from '../../../../src/pgc/format/segment-writer.js';
import { Segment } from '../../../../src/pgc/format/segment.js';
import type { FileRow, ShardInfo } from '../../../../src/pgc/format/shard-index.js';
import { fieldOf } from '../../../../src/pgc/format/fields.js';
import { PackedTerms } from '../../../../src/pgc/format/term-index.js';
import { crc32 } from '../../../../src/wire/crc.js';

let folder: string;
let files = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sigma-limits-'));
});
afterAll(() => rm(folder, { recursive: true }));

const info: ShardInfo = {
  ...{ agent: 'a', alias: 'a', project: 'p', root: '/p', scope: ['.'], languages: ['c'] },
  ...{ files: 1, lines: 1, version: 'v', overlays: {}, abbreviations: [] },
};
const none: FileFacts = {
  ...{
    language: 'c',
    lines: 0,
    bytes: 0,
    error_bytes: 0,
    symbols: [],
    calls: [],
    uses: [],
    imports: [],
  },
  ...{ types: [], words: [], documents: [], items: [], scanned_names: [], scanned_lines: [] },
  generated: false,
};
const fileRow = (path: string, lines = 1): FileRow => ({
  ...{ path, blob: 'a'.repeat(40), language: 'c', lines },
});
const symbolFact = (name: string, more: Partial<SymbolFact> = {}): SymbolFact => ({
  ...{ name, kind: 'function', line_start: 1, line_end: 2, signature: `function:${name}` },
  ...{ container: '', exported: true, doc: '', declaration: false, ...more },
});
const call = (callee: string, line: number, caller: number): FileFacts['calls'][number] => ({
  ...{ callee, line, caller, kind: 'direct', receiver: '', expression: '', unused: false },
});

const inMemory = <Name extends string>(sections: Record<Name, Uint8Array>): Record<Name, Section> =>
  Object.fromEntries(
    Object.entries<Uint8Array>(sections).map(([name, bytes]) => [name, Section.of(bytes)]),
  ) as Record<Name, Section>;

async function opened(rows: readonly [FileRow, FileFacts][]): Promise<Segment> {
  const writer = new SegmentWriter();
  for (const [row, facts] of rows) writer.add(row, facts);
  files += 1;
  const path = join(folder, `s${files}.seg`);
  await writeSections(path, segmentLayout, writer.finish(info));
  return Segment.open(path);
}

test('a segment of nothing, and one of a file that holds nothing, answer everything', async () => {
  const empty = await opened([]);
  expect([empty.fileCount, empty.symbolCount, empty.fileAt('a.c')]).toEqual([0, 0, undefined]);
  const one = await opened([[fileRow('a.c'), none]]);
  expect([one.fileCount, one.symbolCount, one.fileAt('a.c')]).toEqual([1, 0, 0]);
  expect([one.symbolsOf(0), one.importsOf(0), one.documentFrequency('a')]).toEqual([[], [], 0]);
  for (const index of [empty, one]) {
    expect([index.callsFrom(0), index.callsTo('f'), index.callsOutside()]).toEqual([[], [], []]);
    expect([index.slotsOf('f'), index.scannedNamed('f'), index.unresolved()]).toEqual([[], [], []]);
    expect([[...index.names()], [...index.slots()], index.defines()]).toEqual([[], [], []]);
    expect([index.symbolsNamed('f'), index.length(5, fieldOf.body)]).toEqual([[], 0]);
  }
});

test('names, texts and lines of any size come back', async () => {
  const names = ['f', 'g'.repeat(255), 'g'.repeat(256), 'g'.repeat(300), '名'.repeat(90), 'é'];
  const long = 'naïve 名 '.repeat(20_000);
  const places = [
    [1, 2 ** 31 - 1],
    [2 ** 24, 2 ** 24],
    // What ends before it begins is no reason to say something else than the miner.
    [9, 3],
  ] as const;
  const symbols = names.map((name, at): SymbolFact => {
    const [line_start, line_end] = places[at % places.length] ?? [0, 0];
    return symbolFact(name, { line_start, line_end, doc: at === 2 ? long : '', container: name });
  });
  const index = await opened([[fileRow('a.c', 2 ** 32 - 1), { ...none, symbols }]]);
  expect(index.file(0).lines).toBe(2 ** 32 - 1);
  for (const symbol of symbols) {
    const [id = -1, ...others] = index.symbolsNamed(symbol.name);
    expect(others).toEqual([]);
    expect(index.symbol(id)).toEqual({ ...symbol, file: 0 });
  }
});

test('a word that stands 70 000 times counts as often, and the length of its field ends at 65 535', async () => {
  const documents = [70_000, 65_535, 255, 254, 0].map((count) => ({ word: [0], count: [count] }));
  const symbols = documents.map((_, at) =>
    symbolFact(`f${at}`, { line_start: at + 1, line_end: at + 1 }),
  );
  const facts = { ...none, symbols, words: ['page'], documents };
  const index = await opened([[fileRow('a.c'), facts]]);
  const found: number[][] = [];
  index.postings('page', (...posting) => found.push(posting));
  expect(found).toEqual([
    [0, fieldOf.body, 70_000],
    [1, fieldOf.body, 65_535],
    [2, fieldOf.body, 255],
    [3, fieldOf.body, 254],
  ]);
  expect(symbols.map((_, at) => index.length(at, fieldOf.body))).toEqual([
    ...[65_535, 65_535, 255, 254, 0],
  ]);
});

test('a word of a hundred thousand documents in a row takes a few bytes, and stands in each', () => {
  const writer = new PostingWriter();
  const [path, lock] = [writer.term('path'), writer.term('lock')];
  const documents = 100_000;
  for (let at = 0; at < documents; at += 1) {
    writer.count(path, fieldOf.path, 1);
    if (at === 70_000) writer.count(lock, fieldOf.body, 3);
    writer.endDocument();
  }
  const sections = writer.finish();
  expect(sections.postings.length).toBeLessThan(20);
  const terms = new PackedTerms(inMemory(sections));
  expect(terms.terms()).toEqual([
    { term: 'lock', documents: 1 },
    { term: 'path', documents },
  ]);
  let next = 0;
  terms.postings('path', (document, field, count) => {
    if (document === next && field === fieldOf.path && count === 1) next += 1;
  });
  expect(next).toBe(documents);
  const found: number[][] = [];
  terms.postings('lock', (...posting) => found.push(posting));
  expect(found).toEqual([[70_000, fieldOf.body, 3]]);
});

test('more callees than stay decoded keep their names, whatever was read before', async () => {
  const callees = Array.from({ length: 9_000 }, (_, at) => `callee_${String(at).padStart(5, '0')}`);
  const calls = callees.map((callee, at) => call(callee, at + 1, 1));
  const index = await opened([[fileRow('a.c'), { ...none, symbols: [symbolFact('f')], calls }]]);
  for (let times = 0; times < 2; times += 1)
    expect(index.callsFrom(0).map(({ callee }) => callee)).toEqual(callees);
});

test('calls outside of functions and names of imports belong to their files', async () => {
  const facts = (names: string[], lines: number[]): FileFacts => ({
    ...none,
    calls: lines.map((line) => call('init', line, 0)),
    imports: [{ target: `lib/${names.length}`, names, line: 1 }],
  });
  const index = await opened([
    [fileRow('a.c'), none],
    [fileRow('b.c'), facts(['x'], [5, 3])],
    [fileRow('c.c'), none],
    [fileRow('d.c'), facts([], [7])],
    [fileRow('e.c'), facts(['y', 'z:w'], [1])],
  ]);
  const places = index.callsOutside().map(({ file, line, caller }) => [file, line, caller]);
  expect(places.toSorted()).toEqual([
    [1, 3, -1],
    [1, 5, -1],
    [3, 7, -1],
    [4, 1, -1],
  ]);
  expect(index.callsTo('init').map(({ file, line }) => [file, line])).toEqual([
    [1, 3],
    [1, 5],
    [3, 7],
    [4, 1],
  ]);
  expect([0, 1, 2, 3, 4].map((file) => index.importsOf(file).map(({ names }) => names))).toEqual([
    [],
    [['x']],
    [],
    [[]],
    [['y', 'z:w']],
  ]);
});

test('items of any size come back, and an overlay of none is whole', async () => {
  const writer = new OverlayWriter();
  const place = { generator: 'g', version: '1', alias: 'a', overlay: 'O2' } as const;
  const plain = { rule: 'r', subject: '名', severity: '', cwe: '', symbol: '', overlay: 2 };
  const items = [
    { ...plain, line_start: 3, line_end: 1, text: 'x'.repeat(70_000) },
    { ...plain, line_start: 7, line_end: 2 ** 31 - 1, text: '' },
  ];
  writer.add('a.c', 'b'.repeat(40), items);
  const path = join(folder, 'items.ovl');
  await writer.write(path, place);
  const about = { overlay: 'O2', file_path: 'a.c', blob: 'b'.repeat(40) };
  expect([...(await OverlayFile.open(path)).items()]).toEqual(
    items.map((item) => ({ ...item, ...about })),
  );
  await new OverlayWriter().write(path, place);
  const empty = await OverlayFile.open(path);
  expect([empty.itemCount, [...empty.items()], empty.itemsAt('a.c')]).toEqual([0, [], []]);
});

test('an overlay whose checksums are right and whose words are none is damaged', async () => {
  const path = join(folder, 'odd.ovl');
  const about = { generator: 'g', version: '1', alias: 'a', overlay: 'O2' } as const;
  await new OverlayWriter().write(path, about);
  const bytes = await readFile(path);
  bytes.write('!', bytes.indexOf('{"'));
  bytes.writeUInt32LE(crc32(bytes.subarray(32)), 24);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 28)), 28);
  await writeFile(path, bytes);
  await expect(OverlayFile.open(path)).rejects.toMatchObject({ code: 'INDEX_CORRUPT' });
});
