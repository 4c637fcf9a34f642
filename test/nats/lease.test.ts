import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { NatsConnection } from '@nats-io/transport-node';
import { systemClock, type Clock } from '../../src/base/clock.js';
import { connectNats } from '../../src/nats/connect.js';
import { Lease, readLease } from '../../src/nats/lease.js';
import { VirtualClock } from '../support/virtual-clock.js';
import { startProxy } from '../support/nats-proxy.js';
import { startNats, type NatsServer } from '../support/nats-server.js';

describe('a lease', () => {
  let server: NatsServer;
  const connections: NatsConnection[] = [];
  let buckets = 0;
  beforeAll(async () => {
    server = await startNats();
  });
  afterEach(async () => {
    for (const connection of connections.splice(0)) await connection.close();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const contenders = (isGone?: () => Promise<boolean>, address = server.address) => {
    buckets += 1;
    const bucket = `lease_${buckets}`;
    const access = { servers: [address], isTls: false, bus: 'main', text: address };
    return async (
      agent: string,
      signal = new AbortController().signal,
      clock: Clock = systemClock,
    ) => {
      const connection = await connectNats({ ...access, agent }, { isLasting: true });
      connections.push(connection);
      return Lease.take(
        {
          ...{ connection, bucket, replicas: 1, key: 'bus', holder: agent, address },
          ...{ clock, ...(isGone && { isGone }) },
        },
        signal,
      );
    };
  };

  test('one of several leads; the next one follows when it is given back, in a later epoch', async () => {
    const take = contenders();
    const epochs: number[] = [];
    let leaders = 0;
    await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        const lease = await take(name);
        leaders += 1;
        expect(leaders).toBe(1);
        epochs.push(lease!.epoch);
        await new Promise((resolve) => setTimeout(resolve, 50));
        leaders -= 1;
        await lease![Symbol.asyncDispose]();
        await lease!.lost;
      }),
    );
    expect(new Set(epochs).size).toBe(3);
    expect([...epochs].sort((one, other) => one - other)).toEqual(epochs);
  });

  test('a holder that is gone without a word is followed when others know it, and then learns it', async () => {
    let isGone = false;
    const take = contenders(() => Promise.resolve(isGone));
    const old = await take('old');
    const waiting = new AbortController();
    const next = take('next', waiting.signal);
    let hasNext = false;
    void next.then(() => (hasNext = true));
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    expect(hasNext).toBe(false);
    isGone = true;
    const its = await next;
    expect(its!.epoch).toBeGreaterThan(old!.epoch);
    await old!.lost;
    await its![Symbol.asyncDispose]();
  });

  test('who waits can stop waiting', async () => {
    const take = contenders();
    const held = await take('held');
    const stop = new AbortController();
    const waiting = take('waits', stop.signal);
    stop.abort();
    expect(await waiting).toBeUndefined();
    await held![Symbol.asyncDispose]();
  });

  test('it outlives a server that is away for a moment', async () => {
    const take = contenders();
    const held = await take('held');
    let isLost = false;
    void held!.lost.then(() => (isLost = true));
    await server.kill();
    await server.start();
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(isLost).toBe(false);
    await held![Symbol.asyncDispose]();
  });

  test('one whose answer was lost finds that it leads, before the lease could run out', async () => {
    await using proxy = await startProxy(server);
    let writes = 0;
    proxy.onSaid = (text) => {
      const isWrite = text.includes('HPUB $KV.');
      if (isWrite) writes += 1;
      proxy.lose(isWrite && writes === 1 ? 'answers' : 'nothing');
    };
    const waiting = new AbortController();
    let beats = 0;
    const clock: Clock = {
      ...systemClock,
      after: (ms, fn) => {
        beats += 1;
        // Less than the lease lasts, one beat a second.
        if (beats === 8) waiting.abort();
        return systemClock.after(ms, fn);
      },
    };
    const held = await contenders(undefined, proxy.address)('held', waiting.signal, clock);
    // Behind the write that was lost.
    expect(held?.epoch).toBe(2);
    await held![Symbol.asyncDispose]();
  });

  test('it is given back although the answer to a renewal was lost', async () => {
    await using proxy = await startProxy(server);
    const held = await contenders(undefined, proxy.address)('held');
    let lost = 0;
    const isSilent = new Promise<void>((resolve) => {
      proxy.onSaid = (text) => {
        if (!text.includes('$KV.')) return;
        lost += 1;
        // That to the renewal, and to the question that follows.
        proxy.lose(lost <= 2 ? 'answers' : 'nothing');
        resolve();
      };
    });
    await isSilent;
    await held![Symbol.asyncDispose]();
    expect(lost).toBeGreaterThan(2);
    expect(await readLease(connections[0]!, `lease_${buckets}`, 'bus')).toBeUndefined();
  });

  test('the holder gives up before others take over, also while a server owes it an answer', async () => {
    const clock = new VirtualClock();
    const held = await contenders()('held', undefined, clock);
    let isLost = false;
    void held!.lost.then(() => (isLost = true));
    await server.kill();
    await clock.advance(12_000);
    expect(isLost).toBe(false);
    await clock.advance(1_000);
    expect(isLost).toBe(true);
    await server.start();
  });
});
