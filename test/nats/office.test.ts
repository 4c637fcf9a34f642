import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { replicaOf } from '../../services/office.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';
import { has, hears, led, put, Stage, waits } from '../support/office-stage.js';
import { startProxy } from '../support/nats-proxy.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma, startProcess } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';

const without = fileURLToPath(new URL('../support/without.mjs', import.meta.url));
/** A lease of a process that gave no sign runs out in 15 s. */
const takeoverMsMax = 45_000;
let server: NatsServer;

beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server[Symbol.asyncDispose]());

describe.concurrent('of several processes that want to lead', () => {
  test('one does; when it ends in order it gives the lease back, and the next one has all it wrote', async () => {
    await using stage = await Stage.open(server);
    const first = stage.start('a');
    const its = await led(first);
    const second = stage.start('b');
    await waits(second);
    await put(its, 'kept');
    expect(await stage.holder()).toBe('host-1');
    expect(second.terms).toEqual([]);
    first.stop();
    await first.ended;
    expect(its.why).toBe('a signal');
    const next = await led(second);
    expect(next.epoch).toBeGreaterThan(its.epoch);
    expect(await has(next, 'kept')).toBe(true);
    second.stop();
    await second.ended;
    expect(await stage.holder()).toBeUndefined();
  });

  test('the lease is given back when the store is closed, which could still be taking over', async () => {
    await using stage = await Stage.open(server);
    const proxy = stage.scope.own(await startProxy(server));
    const only = stage.start('a', proxy.url);
    const { store } = await led(only);
    const states: string[] = [];
    proxy.onSaid = (text) => {
      // An empty value: what follows the header has no bytes.
      if (/HPUB \$KV\.\S+ \S+ (\d+) \1\r\n/.test(text)) states.push(store.state);
    };
    only.stop();
    await only.ended;
    expect(states).toEqual(['failed']);
  });

  test(
    'the next one follows one that was killed',
    async () => {
      await using stage = await Stage.open(server);
      const first = await stage.startProcess('a');
      const second = stage.start('b');
      await waits(second);
      await first.kill();
      const next = await led(second, 1, takeoverMsMax);
      expect(next.epoch).toBeGreaterThan(first.epoch);
      expect(await has(next, 'led-by/killed')).toBe(true);
    },
    2 * takeoverMsMax,
  );

  test(
    'one that is cut off is told to stop, another follows, and it waits to lead again',
    async () => {
      await using stage = await Stage.open(server);
      const proxy = stage.scope.own(await startProxy(server));
      const first = stage.start('a', proxy.url);
      const its = await led(first);
      await put(its, 'before');
      const second = stage.start('b');
      await waits(second);
      proxy.lose('all');
      const next = await led(second, 1, takeoverMsMax);
      // Earlier than the next one may begin.
      expect(its.why).toBe('the lease is lost');
      expect(await has(next, 'before')).toBe(true);
      await put(next, 'after');
      await expect(put(its, 'never')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      proxy.lose('nothing');
      await waits(first, 2);
      second.stop();
      const again = await led(first, 2);
      expect(again.epoch).toBeGreaterThan(next.epoch);
      expect([await has(again, 'after'), await has(again, 'never')]).toEqual([true, false]);
    },
    2 * takeoverMsMax,
  );

  test('one whose lease another has written is told to stop, and leads when it is free again', async () => {
    await using stage = await Stage.open(server);
    const only = stage.start('a');
    const its = await led(only);
    await stage.writeLease('another');
    await waits(only, 2);
    expect(its.why).toBe('the lease is lost');
    expect(only.terms).toHaveLength(1);
    await stage.writeLease('');
    expect((await led(only, 2)).epoch).toBeGreaterThan(its.epoch);
  });

  test('one whose log another has led is told to stop at its next write, and leads again', async () => {
    await using stage = await Stage.open(server);
    const only = stage.start('a');
    const its = await led(only);
    const intruder = await stage.openStore();
    await intruder.lead(() => undefined);
    await expect(put(its, 'late')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const again = await led(only, 2);
    expect(its.why).toBe('another leads');
    expect(await has(again, 'late')).toBe(false);
  });

  test('one whose work fails for now tries again; for good, it ends, and the next one leads', async () => {
    await using stage = await Stage.open(server);
    const first = stage.start('a');
    const fails = (code: ErrorCode): BusError => new BusError(code, { detail: 'a test' });
    (await led(first)).end(fails('STORE_UNAVAILABLE'));
    const again = await led(first, 2);
    await hears(first, '"STORE_UNAVAILABLE"');
    const second = stage.start('b');
    await waits(second);
    again.end(fails('STORE_MOVED'));
    await expect(first.ended).rejects.toMatchObject({ code: 'STORE_MOVED' });
    await led(second);
  });

  test('one whose folder holds a store of another kind ends, and does not disturb the one that leads', async () => {
    await using stage = await Stage.open(server);
    const first = stage.start('a');
    const its = await led(first);
    const folder = replicaOf(stage.at('b'));
    {
      await using store = await openTestStore(folder);
      await store.commit([{ type: 'put', key: 'mail', value: Buffer.from('1') }]);
    }
    const second = stage.start('b');
    await expect(second.ended).rejects.toMatchObject({
      ...{ code: 'STORE_NOT_EMPTY', data: { path: folder } },
    });
    await put(its, 'after');
    expect(its.why).toBeUndefined();
    await using store = await openTestStore(folder);
    expect(await store.get('mail')).toBeDefined();
  });

  test('one that is stopped while it waits ends without having led, and lets go of its folder', async () => {
    await using stage = await Stage.open(server);
    const first = stage.start('a');
    const its = await led(first);
    const second = stage.start('b');
    await waits(second);
    second.stop();
    await second.ended;
    expect(second.terms).toEqual([]);
    await (await openTestStore(replicaOf(second.folder)))[Symbol.asyncDispose]();
    await put(its, 'after');
    expect(its.why).toBeUndefined();
  });
});

describe('while NATS is away', () => {
  test('at the start, one waits, and leads when it is back; it goes on over a restart', async () => {
    await using stage = await Stage.open(await startNats());
    const its = stage.scope.own(stage.server);
    await its.kill();
    const only = stage.start('a');
    await hears(only, '"NATS_UNAVAILABLE"');
    expect(only.terms).toEqual([]);
    await its.start();
    const term = await led(only);
    await its.kill();
    await its.start();
    await put(term, 'after');
    expect([only.terms.length, term.why]).toEqual([1, undefined]);
  });

  test('one that waits for it, or to lead, or leads, ends when it is told to', async () => {
    await using stage = await Stage.open(await startNats());
    const its = stage.scope.own(stage.server);
    const first = stage.start('a');
    await led(first);
    const second = stage.start('b');
    await waits(second);
    await its.kill();
    const third = stage.start('c');
    await hears(third, '"NATS_UNAVAILABLE"');
    for (const each of [third, second, first]) {
      each.stop();
      await each.ended;
    }
    expect([first, second, third].map((each) => each.terms.length)).toEqual([1, 0, 0]);
  });
});

test.each([
  ['bus', 'transport-node'],
  ['bus', 'jetstream'],
  ['bus', 'kv'],
  ['gateway', 'kv'],
])(
  'sigma %s without the package @nats-io/%s ends and says what to install',
  async (command, name) => {
    await using stage = await Stage.open(server);
    const role = command === 'bus' ? 'broker' : command;
    await stage.addIdentity(role, role);
    const its = startProcess(stage.home, [command], {
      ...{ NODE_OPTIONS: `--import=${without}`, WITHOUT: `@nats-io/${name}` },
    });
    stage.scope.defer(() => its.process.kill('SIGKILL'));
    expect(await its.ended, its.output()).toBe(1);
    expect(its.output()).toMatch(/NATS_MISSING[^]*npm install/);
  },
);

test.each(['bus', 'agent manager', 'gateway', 'bus migrate --to'])(
  'an identity of another role is refused at the start by sigma %s',
  async (command) => {
    await using stage = await Stage.open(server);
    await stage.addIdentity('net-1', 'pgc');
    const isMove = command.includes('migrate');
    if (isMove)
      await (await openTestStore(path.join(stage.home, 'bus/store')))[Symbol.asyncDispose]();
    const args = [
      ...command.split(' '),
      ...(isMove ? [stage.addressAt(server.url)] : []),
      '--json',
    ];
    const { code, json } = await sigma(stage.home, args);
    expect([code, json.error.code]).toEqual([2, 'KEY_FILE_INVALID']);
    expect(json.error.text).toContain('net-1 as pgc');
  },
);
