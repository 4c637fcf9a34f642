import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { schemaKey } from '../../../src/store/keys.js';
import { LevelStore } from '../../../src/store/level-store.js';
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
    await using store = await LevelStore.open(place);
    await Promise.all([
      store.commit([put('agent/b', '2'), put('agent/a', '1')]),
      store.commit([put('agents/x', 'no'), put('agen', 'no')]),
    ]);
    await store.commit([put('agent/c', '3'), { type: 'del', key: 'agent/b' }]);
  }
  await using store = await LevelStore.open(place);
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
  await using store = await LevelStore.open(path.join(folder.path, 's'));
  await Promise.all(
    Array.from({ length: 1_000 }, (_, at) => store.commit([put(`n/${at}`, String(at))])),
  );
  const keys: string[] = [];
  for await (const key of store.keys({ prefix: 'n/' })) keys.push(key);
  expect(keys).toHaveLength(1_000);
});

test('a second owner is refused, and let in when the first has left', async () => {
  const place = path.join(folder.path, 's');
  const first = await LevelStore.open(place);
  await expect(LevelStore.open(place)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  await first[Symbol.asyncDispose]();
  await using second = await LevelStore.open(place);
  expect(await second.get('x')).toBeUndefined();
});

test('a store of another layout is refused and left alone', async () => {
  const place = path.join(folder.path, 's');
  {
    await using store = await LevelStore.open(place);
    await store.commit([put(schemaKey, '99')]);
  }
  await expect(LevelStore.open(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
});

test('a folder that cannot be made is STORE_UNAVAILABLE', async () => {
  writeFileSync(path.join(folder.path, 'file'), '');
  await expect(LevelStore.open(path.join(folder.path, 'file/store'))).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
});
