import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { noTrace } from '../../src/base/trace.js';
import type { Client } from '../../src/client/client.js';
import { indexFolder } from '../../src/pgc/build/index-folder.js';
import { Host } from '../../src/pgc/serve/host.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import { heldBy, TreeShare } from '../../src/pgc/serve/tree-share.js';
import type { HostBus } from '../../src/pgc/serve/take-over.js';
import { testBus, type TestBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { memoryHarness } from '../support/networks.js';
import { temporaryFolder } from '../support/temporary.js';

const gibibyte = 2 ** 30;
const aliases = Array.from({ length: 12 }, (_, at) => `part${at}`);
let bus: TestBus;
let folder: ReturnType<typeof temporaryFolder>;
let root: string;
let home: string;
let asker: Client;
const hosts: Sharing[] = [];

class Sharing {
  readonly clients: Client[] = [];
  readonly closed = new Set<Client>();
  readonly host: Host;
  readonly share: TreeShare;

  constructor(
    readonly agent: string,
    roomBytes = gibibyte,
    itsHome = home,
  ) {
    const hostBus: HostBus = {
      trace: noTrace,
      connect: ({ agent: id, isEphemeral }) => {
        const client = bus.dial(id, { role: 'pgc', isEphemeral });
        this.clients.push(client);
        const close = client.close.bind(client);
        client.close = () => {
          this.closed.add(client);
          return close();
        };
        return client;
      },
    };
    const options = { share: 'placed', memoryBytes: roomBytes, takesOver: false } as const;
    const capabilities = [heldBy(agent)];
    this.host = new Host({ folder: root, home: itsHome, options, bus: hostBus, capabilities });
    this.share = new TreeShare({ host: this.host, bus: hostBus, agent, roomBytes });
    hosts.push(this);
  }

  async begin(): Promise<this> {
    await this.host.load();
    await this.share.begin();
    return this;
  }

  async end(): Promise<void> {
    await this.share[Symbol.asyncDispose]();
    await this.host.close();
  }
}

beforeEach(async () => {
  folder = temporaryFolder();
  root = path.join(folder.path, 'tree');
  home = path.join(folder.path, 'home');
  for (const alias of aliases) {
    mkdirSync(path.join(root, alias), { recursive: true });
    writeFileSync(path.join(root, alias, 'a.c'), `int of_${alias}(void) { return 1; }\n`);
  }
  await build();
  bus = testBus(memoryHarness());
  await bus.start();
  asker = await bus.client('asker');
});
afterEach(async () => {
  for (const each of hosts.splice(0)) await each.end();
  await bus.close();
  folder.remove();
});

async function build(its = aliases, where = home): Promise<void> {
  const shards = its.map((alias) => ({ alias, paths: [alias] }));
  await indexFolder({ root, home: where, jobs: 0, shards: { shards } });
}

/** Aliases by host, of shards that are online. */
async function held(): Promise<Map<string, string[]>> {
  const by = new Map<string, string[]>();
  for (const { record, state } of await asker.agents({ role: 'pgc', project: 'tree' })) {
    if (state === 'offline') continue;
    const holder = record.capabilities.find((each) => each.startsWith('host:'))?.slice(5) ?? '';
    by.set(holder, [...(by.get(holder) ?? []), record.alias].sort());
  }
  return by;
}

const count = (by: Map<string, string[]>): number =>
  [...by.values()].reduce((sum, its) => sum + its.length, 0);

test('a host alone serves all shards; one that comes gets its share', async () => {
  await new Sharing('host-a').begin();
  expect((await held()).get('host-a')).toHaveLength(12);
  await new Sharing('host-b').begin();
  const by = await held();
  expect(count(by)).toBe(12);
  // 15 twelfths of a half, and one shard.
  for (const its of by.values()) expect(its.length).toBeLessThanOrEqual(8);
  expect([...by.keys()].sort()).toEqual(['host-a', 'host-b']);
});

test('a question is answered while its shard moves', async () => {
  await new Sharing('host-a').begin();
  const shards = await asker.agents({ role: 'pgc', project: 'tree' });
  let isOver = false;
  const asking = shards.map(async ({ record: { id } }) => {
    for (let asked = 0; !isOver || asked === 0; asked += 1)
      await asker.request(`agent:${id}`, shardMessages.card.type, Buffer.alloc(0), {
        deadlineMs: 20_000,
        isIdempotent: true,
      });
  });
  await new Sharing('host-b').begin();
  isOver = true;
  await Promise.all(asking);
  expect([...(await held()).keys()].sort()).toEqual(['host-a', 'host-b']);
}, 60_000);

test('hosts that start together share, and none ends', async () => {
  const all = ['host-a', 'host-b', 'host-c'].map((agent) => new Sharing(agent));
  await Promise.all(all.map((each) => each.begin()));
  await eventually(async () => {
    const by = await held();
    expect(count(by)).toBe(12);
    expect(by.size).toBe(3);
  }, 40_000);
}, 60_000);

test('a shard that went and came back leaves nothing open', async () => {
  const a = await new Sharing('host-a').begin();
  const b = await new Sharing('host-b').begin();
  await b.end();
  await eventually(async () => expect((await held()).get('host-a')).toHaveLength(12));
  const gone = a.clients.filter(({ state }) => state === 'closed');
  expect(gone.length).toBeGreaterThan(3);
  expect(gone.filter((client) => !a.closed.has(client))).toEqual([]);
}, 30_000);

test('a host that ends while it reads its index offers nothing', async () => {
  const a = new Sharing('host-a');
  await a.host.load();
  await a.end();
  await expect(a.share.begin()).rejects.toMatchObject({ code: 'INTERRUPTED' });
  const { services } = await asker.status();
  expect(services.filter(({ name }) => name.startsWith('shares.'))).toEqual([]);
});

test('what a host served that is gone the others serve', async () => {
  const a = await new Sharing('host-a').begin();
  await new Sharing('host-b').begin();
  await new Sharing('host-c').begin();
  expect(count(await held())).toBe(12);
  expect([...(await held()).keys()].sort()).toEqual(['host-a', 'host-b', 'host-c']);
  await Promise.all(a.clients.map((client) => client.close()));
  await eventually(async () => {
    const by = await held();
    expect(count(by)).toBe(12);
    expect([...by.keys()].sort()).toEqual(['host-b', 'host-c']);
  });
}, 30_000);

test('a host with more room gets more', async () => {
  await new Sharing('host-a', gibibyte).begin();
  await new Sharing('host-b', 5 * gibibyte).begin();
  const by = await held();
  expect(by.get('host-b')!.length).toBeGreaterThan(by.get('host-a')!.length);
});

test('shards of a host that does not share are left to it, and taken when it ends', async () => {
  const options = { share: new Set(['part0']), memoryBytes: gibibyte, takesOver: false } as const;
  const connect: HostBus['connect'] = ({ agent, role }) => bus.dial(agent, { role });
  const plain = new Host({ folder: root, home, options, bus: { connect, trace: noTrace } });
  await plain.load();
  await new Sharing('host-a').begin();
  expect((await held()).get('')).toEqual(['part0']);
  expect((await held()).get('host-a')).toHaveLength(11);
  await plain.close();
  await eventually(async () => expect((await held()).get('host-a')).toHaveLength(12));
});

test('a host with another plan shares with its like; shards that it lacks stay where they are', async () => {
  const other = path.join(folder.path, 'other');
  await build(aliases.slice(0, 4), other);
  await new Sharing('host-a').begin();
  const b = await new Sharing('host-b', gibibyte, other).begin();
  expect((await held()).get('host-a')).toHaveLength(12);
  await build(aliases, other);
  await b.host.reloadIfNewer();
  await b.share.indexChanged();
  await eventually(async () => {
    const by = await held();
    expect(by.get('host-b')?.length).toBeGreaterThan(3);
    expect(count(by)).toBe(12);
  });
});

test('a broker that was away finds the shards again where they were', async () => {
  await new Sharing('host-a').begin();
  await new Sharing('host-b').begin();
  const before = await held();
  await bus.crash();
  await bus.start();
  await eventually(async () => expect(await held()).toEqual(before));
}, 30_000);

test('only hosts of shards may say that they have room', async () => {
  await expect(asker.offer(['shares.0123456789abcdef.4096'])).rejects.toMatchObject({
    code: 'UNAUTHORISED',
  });
});
