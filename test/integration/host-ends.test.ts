import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { loadConfig, type Config } from '../../src/config/config.js';
import { openLog } from '../../src/observe/log.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { Host } from '../../services/pgc/host.js';
import { handOverType, recordOf } from '../../services/pgc/hosted-shard.js';
import { claim } from '../../services/pgc/takeover.js';
import { eventually } from '../support/eventually.js';
import { chainRepository } from '../support/repository.js';
import { startSigma } from '../support/sigma.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function setUp(): { root: string; config: Config } {
  const { root, home, remove } = chainRepository();
  ends.push(remove);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const config = loadConfig({ SIGMA_HOME: home, SIGMA_LOG: 'silent', SIGMA_EMBEDDING: 'off' });
  return { root, config };
}

test('a host that is told to stop while it loads waits for no broker', async () => {
  const { root, config } = setUp();
  await indexFolder({ root, home: config.home, jobs: 0, shards: 'auto' });
  const options = { share: 'all', memoryBytes: 2 ** 30, takesOver: true } as const;
  const host = new Host(config, root, options, openLog(config, { service: 'pgc' }));
  const loading = host.load();
  const outcome = expect(loading).rejects.toMatchObject({ code: 'INTERRUPTED' });
  await host.close();
  await outcome;
}, 30_000);

test('a tree that is asked about before its index is read counts as soon as it is', async () => {
  const { root, config } = setUp();
  await indexFolder({ root, home: config.home, jobs: 0, shards: 'auto' });
  const told: { msg: string; bytes: number }[] = [];
  const write = (line: string): void => void told.push(JSON.parse(line) as (typeof told)[number]);
  const log = openLog({ ...config, log: 'info' }, { service: 'pgc' }, { write });
  const options = { share: 'all', memoryBytes: 2 ** 30, takesOver: true } as const;
  const host = new Host(config, root, options, log);
  host.reserveTree();
  host.reserveTree()[Symbol.dispose]();
  const loading = host.load();
  loading.catch(() => undefined);
  const ofMemory = () => told.filter(({ msg }) => /memory|whole tree/.test(msg));
  await eventually(() => expect(ofMemory()).toHaveLength(2));
  expect(ofMemory().map(({ msg }) => msg)).toEqual(['memory for shards', 'the whole tree is open']);
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
    config,
    openLog(config, { service: 'pgc' }),
    { ids: [id], path: root, takesOver: true, signal: over.signal },
    (each) => Promise.resolve(void begun.push(each)),
  );
  await expect(claimed).rejects.toMatchObject({ code: 'INTERRUPTED' });
  expect(begun).toEqual([]);
}, 30_000);
