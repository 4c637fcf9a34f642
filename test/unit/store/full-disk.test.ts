import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { busLayout } from '../../../src/store/layouts.js';
import { LevelStore } from '../../../src/store/level-store.js';
import { canLimitFileSize, canMount, limitFileSize, mountSmallDisk } from '../../support/disk.js';
import { eventually } from '../../support/eventually.js';
import { temporaryFolder } from '../../support/temporary.js';

const unavailable = { code: 'STORE_UNAVAILABLE', retryable: true };
const commitsMax = 20_000;

const open = (folder: string): Promise<LevelStore> =>
  LevelStore.open(folder, { layout: busLayout, clock: systemClock, random: () => 0.1 });

/** Commits until one is rejected, many at a time. The keys that were acknowledged. */
async function commitUntilFailure(store: LevelStore, commits = commitsMax): Promise<string[]> {
  const acknowledged: string[] = [];
  for (let at = 0; store.state === 'serving' && at < commits; at += 20) {
    const keys = Array.from({ length: 20 }, (_, n) => `${commits}/${at + n}`);
    const work = keys.map((key) =>
      store.commit([{ type: 'put', key, value: randomBytes(4_096) }]).then(
        () => acknowledged.push(key),
        (error: unknown) => expect(error).toMatchObject(unavailable),
      ),
    );
    await Promise.all(work);
  }
  return acknowledged;
}

async function expectAll(store: LevelStore, keys: string[]): Promise<void> {
  expect(keys.length).toBeGreaterThan(0);
  const values = await store.getMany(keys);
  expect(keys.filter((_, at) => values[at]?.length !== 4_096)).toEqual([]);
}

describe('a disk that is full', () => {
  test.skipIf(!canMount)(
    'costs nothing that was acknowledged; the store serves again when there is space (skipped without the right to mount)',
    async () => {
      using disk = mountSmallDisk(32);
      await using store = await open(path.join(disk.path, 'store'));
      let reopened = 0;
      using _listening = store.onReopened(() => (reopened += 1));
      const before = await commitUntilFailure(store, 200);
      disk.fill();
      const atTheEnd = await commitUntilFailure(store);
      expect(store.state).toBe('failed');
      await expect(store.get(before[0]!)).rejects.toMatchObject(unavailable);
      await expect(store.write([{ type: 'del', key: 'x' }])).rejects.toMatchObject(unavailable);
      expect(reopened).toBe(0);

      disk.free();
      await eventually(() => expect(store.state).toBe('serving'));
      expect(reopened).toBe(1);
      await expectAll(store, [...before, ...atTheEnd]);
      expect(await commitUntilFailure(store, 400)).toHaveLength(400);
    },
  );
});

describe.skipIf(!canLimitFileSize)('a write that fails (skipped without prlimit)', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let store: LevelStore;
  beforeEach(async () => {
    folder = temporaryFolder();
    store = await open(path.join(folder.path, 'store'));
    limitFileSize(2 * 1024 * 1024);
  });
  afterEach(async () => {
    limitFileSize('unlimited');
    await store[Symbol.asyncDispose]();
    folder.remove();
  });

  test('loses no key that was acknowledged, and lets new ones in after reopening', async () => {
    const acknowledged = await commitUntilFailure(store);
    expect(store.state).toBe('failed');
    limitFileSize('unlimited');
    await eventually(() => expect(store.state).toBe('serving'));
    await expectAll(store, acknowledged);
    await store.commit([{ type: 'put', key: 'new', value: Buffer.from('1') }]);
    expect(await store.get('new')).toEqual(Buffer.from('1'));
  });

  test('is told to whoever listens once the store can be read again', async () => {
    const read: Promise<Buffer | undefined>[] = [];
    store.onReopened(() => read.push(store.get('first')));
    await store.commit([{ type: 'put', key: 'first', value: Buffer.from('1') }]);
    await commitUntilFailure(store);
    limitFileSize('unlimited');
    await eventually(() => expect(read).toHaveLength(1));
    expect(await Promise.all(read)).toEqual([Buffer.from('1')]);
  });

  test('rejects a write that nobody waits for without an unhandled rejection', async () => {
    const unhandled: unknown[] = [];
    const listen = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', listen);
    for (let at = 0; store.state === 'serving' && at < commitsMax; at += 1) {
      void store.write([{ type: 'put', key: `n/${at}`, value: randomBytes(65_536) }]);
      await systemClock.turn();
    }
    void store.write([{ type: 'del', key: 'n/0' }]);
    await systemClock.turn();
    process.off('unhandledRejection', listen);
    expect(store.state).toBe('failed');
    expect(unhandled).toEqual([]);
  });

  test('ends walks that are under way with a coded error', async () => {
    const operations = Array.from({ length: 3_000 }, (_, at) => `n/${at}`);
    await store.write(
      operations.map((key) => ({ type: 'put' as const, key, value: Buffer.from('x') })),
    );
    const walk = store.keys({ prefix: 'n/' })[Symbol.asyncIterator]();
    await walk.next();
    await commitUntilFailure(store);
    const rest = async (): Promise<void> => {
      while ((await walk.next()).done !== true);
    };
    await expect(rest()).rejects.toMatchObject(unavailable);
  });

  test('does not keep the store from being closed, and it can be opened anew', async () => {
    const acknowledged = await commitUntilFailure(store);
    await store[Symbol.asyncDispose]();
    limitFileSize('unlimited');
    await using again = await open(path.join(folder.path, 'store'));
    await expectAll(again, acknowledged);
  });

  test('stops a backup with a coded error and leaves nothing of it', async () => {
    const backup = path.join(folder.path, 'backup');
    limitFileSize('unlimited');
    for (let at = 0; at < 400; at += 1)
      await store.write([{ type: 'put', key: `n/${at}`, value: randomBytes(16_384) }]);
    limitFileSize(512 * 1024);
    await expect(store.backup(backup)).rejects.toMatchObject(unavailable);
    expect(existsSync(backup)).toBe(false);
  });
});
