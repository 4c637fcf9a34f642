import { randomBytes } from 'node:crypto';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());
const put = (key: string, text: string) => ({
  type: 'put' as const,
  key,
  value: Buffer.from(text),
});

test('what was committed is there after reopening, in key order, prefix by prefix', async () => {
  const place = path.join(folder.path, 'a/b');
  {
    await using store = await openTestStore(place);
    await Promise.all([
      store.commit([put('agent/b', '2'), put('agent/a', '1')]),
      store.commit([put('agents/x', 'no'), put('agen', 'no')]),
    ]);
    await store.commit([put('agent/c', '3'), { type: 'del', key: 'agent/b' }]);
  }
  await using store = await openTestStore(place);
  const read: string[] = [];
  for await (const [key, value] of store.entries({ prefix: 'agent/' }))
    read.push(`${key}=${value.toString()}`);
  expect(read).toEqual(['agent/a=1', 'agent/c=3']);
  const keys: string[] = [];
  for await (const key of store.keys({ prefix: 'agent/', after: 'agent/a', limit: 1 }))
    keys.push(key);
  expect(keys).toEqual(['agent/c']);
  expect(await store.getMany(['agent/a', 'agent/b'])).toEqual([Buffer.from('1'), undefined]);
});

test('a thousand commits at once all resolve, and all are there', async () => {
  await using store = await openTestStore(path.join(folder.path, 's'));
  await Promise.all(
    Array.from({ length: 1_000 }, (_, at) => store.commit([put(`n/${at}`, String(at))])),
  );
  const keys: string[] = [];
  for await (const key of store.keys({ prefix: 'n/' })) keys.push(key);
  expect(keys).toHaveLength(1_000);
});

test('a second owner is refused, and let in when the first has left', async () => {
  const place = path.join(folder.path, 's');
  const first = await openTestStore(place);
  await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  await first[Symbol.asyncDispose]();
  await using second = await openTestStore(place);
  expect(await second.get('x')).toBeUndefined();
});

test('a folder that cannot be made is STORE_UNAVAILABLE', async () => {
  writeFileSync(path.join(folder.path, 'file'), '');
  await expect(openTestStore(path.join(folder.path, 'file/store'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
});

test('what is written and committed in turns takes effect in the order of the calls', async () => {
  await using store = await openTestStore(path.join(folder.path, 's'));
  await Promise.all(
    Array.from({ length: 300 }, (_, at) =>
      at % 3 === 0 ? store.commit([put('k', `${at}`)]) : store.write([put('k', `${at}`)]),
    ),
  );
  expect(await store.get('k')).toEqual(Buffer.from('299'));
});

test('commits that are larger together than one batch may be are all written', async () => {
  await using store = await openTestStore(path.join(folder.path, 's'));
  const mebibytes = Buffer.alloc(3 * 1024 * 1024, 'x');
  await Promise.all(
    Array.from({ length: 8 }, (_, at) =>
      store.commit([
        { type: 'put', key: `large/${at}`, value: mebibytes },
        ...Array.from({ length: 1_000 }, (_, n) => put(`small/${at}/${n}`, 'y')),
      ]),
    ),
  );
  let found = 0;
  for await (const [, value] of store.entries({ prefix: '' })) found += value.length;
  expect(found).toBeGreaterThanOrEqual(8 * (mebibytes.length + 1_000));
});

test('when more waits than may, there is no room for new things, and what ends others is taken', async () => {
  await using store = await openTestStore(path.join(folder.path, 's'));
  const value = Buffer.alloc(8 * 1024 * 1024);
  expect(store.hasRoom(100 * value.length)).toBe(true);
  const writes = Array.from({ length: 7 }, (_, at) =>
    store.commit([{ type: 'put', key: `${at}`, value }]),
  );
  expect([store.hasRoom(1_000), store.hasRoom(value.length)]).toEqual([true, false]);
  writes.push(store.commit([{ type: 'put', key: 'last', value }]), store.write([put('x', '1')]));
  expect(store.hasRoom(1)).toBe(false);
  await Promise.all(writes);
  expect([store.state, store.hasRoom(value.length)]).toEqual(['serving', true]);
});

test('what was handed over before closing is written, what comes after is refused', async () => {
  const place = path.join(folder.path, 's');
  const store = await openTestStore(place);
  const before = store.write([put('before', '1')]);
  const closed = store[Symbol.asyncDispose]();
  await expect(store.write([put('after', '1')])).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  await Promise.all([before, closed]);
  await using again = await openTestStore(place);
  expect(await again.getMany(['before', 'after'])).toEqual([Buffer.from('1'), undefined]);
});

test('a walk that is under way when the store closes ends with a coded error', async () => {
  const store = await openTestStore(path.join(folder.path, 's'));
  await store.write(Array.from({ length: 3_000 }, (_, at) => put(`n/${at}`, 'x')));
  const walk = store.keys({ prefix: 'n/' })[Symbol.asyncIterator]();
  await walk.next();
  await store[Symbol.asyncDispose]();
  const rest = async (): Promise<void> => {
    while ((await walk.next()).done !== true);
  };
  await expect(rest()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
});

test('compaction gives the space of what was deleted back', async () => {
  const place = path.join(folder.path, 's');
  await using store = await openTestStore(place);
  const value = randomBytes(1024 * 1024);
  for (let at = 0; at < 40; at += 1) await store.write([{ type: 'put', key: `k/${at}`, value }]);
  for (let at = 0; at < 40; at += 1) await store.write([{ type: 'del', key: `k/${at}` }]);
  const before = bytesOfTables(place);
  await store.compact();
  expect(bytesOfTables(place)).toBeLessThan(before / 10);
});

function bytesOfTables(place: string): number {
  const tables = readdirSync(place).filter((name) => name.endsWith('.ldb'));
  return tables.reduce((sum, name) => sum + statSync(path.join(place, name)).size, 0);
}
