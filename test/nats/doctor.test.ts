import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { eventually } from '../support/eventually.js';
import { takePortPair } from '../support/ports.js';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const certificates = fileURLToPath(new URL('../../deploy/certificates.sh', import.meta.url));
const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
const at = (name: string): string => path.join(folder.path, name);

interface Check {
  name: string;
  state: string;
  detail: string;
  next: string;
}

async function add(agent: string, role: string, bus: string, ca?: string): Promise<void> {
  const where = ['--bus', bus, '--out', at(`${agent}.json`), ...(ca ? ['--ca', ca] : [])];
  expect((await sigma(home, ['keys', 'add', agent, '--role', role, ...where])).code).toBe(0);
}

/** What is said of NATS, and whether all is well. */
async function examined(
  agent: string,
  its = home,
): Promise<{ isSound: boolean; of: (name: string) => Check | undefined }> {
  const env = { SIGMA_IDENTITY: at(`${agent}.json`) };
  const command = startSigma(its, ['doctor', '--json'], env);
  const code = await command.ended;
  const json = JSON.parse(command.output()) as { is_sound: boolean; checks: Check[] };
  expect(code).toBe(json.is_sound ? 0 : 1);
  const of = (name: string) => json.checks.find((each) => each.name.startsWith(name));
  return { isSound: json.is_sound, of };
}

const saying = (text: string): unknown => expect.stringContaining(text);

describe('sigma doctor, of a bus on NATS', () => {
  const servers: NatsServer[] = [];
  let address = '';
  let closed: { port: number; release: () => void };
  const start = async (lines?: string): Promise<string> => {
    const server = await startNats(lines);
    servers.push(server);
    return server.address.replace('127.0.0.1', 'localhost');
  };
  const reload = async (): Promise<void> => {
    expect((await sigma(home, ['keys', 'nats', '--out', at('sigma-agents.conf')])).code).toBe(0);
    servers[0]?.reload();
  };
  const broker = (its = home): Running =>
    startSigma(its, ['bus', '--log', 'warn'], { SIGMA_IDENTITY: at('bus-1.json') });

  beforeAll(async () => {
    mkdirSync(home, { mode: 0o700 });
    for (const made of ['certificates', 'others'])
      execFileSync('sh', [certificates, at(made), 'localhost'], { stdio: 'pipe' });
    for (const name of ['ca.pem', 'localhost.pem', 'localhost-key.pem'])
      copyFileSync(path.join(at('certificates'), name), at(name));
    closed = takePortPair();
    expect((await sigma(home, ['keys', 'nats', '--out', at('sigma-agents.conf')])).code).toBe(0);
    address = await start(
      [
        `include "../${path.basename(folder.path)}/sigma-agents.conf"`,
        'authorization { users: $sigma_agents }',
        `tls { cert_file: "${at('localhost.pem')}", key_file: "${at('localhost-key.pem')}" }`,
      ].join('\n'),
    );
    for (const [agent, role] of [
      ['bus-1', 'broker'],
      ['ann', 'client'],
    ] as const)
      await add(agent, role, `tls://${address}`, at('ca.pem'));
    await add('strayed', 'client', `tls://${address}`, path.join(at('others'), 'ca.pem'));
    await add('halved', 'broker', `tls://localhost:${closed.port},${address}`, at('ca.pem'));
    await reload();
    await eventually(async () =>
      expect((await examined('bus-1')).of('identity')?.state).toBe('ok'),
    );
    await add('late', 'client', `tls://${address}`, at('ca.pem'));
  });
  afterAll(async () => {
    await Promise.all(servers.map((each) => each[Symbol.asyncDispose]()));
    closed.release();
    folder.remove();
  });

  test('before a broker ran, names the server and its certificate, and misses a leader', async () => {
    const { of, isSound } = await examined('bus-1');
    expect(of('server')).toMatchObject({
      name: `server ${address}`,
      state: 'ok',
      detail: expect.stringMatching(/certificate is good until 20\d\d-/) as string,
    });
    expect(of('message size')).toMatchObject({ state: 'ok', next: saying('max_payload') });
    expect(of('jetstream')?.state).toBe('ok');
    expect(of('streams')).toMatchObject({ state: 'absent', next: saying('sigma bus') });
    expect(of('lease')?.state).toBe('absent');
    expect(of('leader')).toMatchObject({ state: 'broken', detail: saying('no broker answers') });
    expect(of('replica')).toBeUndefined();
    expect(isSound).toBe(false);
  });

  test('says who leads since when, and to an agent without rights only what it may ask', async () => {
    const leading = broker();
    const before = Date.now();
    await eventually(async () => expect((await examined('ann')).of('leader')?.state).toBe('ok'));
    const seen = await examined('bus-1');
    expect(seen.isSound).toBe(true);
    expect(seen.of('streams')).toMatchObject({ state: 'ok', detail: saying('one copy') });
    const { detail = '' } = seen.of('lease') ?? {};
    expect(detail).toContain('of bus-1');
    const since = Date.parse(/since (\S+);/.exec(detail)?.[1] ?? '');
    expect(since).toBeGreaterThan(before - 60_000);
    expect(since).toBeLessThanOrEqual(Date.now());
    expect(seen.of('replica')).toMatchObject({ state: 'unchecked', detail: saying('in use') });

    const { of, isSound } = await examined('ann');
    expect(isSound).toBe(true);
    for (const name of ['streams', 'lease'])
      expect(of(name)).toMatchObject({ state: 'unchecked', detail: saying('ann may not ask') });
    const text = startSigma(home, ['doctor'], { SIGMA_IDENTITY: at('ann.json') });
    await text.ended;
    expect(text.output()).toMatch(/streams +not checked/);

    leading.process.kill('SIGTERM');
    await leading.ended;
    const after = await examined('bus-1');
    expect(after.of('replica')).toMatchObject({ state: 'ok', detail: saying('0 of') });
    expect(after.of('leader')?.state).toBe('broken');
    expect(after.of('lease')).toMatchObject({ state: 'absent', detail: saying('no process') });
  });

  test('names a server that is down, and goes on with the others', async () => {
    const { of } = await examined('halved');
    expect(of(`server localhost:${closed.port}`)).toMatchObject({
      state: 'broken',
      detail: saying('ECONNREFUSED'),
    });
    expect(of(`server ${address}`)?.state).toBe('ok');
  });

  test('says that a certificate is of another authority', async () => {
    const { of } = await examined('strayed');
    expect(of('server')).toMatchObject({ state: 'broken', detail: saying('certificate') });
    expect(of('streams')).toMatchObject({ state: 'unchecked' });
    expect(of('leader')).toMatchObject({ state: 'unchecked' });
  });

  test('says that the servers do not know a key', async () => {
    const { of } = await examined('late');
    expect(of('server')?.state).toBe('ok');
    expect(of('identity')).toMatchObject({
      state: 'broken',
      detail: saying('refuses this agent'),
      next: saying('sigma keys add'),
    });
    expect(of('leader')?.state).toBe('unchecked');
  });

  test('says that JetStream is off, and messages are too small', async () => {
    const plain = await start('jetstream: disabled\nmax_payload: 512KB');
    const bus = `nats://${plain}`;
    await add('bus-2', 'broker', bus);
    const { of } = await examined('bus-2');
    expect(of('server')).toMatchObject({ state: 'ok', detail: saying('without TLS') });
    expect(of('jetstream')).toMatchObject({ state: 'broken', detail: saying(plain) });
    expect(of('message size')).toMatchObject({ state: 'broken', next: saying('8MB') });
    expect(of('streams')?.state).toBe('unchecked');
  });

  test('says that no server answers, and that an identity cannot be read', async () => {
    await add('lost', 'broker', `nats://localhost:${closed.port}`);
    const { of, isSound } = await examined('lost');
    expect(isSound).toBe(false);
    expect(of('identity')).toMatchObject({ state: 'unchecked', detail: 'no server answers' });
    writeFileSync(at('none.json'), '{}', { mode: 0o600 });
    const env = { SIGMA_IDENTITY: at('none.json'), SIGMA_BUS: `nats://localhost:${closed.port}` };
    const command = startSigma(home, ['doctor', '--json'], env);
    expect(await command.ended).toBe(1);
    const { checks } = JSON.parse(command.output()) as { checks: Check[] };
    expect(checks.find(({ name }) => name === 'identity')?.state).toBe('broken');
  });
});
