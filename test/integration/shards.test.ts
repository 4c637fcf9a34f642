import { afterEach, expect, test } from 'vitest';
import { callersOf } from '../../src/lattice/trace/call-sites.js';
import type { Lattice } from '../../src/lattice/lattice.js';
import { query } from '../../src/lattice/query/query.js';
import { systemClock } from '../../src/base/clock.js';
import { openLog } from '../../src/observe/log.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import type { Shard } from '../../src/pgc/serve/shard.js';
import { Shards } from '../../src/remote/shards.js';
import { agentIdOf, HostedShard, recordOf } from '../../src/pgc/serve/hosted-shard.js';
import { testBus, type TestBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { indexedTree, type IndexedTree } from '../support/indexed-tree.js';
import { memoryHarness } from '../support/networks.js';

const ends: (() => PromiseLike<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

interface Stage {
  tree: IndexedTree;
  bus: TestBus;
  host: (shard: Shard, plan?: string) => Promise<HostedShard>;
}

/** `caller` calls what `callee` defines; nobody is on the bus yet. */
async function setUp(): Promise<Stage> {
  const tree = await indexedTree(
    {
      'callee/pour.c':
        '/** pour_tea - pours the tea */\nint pour_tea(int cups)\n{\n\treturn cups;\n}\n',
      'caller/serve.c': 'int pour_tea(int);\nint serve(void)\n{\n\treturn pour_tea(2);\n}\n',
    },
    ['callee', 'caller'],
  );
  ends.push(() => tree[Symbol.asyncDispose]());
  const bus = testBus(memoryHarness());
  await bus.start();
  ends.push(() => bus.close());
  return {
    tree,
    bus,
    host: async (shard, plan = 'one') => {
      const client = await bus.client(agentIdOf(shard.index.info), { role: 'pgc' });
      const hosted = new HostedShard(client, {
        card: async () => shardMessages.card.answer.encode(await shard.card()),
        use: (work) => work(shard),
        stateOf: () => '',
      });
      const { info } = shard.index;
      await client.register(recordOf({ ...info, indexVersion: info.version }, plan));
      return hosted;
    },
  };
}

async function shardsOf(bus: TestBus): Promise<Shards> {
  const log = openLog({ log: 'silent' } as never, { service: 'test' });
  return new Shards(await bus.client('manager', { role: 'manager' }), log);
}

async function only(shards: Shards): Promise<Lattice> {
  const all = [...(await shards.lattices()).values()];
  expect(all).toHaveLength(1);
  return all[0]!;
}

async function callers(shards: Shards): Promise<{ found: number; failed: string[] }> {
  const answer = await callersOf(await only(shards), 'pour_tea');
  return {
    found: answer.callers.length,
    failed: answer.errors.map(({ agent, code }) => `${agent} ${code}`),
  };
}

test('a shard that left is missed in every answer, and so is one that never was there to send its card', async () => {
  const { tree, bus, host } = await setUp();
  const [callee, caller] = tree.shards;
  await host(callee!);
  const leaving = await host(caller!);
  const shards = await shardsOf(bus);
  await eventually(async () => expect(await callers(shards)).toEqual({ found: 1, failed: [] }));

  await leaving.close();
  const missing = { found: 0, failed: ['caller AGENT_OFFLINE'] };
  await eventually(async () => expect(await callers(shards)).toEqual(missing));
  // A manager that starts only now has never seen the card of the one that left.
  const later = await shardsOf(bus);
  await eventually(async () => expect(await callers(later)).toEqual(missing));
  const answer = await query(
    await only(later),
    { question: 'Who pours the tea?', from: '', max_hops: 0, top_k: 5 },
    { clock: systemClock, deadlineMs: 5_000 },
  );
  expect([answer.partial, answer.errors.map(({ agent }) => agent)]).toEqual([true, ['caller']]);

  await host(caller!);
  await eventually(async () => expect(await callers(later)).toEqual({ found: 1, failed: [] }));
});

test('a tree of which nobody is there is remembered, until another plan takes its place', async () => {
  const { tree, bus, host } = await setUp();
  const [callee, caller] = tree.shards;
  const first = await Promise.all([host(callee!), host(caller!)]);
  const shards = await shardsOf(bus);
  await eventually(async () => expect((await callers(shards)).found).toBe(1));

  for (const each of first) await each.close();
  await eventually(async () =>
    expect((await callers(shards)).failed).toEqual([
      'callee AGENT_OFFLINE',
      'caller AGENT_OFFLINE',
    ]),
  );

  await host(callee!, 'two');
  await eventually(async () => expect([...(await only(shards)).ports.keys()]).toEqual(['callee']));
  expect(await callers(shards)).toEqual({ found: 0, failed: [] });
});

test('a shard whose card is of another version than the one it is registered with is asked once, not again and again', async () => {
  const { tree, bus } = await setUp();
  const [callee] = tree.shards;
  const { info } = callee!.index;
  const client = await bus.client(agentIdOf(info), { role: 'pgc' });
  let asked = 0;
  const hosted = new HostedShard(client, {
    card: async () => {
      asked += 1;
      return shardMessages.card.answer.encode(await callee!.card());
    },
    use: (work) => work(callee!),
    stateOf: () => '',
  });
  await client.register(recordOf({ ...info, indexVersion: 'the one before' }, 'one'));
  const shards = await shardsOf(bus);
  // Resolves although its host has not told yet; what is asked in the background takes turns with these.
  for (let question = 0; question < 20; question += 1)
    expect([...(await only(shards)).cards.keys()]).toEqual(['callee']);
  expect(asked).toBe(1);
  await hosted.client.register(recordOf({ ...info, indexVersion: info.version }, 'one'));
  expect((await only(shards)).cards.get('callee')?.index_version).toBe(info.version);
});
