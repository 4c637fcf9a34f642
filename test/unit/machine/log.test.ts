import { expect, test } from 'vitest';
import { Log, logDeletion, type LogParts } from '../../../src/machine/log.js';
import { hex64 } from '../../../src/store/keys.js';
import { executorLayout } from '../../../src/store/layouts.js';
import { del } from '../../../src/store/operations.js';
import type { Store } from '../../../src/store/port.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

const prefix = 'history/t/1/';
const limit = 64;

async function withLog(work: (parts: LogParts<{ n: number }>, store: Store) => Promise<void>) {
  const folder = temporaryFolder();
  await using store = await openTestStore(folder.path, executorLayout);
  const parts: LogParts<{ n: number }> = {
    ...{ store, prefix, entryBytesMax: limit },
    check: ({ n }) => {
      if (n < 0) throw new Error('a number below 0');
    },
  };
  const log = new Log(parts);
  for (const n of [0, 1, 2]) await log.append({ n });
  await work(parts, store);
  folder.remove();
}

test('entries are there again, in order, with what follows behind them', () =>
  withLog(async (parts, store) => {
    const log = await Log.open(parts);
    expect([log.entries.map(({ n }) => n), log.bytes]).toEqual([[0, 1, 2], 21]);
    await log.append({ n: 3 });
    expect((await Log.open(parts)).entries).toHaveLength(4);
    await store.commit(await logDeletion(store, prefix));
    expect((await Log.open(parts)).entries).toEqual([]);
  }));

test.each<[string, (store: Store) => Promise<void>]>([
  ['is no JSON', (store) => store.commit([{ ...put(1), value: Buffer.from('{"n":') }])],
  ['is missing', (store) => store.commit([del(prefix + hex64(1))])],
  ['does not hold', (store) => store.commit([{ ...put(1), value: Buffer.from('{"n":-1}') }])],
])('an entry that %s is a damaged record', (_, damage) =>
  withLog(async (parts, store) => {
    await damage(store);
    await expect(Log.open(parts)).rejects.toMatchObject({ code: 'RECORD_DAMAGED' });
  }),
);

test('an entry that is too large is refused, and the next one takes its place', () =>
  withLog(async (parts) => {
    const log = await Log.open<{ n: number; text?: string }>(parts);
    const large = { n: 3, text: 'x'.repeat(limit) };
    await expect(log.append(large)).rejects.toMatchObject({ code: 'TOO_LARGE' });
    await log.append({ n: 3 });
    expect((await Log.open(parts)).entries.map(({ n }) => n)).toEqual([0, 1, 2, 3]);
  }));

function put(n: number): { type: 'put'; key: string } {
  return { type: 'put', key: prefix + hex64(n) };
}
