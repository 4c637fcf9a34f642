import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kvm } from '@nats-io/kv';
import { expect } from 'vitest';
import { inOffice, type Office } from '../../services/office.js';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { noTrace } from '../../src/base/trace.js';
import { loadConfig } from '../../src/config/config.js';
import { readLease } from '../../src/nats/lease.js';
import { LogStore } from '../../src/nats/log-store.js';
import { leasesOf, logOf, subjectsOf } from '../../src/nats/subjects.js';
import { openLog } from '../../src/observe/log.js';
import { busLayout } from '../../src/store/layouts.js';
import type { Store } from '../../src/store/port.js';
import { eventually } from './eventually.js';
import type { NatsServer } from './nats-server.js';
import { sigma } from './sigma.js';
import { temporaryFolder } from './temporary.js';

const child = fileURLToPath(new URL('office-process.mjs', import.meta.url));
let buses = 0;
const ignore = (): void => undefined;

/** A time in which a process led. */
export interface Term {
  epoch: number;
  store: Store;
  /** Why its work was told to end. */
  why: string | undefined;
  /** Its work ends by itself, or fails. */
  end: (failure?: Error) => void;
}

export interface Candidate {
  folder: string;
  terms: Term[];
  /** What it logged. */
  said: string[];
  stop: () => void;
  /** Resolves when it wants to lead no more. */
  ended: Promise<void>;
}

/** A bus of its own, and those who want to lead it. */
export class Stage implements AsyncDisposable {
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

  static async open(its: NatsServer): Promise<Stage> {
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

export const led = (its: Candidate, count = 1, withinMs?: number): Promise<Term> =>
  eventually(() => expect(its.terms).toHaveLength(count), withinMs).then(
    () => its.terms[count - 1] as Term,
  );
export const hears = (its: Candidate, text: string, count = 1): Promise<void> =>
  eventually(() => expect(its.said.filter((line) => line.includes(text))).toHaveLength(count));
export const waits = (its: Candidate, count = 1): Promise<void> =>
  hears(its, '"waiting to lead"', count);
export const put = (term: Term, key: string): Promise<void> =>
  term.store.commit([{ type: 'put', key, value: Buffer.from('1') }]);
export const has = async ({ store }: Term, key: string): Promise<boolean> =>
  (await store.get(key)) !== undefined;
