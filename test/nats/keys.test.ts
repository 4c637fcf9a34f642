import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { Socket } from 'node:net';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { jetstreamManager } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import {
  PermissionViolationError,
  type NatsConnection,
  type QueuedIterator,
  type Status,
} from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { noTrace } from '../../src/base/trace.js';
import { readIdentity, type NatsIdentity } from '../../src/config/identity.js';
import { newNkey } from '../../src/config/nkey.js';
import { parseNatsAddress } from '../../src/nats/address.js';
import { connectNats } from '../../src/nats/connect.js';
import { Lease } from '../../src/nats/lease.js';
import { NatsListener } from '../../src/nats/listener.js';
import { LogStore } from '../../src/nats/log-store.js';
import { busLayout } from '../../src/store/layouts.js';
import { eventually } from '../support/eventually.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const deploy = fileURLToPath(new URL('../../deploy/nats', import.meta.url));
const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
const at = (name: string): string => path.join(folder.path, name);
const users = at('sigma-agents.conf');
const open: NatsConnection[] = [];
let server: NatsServer;
let port = 0;
let address = '';

const writeUsers = () => sigma(home, ['keys', 'nats', '--out', users, '--json']);

/** Keys by the command line, as an operator makes them. */
async function add(agent: string, role: string): Promise<NatsIdentity> {
  const where = ['--bus', address, '--ca', at('ca.pem'), '--out', at(`${agent}.json`)];
  const added = await sigma(home, ['keys', 'add', agent, '--role', role, ...where]);
  expect(added.code).toBe(0);
  return readIdentity(at(`${agent}.json`)) as NatsIdentity;
}

/** As a client or a broker does it. */
async function connectWith(identity: NatsIdentity): Promise<NatsConnection> {
  const { agent, bus: text, nats_seed: seed, ca } = identity;
  const connection = await connectNats({ ...parseNatsAddress(text), text, agent, seed, ca });
  open.push(connection);
  return connection;
}

const refusal = expect.objectContaining({ code: 'NATS_REFUSED' }) as Error;

/** Has the server take in the agents of the home; `isDone` once it has. */
async function reload(isDone: () => Promise<unknown>): Promise<void> {
  expect((await writeUsers()).code).toBe(0);
  server.reload();
  await eventually(async () => void (await isDone()));
}

/** The subjects that the server refuses in this work; it says so before it answers the flush. */
async function refused(nats: NatsConnection, work: () => unknown): Promise<string[]> {
  const found: string[] = [];
  const statuses = nats.status() as QueuedIterator<Status>;
  const reading = (async () => {
    for await (const each of statuses)
      if (each.type === 'error' && each.error instanceof PermissionViolationError)
        found.push(`${each.error.operation} ${each.error.subject}`);
  })();
  await work();
  await nats.flush();
  statuses.stop();
  await reading;
  return found;
}

/** All that arrives at a subject, and why nothing does. */
function heard(nats: NatsConnection, subject: string): string[] {
  const found: string[] = [];
  nats.subscribe(subject, {
    callback: (error, message) => void found.push(error?.message ?? message.subject),
  });
  return found;
}

const ignored = { callback: () => undefined };
const authority = (): string => readFileSync(at('ca.pem'), 'utf8');
let ann: NatsIdentity;
let bob: NatsIdentity;
let candidate: NatsIdentity;
let chief: NatsIdentity;

describe('keys on NATS', () => {
  beforeAll(async () => {
    mkdirSync(home, { mode: 0o700 });
    const made = at('certificates');
    execFileSync('sh', [path.join(deploy, '../certificates.sh'), made, 'localhost'], {
      stdio: 'pipe',
    });
    for (const name of ['ca.pem', 'localhost.pem', 'localhost-key.pem'])
      copyFileSync(path.join(made, name), at(name));
    expect((await writeUsers()).json).toEqual({ file: users, agents: [] });
    server = await startNats(
      [
        // From the folder of the server; an absolute path would be taken as one below it.
        `include "../${path.basename(folder.path)}/sigma-agents.conf"`,
        'authorization { users: $sigma_agents }',
        `tls { cert_file: "${at('localhost.pem')}", key_file: "${at('localhost-key.pem')}" }`,
      ].join('\n'),
    );
    port = Number(server.address.split(':').at(-1));
    address = `tls://localhost:${port}`;
  });
  afterEach(async () => {
    for (const each of open.splice(0)) await each.close();
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    folder.remove();
  });

  test('a server whose file names no agent lets none in', async () => {
    const stranger = { agent: 'ann', role: 'client', secret: '', bus: address, ca: authority() };
    await expect(connectWith({ ...stranger, nats_seed: newNkey().seed })).rejects.toThrow(refusal);
    const keyless = { ...parseNatsAddress(address), text: address, agent: 'ann', ca: authority() };
    await expect(connectNats(keyless)).rejects.toThrow(refusal);
  });

  describe('a server that has taken in the agents of a home', () => {
    beforeAll(async () => {
      ann = await add('ann', 'client');
      bob = await add('bob', 'client');
      candidate = await add('bus-1', 'broker');
      chief = await add('chief', 'manager');
      await reload(() => connectWith(ann));
      expect((await writeUsers()).json.agents).toMatchObject(
        ['ann', 'bob', 'bus-1', 'chief'].map((agent) => ({ agent, bus: 'main' })),
      );
    });

    test('lets nobody in without a key, with an unknown one, or in plain text', async () => {
      const where = { ...parseNatsAddress(address), text: address };
      await expect(connectNats({ ...where, agent: 'ann', ca: authority() })).rejects.toThrow(
        refusal,
      );
      await expect(connectWith({ ...ann, nats_seed: newNkey().seed })).rejects.toThrow(refusal);
      const plain = new Socket().connect(port, '127.0.0.1');
      plain.write('CONNECT {"verbose":false}\r\nPING\r\n');
      const said = (await plain.toArray()).join('');
      expect(said).toContain('"tls_required":true');
      expect(said).not.toContain('PONG');
    });

    test('is believed only with a certificate of the authority', async () => {
      const { ca: _, ...other } = ann;
      const refused = { code: 'NATS_UNAVAILABLE', message: expect.stringContaining('certificate') };
      await expect(connectWith(other)).rejects.toMatchObject(refused);
    });

    test('carries frames between an agent and the broker', async () => {
      const [agent, broker] = [await connectWith(ann), await connectWith(candidate)];
      const frames = heard(broker, 'sigma.main.in.*.>');
      const own = heard(agent, 'sigma.main.out.*.ann.>');
      const topics = heard(agent, 'sigma.main.topic.*.>');
      broker.subscribe('sigma.main.find', { callback: (_, asked) => void asked.respond('here') });
      await broker.flush();
      expect((await agent.request('sigma.main.find')).string()).toBe('here');
      agent.publish('sigma.main.in.1.ann.s1');
      await agent.flush();
      broker.publish('sigma.main.out.1.ann.s1');
      broker.publish('sigma.main.topic.1.presence.ann');
      await eventually(() => {
        expect(frames).toEqual(['sigma.main.in.1.ann.s1']);
        expect([...own, ...topics]).toEqual([
          ...['sigma.main.out.1.ann.s1', 'sigma.main.topic.1.presence.ann'],
        ]);
      });
    });

    test('has the broker answer an agent nowhere but in an inbox', async () => {
      const { agent, bus: text, nats_seed: seed, ca } = candidate;
      const access = { ...parseNatsAddress(text), text, agent, seed, ca };
      const parts = { access, epoch: 7, clock: systemClock, random: Math.random };
      await using listener = await NatsListener.open(parts);
      const [asker, witness] = [await connectWith(bob), await connectWith(ann)];
      const spoofed = heard(witness, 'sigma.main.out.*.ann.>');
      const topics = heard(witness, 'sigma.main.topic.*.>');
      const { streams } = await jetstreamManager(await connectWith(candidate));
      const log = { name: 'SIGMA_main_bus', subjects: ['sigma.main.log.bus'] };
      await streams.add(log);
      await witness.flush();
      listener.listen(() => undefined);
      await eventually(async () => void (await asker.request('sigma.main.find')));
      const places = ['sigma.main.log.bus', 'sigma.main.out.7-0.ann.s1', 'sigma.main.topic.7-0.x'];
      for (const reply of [...places, '$KV.sigma_main.bus', '$JS.API.STREAM.PURGE.SIGMA_main_bus'])
        asker.publish('sigma.main.find', '', { reply });
      // Asked in order, and so answered.
      expect((await asker.request('sigma.main.find')).string()).toBe('7-0 serving');
      await witness.flush();
      expect([...spoofed, ...topics]).toEqual([]);
      expect((await streams.info(log.name)).state.last_seq).toBe(0);
    });

    test.each([
      ['speaks in the name of another', 'sigma.main.in.1.ann.s1'],
      ['speaks in the name of all', 'sigma.main.in.1.*.s1'],
      ['speaks as the broker to another', 'sigma.main.out.1.ann.s1'],
      ['speaks as the broker to itself', 'sigma.main.out.1.bob.s1'],
      ['says where the broker is', 'sigma.main.leader'],
      ['publishes on a topic', 'sigma.main.topic.1.presence.ann'],
      ['writes the log', 'sigma.main.log.bus'],
      ['answers a request of another', '_INBOX.ann.x'],
      ['takes the lease', '$KV.sigma_main.bus'],
      ['puts a snapshot', 'sigma.main.log.bus.snapshot.3.a'],
      ['reads the log', '$JS.API.STREAM.MSG.GET.SIGMA_main_bus'],
      ['reads the log directly', '$JS.API.DIRECT.GET.SIGMA_main_bus'],
      ['has the log sent', '$JS.API.CONSUMER.CREATE.SIGMA_main_bus'],
      ['makes a stream', '$JS.API.STREAM.CREATE.mine'],
      ['deletes the log', '$JS.API.STREAM.DELETE.SIGMA_main_bus'],
      ['is on another bus', 'sigma.other.in.1.bob.s1'],
    ])('does not let an agent that %s publish', async (_what, subject) => {
      const [agent, witness] = [await connectWith(bob), await connectWith(candidate)];
      const frames = heard(witness, 'sigma.main.in.*.>');
      await witness.flush();
      const found = await refused(agent, () => {
        agent.publish(subject, '{}', { reply: '_INBOX.bob.x' });
        agent.publish('sigma.main.in.1.bob.s1');
      });
      expect(found).toEqual([`publish ${subject}`]);
      await eventually(() => expect(frames).toEqual(['sigma.main.in.1.bob.s1']));
    });

    test.each([
      ['reads what is for another', 'sigma.main.out.*.ann.>'],
      ['reads what is for all', 'sigma.main.out.>'],
      ['reads what all say', 'sigma.main.in.>'],
      ['reads what another says', 'sigma.main.in.1.ann.s1'],
      ['answers in the place of the broker', 'sigma.main.find'],
      ['reads answers to another', '_INBOX.ann.>'],
      ['reads all answers', '_INBOX.>'],
      ['reads the log as it is written', 'sigma.main.log.>'],
      ['reads all', '>'],
      ['watches the leases', '$KV.sigma_main.>'],
      ['is on another bus', 'sigma.other.topic.>'],
    ])('does not let an agent that %s subscribe', async (_what, subject) => {
      const agent = await connectWith(bob);
      expect(await refused(agent, () => agent.subscribe(subject, ignored))).toEqual([
        `subscription ${subject}`,
      ]);
    });

    /** With what brokers and the manager do it with: a log, snapshots of it, and a lease. */
    async function keepsLog(identity: NatsIdentity, name: string): Promise<void> {
      const { agent: holder } = identity;
      await using scope = new Scope();
      const connection = await connectWith(identity);
      const open = async (folder: string): Promise<LogStore> =>
        scope.own(
          await LogStore.open({
            ...{ connection, stream: `SIGMA_main_${name}`, subject: `sigma.main.log.${name}` },
            ...{ replicas: 1, folder: at(`${name}-${folder}`), layout: busLayout },
            ...{ clock: systemClock, random: Math.random, trace: noTrace },
            limits: { snapshotAfterBytes: 500 },
          }),
        );
      const found = await refused(connection, async () => {
        const leader = await open('first');
        await leader.lead(() => undefined);
        const { streams } = await jetstreamManager(connection);
        // Each snapshot lets the log go that is older than the one before.
        await eventually(async () => {
          await leader.commit([{ type: 'put', key: 'x', value: Buffer.from('last') }]);
          const { state } = await streams.info(`SIGMA_main_${name}`);
          expect(state.first_seq).toBeGreaterThan(1);
        });
        const follower = await open('second');
        await eventually(async () => expect(await follower.get('x')).toEqual(Buffer.from('last')));

        const lease = await Lease.take(
          {
            ...{ connection, bucket: 'sigma_main', replicas: 1, key: name, holder, address },
            ...{ clock: systemClock },
          },
          AbortSignal.timeout(10_000),
        );
        expect(lease?.epoch).toBeGreaterThan(0);
        await lease?.[Symbol.asyncDispose]();
        for await (const each of await (
          await new Kvm(connection).open('sigma_main')
        ).watch({ key: name })) {
          expect(each.string()).toBe('');
          break;
        }
      });
      expect(found).toEqual([]);
    }

    test('lets a broker keep its log, and after it a manager its own, which touches no other', async () => {
      await keepsLog(candidate, 'bus');
      await keepsLog(chief, 'manager');
      const agent = await connectWith(chief);
      const others = [
        ...[
          '$KV.sigma_main.bus',
          'sigma.main.log.bus',
          'sigma.main.topic.x',
          'sigma.main.in.1.ann.s',
        ],
        ...['GET.SIGMA_main_bus', 'DELETE.SIGMA_main_manager'].map(
          (call) => `$JS.API.STREAM.MSG.${call}`,
        ),
        ...['UPDATE.SIGMA_main_manager', 'CREATE.SIGMA_main_bus', 'CREATE.mine'].map(
          (call) => `$JS.API.STREAM.${call}`,
        ),
        '$JS.API.CONSUMER.CREATE.KV_sigma_main.mine.$KV.sigma_main.bus',
      ];
      const found = await refused(agent, () => others.forEach((each) => agent.publish(each)));
      expect(found).toEqual(others.map((each) => `publish ${each}`));
    });

    test('ends the connection of a revoked agent, and refuses its next one', async () => {
      const leaver = await add('leaver', 'client');
      await reload(() => connectWith(leaver));
      const [gone, stays] = [await connectWith(leaver), await connectWith(ann)];
      const revoked = await sigma(home, ['keys', 'revoke', 'leaver']);
      expect(revoked.stdout).toContain('sigma keys nats');
      await reload(() => gone.closed());
      await expect(connectWith(leaver)).rejects.toThrow(refusal);
      await stays.flush();
      expect(stays.isClosed()).toBe(false);
    });

    test('takes in a key that was replaced, and no more the one before', async () => {
      const before = await add('turner', 'client');
      const rotate = ['keys', 'rotate', 'turner', '--out', at('turner.json'), '--json'];
      const lost = await sigma(home, [...rotate, '--bus', 'tcp://127.0.0.1:7447']);
      const other = await sigma(home, [...rotate, '--bus', `${address}/other`]);
      for (const each of [lost, other]) expect(each.json.error.code).toBe('USAGE');
      const done = await sigma(home, [...rotate, '--bus', address, '--ca', at('ca.pem')]);
      expect(done.json).toMatchObject({
        agent: 'turner',
        role: 'client',
        nats_bus: 'main',
        bus: address,
      });
      await reload(() => connectWith(readIdentity(at('turner.json')) as NatsIdentity));
      await expect(connectWith(before)).rejects.toThrow(refusal);
    });
  });

  test('keys are for their owners alone, and no secret is printed', async () => {
    const listed = await sigma(home, ['keys', 'list', '--json']);
    const written = await writeUsers();
    const kept = readFileSync(path.join(home, 'bus/keys/agents/ann.json'), 'utf8');
    const [its] = (listed.json.agents as { agent: string }[]).filter(
      ({ agent }) => agent === 'ann',
    );
    expect(its).toEqual({
      ...{ agent: 'ann', role: 'client', nats_bus: 'main' },
      nats_public: expect.stringMatching(/^U/) as string,
      created: expect.any(String) as string,
    });
    const shown = [listed.stdout, written.stdout, readFileSync(users, 'utf8')];
    for (const text of shown)
      for (const secret of [ann.secret, ann.nats_seed]) expect(text).not.toContain(secret);
    expect(kept).not.toContain(ann.nats_seed);
    expect(statSync(at('ann.json')).mode & 0o777).toBe(0o600);
    expect(statSync(users).mode & 0o777).toBe(0o644);
  });

  describe('a wrong command is refused and writes nothing:', () => {
    const remote = 'tls://nats.example:4222';
    test.each([
      [['add', 'eve', '--role', 'no role', '--bus', remote], 'INVALID_NAME'],
      [['add', '../eve', '--role', 'client', '--bus', remote], 'INVALID_NAME'],
      [['add', 'eve', '--role', 'client', '--bus', 'tls://nonsense'], 'SOCKET_PATH'],
      [['add', 'eve', '--role', 'client', '--bus', 'tls://h:4222/No Bus'], 'SOCKET_PATH'],
      [['add', 'eve', '--role', 'client', '--bus', 'nats://nats.example:4222'], 'SOCKET_PATH'],
      [['add', 'eve', '--role', 'client', '--bus', remote, '--ca', at('none.pem')], 'USAGE'],
      [
        ['add', 'eve', '--role', 'client', '--bus', remote, '--ca', at('localhost-key.pem')],
        'USAGE',
      ],
      [
        ['add', 'eve', '--role', 'client', '--bus', 'nats://[::1]:4222', '--ca', at('ca.pem')],
        'USAGE',
      ],
      [['add', 'ann', '--role', 'client', '--bus', remote], 'IDENTITY_EXISTS'],
    ])('sigma keys %j', async (args, code) => {
      const its = await sigma(home, ['keys', ...args, '--out', at('eve.json'), '--json']);
      expect(its.json.error.code).toBe(code);
      expect(existsSync(at('eve.json'))).toBe(false);
    });

    test('sigma keys nats does not replace a file that is none of its own', async () => {
      writeFileSync(at('mine.conf'), 'port: 4222\n');
      for (const out of [at('mine.conf'), folder.path]) {
        const its = await sigma(home, ['keys', 'nats', '--out', out, '--json']);
        expect(its.json.error.code).toBe('USAGE');
      }
      expect(readFileSync(at('mine.conf'), 'utf8')).toBe('port: 4222\n');
    });
  });

  describe('a server accepts', () => {
    const accepts = (folder: string, file: string): string =>
      execFileSync('nats-server', ['-t', '-c', file], {
        ...{ cwd: folder, encoding: 'utf8', stdio: 'pipe' },
        env: { ...process.env, SIGMA_NATS_NAME: 'nats-1' },
      });

    test.each(['nats-server.conf', 'cluster.conf'])('deploy/nats/%s', (name) => {
      const its = at(`etc-${name}`);
      mkdirSync(its);
      for (const each of ['nats-server.conf', 'cluster.conf'])
        copyFileSync(path.join(deploy, each), path.join(its, each));
      copyFileSync(at('localhost.pem'), path.join(its, 'server.pem'));
      copyFileSync(at('localhost-key.pem'), path.join(its, 'server-key.pem'));
      copyFileSync(at('ca.pem'), path.join(its, 'ca.pem'));
      expect(() => accepts(its, name)).toThrow(/sigma-agents.conf/);
      writeFileSync(path.join(its, 'sigma-agents.conf'), '');
      expect(() => accepts(its, name)).toThrow(/sigma_agents/);
      copyFileSync(users, path.join(its, 'sigma-agents.conf'));
      expect(() => accepts(its, name)).not.toThrow();
    });
  });
});
