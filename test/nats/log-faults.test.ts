import { createHook } from 'node:async_hooks';
import { randomBytes, randomUUID } from 'node:crypto';
import { cpSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Scope } from '../../src/base/scope.js';
import type { LogStore } from '../../src/nats/log-store.js';
import { canLimitFileSize, limitFileSize } from '../support/disk.js';
import { eventually } from '../support/eventually.js';
import { digestOf, openLogStore, stepsOf } from '../support/log-store.js';
import { startCluster, startNats, type NatsServer } from '../support/nats-server.js';
import { temporaryFolder } from '../support/temporary.js';

const ignore = (): void => undefined;
const put = (key: string, text: string) => ({
  ...{ type: 'put' as const, key, value: Buffer.from(text) },
});

/** A cluster that lost a server may take longer to agree than a store waits. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  const done: T[] = [];
  await eventually(async () => void done.push(await work()), 60_000);
  return done[0] as T;
}

/** Commits numbers, many at a time, until told to stop. */
function committing(store: LogStore) {
  const acknowledged: number[] = [];
  const refused: number[] = [];
  let next = 0;
  let isOver = false;
  const write = async (): Promise<void> => {
    while (!isOver) {
      const n = next;
      next += 1;
      await store.commit([put(`n/${n}`, 'x'.repeat(300))]).then(
        () => acknowledged.push(n),
        async (error: unknown) => {
          expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
          refused.push(n);
          await new Promise((resolve) => setTimeout(resolve, 20));
        },
      );
    }
  };
  const writing = Promise.all(Array.from({ length: 20 }, write));
  const stop = async (): Promise<void> => {
    isOver = true;
    await writing;
  };
  return { acknowledged, refused, stop };
}

describe('a log store whose server fails', () => {
  let scope: Scope;
  let folder: ReturnType<typeof temporaryFolder>;
  let log: string;
  beforeEach(() => {
    scope = new Scope();
    folder = temporaryFolder();
    log = randomUUID();
  });
  afterEach(async () => {
    await scope[Symbol.asyncDispose]();
    folder.remove();
  });

  const open = async (server: NatsServer, name: string, more = {}): Promise<LogStore> =>
    scope.own(
      await openLogStore(await server.connect(), {
        ...{ log, folder: path.join(folder.path, name), ...more },
      }),
    );
  const expectOnce = (steps: { key: string }[][], acknowledged: number[]): void => {
    const keys = steps.flat().map((each) => each.key);
    expect(new Set(keys).size).toBe(keys.length);
    const there = new Set(keys);
    expect(acknowledged.filter((n) => !there.has(`n/${n}`))).toEqual([]);
  };
  const expectEqual = (...stores: LogStore[]): Promise<void> =>
    eventually(async () => {
      const all = await Promise.all(stores.map(digestOf));
      expect(new Set(all).size).toBe(1);
    });

  test('loses nothing that was acknowledged, and doubles nothing, when it is killed and starts again', async () => {
    const server = scope.own(await startNats());
    const leader = await open(server, 'a');
    const follower = await open(server, 'b');
    await leader.lead(ignore);
    const { acknowledged, refused, stop } = committing(leader);
    for (let round = 1; round <= 3; round += 1) {
      const enough = acknowledged.length + 200;
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough));
      await server.kill();
      await server.start();
    }
    const enough = acknowledged.length + 200;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough));
    await stop();
    expect(refused).toEqual([]);
    expectOnce(await stepsOf(await server.connect(), log), acknowledged);
    await expectEqual(leader, follower);
  }, 60_000);

  test('refuses what waits for too long, and serves again when the server is back', async () => {
    const server = scope.own(await startNats());
    const leader = await open(server, 'a', { limits: { awayMsMax: 300, requestMsMax: 200 } });
    await leader.lead(ignore);
    let reopened = 0;
    leader.onReopened(() => (reopened += 1));
    await leader.commit([put('before', '1')]);
    await server.kill();
    await expect(leader.commit([put('meanwhile', '1')])).rejects.toMatchObject({
      ...{ code: 'STORE_UNAVAILABLE', retryable: true },
    });
    expect(leader.state).toBe('failed');
    await expect(leader.get('before')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await server.start();
    await eventually(() => expect(leader.state).toBe('serving'));
    expect(reopened).toBe(1);
    await leader.commit([put('after', '1')]);
    expect(await leader.getMany(['before', 'after'])).toEqual([Buffer.from('1'), Buffer.from('1')]);
    await expectEqual(leader, await open(server, 'b'));
  });

  test('tells that it was reopened before it takes anything', async () => {
    const server = scope.own(await startNats());
    const leader = await open(server, 'a', { limits: { awayMsMax: 300, requestMsMax: 200 } });
    await leader.lead(ignore);
    let isTold = false;
    let isEarly = false;
    leader.onReopened(() => (isTold = true));
    await server.kill();
    await expect(leader.commit([put('meanwhile', '1')])).rejects.toThrow();
    // Between any two steps of the process.
    const steps = createHook({
      before: () => (isEarly ||= leader.state === 'serving' && !isTold),
    }).enable();
    await server.start();
    await eventually(() => expect(isTold).toBe(true));
    steps.disable();
    expect(isEarly).toBe(false);
  });

  test('stops leading when the log has lost what it acknowledged; replicas go back to the log', async () => {
    const server = scope.own(await startNats());
    const limits = { awayMsMax: 700, requestMsMax: 300 };
    const leader = await open(server, 'a', { limits });
    const follower = await open(server, 'b', { limits });
    let fenced = 0;
    await leader.lead(() => (fenced += 1));
    await leader.commit([put('kept', '1')]);
    await server.kill();
    const copy = path.join(folder.path, 'jetstream');
    cpSync(server.folder, copy, { recursive: true });
    await server.start();
    for (let at = 0; at < 50; at += 1) await leader.commit([put(`lost/${at}`, '1')]);
    await expectEqual(leader, follower);
    await server.kill();
    rmSync(server.folder, { recursive: true });
    cpSync(copy, server.folder, { recursive: true });
    await server.start();
    await expect(leader.commit([put('late', '1')])).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
    });
    await eventually(() => expect(fenced).toBe(1));
    await follower.lead(ignore);
    await follower.commit([put('next', '1')]);
    expect(await follower.getMany(['kept', 'lost/0', 'next'])).toEqual([
      ...[Buffer.from('1'), undefined, Buffer.from('1')],
    ]);
    await leader[Symbol.asyncDispose]();
    await expectEqual(follower, await open(server, 'a', { limits }));
    const aside = readdirSync(folder.path).filter((each) => each.includes('not-of-log'));
    expect(aside.map((each) => each[0]).sort()).toEqual(['a', 'b']);
  });

  describe.skipIf(!canLimitFileSize)('while its own disk is full (skipped without prlimit)', () => {
    afterEach(() => limitFileSize('unlimited'));

    test.each(['leads', 'follows'])('loses nothing as the one that %s', async (role) => {
      const server = scope.own(await startNats());
      const leader = await open(server, 'a');
      await leader.lead(ignore);
      const follower = role === 'follows' ? await open(server, 'b') : undefined;
      const failing = follower ?? leader;
      let reopened = 0;
      failing.onReopened(() => (reopened += 1));
      limitFileSize(2 * 1024 * 1024);
      const acknowledged: string[] = [];
      const commit = (key: string): Promise<unknown> =>
        leader.commit([{ type: 'put', key, value: randomBytes(20_000) }]).then(
          () => acknowledged.push(key),
          (error: unknown) => expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE' }),
        );
      for (let at = 0; failing.state === 'serving' && at < 1_000; at += 1) await commit(`n/${at}`);
      // Both write to this disk, the one that follows a little later.
      await eventually(() => expect(failing.state).toBe('failed'));
      limitFileSize('unlimited');
      await eventually(() => expect([leader.state, failing.state]).toEqual(['serving', 'serving']));
      await commit('after');
      expect(acknowledged).toContain('after');
      const values = await leader.getMany(acknowledged);
      expect(values.filter((each) => each?.length !== 20_000)).toEqual([]);
      if (role === 'leads') expect(reopened).toBe(1);
      await expectEqual(leader, failing, await open(server, 'c'));
    });
  });

  test('closes while the server is away', async () => {
    const server = scope.own(await startNats());
    const limits = { awayMsMax: 300, requestMsMax: 200 };
    const leader = await open(server, 'a', { limits });
    const follower = await open(server, 'b', { limits });
    await leader.lead(ignore);
    await server.kill();
    const refused = leader.commit([put('x', '1')]);
    await Promise.all([leader, follower].map((each) => each[Symbol.asyncDispose]()));
    await expect(refused).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  test('keeps all that was acknowledged when one of three servers is killed', async () => {
    const servers = await startCluster(3);
    for (const each of servers) scope.own(each);
    const [first, second, third] = servers as [NatsServer, NatsServer, NatsServer];
    const leader = await patiently(() => open(first, 'a', { replicas: 3 }));
    const follower = await patiently(() => open(second, 'b', { replicas: 3 }));
    await patiently(() => leader.lead(ignore));
    const { acknowledged, stop } = committing(leader);
    for (const each of [third, second, first]) {
      const enough = acknowledged.length + 200;
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough), 30_000);
      await each.kill();
      if (each !== first) {
        const more = acknowledged.length + 100;
        await eventually(() => expect(acknowledged.length).toBeGreaterThan(more), 30_000);
      }
      await each.start();
    }
    const enough = acknowledged.length + 200;
    await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough), 30_000);
    await stop();
    await patiently(() => follower.lead(ignore));
    const reader = await second.connect();
    await eventually(async () => expectOnce(await stepsOf(reader, log), acknowledged), 30_000);
    await expectEqual(follower, await patiently(() => open(third, 'c', { replicas: 3 })));
  }, 180_000);
});
