import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OpenFiles } from '../../../../../src/pgc/format/container/section-file.js';
import { nameHash } from '../../../../../src/pgc/format/name-hash.js';
import { PackedRows, packRows } from '../../../../../src/pgc/format/packed-rows.js';
import { checksOf, Section } from '../../../../../src/pgc/format/container/section.js';
import {
  openSections,
  sectionsIn,
  writeSections,
  type SectionLayout,
} from '../../../../../src/pgc/format/container/segment-file.js';
import { packStrings, StringTable } from '../../../../../src/pgc/format/string-table.js';
import { areDescriptorsListed, openBelow } from '../../../../support/descriptors.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

const layout: SectionLayout<'rows' | 'offsets' | 'bytes' | 'empty'> = {
  ...{ magic: 'SIGMATST', format: 1, names: ['rows', 'offsets', 'bytes', 'empty'] },
};
/** 17 bits and 9: rows lie across the ends of words and blocks. */
const columns = [Uint32Array.from({ length: 30_000 }, (_, at) => at * 3), new Uint32Array(30_000)];
columns[1]?.fill(300);
const texts = Array.from({ length: 20_000 }, (_, at) => `text ${at}`);
const strings = packStrings(texts);
const sections = {
  ...{ rows: packRows(columns), offsets: strings.offsets, bytes: strings.bytes },
  empty: new Uint8Array(),
};

const written = async (folder: string): Promise<string> => {
  const path = join(folder, 'some.tst');
  await writeSections(path, layout, sections);
  return path;
};
const blocksOf = ({ there }: Section): number => there.reduce((sum, each) => sum + each, 0);

test('a question reads the blocks that it needs, also of a file that was removed', async () => {
  await using folder = await TemporaryTree.create();
  const path = await written(folder.root);
  const { rows, offsets, bytes, empty } = sectionsIn(path, layout, new OpenFiles());
  await rm(path);
  const table = new PackedRows(rows, 2);
  expect([table.length, table.at(29_999), table.at(29_999, 1)]).toEqual([30_000, 89_997, 300]);
  expect(blocksOf(rows)).toBe(2);
  expect(new StringTable(offsets, bytes).at(12_345)).toBe('text 12345');
  expect([blocksOf(offsets), blocksOf(bytes)]).toEqual([2, 1]);
  expect(empty.whole()).toHaveLength(0);
});

test.runIf(areDescriptorsListed)('a file that is read whole is closed at once', async () => {
  await using folder = await TemporaryTree.create();
  const path = await written(folder.root);
  const whole = await openSections(path, layout, (its) => its);
  expect(openBelow(path)).toBe(0);
  expect(whole.rows.whole().equals(sections.rows)).toBe(true);
});

test('read in any order, everything is as it was written', async () => {
  await using folder = await TemporaryTree.create();
  const { rows, offsets, bytes } = sectionsIn(await written(folder.root), layout, new OpenFiles());
  const [table, all] = [new PackedRows(rows, 2), new StringTable(offsets, bytes)];
  // Steps that share no divisor with the lengths visit each once.
  for (let step = 0, at = 0; step < 30_000; step += 1, at = (at + 7_919) % 30_000)
    if (table.at(at) !== at * 3 || table.at(at, 1) !== 300) expect.fail(`row ${at}`);
  for (let step = 0, at = 0; step < 20_000; step += 1, at = (at + 7_919) % 20_000)
    if (all.at(at) !== texts[at]) expect.fail(`text ${at}`);
  expect(rows.whole().equals(sections.rows)).toBe(true);
});

test('a word that stands in any of all strings is found where nothing was read before', async () => {
  await using folder = await TemporaryTree.create();
  const { offsets, bytes } = sectionsIn(await written(folder.root), layout, new OpenFiles());
  const all = new StringTable(offsets, bytes);
  expect(all.hasWord(new Set([nameHash('19999')]))).toBe(true);
  expect(all.hasWord(new Set([nameHash('20000')]))).toBe(false);
});

test('a damaged block is refused whenever it is read, and the others are served', async () => {
  await using folder = await TemporaryTree.create();
  const path = await written(folder.root);
  const handle = await open(path, 'r+');
  const { size } = await handle.stat();
  // The last section ends the file.
  await handle.write(Buffer.from([0]), 0, 1, size - 3);
  await handle.close();
  const { offsets, bytes } = sectionsIn(path, layout, new OpenFiles());
  const all = new StringTable(offsets, bytes);
  const damaged = expect.objectContaining({ code: 'INDEX_CORRUPT' }) as Error;
  for (const _ of ['first', 'again']) expect(() => all.at(19_999)).toThrow(damaged);
  expect(all.at(0)).toBe('text 0');
  expect(() => bytes.whole()).toThrow(damaged);
});

test('bytes in memory are all there', () => {
  const bytes = Section.of(Uint8Array.of(1, 0, 0, 0, 2, 0, 0, 0));
  expect([...bytes.numbers()]).toEqual([1, 2]);
  expect(checksOf(bytes.whole())).toHaveLength(1);
});
