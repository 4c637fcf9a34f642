import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { plainRecord } from '../../src/client/registration.js';
import { loadConfig } from '../../src/config/config.js';
import { readSecret } from '../../src/config/keys.js';
import { latticeMessages, latticeService, shardMessages } from '../../src/pgc/serve/messages.js';
import { openClient } from '../../src/remote/open-client.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { Stack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
const { bus } = loadConfig({ SIGMA_HOME: home });
const clients: Client[] = [];
let stack: Stack;

/** An agent that knows nothing of the home. The later one has the greater incarnation, as a process that starts anew. */
let later = 0;
function stranger(agent: string, role: string, { key, secret }: Proofs = {}): Client {
  const nowMs = (): number => systemClock.nowMs() + (later += 1_000);
  const client = Client.connect({
    link: new ZeromqLink(bus),
    identity: { agent, role, isEphemeral: false },
    clock: { ...systemClock, nowMs },
    random: Math.random,
    secretOf: () => secret,
    keyOf: () => (key === undefined ? undefined : Buffer.alloc(32, key)),
  });
  clients.push(client);
  return client;
}

interface Proofs {
  key?: string;
  secret?: Buffer | undefined;
}

async function greeted(client: Client): Promise<string> {
  try {
    await client.ready({ withinMs: 10_000 });
    return 'live';
  } catch (error) {
    return (error as Error).message;
  }
}

beforeAll(async () => {
  mkdirSync(home, { recursive: true });
  stack = await Stack.open(home, []);
}, 60_000);

afterAll(async () => {
  for (const client of clients) await client.close();
  await stack[Symbol.asyncDispose]();
  folder.remove();
});

test('nobody takes the name of a process of the home, there or away, nor one that is kept for it', async () => {
  for (const [agent, role] of [
    ['boss-mcp', 'mcp'],
    ['executor-2', 'executor'],
  ] as const) {
    const own = openClient(loadConfig({ SIGMA_HOME: home }), { agent, role, isEphemeral: false });
    clients.push(own);
    await own.ready({ withinMs: 10_000 });
    await own.register(plainRecord(agent, []));
    expect(await greeted(stranger(agent, role))).toContain(
      `the name ${agent} is bound to the key of its holder, and none was shown`,
    );
    expect(await greeted(stranger(agent, role, { key: 'a guess' }))).toContain('to another key');
    expect(own.state).toBe('live');
    await own.close();
    expect(await greeted(stranger(agent, role))).toContain('is bound to the key');
  }
  expect(await greeted(stranger('executor', 'executor', { key: 'first of all' }))).toContain(
    'the name executor is kept for processes of the SIGMA_HOME of the broker',
  );
  expect(await greeted(stranger('task-1', 'task'))).toContain('is kept for processes');
  expect(await greeted(stranger('foreign-a', 'foreign'))).toContain('by way of the gateway');
});

test('a name of a stranger is that of its first key, also after a restart of the broker', async () => {
  const first = stranger('worker-x', 'executor', { key: 'x' });
  expect(await greeted(first)).toBe('live');
  // Before it registers, while it is there.
  expect(await greeted(stranger('worker-x', 'executor'))).toContain('none was shown');
  await first.register(plainRecord('worker-x', []));
  await stack.restartBus();
  await first.close();
  expect(await greeted(stranger('worker-x', 'executor', { key: 'y' }))).toContain('another key');
  const again = stranger('worker-x', 'executor', { key: 'x' });
  expect(await greeted(again)).toBe('live');
  expect(await greeted(stranger('worker-x', 'mcp', { key: 'x' }))).toContain(
    'worker-x may not act as mcp: the name worker-x belongs to an agent of the role executor',
  );
  // The operator of the home decides about names: a key that was lost locks out nobody for ever.
  const who = { agent: 'worker-x', role: 'executor', isEphemeral: false };
  const own = openClient(loadConfig({ SIGMA_HOME: home }), who);
  clients.push(own);
  expect(await greeted(own)).toBe('live');
});

test('roles that others trust are proven, and a refusal says what is missing', async () => {
  for (const role of ['pgc', 'client', 'critic', 'manager', 'operator'])
    expect(await greeted(stranger(`false-${role}`, role))).toBe(
      `false-${role} may not act as ${role}: the role ${role} must be proven, and the key that was shown is not that of this broker`,
    );
  const worker = stranger('worker-z', 'executor');
  expect(await greeted(worker)).toBe('live');
  await expect(worker.post('agent:worker-z', 'task.finished', Buffer.alloc(0))).rejects.toThrow(
    'worker-z may not act as sender of task.finished to agent worker-z: the role executor may not send this type there',
  );
});

test('citations are checked in no tree that the home has no index of, whatever a card says', async () => {
  const place = path.join(folder.path, 'elsewhere');
  mkdirSync(place);
  writeFileSync(path.join(place, 'passwd'), 'root:x\n');
  const shard = stranger('pgc-etc', 'pgc', { secret: readSecret(home, 'pgc') });
  expect(await greeted(shard)).toBe('live');
  const { card } = shardMessages;
  shard.serve({
    [card.type]: () =>
      card.answer.encode({
        ...{ agent: 'pgc-etc', alias: 'etc', project: 'etc', root: place, scope: ['.'] },
        ...{ languages: [], files: 1, lines: 1, documents: 1, index_version: '', terms: [] },
        ...{ defines: [], unresolved: [], stand_ins: [], truncated: [], places: [] },
      }),
  });
  await shard.register({ ...plainRecord('etc', ['pgc']), project: 'etc', scope: ['.'] });
  await stack.start(['agent', 'manager']);
  const asker = stranger('asker', 'tester');
  await greeted(asker);
  const { shards, verify } = latticeMessages;
  const to = `service:${latticeService}`;
  await eventually(async () => {
    const reply = await asker.request(to, shards.type, shards.request.encode({}));
    expect(shards.answer.decode(reply.body).known).toEqual(['pgc-etc']);
  }, 20_000);
  for (const content of ['root:x', 'something else']) {
    const cited = { file_path: 'passwd', line_start: 1, line_end: 1, content };
    const body = verify.request.encode({ citations: [cited] });
    await expect(asker.request(to, verify.type, body)).rejects.toMatchObject({ code: 'NO_SHARDS' });
  }
});
