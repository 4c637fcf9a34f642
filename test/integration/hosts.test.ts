import { readSecret } from '../../src/config/keys.js';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { latticeMessages, latticeService, shardMessages } from '../../src/pgc/serve/messages.js';
import { placeOf } from '../../src/pgc/plan/manifest.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { agentIdOf } from '../../src/pgc/serve/hosted-shard.js';
import { eventually } from '../support/eventually.js';
import { TemporaryTree } from '../support/git-tree.js';
import { chainAliases, chainRepository } from '../support/repository.js';
import { sigma, startProcess, startSigma, type Running } from '../support/sigma.js';

const running: Running[] = [];
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const each of running.splice(0).reverse()) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  for (const end of ends.splice(0).reverse()) await end();
});

/** A tree of four shards with its index, and a broker, for all tests. */
let stage: ReturnType<typeof chainRepository>;
let broker: Running;
beforeAll(async () => {
  stage = chainRepository();
  const { root, home, plan } = stage;
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
  broker = startSigma(home, ['bus', '--log', 'warn']);
});
afterAll(async () => {
  broker.process.kill('SIGTERM');
  await broker.ended;
  stage.remove();
});

function run(...args: string[]): Running {
  const its = startSigma(stage.home, [...args, '--log', 'info']);
  running.push(its);
  return its;
}

async function clientOf(home: string): Promise<Client> {
  const client = Client.connect({
    link: new ZeromqLink(`ipc://${path.join(home, 'run/bus.sock')}`),
    identity: { agent: 'asker', role: 'client', isEphemeral: true },
    secretOf: () => readSecret(home, 'client'),
    clock: systemClock,
    random: Math.random,
  });
  ends.push(() => client.close());
  await client.ready({ withinMs: 20_000 });
  return client;
}

async function online(client: Client): Promise<string[]> {
  const agents = await client.agents({ role: 'pgc' });
  return agents
    .filter(({ state, record }) => state === 'online' && record.alias !== '')
    .map(({ record }) => record.alias)
    .sort();
}

/** Files that define something in each shard of the tree. */
const definitions: Record<string, string> = {
  drivers: 'nic_open',
  kernel: 'dma_alloc_mapped',
  mm: 'alloc_pages_near',
};

test('shards move between two hosts under load: no question is lost, none is answered wrongly', async () => {
  const { root, home } = stage;
  const first = run('agent', 'pgc', root);
  const client = await clientOf(home);
  await eventually(async () => expect(await online(client)).toEqual(chainAliases), 20_000);

  const outcomes = { answered: 0, wrong: 0, lost: [] as string[] };
  const { project } = placeOf(root, home);
  let isAsking = true;
  const askers = Object.entries(definitions).flatMap(([alias, symbol]) =>
    [0, 1].map(async () => {
      const { type, request, answer } = shardMessages.definitions;
      while (isAsking) {
        try {
          const reply = await client.request(
            `agent:${agentIdOf({ root, project, alias })}`,
            type,
            request.encode({ symbols: [symbol] }),
            { isIdempotent: true, deadlineMs: 20_000 },
          );
          const found = answer.decode(reply.body).definitions;
          if (found[0]?.symbol === symbol) outcomes.answered += 1;
          else outcomes.wrong += 1;
        } catch (error) {
          outcomes.lost.push(asBusError(error).code);
        }
        // One process has all of these askers, and the hosts have to start beside it.
        await new Promise((resolve) => setTimeout(resolve, 4));
      }
    }),
  );
  const second = run('agent', 'pgc', root, '--part', '1/2', '--take-over');
  await eventually(() => expect(first.output()).toMatch(/shard left/), 20_000);
  const third = run('agent', 'pgc', root, '--part', '2/2', '--take-over');
  // The first one has nothing left, and ends in order.
  expect(await first.ended).toBe(0);
  const back = run('agent', 'pgc', root, '--take-over');
  expect([await second.ended, await third.ended]).toEqual([0, 0]);
  isAsking = false;
  await Promise.all(askers);
  expect(outcomes.lost).toEqual([]);
  expect(outcomes.wrong).toBe(0);
  expect(outcomes.answered).toBeGreaterThan(20);
  expect(await online(client)).toEqual(chainAliases);
  expect(back.output()).not.toMatch(/without being handed over/);
}, 120_000);

test('shards that another host serves are left alone unless they are asked for', async () => {
  const { root, home } = stage;
  run('agent', 'pgc', root, '--shards-of', 'mm,kernel');
  const client = await clientOf(home);
  await eventually(async () => expect(await online(client)).toEqual(['kernel', 'mm']), 20_000);
  run('agent', 'pgc', root, '--shards-of', 'drivers,include');
  // Who asks for all waits as long as those of a killed host would linger; the others need not wait for that.
  const [whole, unknown] = await Promise.all([
    sigma(home, ['agent', 'pgc', root, '--json']),
    sigma(home, ['agent', 'pgc', root, '--shards-of', 'nobody', '--json']),
    eventually(async () => expect(await online(client)).toEqual(chainAliases), 20_000),
  ]);
  expect([whole.code, whole.json.error.code]).toEqual([1, 'ALREADY_SERVED']);
  expect([unknown.code, unknown.json.error.code]).toEqual([2, 'USAGE']);
}, 120_000);

test('up shares the shards between hosts and follows the tree', async () => {
  await using tree = await TemporaryTree.create({
    'net/open.c': 'int net_open(void) { return 1; }\n',
    'mm/alloc.c': 'int mm_alloc(void) { return 1; }\n',
  });
  tree.commitAll();
  tree.git('tag', 'first');
  await using state = await TemporaryTree.create({
    'plan.json': JSON.stringify({
      shards: [
        { alias: 'net', paths: ['net'] },
        { alias: 'mm', paths: ['mm'] },
      ],
    }),
  });
  const home = path.join(state.root, 'home');
  const plan = path.join(state.root, 'plan.json');
  const options = ['--shards', plan, '--hosts', '2', '--watch', '--log', 'info'];
  const its = startProcess(home, ['up', tree.root, ...options]);
  running.push(its);
  await eventually(() => expect(its.output()).toMatch(/^ready .*: 2 shards/m), 60_000);
  await eventually(() => expect(its.output()).toMatch(/"msg":"refreshed"/), 60_000);

  // A process for each look would take longer than what is looked for.
  const client = await clientOf(home);
  const { type, request, answer } = latticeMessages.callers;
  const definedAt = async (symbol: string): Promise<string[]> => {
    const body = request.encode({ symbol });
    const reply = await client.request(`service:${latticeService}`, type, body);
    return answer.decode(reply.body).definitions.map((each) => each.file_path);
  };
  const follows = (symbol: string, places: string[]): Promise<void> =>
    eventually(async () => expect(await definedAt(symbol)).toEqual(places), 60_000);
  const inTree = (name: string): string => path.join(tree.root, name);
  await follows('net_open', ['net/open.c']);

  // As editors save: beside the file, then over it.
  writeFileSync(inTree('net/.open.c.swp'), 'int net_saved(void) { return 2; }\n');
  renameSync(inTree('net/.open.c.swp'), inTree('net/open.c'));
  await follows('net_saved', ['net/open.c']);
  // A new folder, with what it is made with.
  mkdirSync(inTree('mm/pool/deep'), { recursive: true });
  writeFileSync(inTree('mm/pool/deep/pool.c'), 'int mm_pool(void) { return 3; }\n');
  await follows('mm_pool', ['mm/pool/deep/pool.c']);
  renameSync(inTree('mm/pool'), inTree('mm/pond'));
  await follows('mm_pool', ['mm/pond/deep/pool.c']);
  rmSync(inTree('mm/pond'), { recursive: true });
  await follows('mm_pool', []);
  tree.commit('second');
  tree.git('checkout', '-q', 'first');
  await follows('net_open', ['net/open.c']);
  expect(await definedAt('net_saved')).toEqual([]);

  const { json } = await sigma(home, ['status', '--json']);
  expect(json.watched).toMatchObject([{ root: tree.root, kind: 'events', failures: 0 }]);
  const again = await sigma(home, ['index', tree.root, '--watch']);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('ALREADY_WATCHED')]);
}, 150_000);
