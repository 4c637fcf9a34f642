import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noTrace, type Trace } from '../../../src/base/trace.js';
import { BlobCache } from '../../../src/client/blob-cache.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

let temporary: { path: string; remove: () => void };
let folder: string;
let clock: VirtualClock;
beforeEach(() => {
  temporary = temporaryFolder();
  folder = path.join(temporary.path, 'blobs');
  clock = new VirtualClock();
});
afterEach(() => temporary.remove());

const nameOf = (content: Buffer): string => createHash('sha256').update(content).digest('hex');
const open = (bytesMax: number, trace: Trace = noTrace): Promise<BlobCache> =>
  BlobCache.open({ folder, bytesMax, clock, trace });
const blob = (bytes: number): { content: Buffer; name: string } => {
  const content = randomBytes(bytes);
  return { content, name: nameOf(content) };
};

test('what was put is there, also for the next process, and for nobody else', async () => {
  const { content, name } = blob(3_000_000);
  expect(await (await open(10_000_000)).put(name, content)).toBe(true);
  expect((await (await open(10_000_000)).get(name))?.equals(content)).toBe(true);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(path.join(folder, name)).mode & 0o777).toBe(0o600);
});

test('beyond the limit the least recently used go first', async () => {
  const cache = await open(3_000);
  const [a, b, c, d] = [blob(1_000), blob(1_000), blob(1_000), blob(1_000)];
  for (const each of [a, b, c]) {
    await cache.put(each.name, each.content);
    await clock.advance(1_000);
  }
  expect(await cache.get(a.name)).toBeDefined();
  await clock.advance(1_000);
  await cache.put(d.name, d.content);
  expect(new Set(readdirSync(folder))).toEqual(new Set([a.name, c.name, d.name]));
});

test('what other processes put counts too', async () => {
  const [mine, other] = [await open(2_000), await open(2_000)];
  for (let at = 0; at < 4; at += 1) {
    for (const cache of [mine, other]) {
      const each = blob(500);
      await cache.put(each.name, each.content);
      await clock.advance(1_000);
    }
  }
  expect(readdirSync(folder)).toHaveLength(4);
});

test('a file that is not what its name says is removed and counts as missing', async () => {
  const told: string[] = [];
  const cache = await open(10_000, (_level, what) => told.push(what));
  const { content, name } = blob(1_000);
  await cache.put(name, content);
  writeFileSync(path.join(folder, name), randomBytes(1_000));
  expect(await cache.get(name)).toBeUndefined();
  expect(existsSync(path.join(folder, name))).toBe(false);
  expect(told).toEqual(['a cached blob is damaged and was removed']);
});

test('a write that was never finished is removed at last, a young one is left alone', async () => {
  await open(10_000);
  const [old, young] = ['a', 'b'].map((it) => path.join(folder, `${it.repeat(64)}.1.1.part`));
  for (const file of [old!, young!]) writeFileSync(file, 'half');
  const nowS = clock.nowMs() / 1_000;
  utimesSync(old!, nowS - 7_200, nowS - 7_200);
  utimesSync(young!, nowS - 60, nowS - 60);
  await open(10_000);
  expect([existsSync(old!), existsSync(young!)]).toEqual([false, true]);
});

test('a name that is no hash reaches no file', async () => {
  const cache = await open(10_000);
  writeFileSync(path.join(temporary.path, 'secret'), 'secret');
  expect(await cache.get('../secret')).toBeUndefined();
  expect(await cache.put('../other', Buffer.from('x'))).toBe(false);
  expect(readdirSync(temporary.path).sort()).toEqual(['blobs', 'secret']);
});

test('a blob larger than the limit is not kept', async () => {
  const cache = await open(1_000);
  const { content, name } = blob(1_001);
  expect(await cache.put(name, content)).toBe(false);
  expect(readdirSync(folder)).toEqual([]);
});

test('a folder that cannot be used costs the cache, not its user', async () => {
  writeFileSync(folder, 'a file is in the way');
  const told: string[] = [];
  const cache = await open(1_000, (_level, what) => told.push(what));
  const { content, name } = blob(10);
  expect(await cache.put(name, content)).toBe(false);
  expect(await cache.get(name)).toBeUndefined();
  expect(told).toContain('the blob cache could not be written');
});
