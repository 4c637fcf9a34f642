import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../support/eventually.js';
import { takePortPair } from '../support/ports.js';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const at = (name: string): string => path.join(folder.path, name);
const { port } = takePortPair();
const address = `tcp://127.0.0.1:${port}`;
const home = at('broker');
let bus: Running | undefined;

/** A home on another machine: it shares nothing with the broker's but the identity file. */
function homeWith(identity: string): string {
  const its = at(`home-of-${identity}`);
  mkdirSync(its, { recursive: true, mode: 0o700 });
  writeFileSync(path.join(its, 'config.json'), JSON.stringify({ identity: at(identity) }));
  return its;
}

const add = (agent: string, role: string, out: string, ...more: string[]) =>
  sigma(home, [...['keys', 'add', agent, '--role', role, '--out', at(out)], ...more]);

beforeAll(() => {
  mkdirSync(home, { mode: 0o700 });
  writeFileSync(path.join(home, 'config.json'), JSON.stringify({ listen: [address] }));
});
afterAll(async () => {
  bus?.process.kill('SIGTERM');
  await bus?.ended;
  folder.remove();
});

test('a broker does not listen on tcp before it has keys, and then does', async () => {
  const refused = await sigma(home, ['bus', '--json']);
  expect([refused.code, refused.json.error.code]).toEqual([2, 'KEYS_MISSING']);
  const early = await sigma(home, [
    'keys',
    'add',
    'me',
    '--role',
    'x',
    '--out',
    at('me'),
    '--json',
  ]);
  expect([early.code, early.json.error.code]).toEqual([2, 'KEYS_MISSING']);
  const made = await sigma(home, ['keys', 'init', '--json']);
  const again = await sigma(home, ['keys', 'init', '--json']);
  expect(made.json).toMatchObject({ created: true });
  expect(again.json).toEqual({ ...made.json, created: false });
  bus = startSigma(home, ['bus']);
  await eventually(async () => expect((await sigma(home, ['status'])).code).toBe(0), 20_000);
});

describe('an agent with keys', () => {
  test('reaches the broker from a home of its own, by the address in its identity', async () => {
    expect((await add('me', 'client', 'me')).code).toBe(0);
    const status = await sigma(homeWith('me'), ['status', '--json']);
    expect(status.json).toMatchObject({ address, state: 'serving' });
  });

  test('is listed without what is secret', async () => {
    const { secret, curve_secret, curve_public } = JSON.parse(
      readFileSync(at('me'), 'utf8'),
    ) as Record<string, string>;
    const listed = await sigma(home, ['keys', 'list', '--json']);
    expect(listed.json.agents).toEqual([
      { agent: 'me', role: 'client', curve_public, created: expect.any(String) as string },
    ]);
    for (const each of [secret, curve_secret]) expect(listed.stdout).not.toContain(each);
  });

  test('has no use for its old keys once it was given new ones', async () => {
    await add('turner', 'client', 'turner');
    writeFileSync(at('turner-old'), readFileSync(at('turner')), { mode: 0o600 });
    const rotated = await sigma(home, ['keys', 'rotate', 'turner', '--out', at('turner')]);
    expect(rotated.code).toBe(0);
    expect((await sigma(homeWith('turner'), ['status'])).code).toBe(0);
    expect((await sigma(homeWith('turner-old'), ['status'])).code).toBe(3);
  });

  test('is not let in any more once it is revoked', async () => {
    await add('leaver', 'client', 'leaver');
    expect((await sigma(homeWith('leaver'), ['status'])).code).toBe(0);
    expect((await sigma(home, ['keys', 'revoke', 'leaver'])).code).toBe(0);
    expect((await sigma(homeWith('leaver'), ['status'])).code).toBe(3);
  });

  test('acts in no role but its own, whatever its file says', async () => {
    await add('climber', 'client', 'climber');
    const identity = JSON.parse(readFileSync(at('climber'), 'utf8')) as object;
    const forged = JSON.stringify({ ...identity, role: 'operator' });
    writeFileSync(at('climber'), forged, { mode: 0o600 });
    const status = await sigma(homeWith('climber'), ['status', '--json']);
    expect(status.json.error.code).toBe('UNAUTHORISED');
  });

  test('speaks as nobody else, whatever its file says', async () => {
    await add('owner', 'client', 'owner');
    await add('thief', 'client', 'thief');
    const identity = JSON.parse(readFileSync(at('thief'), 'utf8')) as object;
    const forged = JSON.stringify({ ...identity, agent: 'owner' });
    writeFileSync(at('thief'), forged, { mode: 0o600 });
    const status = await sigma(homeWith('thief'), ['status', '--json']);
    expect(status.json.error.code).toBe('UNAUTHORISED');
  });
});

test.each([
  [['add', '../me', '--role', 'client', '--out', at('x')], 'INVALID_NAME'],
  [['add', 'you', '--role', '../client', '--out', at('x')], 'INVALID_NAME'],
  [['add', 'you', '--role', 'client', '--out', at('me')], 'USAGE'],
  [['add', 'me', '--role', 'client', '--out', at('x')], 'IDENTITY_EXISTS'],
  [['add', 'you', '--role', 'client'], 'USAGE'],
  [['add', 'you', '--role', 'client', '--out', at('x'), '--bus', 'tcp://nonsense'], 'SOCKET_PATH'],
  [['revoke', '../../store'], 'INVALID_NAME'],
  [['revoke', 'nobody'], 'UNKNOWN_IDENTITY'],
  [['rotate', '../me', '--out', at('x')], 'INVALID_NAME'],
  [['rotate', 'nobody', '--out', at('x')], 'UNKNOWN_IDENTITY'],
  [['rotate', 'me'], 'USAGE'],
  [['rotate', '--role', '../operator'], 'USAGE'],
  [['rotate'], 'USAGE'],
])('sigma keys %j is refused and writes nothing', async (args, code) => {
  const refused = await sigma(home, ['keys', ...args, '--json']);
  expect(refused.json.error.code).toBe(code);
  expect(() => readFileSync(at('x'))).toThrow();
});

test('a client without an identity is told what it needs', async () => {
  const lost = await sigma(at('nowhere'), ['status', '--bus', address, '--json']);
  expect([lost.code, lost.json.error.code]).toEqual([2, 'KEYS_MISSING']);
});
