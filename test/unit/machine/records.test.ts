import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Records, type Change } from '../../../src/machine/records.js';
import { tasksLayout } from '../../../src/store/layouts.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { openTestStore } from '../../support/store.js';
import { divertedStore } from '../../support/task-book.js';
import { temporaryFolder } from '../../support/temporary.js';

interface Item {
  id: string;
  n: number;
}

/** Records whose next batch is rejected, before or after it was written. */
async function withRecords(
  work: (its: {
    records: Records<Item>;
    adopted: Change<Item, never>[];
    reject: (when: 'before' | 'after') => void;
  }) => Promise<void>,
): Promise<void> {
  const folder = temporaryFolder();
  await using store = await openTestStore(folder.path, tasksLayout);
  let rejects: 'before' | 'after' | undefined;
  const adopted: Change<Item, never>[] = [];
  await using records = new Records<Item>({
    store: divertedStore(store, async (_, write) => {
      const when = rejects;
      rejects = undefined;
      if (when !== 'before') await write();
      if (when !== undefined) throw new BusError('STORE_UNAVAILABLE', { path: '', detail: '' });
    }),
    ...{ clock: systemClock, random: () => 0, prefix: 'task/', idOf: ({ id }) => id },
    decode: (bytes) => JSON.parse(bytes.toString()) as Item,
    adopt: (change) => void adopted.push(change),
    onTrouble: () => undefined,
  });
  await work({ records, adopted, reject: (when) => (rejects = when) });
  folder.remove();
}

test.each(['before', 'after'] as const)(
  'a change that was rejected %s it was written is adopted only when it is on disk',
  (when) =>
    withRecords(async ({ records, adopted, reject }) => {
      const change = { record: { id: 'a', n: 1 } };
      reject(when);
      const written = records.turn('a', () => records.write(change));
      await expect(written).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(adopted).toEqual([]);
      const found = await records.turn('a', () => records.load('a'));
      const isThere = when === 'after';
      expect([adopted, found]).toEqual(isThere ? [[change], change.record] : [[], undefined]);
    }),
);

test.each(['before', 'after'] as const)(
  'a deletion that was rejected %s it was written is adopted only when it is on disk',
  (when) =>
    withRecords(async ({ records, adopted, reject }) => {
      const record = { id: 'a', n: 1 };
      await records.turn('a', () => records.write({ record }));
      reject(when);
      const deleted = records.turn('a', () => records.write({ record, isDeleted: true }));
      await expect(deleted).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      expect(await records.turn('a', () => records.load('a'))).toEqual(
        when === 'after' ? undefined : record,
      );
      expect(adopted).toHaveLength(when === 'after' ? 2 : 1);
    }),
);

test('a damaged record is left where it is, and the others are read', () =>
  withRecords(async ({ records }) => {
    for (const id of ['a', 'b'])
      await records.turn(id, () => records.write({ record: { id, n: 1 } }));
    const torn = { type: 'put', key: 'task/b', value: Buffer.from('{') } as const;
    await records.turn('a', () => records.write({ record: { id: 'a', n: 2 }, more: [torn] }));
    expect(await records.read()).toEqual({ records: [{ id: 'a', n: 2 }], damaged: ['b'] });
    expect(await records.load('b')).toBeUndefined();
  }));
