import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kvm } from '@nats-io/kv';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inOffice, replicaOf, type Office } from '../../services/office.js';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { noTrace } from '../../src/base/trace.js';
import { loadConfig } from '../../src/config/config.js';
import { BusError } from '../../src/errors/bus-error.js';
import type { ErrorCode } from '../../src/errors/catalogue.js';
import { readLease } from '../../src/nats/lease.js';
import { LogStore } from '../../src/nats/log-store.js';
import { leasesOf, logOf, subjectsOf } from '../../src/nats/subjects.js';
import { openLog } from '../../src/observe/log.js';
import { busLayout } from '../../src/store/layouts.js';
import type { Store } from '../../src/store/port.js';
import { eventually } from '../support/eventually.js';
import { startProxy } from '../support/nats-proxy.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma, startProcess } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';
import { temporaryFolder } from '../support/temporary.js';

const without = fileURLToPath(new URL('../support/without.mjs', import.meta.url));
const child = fileURLToPath(new URL('support/office.mjs', import.meta.url));
/** A lease of a process that gave no sign runs out in 15 s. */
const takeoverMsMax = 45_000;
let server: NatsServer;
let buses = 0;
const ignore = (): void => undefined;

/** A time in which a process led. */
interface Term {
  epoch: number;
  store: Store;
  /** Why its work was told to end. */
  why: string | undefined;
  /** Its work ends by itself, or fails. */
  end: (failure?: Error) => void;
}

interface Candidate {
  folder: string;
  terms: Term[];
  /** What it logged. */
  said: string[];
  stop: () => void;
  /** Resolves when it wants to lead no more. */
  ended: Promise<void>;
}

/** A bus of its own, and those who want to lead it. */
class Stage implements AsyncDisposable {
  readonly scope = new Scope();
  readonly bus: string;
  readonly #folder = temporaryFolder();
  readonly server: NatsServer;

  private constructor(its: NatsServer) {
    this.server = its;
    buses += 1;
    this.bus = `office-${buses}`;
    this.scope.defer(() => this.#folder.remove());
  }

  static async open(its = server): Promise<Stage> {
    const stage = new Stage(its);
    mkdirSync(stage.home, { mode: 0o700 });
    await stage.addIdentity('host-1', 'broker');
    return stage;
  }

  /** Whose its processes are that start from now on. */
  async addIdentity(agent: string, role: string): Promise<void> {
    const identity = this.at(`${agent}.json`);
    const where = ['--bus', this.addressAt(this.server.url), '--out', identity];
    const { code } = await sigma(this.home, ['keys', 'add', agent, '--role', role, ...where]);
    expect(code).toBe(0);
    writeFileSync(path.join(this.home, 'config.json'), JSON.stringify({ identity }));
  }

  get home(): string {
    return this.at('home');
  }

  at(name: string): string {
    return path.join(this.#folder.path, name);
  }

  addressAt(url: string): string {
    return `${url}/${this.bus}`;
  }

  start(name: string, url?: string): Candidate {
    const said: string[] = [];
    const log = openLog({ log: 'debug' }, {}, { write: (line) => void said.push(line) });
    let stop = ignore;
    const stopped = new Promise<string>((resolve) => (stop = () => resolve('a signal')));
    const terms: Term[] = [];
    const serve = async ({ open, nats, ended }: Office): Promise<void> => {
      const store = await open();
      let end: Term['end'] = ignore;
      const own = new Promise<void>(
        (resolve, reject) =>
          (end = (failure) => (failure === undefined ? resolve() : reject(failure))),
      );
      const term: Term = { epoch: nats?.epoch ?? 0, store, why: undefined, end };
      terms.push(term);
      await Promise.race([ended.then((why) => (term.why = why)), own]);
    };
    const folder = this.at(name);
    const config = loadConfig({
      SIGMA_HOME: this.home,
      ...(url !== undefined && { SIGMA_BUS: this.addressAt(url) }),
    });
    const openLocal = (): never => expect.unreachable();
    const shared = { name: 'bus', role: 'broker', layout: busLayout };
    const ended = inOffice(config, { ...shared, folder, log, stopped, openLocal }, serve);
    // What it throws is asked for later.
    ended.catch(ignore);
    this.scope.defer(() => (stop(), ended.catch(ignore)));
    return { folder, terms, said, stop, ended };
  }

  /** In a process of its own; resolves when it leads. */
  async startProcess(name: string): Promise<{ epoch: number; kill: () => Promise<unknown> }> {
    const its = fork(child, [this.home, this.at(name)]);
    const exited = once(its, 'exit');
    const kill = (): Promise<unknown> => (its.kill('SIGKILL'), exited);
    this.scope.defer(async () => void (await kill()));
    const [epoch] = (await Promise.race([once(its, 'message'), exited])) as [number];
    return { epoch, kill };
  }

  /** Who leads by the lease. */
  async holder(): Promise<string | undefined> {
    const connection = await this.server.connect();
    return (await readLease(connection, leasesOf(this.bus), 'bus'))?.holder;
  }

  /** Without asking who holds it. */
  async writeLease(text: string): Promise<void> {
    const kvm = new Kvm(await this.server.connect());
    await (await kvm.open(leasesOf(this.bus))).put('bus', text);
  }

  /** Without the lease. */
  async openStore(): Promise<LogStore> {
    const { log } = subjectsOf(this.bus);
    return this.scope.own(
      await LogStore.open({
        ...{ connection: await this.server.connect(), replicas: 1, folder: this.at('intruder') },
        ...{ stream: logOf(this.bus, 'bus'), subject: log('bus'), layout: busLayout },
        ...{ clock: systemClock, random: Math.random, trace: noTrace },
      }),
    );
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.scope[Symbol.asyncDispose]();
  }
}

const led = (its: Candidate, count = 1, withinMs?: number): Promise<Term> =>
  eventually(() => expect(its.terms).toHaveLength(count), withinMs).then(
    () => its.terms[count - 1] as Term,
  );
const hears = (its: Candidate, text: string, count = 1): Promise<void> =>
  eventually(() => expect(its.said.filter((line) => line.includes(text))).toHaveLength(count));
const waits = (its: Candidate, count = 1): Promise<void> => hears(its, '"waiting to lead"', count);
const put = (term: Term, key: string): Promise<void> =>
  term.store.commit([{ type: 'put', key, value: Buffer.from('1') }]);
const has = async ({ store }: Term, key: string): Promise<boolean> =>
  (await store.get(key)) !== undefined;

beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server[Symbol.asyncDispose]());

describe.concurrent('of several processes that want to lead', () => {
  test('one does; when it ends in order it gives the lease back, and the next one has all it wrote', async () => {
    await using stage = await Stage.open();
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

  test(
    'the next one follows one that was killed',
    async () => {
      await using stage = await Stage.open();
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
      await using stage = await Stage.open();
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
    await using stage = await Stage.open();
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
    await using stage = await Stage.open();
    const only = stage.start('a');
    const its = await led(only);
    const intruder = await stage.openStore();
    await intruder.lead(ignore);
    await expect(put(its, 'late')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const again = await led(only, 2);
    expect(its.why).toBe('another leads');
    expect(await has(again, 'late')).toBe(false);
  });

  test('one whose work fails for now tries again; for good, it ends, and the next one leads', async () => {
    await using stage = await Stage.open();
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
    await using stage = await Stage.open();
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
    await using stage = await Stage.open();
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
    await using stage = await Stage.open();
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
    await using stage = await Stage.open();
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
