import { readSecret } from '../../src/config/keys.js';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig, type Config } from '../../src/config/config.js';
import { noTrace, type Trace } from '../../src/base/trace.js';
import { plainRecord } from '../../src/client/registration.js';
import { openClient } from '../../src/remote/open-client.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { Host } from '../../src/pgc/serve/host.js';
import { handOverType, recordOf } from '../../src/pgc/serve/hosted-shard.js';
import { claim, type HostBus } from '../../src/pgc/serve/take-over.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { memoryHarness } from '../support/networks.js';
import { startSigma } from '../support/sigma.js';
import { testBus } from '../support/bus.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function setUp(): { root: string; config: Config } {
  const { root, home, remove } = chainRepository();
  ends.push(remove);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const config = loadConfig({ SIGMA_HOME: home, SIGMA_LOG: 'silent' });
  return { root, config };
}

function busOf(config: Config, trace: Trace = noTrace): HostBus {
  return { connect: (identity) => openClient(config, identity), trace };
}

function hostOf(root: string, config: Config, bus: HostBus): InstanceType<typeof Host> {
  const { home } = config;
  const options = { share: 'all', memoryBytes: 2 ** 30, takesOver: true } as const;
  return new Host({ folder: root, home, options, bus });
}

test('a host that is told to stop while it loads waits for no broker', async () => {
  const { root, config } = setUp();
  await indexFolder({ root, home: config.home, jobs: 0, shards: 'auto' });
  const host = hostOf(root, config, busOf(config));
  const loading = host.load();
  const outcome = expect(loading).rejects.toMatchObject({ code: 'INTERRUPTED' });
  await host.close();
  await outcome;
}, 30_000);

test('a tree that is asked about before its index is read counts as soon as it is', async () => {
  const { root, config } = setUp();
  await indexFolder({ root, home: config.home, jobs: 0, shards: 'auto' });
  const traced: { what: string; bytes: unknown }[] = [];
  const trace: Trace = (_, what, fields) => void traced.push({ what, bytes: fields?.bytes });
  const host = hostOf(root, config, busOf(config, trace));
  host.reserveTree();
  host.reserveTree()[Symbol.dispose]();
  const loading = host.load();
  loading.catch(() => undefined);
  const ofMemory = () => traced.filter(({ what }) => /memory|whole tree/.test(what));
  await eventually(() => expect(ofMemory()).toHaveLength(2));
  expect(ofMemory().map(({ what }) => what)).toEqual([
    'memory for shards',
    'the whole tree is open',
  ]);
  expect(ofMemory()[1]?.bytes).toBeGreaterThan(0);
  await host.close();
  await expect(loading).rejects.toMatchObject({ code: 'INTERRUPTED' });
}, 30_000);

test('a host that is told to stop while a shard is handed over to it leaves the shard where it is', async () => {
  const { root, config } = setUp();
  const bus = startSigma(config.home, ['bus']);
  ends.push(async () => {
    bus.process.kill('SIGTERM');
    await bus.ended;
  });
  const id = 'pgc-tree-mm-1';
  const holder = Client.connect({
    link: new ZeromqLink(`ipc://${path.join(config.home, 'run/bus.sock')}`),
    identity: { agent: id, role: 'pgc', isEphemeral: false },
    secretOf: () => readSecret(config.home, 'pgc'),
    clock: systemClock,
    random: Math.random,
  });
  ends.push(() => holder.close());
  const over = new AbortController();
  holder.serve({
    [handOverType]: (request) => {
      request.progress(Buffer.alloc(0));
      over.abort();
      return new Promise(() => undefined);
    },
  });
  await holder.ready({ withinMs: 20_000 });
  const shard = { alias: 'mm', project: 'tree', root, scope: ['mm'], indexVersion: '1' };
  await holder.register(recordOf({ ...shard, overlays: {} }, 'plan'));
  const begun: string[] = [];
  const claimed = claim(
    busOf(config),
    { ids: [id], path: root, takesOver: true, signal: over.signal },
    (each) => Promise.resolve(void begun.push(each)),
  );
  await expect(claimed).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect(begun).toEqual([]);
}, 30_000);

test('a shard that is called like an agent is served under a longer name and bars no agent', async () => {
  const { root, config } = setUp();
  const folders = ['executor', 'critic', 'taken', 'free'];
  for (const folder of folders) {
    mkdirSync(path.join(root, folder));
    writeFileSync(path.join(root, folder, 'a.c'), `int of_${folder}(void) { return 1; }\n`);
  }
  const shards = folders.map((alias) => ({ alias, paths: [alias] }));
  await indexFolder({ root, home: config.home, jobs: 0, shards: { shards } });
  const bus = testBus(memoryHarness());
  ends.push(() => bus.close());
  await bus.start();
  const other = await bus.client('other', { role: 'client' });
  await other.register({ ...plainRecord('taken', []) });
  const connect: HostBus['connect'] = ({ agent, role }) => bus.dial(agent, { role });
  const host = hostOf(root, config, { connect, trace: noTrace });
  ends.push(() => host.close());
  await host.load();
  const agents = await other.agents({ role: 'pgc' });
  expect(agents.map(({ record }) => record.alias).toSorted()).toEqual([
    'free',
    'tree-critic',
    'tree-executor',
    'tree-taken',
  ]);
  expect((await bus.client('executor', { role: 'executor' })).state).toBe('live');
}, 30_000);
