import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import type { Client } from '../../src/client/client.js';
import { loadConfig } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import { openClient } from '../../src/remote/open-client.js';
import { compareKept, copyKept } from '../../src/store/move.js';
import type { Store } from '../../src/store/port.js';
import { recordOf } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { openLogStore } from '../support/log-store.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma, startProcess, startSigma, type Running } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

let server: NatsServer;
let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let address: string;
let buses = 0;
const running: Running[] = [];
const clients: Client[] = [];

const at = (name: string): string => path.join(folder.path, name);
const storePath = (): string => path.join(home, 'bus/store');
const beside = (part: string): string[] =>
  readdirSync(path.join(home, 'bus')).filter((each) => each.startsWith(`store.${part}`));

/** As the candidate to lead the bus. */
async function asBroker(...args: string[]): Promise<{ code: number | string; json: any }> {
  const command = startSigma(home, [...args, '--json'], { SIGMA_IDENTITY: at('bus-1.json') });
  const code = await command.ended;
  return { code, json: JSON.parse(command.output().trim().split('\n').at(-1) ?? '') };
}
const migrate = (...args: string[]) => asBroker('bus', 'migrate', ...args);

function start(where: 'local' | 'nats'): Running {
  const env = where === 'nats' ? { SIGMA_IDENTITY: at('bus-1.json') } : undefined;
  const broker = startSigma(home, ['bus', '--log', 'warn'], env);
  running.push(broker);
  return broker;
}

async function stop(broker: Running): Promise<void> {
  broker.process.kill('SIGTERM');
  await broker.ended;
}

/** An agent of the bus on that side, which has an address there. */
async function join(where: 'local' | 'nats', agent: string, role: string): Promise<Client> {
  const config = loadConfig({
    ...{ SIGMA_HOME: home, SIGMA_LOG: 'silent' },
    ...(where === 'nats' && { SIGMA_IDENTITY: at(`${agent}.json`) }),
  });
  const client = openClient(config, { agent, role, isEphemeral: false });
  clients.push(client);
  await client.ready({ withinMs: 25_000 });
  await client.register(recordOf(agent));
  return client;
}

const bodyOf = async (client: Client): Promise<string> => {
  const { view, body } = await client.take({ deadlineMs: 20_000 });
  client.settle([view.seq]);
  return Buffer.from(body).toString();
};

/** A store with much in it. */
async function fill(entries: number, bytes: number, its = home): Promise<void> {
  await using store = await openTestStore(path.join(its, 'bus/store'));
  for (let n = 0; n < entries; n += 1)
    await store.write([{ type: 'put', key: `much/${n}`, value: Buffer.alloc(bytes, n) }]);
  await store.commit([{ type: 'put', key: 'much/end', value: Buffer.from('end') }]);
}

const countIn = async (store: Store, prefix: string): Promise<number> => {
  let count = 0;
  for await (const _ of store.keys({ prefix })) count += 1;
  return count;
};

describe('a bus that moves', () => {
  beforeAll(async () => {
    server = await startNats();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = temporaryFolder();
    home = at('home');
    buses += 1;
    address = `${server.url}/bus${buses}`;
    for (const [agent, role] of [
      ...[['bus-1', 'broker'] as const, ['worker', 'executor'] as const],
      ...[['ann', 'client'] as const, ['chief', 'operator'] as const],
    ]) {
      const args = ['--role', role, '--bus', address, '--out', at(`${agent}.json`)];
      expect((await sigma(home, ['keys', 'add', agent, ...args])).code).toBe(0);
    }
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((each) => each.close()));
    await Promise.all(running.splice(0).map(stop));
    folder.remove();
  });

  test('has on the other side what it kept: waiting, leased and delayed messages, and dead letters', async () => {
    const local = start('local');
    const [worker, ann] = [
      await join('local', 'worker', 'executor'),
      await join('local', 'ann', 'client'),
    ];
    const post = (body: string, more: object = {}) =>
      ann.post('agent:worker', 'text', Buffer.from(body), more);
    await post('riddle');
    const receiving = await worker.receive(() => {
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'no idea' });
    });
    await eventually(async () => expect((await ann.status()).dead_letters).toBe(1));
    await receiving[Symbol.asyncDispose]();
    await post('leased');
    await post('waits', { orderKey: 'k' });
    await post('follows', { orderKey: 'k' });
    await post('delayed', { delayMs: 1_000 });
    expect(Buffer.from((await worker.take({ deadlineMs: 5_000 })).body).toString()).toBe('leased');
    expect(await ann.status()).toMatchObject({ leases: 1, dead_letters: 1 });
    expect((await migrate('--to', address)).json.error.code).toBe('BROKER_RUNNING');
    await Promise.all(clients.splice(0).map((each) => each.close()));
    await stop(local);

    const counts = { agents: 2, messages: 4, dead_letters: 1, bytes: expect.any(Number) };
    const { code, json } = await migrate('--to', address);
    expect([code, json]).toMatchObject([0, { from: storePath(), to: address, ...counts }]);
    expect([existsSync(storePath()), existsSync(json.moved_to)]).toEqual([false, true]);

    const there = start('nats');
    const chief = await join('nats', 'chief', 'operator');
    expect(await chief.status()).toMatchObject({ messages: 4, dead_letters: 1 });
    const again = await join('nats', 'worker', 'executor');
    expect(await bodyOf(again)).toBe('leased');
    expect(await bodyOf(again)).toBe('waits');
    await fill(1, 10, at('other'));
    for (const args of [
      ['--to', address, '--home', at('other')],
      ['--from', address],
    ])
      expect((await migrate(...args)).json.error.code, args[0]).toBe('BROKER_RUNNING');
    await Promise.all(clients.splice(0).map((each) => each.close()));
    await stop(there);

    const back = await migrate('--from', address);
    expect(back).toMatchObject({ code: 0, json: { messages: 2, dead_letters: 1, agents: 3 } });
    start('local');
    const last = await join('local', 'worker', 'executor');
    const bodies = [await bodyOf(last), await bodyOf(last)];
    expect(bodies.sort()).toEqual(['delayed', 'follows']);
  });

  test('is served on one side only', async () => {
    await fill(3, 10);
    expect((await migrate('--to', address)).code).toBe(0);
    expect((await migrate('--from', address)).code).toBe(0);
    const other = startSigma(at('other'), ['bus', '--log', 'warn'], {
      SIGMA_IDENTITY: at('bus-1.json'),
    });
    expect(await other.ended).toBe(1);
    expect(other.output()).toContain('STORE_MOVED');
    const twice = await migrate('--from', address, '--home', at('third'));
    expect(twice.json.error).toMatchObject({ code: 'STORE_MOVED' });
    expect(twice.json.error.text).toContain(storePath());
    expect(existsSync(path.join(at('third'), 'bus/store'))).toBe(false);
    const forced = await migrate('--from', address, '--home', at('third'), '--force');
    expect(forced).toMatchObject({ code: 0, json: { entries: 4 } });
  });

  test('replaces what is there only when it must', async () => {
    await fill(5, 10);
    expect((await migrate('--to', address)).code).toBe(0);
    await fill(2, 10);
    const refused = await migrate('--to', address);
    expect([refused.code, refused.json.error.code]).toEqual([1, 'STORE_NOT_EMPTY']);
    const forced = await migrate('--to', address, '--force');
    expect(forced).toMatchObject({ code: 0, json: { entries: 3, replaced: { entries: 6 } } });
    expect((await migrate('--from', address)).json).toMatchObject({ entries: 3 });
    expect(beside('')).toHaveLength(2);
  });

  test('may be larger than the log', async () => {
    await fill(300, 64 * 1024);
    await using source = await openTestStore(storePath());
    const limits = {
      logBytesMax: 4 * 1024 * 1024,
      snapshotAfterBytes: 1024 * 1024,
      awayMsMax: 1,
    };
    const log = { log: `large${buses}`, folder: at('replica'), limits };
    await using target = await openLogStore(await server.connect(), log);
    await target.lead(() => undefined);
    const { signal } = new AbortController();
    await copyKept(source, target, { clock: systemClock, signal });
    expect(await compareKept(source, target, 'there')).toMatchObject({ entries: 301 });
  });

  test('needs a store, a bus on NATS, and one direction', async () => {
    expect((await migrate('--to', address)).json.error.code).toBe('STORE_UNAVAILABLE');
    for (const args of [[], ['--to', address, '--from', address], ['--to', 'tcp://127.0.0.1:1']])
      expect((await migrate(...args)).json.error.code).toBe('USAGE');
  });

  test('that is killed on its way there is not served, and moves again', async () => {
    await fill(1_000, 64 * 1024);
    const { streams } = await jetstreamManager(await server.connect());
    const killed = startProcess(home, ['bus', 'migrate', '--to', address], {
      SIGMA_IDENTITY: at('bus-1.json'),
    });
    await eventually(async () =>
      expect((await streams.info(`SIGMA_bus${buses}_bus`)).state.messages).toBeGreaterThan(20),
    );
    killed.process.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    // The lease that was left behind has its time.
    const broker = startSigma(at('other'), ['bus'], { SIGMA_IDENTITY: at('bus-1.json') });
    expect(await broker.ended).toBe(1);
    expect(broker.output()).toContain('STORE_MOVED');
    expect((await migrate('--from', address, '--home', at('third'))).json.error.code).toBe(
      'STORE_MOVED',
    );
    const { json } = await migrate('--to', address);
    expect(json).toMatchObject({ entries: 1_001 });
    expect(json.replaced).toBeUndefined();
    expect(beside('replica-of-move')).toEqual([]);
  }, 90_000);

  test('that is killed on its way back is served where it was, and moves again', async () => {
    await fill(1_000, 64 * 1024);
    expect((await migrate('--to', address)).code).toBe(0);
    const killed = startProcess(home, ['bus', 'migrate', '--from', address], {
      SIGMA_IDENTITY: at('bus-1.json'),
    });
    await eventually(() => expect(beside('moving')).toHaveLength(1));
    killed.process.kill('SIGKILL');
    expect(await killed.ended).toBe('SIGKILL');
    expect(existsSync(storePath())).toBe(false);
    const there = start('nats');
    await join('nats', 'chief', 'operator');
    await stop(there);
    await fill(1, 10);
    expect((await migrate('--from', address)).json.error.code).toBe('STORE_NOT_EMPTY');
    const { json } = await migrate('--from', address, '--force');
    expect(json).toMatchObject({ entries: 1_002 });
    expect(existsSync(json.moved_to)).toBe(true);
    await using store = await openTestStore(storePath());
    expect(await countIn(store, 'much/')).toBe(1_001);
    for (const key of ['meta/move', 'meta/applied']) expect(await countIn(store, key)).toBe(0);
  }, 90_000);
});
