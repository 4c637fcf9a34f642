import { connect, nkeyAuthenticator, type NatsConnection } from '@nats-io/transport-node';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { Client } from '../../src/client/client.js';
import { plainRecord } from '../../src/client/registration.js';
import { loadConfig } from '../../src/config/config.js';
import { readIdentity, type NatsIdentity } from '../../src/config/identity.js';
import { NatsLink } from '../../src/nats/link.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import { natsAccess } from '../../src/remote/identity.js';
import { openClient } from '../../src/remote/open-client.js';
import { eventually } from '../support/eventually.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma, startProcess, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const program = fileURLToPath(new URL('support/stranger.mjs', import.meta.url));
const folder = temporaryFolder();
const at = (name: string): string => path.join(folder.path, name);
const home = at('home');
const scope = new Scope();
const identities = new Map<string, NatsIdentity>();
const gateways: Running[] = [];
let server: NatsServer;

const pal = 'foreign-stranger_tools_pal';
const roles = {
  ...{ 'host-1': 'broker', gateway: 'gateway', 'net-1': 'pgc', ann: 'client' },
  ...{ mallory: 'foreign', tools: 'visitor', main: 'visitor' },
};

/** A machine with the identity of this agent. */
function machine(name: string, agent: string): string {
  mkdirSync(at(name), { recursive: true, mode: 0o700 });
  writeFileSync(
    path.join(at(name), 'config.json'),
    JSON.stringify({ identity: at(`${agent}.json`) }),
  );
  return at(name);
}

function start(on: string, args: string[]): Running {
  const its = startProcess(on, args);
  scope.defer(async () => {
    its.process.kill('SIGKILL');
    await its.ended;
  });
  return its;
}

function identityOf(agent: string): NatsIdentity {
  return identities.get(agent) as NatsIdentity;
}

/** With the rights of this user and no more. `refusals`: what the server did not let it do. */
async function userOf(agent: string): Promise<{ nats: NatsConnection; refusals: string[] }> {
  const authenticator = nkeyAuthenticator(new TextEncoder().encode(identityOf(agent).nats_seed));
  const nats = await connect({
    servers: server.url,
    authenticator,
    inboxPrefix: `_INBOX.${agent}`,
    // A server that reads its configuration anew may leave one that greets it just then without an answer.
    timeout: 3_000,
  });
  scope.defer(() => nats.close());
  const refusals: string[] = [];
  void (async () => {
    for await (const each of nats.status())
      if (each.type === 'error') refusals.push(each.error.message);
  })();
  return { nats, refusals };
}

/** Another program, with the rights of the visitor. */
function stranger(...args: string[]): {
  child: ChildProcess;
  lines: unknown[];
  ended: Promise<void>;
} {
  const seed = { STRANGER_SEED: identityOf('tools').nats_seed, STRANGER_INBOX: '_INBOX.tools' };
  const child = spawn(process.execPath, [program, server.url, ...args], {
    ...{ stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, ...seed } },
  });
  const lines: unknown[] = [];
  createInterface(child.stdout as NodeJS.ReadableStream).on('line', (line) =>
    lines.push(JSON.parse(line)),
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  scope.defer(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return { child, lines, ended };
}

async function asked(text: string): Promise<unknown[]> {
  const its = stranger('ask', 'net-1', text);
  await its.ended;
  return its.lines;
}

const answered = (text: string): unknown[] => [
  { said: { type: 'status', data: 'ack' } },
  { said: { type: 'response', data: expect.stringContaining(`asked: ${text}`) as string } },
  {},
];

/** Comes by the connection and with the secret of `by`, and says that it is another. */
async function claimed(by: string, agent: string, role: string): Promise<Client> {
  const access = natsAccess(loadConfig({ SIGMA_HOME: machine(`m-${by}`, by) }, {}), by);
  const client = Client.connect({
    link: new NatsLink({ access, clock: systemClock, random: Math.random }),
    identity: { agent, role, isEphemeral: true },
    ...{ clock: systemClock, random: Math.random, heartbeatMs: 1_000 },
    secretOf: () => Buffer.from(identityOf(by).secret, 'hex'),
  });
  scope.defer(() => client.close());
  await client.ready({ withinMs: 10_000 });
  return client;
}

beforeAll(async () => {
  scope.defer(() => folder.remove());
  mkdirSync(home, { mode: 0o700 });
  const users = ['keys', 'nats', '--out', at('sigma-agents.conf')];
  await sigma(home, users);
  server = await startNats(
    `include "../${path.basename(folder.path)}/sigma-agents.conf"\nauthorization { users: $sigma_agents }`,
  );
  scope.own(server);
  for (const [agent, role] of Object.entries(roles)) {
    const where = ['--bus', server.url, '--out', at(`${agent}.json`)];
    expect((await sigma(home, ['keys', 'add', agent, '--role', role, ...where])).code).toBe(0);
    identities.set(agent, readIdentity(at(`${agent}.json`)) as NatsIdentity);
  }
  await sigma(home, users);
  server.reload();
  await eventually(async () => void (await userOf('tools')));
  start(machine('home', 'host-1'), ['bus']);

  const config = loadConfig({ SIGMA_HOME: machine('m-net', 'net-1') }, {});
  const shard = openClient(config, { agent: 'net-1', role: 'pgc', isEphemeral: false });
  scope.defer(() => shard.close());
  const { ask } = shardMessages;
  const none = { query_intent: { refined_query: '' }, metadata: { agents_asked: 1 } };
  shard.serve({
    [ask.type]: ({ body }) =>
      ask.answer.encode({
        ...none,
        prose: `asked: ${ask.request.decode(body).question}`,
      } as never),
  });
  await shard.ready({ withinMs: 30_000 });
  await shard.register(plainRecord('net', ['pgc']));

  gateways.push(start(machine('m-g1', 'gateway'), ['gateway']));
  await eventually(() => expect(gateways[0]?.output()).toContain('"serving"'));
  gateways.push(start(machine('m-g2', 'gateway'), ['gateway']));
  await eventually(() => expect(gateways[1]?.output()).toContain('"waiting to lead"'));
});

afterAll(() => scope[Symbol.asyncDispose]());

test('a visitor finds our agents, each once, and asks them', async () => {
  const { nats, refusals } = await userOf('tools');
  const said = async (subject: string): Promise<object[]> => {
    const found: object[] = [];
    const options = { strategy: 'stall', maxWait: 2_000 } as const;
    for await (const msg of await nats.requestMany(subject, '', options)) found.push(msg.json());
    return found;
  };
  const metadata = { role: 'pgc', session: 'net-1', agent: 'sigma', owner: 'main' };
  await eventually(async () =>
    expect(await said('$SRV.PING')).toMatchObject([{ name: 'agents', metadata }]),
  );
  expect(await said('$SRV.INFO.agents')).toMatchObject([{ metadata, endpoints: [{}, {}] }]);
  expect(await said('$SRV.STATS.agents')).toMatchObject([{ name: 'agents', endpoints: [{}, {}] }]);
  expect(await asked('Where is parse?')).toEqual(answered('Where is parse?'));
  expect(refusals).toEqual([]);
});

test('a foreign agent is on our bus, and asked by a command', async () => {
  stranger('serve', 'pal', '{"owner":"tools","interval":1}');
  const ann = machine('m-ann', 'ann');
  await eventually(async () => {
    const { json } = await sigma(ann, ['query', pal, 'Are you there?', '--json']);
    expect(json.prose).toBe('You said: Are you there?!');
  });
  const { json } = await sigma(ann, ['agents', '--json']);
  const known = (json.agents as { id: string; role: string }[]).map(({ id, role }) => [id, role]);
  expect(known.sort()).toEqual([
    ...[
      [pal, 'foreign'],
      ['gateway', 'gateway'],
    ],
    ['net-1', 'pgc'],
  ]);
  const failed = await sigma(ann, ['query', pal, 'fail', '--json']);
  expect(failed.json.error.code).toBe('AGENT_FAILED');
});

test.each([
  ['another than the gateway', 'mallory', 'foreign-x', 'foreign'],
  ['another, for an agent that is there', 'mallory', pal, 'foreign'],
  ['another, in its own role', 'ann', 'foreign-x', 'client'],
  ['the gateway, in another role', 'gateway', 'foreign-x', 'client'],
])('a foreign name is refused to %s', async (_what, by, agent, role) => {
  await expect(claimed(by, agent, role)).rejects.toMatchObject({ code: 'UNAUTHORISED' });
});

test.each([
  ['one that is not kept for it', 'x', 'foreign'],
  ['that of another agent', 'ann', 'client'],
  ['that of another agent, as its own', 'ann', 'gateway'],
  ['that of another foreign agent with a key', 'mallory', 'foreign'],
])('the gateway is refused a name: %s', async (_what, agent, role) => {
  await expect(claimed('gateway', agent, role)).rejects.toMatchObject({ code: 'UNAUTHORISED' });
});

test('a foreign name is refused as an alias, and gets no keys', async () => {
  const mallory = await claimed('mallory', 'mallory', 'foreign');
  const registered = mallory.register(plainRecord('foreign-x', []));
  await expect(registered).rejects.toMatchObject({ code: 'ALIAS_TAKEN' });
  const where = ['--bus', server.url, '--out', at('x.json'), '--json'];
  const added = await sigma(home, ['keys', 'add', 'foreign-x', '--role', 'foreign', ...where]);
  expect(added.json.error.code).toBe('UNAUTHORISED');
});

test('a visitor is none of the bus, and passes for no agent of another', async () => {
  const { nats, refusals } = await userOf('tools');
  const publish = [
    ...['sigma.main.find', 'sigma.main.in.1-0.tools.s', 'sigma.main.log.bus', '$JS.API.INFO'],
    ...['agents.hb.sigma.main.net-1', 'agents.hb.a.others.x'],
  ];
  const subscribe = [
    ...['_INBOX.>', '_INBOX.gateway.>', 'sigma.>', 'agents.prompt.>', 'agents.status.a.others.x'],
    ...['agents.prompt.sigma.main.*', 'agents.prompt.*.*.*'],
  ];
  for (const each of publish) nats.publish(each, '', { reply: '_INBOX.tools.x' });
  for (const each of subscribe) nats.subscribe(each, { callback: () => undefined });
  await nats.flush();
  const refused = (): unknown[] => refusals.map((text) => /"(.*)"/.exec(text)?.[1]).sort();
  await eventually(() => expect(refused()).toEqual([...publish, ...subscribe].sort()));
});

test('a visitor that is called like the bus takes no question to our agents', async () => {
  const { nats, refusals } = await userOf('main');
  const subject = 'agents.prompt.*.main.*';
  nats.subscribe(subject, { queue: 'agents', callback: () => undefined });
  await eventually(() => expect(refusals[0]).toContain(subject));
  // A server that lets it in the queue would give it some of them.
  for (const text of ['one', 'two', 'three', 'four'])
    expect(await asked(text)).toEqual(answered(text));
});

test('when the gateway is killed, the other takes over', { timeout: 90_000 }, async () => {
  const [first, second] = gateways;
  expect(second?.output()).not.toContain('"serving"');
  first?.process.kill('SIGKILL');
  await eventually(() => expect(second?.output()).toContain('"serving"'), 60_000);
  await eventually(async () => expect(await asked('again')).toEqual(answered('again')), 20_000);
  await eventually(async () => {
    const { json } = await sigma(at('m-ann'), ['query', pal, 'And you?', '--json']);
    expect(json.prose).toBe('You said: And you?!');
  });
});

test('without a bus on NATS, or the identity of the gateway, there is none', async () => {
  const local = await sigma(machine('m-none', 'none'), ['gateway', '--json']);
  expect(local.json.error.code).toBe('KEY_FILE_INVALID');
  mkdirSync(at('m-local'), { mode: 0o700 });
  expect((await sigma(at('m-local'), ['gateway', '--json'])).json.error.code).toBe('USAGE');
  const other = await sigma(machine('m-other', 'ann'), ['gateway', '--json']);
  expect(other.json.error).toMatchObject({
    code: 'KEY_FILE_INVALID',
    text: expect.stringContaining('not of gateway') as string,
  });
});
