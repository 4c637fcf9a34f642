import path from 'node:path';
import { Level } from 'level';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { layoutKey, schemaKey } from '../../../src/store/keys.js';
import { factsLayout } from '../../../src/store/layouts.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let place: string;
beforeEach(() => {
  folder = temporaryFolder();
  place = path.join(folder.path, 'store');
});
afterEach(() => folder.remove());

async function makeStore(entries: [key: string, value: Buffer][]): Promise<void> {
  const db = new Level<string, Buffer>(place, { keyEncoding: 'utf8', valueEncoding: 'buffer' });
  await db.batch(entries.map(([key, value]) => ({ type: 'put' as const, key, value })));
  await db.close();
}

const marked = (name: string, version: string): [string, Buffer][] => [
  [layoutKey, Buffer.from(name)],
  [schemaKey, Buffer.from(version)],
];

test.each(['99', '1', '0', 'nonsense'])(
  'a store of version %s is refused and left alone',
  async (text) => {
    await makeStore(marked('bus', text));
    await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
    await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
  },
);

test('a store of another layout is refused', async () => {
  await (await openTestStore(place, factsLayout))[Symbol.asyncDispose]();
  await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
});

test('a store that says what it is and no version is refused', async () => {
  await makeStore(marked('bus', '2').slice(0, 1));
  await expect(openTestStore(place)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
});
