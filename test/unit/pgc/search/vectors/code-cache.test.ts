import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CodeCache } from '../../../../../src/pgc/search/vectors/code-cache.js';
import { temporaryFolder } from '../../../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = path.join(folder.path, 'some.codes');
});
afterEach(() => folder.remove());

/** Codes of 32 dimensions have four bytes. */
const entry = (text: string, ...bytes: number[]): { text: string; code: Uint8Array } => ({
  text,
  code: Uint8Array.from({ length: 4 * Math.ceil(bytes.length / 4) }, (_, at) => bytes[at] ?? 0),
});
const held = (cache: CodeCache, text: string): number[] | undefined => {
  const code = cache.get(text);
  return code === undefined ? undefined : [...code].filter((byte) => byte > 0);
};

test('what was added is there again', async () => {
  const cache = await CodeCache.open(file);
  expect(cache.dims).toBe(0);
  await cache.add([entry('a', 1, 2), entry('b', 3, 4)], 32);
  await cache.add([entry('c', 5, 6)], 32);
  const again = await CodeCache.open(file);
  expect([again.dims, again.size]).toEqual([32, 3]);
  expect(['a', 'b', 'c', 'd'].map((text) => held(again, text))).toEqual([
    ...[
      [1, 2],
      [3, 4],
      [5, 6],
    ],
    undefined,
  ]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
});

test('of a file that was cut short, whole rows are believed, and what is added later is kept', async () => {
  const cache = await CodeCache.open(file);
  await cache.add([entry('a', 1, 2), entry('b', 3, 4)], 32);
  await truncate(file, (await stat(file)).size - 1);
  const cut = await CodeCache.open(file);
  expect([held(cut, 'a'), held(cut, 'b')]).toEqual([[1, 2], undefined]);
  await cut.add([entry('c', 5, 6)], 32);
  const again = await CodeCache.open(file);
  expect([held(again, 'a'), held(again, 'c')]).toEqual([
    [1, 2],
    [5, 6],
  ]);
});

test('a row that was changed is not believed', async () => {
  const cache = await CodeCache.open(file);
  await cache.add([entry('a', 1, 2)], 32);
  const bytes = await readFile(file);
  bytes[33] = bytes[33]! ^ 1;
  await writeFile(file, bytes);
  expect((await CodeCache.open(file)).size).toBe(0);
});

test('a foreign file is none', async () => {
  await writeFile(file, 'something else that is long enough to have a head');
  const cache = await CodeCache.open(file);
  expect([cache.dims, cache.size]).toEqual([0, 0]);
  await cache.add([entry('a', 1)], 32);
  expect(held(await CodeCache.open(file), 'a')).toEqual([1]);
});

test('with other dimensions everything is another', async () => {
  const cache = await CodeCache.open(file);
  await cache.add([entry('a', 1)], 32);
  await cache.add([entry('b', 1, 2, 3, 4, 5)], 64);
  const again = await CodeCache.open(file);
  expect([again.dims, held(again, 'a'), held(again, 'b')]).toEqual([
    64,
    undefined,
    [1, 2, 3, 4, 5],
  ]);
});

test('of more than the limit, what was used stays, then what came last', async () => {
  const cache = await CodeCache.open(file);
  await cache.add(
    Array.from({ length: 10 }, (_, at) => entry(`old ${at}`, at + 1)),
    32,
  );
  const later = await CodeCache.open(file);
  later.get('old 3');
  await later.add([entry('new', 99)], 32);
  await later.trim(100);
  expect((await CodeCache.open(file)).size).toBe(11);
  await later.trim(4);
  const again = await CodeCache.open(file);
  expect(again.size).toBe(4);
  expect(['old 3', 'new', 'old 9', 'old 8', 'old 0'].map((text) => held(again, text))).toEqual([
    ...[[4], [99], [10], [9]],
    undefined,
  ]);
});

test('garbage behind whole rows is cut off', async () => {
  const cache = await CodeCache.open(file);
  await cache.add([entry('a', 1)], 32);
  const { size } = await stat(file);
  await appendFile(file, 'garbage');
  await CodeCache.open(file);
  expect((await stat(file)).size).toBe(size);
});
