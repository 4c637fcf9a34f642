import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { busLayout } from '../../src/store/layouts.js';
import type { Store, Upkeep } from '../../src/store/port.js';
import { restoreStore } from '../../src/store/restore.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const put = (key: string, value: Buffer | string) => ({
  type: 'put' as const,
  key,
  value: Buffer.from(value),
});

/** What every store does. `open`: one in that folder, with what the store there held before, within one test. */
export function storeContract(
  name: string,
  open: (folder: string) => Promise<Store & Upkeep>,
): void {
  describe(`store contract: ${name}`, () => {
    let folder: ReturnType<typeof temporaryFolder>;
    beforeEach(() => (folder = temporaryFolder()));
    afterEach(() => folder.remove());

    test('what was committed is there after reopening, in key order, prefix by prefix', async () => {
      const place = path.join(folder.path, 'a/b');
      {
        await using store = await open(place);
        await Promise.all([
          store.commit([put('agent/b', '2'), put('agent/a', '1')]),
          store.commit([put('agents/x', 'no'), put('agen', 'no')]),
        ]);
        await store.commit([put('agent/c', '3'), { type: 'del', key: 'agent/b' }]);
      }
      await using store = await open(place);
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
      await using store = await open(path.join(folder.path, 's'));
      await Promise.all(
        Array.from({ length: 1_000 }, (_, at) => store.commit([put(`n/${at}`, String(at))])),
      );
      const keys: string[] = [];
      for await (const key of store.keys({ prefix: 'n/' })) keys.push(key);
      expect(keys).toHaveLength(1_000);
    });

    test('a second owner is refused, and let in when the first has left', async () => {
      const place = path.join(folder.path, 's');
      const first = await open(place);
      await expect(open(place)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
      await first[Symbol.asyncDispose]();
      await using second = await open(place);
      expect(await second.get('x')).toBeUndefined();
    });

    test('a folder that cannot be made is STORE_UNAVAILABLE', async () => {
      writeFileSync(path.join(folder.path, 'file'), '');
      await expect(open(path.join(folder.path, 'file/store'))).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
    });

    test('what is written and committed in turns takes effect in the order of the calls', async () => {
      await using store = await open(path.join(folder.path, 's'));
      await Promise.all(
        Array.from({ length: 300 }, (_, at) =>
          at % 3 === 0 ? store.commit([put('k', `${at}`)]) : store.write([put('k', `${at}`)]),
        ),
      );
      expect(await store.get('k')).toEqual(Buffer.from('299'));
    });

    test('commits that are larger together than one batch may be are all written', async () => {
      await using store = await open(path.join(folder.path, 's'));
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
      await using store = await open(path.join(folder.path, 's'));
      const value = Buffer.alloc(8 * 1024 * 1024);
      expect(store.hasRoom(100 * value.length)).toBe(true);
      const writes = Array.from({ length: 7 }, (_, at) =>
        store.commit([{ type: 'put', key: `${at}`, value }]),
      );
      expect([store.hasRoom(1_000), store.hasRoom(value.length)]).toEqual([true, false]);
      writes.push(
        store.commit([{ type: 'put', key: 'last', value }]),
        store.write([put('x', '1')]),
      );
      expect(store.hasRoom(1)).toBe(false);
      await Promise.all(writes);
      expect([store.state, store.hasRoom(value.length)]).toEqual(['serving', true]);
    });

    test('what was handed over before closing is written, what comes after is refused', async () => {
      const place = path.join(folder.path, 's');
      const store = await open(place);
      const before = store.write([put('before', '1')]);
      const closed = store[Symbol.asyncDispose]();
      await expect(store.write([put('after', '1')])).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
      });
      await Promise.all([before, closed]);
      await using again = await open(place);
      expect(await again.getMany(['before', 'after'])).toEqual([Buffer.from('1'), undefined]);
    });

    test('a walk that is under way when the store closes ends with a coded error', async () => {
      const store = await open(path.join(folder.path, 's'));
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
      await using store = await open(place);
      const value = randomBytes(1024 * 1024);
      for (let at = 0; at < 40; at += 1)
        await store.write([{ type: 'put', key: `k/${at}`, value }]);
      for (let at = 0; at < 40; at += 1) await store.write([{ type: 'del', key: `k/${at}` }]);
      const before = bytesOfTables(place);
      await store.compact();
      expect(bytesOfTables(place)).toBeLessThan(before / 10);
    });

    describe('a backup', () => {
      let place: string;
      let backup: string;
      let store: Store & Upkeep;
      beforeEach(async () => {
        place = path.join(folder.path, 'bus/store');
        backup = path.join(folder.path, 'backups/monday');
        store = await open(place);
      });
      afterEach(async () => {
        await store[Symbol.asyncDispose]();
      });

      const restored = async (): Promise<Record<string, string>> => {
        const target = path.join(folder.path, 'elsewhere/store');
        await restoreStore(backup, target, { layout: busLayout, clock: systemClock });
        await using copy = await openTestStore(target);
        return await entriesOf(copy);
      };

      test('that is restored holds what the store held, and nothing that came later', async () => {
        for (let at = 0; at < 50; at += 1)
          await store.commit([put(`n/${at}`, randomBytes(30_000))]);
        const before = await entriesOf(store);
        const report = await store.backup(backup);
        await store.commit([put('later', '1'), { type: 'del', key: 'n/1' }]);
        expect(await restored()).toEqual(before);
        expect(report.entries).toBe(Object.keys(before).length);
      });

      test('that is taken while others write is the store of one moment', async () => {
        const first = Array.from({ length: 3_000 }, (_, at) =>
          store.write([put(`left/${at}`, '0'), put(`right/${at}`, '0')]),
        );
        await Promise.all(first);
        let isDone = false;
        const writing = (async () => {
          for (let round = 1; !isDone; round += 1) {
            const at = round % 3_000;
            const value = String(round);
            await store.write([put(`left/${at}`, value), put(`right/${at}`, value)]);
          }
        })();
        await store.backup(backup);
        isDone = true;
        await writing;
        const entries = await restored();
        const halves = Array.from({ length: 3_000 }, (_, at) => [
          entries[`left/${at}`],
          entries[`right/${at}`],
        ]);
        expect(halves.filter(([left, right]) => left === undefined || left !== right)).toEqual([]);
      });

      test('goes to an empty folder only, by an absolute path, outside the store', async () => {
        mkdirSync(backup, { recursive: true });
        writeFileSync(path.join(backup, 'mine'), '');
        for (const where of [backup, 'backups/monday', path.join(place, 'backup'), place])
          await expect(store.backup(where)).rejects.toMatchObject({ code: 'BACKUP_FOLDER' });
        expect(readdirSync(backup)).toEqual(['mine']);
      });

      test('of a store that closes meanwhile ends with a coded error and leaves nothing', async () => {
        for (let at = 0; at < 50; at += 1) void store.write([put(`n/${at}`, randomBytes(100_000))]);
        await store.write([put('last', '')]);
        const outcome = expect(store.backup(backup)).rejects.toMatchObject({
          code: 'STORE_UNAVAILABLE',
        });
        await store[Symbol.asyncDispose]();
        await outcome;
        expect(existsSync(backup)).toBe(false);
      });
    });
  });
}

export async function entriesOf(from: Store): Promise<Record<string, string>> {
  const entries: Record<string, string> = {};
  for await (const [key, value] of from.entries({ prefix: '' }))
    entries[key] = value.toString('hex');
  return entries;
}

function bytesOfTables(place: string): number {
  const tables = readdirSync(place).filter((name) => name.endsWith('.ldb'));
  return tables.reduce((sum, name) => sum + statSync(path.join(place, name)).size, 0);
}
