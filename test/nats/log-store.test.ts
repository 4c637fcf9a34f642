import { fork } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Scope } from '../../src/base/scope.js';
import { crcOf, encodeStep } from '../../src/nats/log-entry.js';
import type { LogLimits } from '../../src/nats/log-limits.js';
import type { LogStore } from '../../src/nats/log-store.js';
import { factsLayout } from '../../src/store/layouts.js';
import type { Operation } from '../../src/store/port.js';
import { eventually } from '../support/eventually.js';
import { digestOf, openLogStore, stepsOf, streamOf, subjectOf } from '../support/log-store.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const unavailable = { code: 'STORE_UNAVAILABLE', retryable: true };
const put = (key: string, value: Buffer | string): Operation => ({
  type: 'put',
  key,
  value: Buffer.from(value),
});
const ignore = (): void => undefined;

describe('a log store', () => {
  let server: NatsServer;
  let connection: NatsConnection;
  let folder: ReturnType<typeof temporaryFolder>;
  let scope: Scope;
  let log: string;
  /** What the stores of a test reported. */
  let traced: string[];
  beforeAll(async () => {
    server = await startNats();
    connection = await server.connect();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(() => {
    folder = temporaryFolder();
    scope = new Scope();
    log = randomUUID();
    traced = [];
  });
  afterEach(async () => {
    await scope[Symbol.asyncDispose]();
    folder.remove();
  });

  const place = (name: string): string => path.join(folder.path, name);
  const open = async (name: string, limits: Partial<LogLimits> = {}): Promise<LogStore> =>
    scope.own(
      await openLogStore(connection, {
        ...{ log, folder: place(name), limits },
        trace: (_level, what, fields) => traced.push(`${what} ${JSON.stringify(fields ?? {})}`),
      }),
    );
  const openLeader = async (name: string, limits?: Partial<LogLimits>): Promise<LogStore> => {
    const store = await open(name, limits);
    await store.lead(ignore);
    return store;
  };
  const expectEqual = async (...stores: LogStore[]): Promise<void> => {
    await eventually(async () => {
      for (const each of stores) {
        const { applied, last } = await each.progress();
        expect(applied).toBe(last);
      }
      const digests = await Promise.all(stores.map(digestOf));
      expect(new Set(digests).size).toBe(1);
    });
  };
  const firstOf = async (): Promise<number> => {
    const { streams } = await jetstreamManager(connection);
    return (await streams.info(streamOf(log))).state.first_seq;
  };

  test('that follows can be read, says how far it is, and takes no writes', async () => {
    const leader = await openLeader('a');
    const follower = await open('b');
    await leader.commit([put('x', '1'), put('y', '2')]);
    await leader.write([{ type: 'del', key: 'y' }]);
    await eventually(async () => {
      expect(await follower.getMany(['x', 'y'])).toEqual([Buffer.from('1'), undefined]);
    });
    expect(await follower.progress()).toEqual({ applied: 3, last: 3 });
    for (const refused of [follower.commit([put('x', '2')]), follower.write([put('x', '2')])])
      await expect(refused).rejects.toMatchObject(unavailable);
    expect([follower.state, follower.hasRoom(1)]).toEqual(['serving', true]);
    await expectEqual(leader, follower);
  });

  test('that is led by another one is never written to again, and its process is told once', async () => {
    const first = await open('a');
    const told: unknown[] = [];
    await first.lead((why) => told.push(why));
    const second = await open('b');
    await first.commit([put('before', '1')]);
    await second.lead(ignore);
    expect(await second.get('before')).toEqual(Buffer.from('1'));
    await second.commit([put('after', '1')]);
    const late = Array.from({ length: 600 }, (_, at) => first.commit([put(`late/${at}`, 'x')]));
    for (const each of late) await expect(each).rejects.toMatchObject(unavailable);
    await expect(first.write([put('later', 'x')])).rejects.toMatchObject(unavailable);
    await expect(first.get('before')).rejects.toMatchObject(unavailable);
    await eventually(() => expect(told).toEqual([expect.objectContaining(unavailable)]));
    expect(first.state).toBe('failed');
    const keys = (await stepsOf(connection, log)).flat().map((each) => each.key);
    expect(keys).toEqual(['before', 'after']);
  });

  test('loses the lead to another one also when that one comes while it writes all the time', async () => {
    const first = await openLeader('a');
    let isOver = false;
    const writing = (async () => {
      const acknowledged: number[] = [];
      try {
        for (let at = 0; !isOver; at += 1) {
          await first.commit([put(`n/${at}`, 'x')]);
          acknowledged.push(at);
        }
      } catch {
        // It is fenced.
      }
      return acknowledged;
    })();
    const second = await open('b');
    await eventually(async () => expect((await second.progress()).last).toBeGreaterThan(50));
    await second.lead(ignore);
    await second.commit([put('second', '1')]);
    const acknowledged = await writing;
    isOver = true;
    const values = await second.getMany(acknowledged.map((at) => `n/${at}`));
    expect(values.every((each) => each !== undefined)).toBe(true);
  });

  test('takes steps that are larger than a message, whole or not at all', async () => {
    const leader = await openLeader('a');
    const follower = await open('b');
    const large = randomBytes(4 * 1024 * 1024 + 17);
    await leader.commit([put('small', '1'), put('large', large), put('after', '2')]);
    await expectEqual(leader, follower);
    expect((await follower.get('large'))?.equals(large)).toBe(true);
    await scope[Symbol.asyncDispose]();

    // A leader that died in the middle of a step.
    const { streams } = await jetstreamManager(connection);
    const { last_seq: seq } = (await streams.info(streamOf(log))).state;
    const last = await streams.getMessage(streamOf(log), { seq });
    const parts = [...encodeStep([put('half', large)], crcOf(Buffer.from(last!.data)), 1_000_000)];
    for (const part of parts.slice(0, 2)) await jetstream(connection).publish(subjectOf(log), part);
    scope = new Scope();
    const next = await openLeader('b');
    const other = await open('c');
    await next.commit([put('next', '1')]);
    await expectEqual(next, other);
    expect(await other.getMany(['half', 'next'])).toEqual([undefined, Buffer.from('1')]);
    expect(traced).toEqual([]);
  });

  test('refuses a step above the limit, and goes on', async () => {
    const leader = await openLeader('a', { stepBytesMax: 1_000 });
    await expect(leader.commit([put('x', randomBytes(2_000))])).rejects.toMatchObject({
      code: 'TOO_LARGE',
    });
    await leader.commit([put('y', '1')]);
    expect(await leader.getMany(['x', 'y'])).toEqual([undefined, Buffer.from('1')]);
  });

  test('replaces an old log by a snapshot, from which replicas that are new or too late begin', async () => {
    const limits = { snapshotAfterBytes: 200_000 };
    const late = await open('late');
    const leader = await openLeader('a', limits);
    await leader.commit([put('early', '1')]);
    await eventually(async () => expect(await late.get('early')).toBeDefined());
    await late[Symbol.asyncDispose]();
    for (let at = 0; (await firstOf()) < 100 && at < 5_000; at += 1)
      await leader.commit([put(`n/${at % 50}`, randomBytes(4_000)), put('at', String(at))]);
    expect(await firstOf()).toBeGreaterThan(100);
    expect(traced.filter((each) => !each.includes('a snapshot was written'))).toEqual([]);
    const again = await open('late');
    const fresh = await open('new');
    await leader.commit([put('last', '1')]);
    await expectEqual(leader, again, fresh);
    expect(await fresh.get('early')).toEqual(Buffer.from('1'));
    const { streams } = await jetstreamManager(connection);
    const copies = await streams.info(`${streamOf(log)}_snapshots`, { subjects_filter: '>' });
    expect(Object.keys(copies.state.subjects ?? {}).length).toBeLessThanOrEqual(3);
    // And one that began so can lead.
    await fresh.lead(ignore);
    await fresh.commit([put('new leader', '1')]);
    await expectEqual(again, fresh);
  });

  test('that found its log full makes room when it leads', async () => {
    const full = { logBytesMax: 300_000 };
    const first = await openLeader('a', { ...full, awayMsMax: 200 });
    // Made with the small limit, and led by one that knows of none: it writes no snapshot.
    await first[Symbol.asyncDispose]();
    const second = await openLeader('a', { awayMsMax: 200 });
    let acknowledged = 0;
    while (second.state === 'serving')
      await second.commit([put(`n/${acknowledged}`, randomBytes(10_000))]).then(
        () => (acknowledged += 1),
        (error: unknown) => expect(error).toMatchObject(unavailable),
      );
    expect(acknowledged).toBeGreaterThan(10);
    await second[Symbol.asyncDispose]();
    const third = await openLeader('b', full);
    for (let at = 0; at < 100; at += 1) await third.commit([put('x', randomBytes(10_000))]);
    expect(await third.get(`n/${acknowledged - 1}`)).toBeDefined();
    await expectEqual(third, await open('c'));
  });

  test('begins with the older snapshot when the newest cannot be read', async () => {
    const leader = await openLeader('a', { snapshotAfterBytes: 100_000 });
    while ((await firstOf()) < 50) await leader.commit([put('x', randomBytes(4_000))]);
    await leader[Symbol.asyncDispose]();
    const { streams } = await jetstreamManager(connection);
    const copies = `${streamOf(log)}_snapshots`;
    const { subjects = {} } = (await streams.info(copies, { subjects_filter: '>' })).state;
    const newest = Object.keys(subjects).sort().at(-1)!;
    // As many messages as before, and a manifest at the end: one of them is not what was written.
    const end = await streams.getMessage(copies, { last_by_subj: newest });
    await streams.purge(copies, { filter: newest });
    for (let at = 1; at < subjects[newest]!; at += 1)
      await jetstream(connection).publish(newest, Buffer.from('damaged'));
    await jetstream(connection).publish(newest, end!.data);
    const fresh = await open('b');
    await fresh.lead(ignore);
    expect(traced.join()).toContain('a snapshot cannot be read');
    await expectEqual(fresh, await open('a'));
  });

  test('is there again when the folder of its replica was deleted', async () => {
    const leader = await openLeader('a');
    for (let at = 0; at < 100; at += 1) await leader.commit([put(`n/${at}`, randomBytes(100))]);
    const before = await digestOf(leader);
    await leader[Symbol.asyncDispose]();
    rmSync(place('a'), { recursive: true });
    const again = await open('a');
    await eventually(async () => expect(await digestOf(again)).toBe(before));
  });

  test('three replicas are equal after 5 000 random operations with changes of leader', async () => {
    const stores = await Promise.all(['a', 'b', 'c'].map((each) => open(each)));
    const expected = new Map<string, string>();
    let operations = 0;
    for (let reign = 0; operations < 5_000; reign += 1) {
      const at = reign % stores.length;
      const leader = stores[at] as LogStore;
      await leader.lead(ignore);
      const writes: Promise<void>[] = [];
      for (let n = 0; n < 150; n += 1) {
        const step = Array.from({ length: 1 + Math.floor(Math.random() * 6) }, () =>
          Math.random() < 0.3
            ? ({ type: 'del', key: `k/${Math.floor(Math.random() * 400)}` } as const)
            : put(
                `k/${Math.floor(Math.random() * 400)}`,
                randomBytes(Math.random() < 0.01 ? 300_000 : Math.floor(Math.random() * 300)),
              ),
        );
        operations += step.length;
        for (const each of step)
          if (each.type === 'put') expected.set(each.key, each.value.toString('hex'));
          else expected.delete(each.key);
        writes.push(n % 2 === 0 ? leader.commit(step) : leader.write(step));
      }
      // Not awaited by every leader: what was handed over is written before it closes.
      if (reign % 2 === 0) await Promise.all(writes);
      await leader[Symbol.asyncDispose]();
      stores[at] = await open(['a', 'b', 'c'][at] as string);
    }
    await expectEqual(...stores);
    const found: [string, string][] = [];
    for await (const [key, value] of stores[0]!.entries({ prefix: 'k/' }))
      found.push([key, value.toString('hex')]);
    expect(found).toEqual([...expected].sort(([a], [b]) => (a < b ? -1 : 1)));
  }, 120_000);

  test('whose leaders are killed while they commit and write snapshots has all that was acknowledged', async () => {
    const standby = await open('b');
    const script = fileURLToPath(new URL('../support/log-writer.mjs', import.meta.url));
    const acknowledged: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const first = round * 1_000_000;
      const child = fork(script, [server.url, log, place(`a${round % 2}`), String(first)]);
      const enough = acknowledged.length + 300 + Math.floor(Math.random() * 200);
      child.on('message', (n: number) => acknowledged.push(n));
      const exited = new Promise((resolve) => child.once('exit', resolve));
      await eventually(() => expect(acknowledged.length).toBeGreaterThan(enough));
      child.kill('SIGKILL');
      await exited;
    }
    expect(await firstOf()).toBeGreaterThan(1);
    await standby.lead(ignore);
    const values = await standby.getMany(acknowledged.map((n) => `n/${n}`));
    expect(acknowledged.filter((_, at) => values[at] === undefined)).toEqual([]);
    await standby.commit([put('next', '1')]);
    await expectEqual(standby, await open('a0'), await open('c'));
  });

  test('whose log holds what is no entry says so, and does not go past it', async () => {
    const leader = await openLeader('a');
    await leader.commit([put('x', '1')]);
    await leader[Symbol.asyncDispose]();
    await jetstream(connection).publish(subjectOf(log), Buffer.from('not an entry'));
    const store = await open('b');
    await expect(store.lead(ignore)).rejects.toMatchObject({ code: 'LOG_CORRUPT' });
    await eventually(() => expect(traced.join()).toContain('LOG_CORRUPT'));
    expect(await store.progress()).toEqual({ applied: 2, last: 3 });
    expect(await store.get('x')).toEqual(Buffer.from('1'));
  });

  test('of another layout is refused', async () => {
    const leader = await openLeader('a');
    await leader[Symbol.asyncDispose]();
    const other = scope.own(
      await openLogStore(connection, { log, folder: place('b'), layout: factsLayout }),
    );
    await expect(other.lead(ignore)).rejects.toMatchObject({ code: 'STORE_SCHEMA' });
  });

  describe('whose folder holds something else', () => {
    test('refuses a store that is no replica', async () => {
      {
        await using store = await openTestStore(place('a'));
        await store.commit([put('mine', '1')]);
      }
      await expect(open('a')).rejects.toMatchObject({ code: 'STORE_NOT_EMPTY' });
      await using store = await openTestStore(place('a'));
      expect(await store.get('mine')).toEqual(Buffer.from('1'));
    });

    test('keeps a replica of another log aside, and begins anew', async () => {
      const leader = await openLeader('a');
      for (let at = 0; at < 20; at += 1) await leader.commit([put(`old/${at}`, '1')]);
      await leader[Symbol.asyncDispose]();
      const { streams } = await jetstreamManager(connection);
      await streams.delete(streamOf(log));
      await streams.delete(`${streamOf(log)}_snapshots`);
      const other = await openLeader('b');
      for (let at = 0; at < 50; at += 1) await other.commit([put(`new/${at}`, '1')]);
      const again = await open('a');
      await expectEqual(other, again);
      const aside = readdirSync(folder.path).find((each) => each.startsWith('a.not-of-log-'));
      await using kept = await openTestStore(place(aside!));
      expect(await kept.get('old/19')).toEqual(Buffer.from('1'));
    });
  });
});
