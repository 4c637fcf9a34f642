import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { busLayout, factsLayout } from '../../../src/store/layouts.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { restoreStore, type RestoreReport } from '../../../src/store/restore.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let place: string;
let backup: string;
let store: LevelStore;
beforeEach(async () => {
  folder = temporaryFolder();
  place = path.join(folder.path, 'bus/store');
  backup = path.join(folder.path, 'backups/monday');
  store = await openTestStore(place);
});
afterEach(async () => {
  await store[Symbol.asyncDispose]();
  folder.remove();
});

const put = (key: string, value: Buffer | string) => ({
  type: 'put' as const,
  key,
  value: Buffer.from(value),
});
const restore = (target: string, isForced = false): Promise<RestoreReport> =>
  restoreStore(backup, target, { layout: busLayout, clock: systemClock, isForced });

/** The largest file of the backup's database: where its entries are. */
function dataFile(): string {
  const database = path.join(backup, 'store');
  const bySize = readdirSync(database)
    .map((name) => path.join(database, name))
    .sort((a, b) => readFileSync(b).length - readFileSync(a).length);
  return bySize[0]!;
}

describe('a restore', () => {
  beforeEach(async () => {
    for (let at = 0; at < 50; at += 1) await store.commit([put(`n/${at}`, randomBytes(1_000))]);
    await store.backup(backup);
  });

  test('is refused while the store is in use', async () => {
    await expect(restore(place, true)).rejects.toMatchObject({ code: 'STORE_LOCKED' });
  });

  test('leaves a store with entries alone unless it is forced, and then keeps it aside', async () => {
    await store.commit([put('later', '1')]);
    await store[Symbol.asyncDispose]();
    await expect(restore(place)).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' });
    const { movedTo } = await restore(place, true);
    expect(movedTo).toMatch(/store\.before-restore-/);
    await using aside = await openTestStore(movedTo!);
    expect(await aside.get('later')).toEqual(Buffer.from('1'));
    await using now = await openTestStore(place);
    expect(await now.getMany(['later', 'n/7'])).toEqual([undefined, expect.any(Buffer)]);
  });

  test('replaces a store that was only ever opened', async () => {
    const target = path.join(folder.path, 'other/store');
    await (await openTestStore(target))[Symbol.asyncDispose]();
    expect(await restore(target)).not.toHaveProperty('movedTo');
    expect(readdirSync(path.dirname(target))).toEqual(['store']);
  });

  test('replaces a damaged store when it is forced', async () => {
    await store[Symbol.asyncDispose]();
    writeFileSync(path.join(place, 'CURRENT'), 'nonsense');
    await expect(restore(place)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await restore(place, true);
    await using now = await openTestStore(place);
    expect(await now.get('n/7')).toBeDefined();
  });

  test('refuses a backup of another layout', async () => {
    const options = { layout: factsLayout, clock: systemClock };
    await expect(
      restoreStore(backup, path.join(folder.path, 'facts'), options),
    ).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
  });

  describe('refuses, and leaves no trace of, a backup', () => {
    const target = (): string => path.join(folder.path, 'other/store');
    const expectRefused = async (): Promise<void> => {
      await expect(restore(target())).rejects.toMatchObject({ code: 'BACKUP_INVALID' });
      expect(existsSync(path.dirname(target())) ? readdirSync(path.dirname(target())) : []).toEqual(
        [],
      );
    };

    test('that has no manifest', async () => {
      rmSync(path.join(backup, 'backup.json'));
      await expectRefused();
    });

    test('whose manifest lacks a field', async () => {
      writeFileSync(path.join(backup, 'backup.json'), '{"layout":"bus"}');
      await expectRefused();
    });

    test('in which one bit has changed', async () => {
      const file = dataFile();
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(file, bytes);
      await expectRefused();
    });

    test('that was cut short', async () => {
      const file = dataFile();
      const bytes = readFileSync(file);
      writeFileSync(file, bytes.subarray(0, bytes.length >> 1));
      await expectRefused();
    });

    test('whose database is gone', async () => {
      rmSync(path.join(backup, 'store'), { recursive: true });
      mkdirSync(path.join(backup, 'store'));
      await expectRefused();
    });
  });
});
