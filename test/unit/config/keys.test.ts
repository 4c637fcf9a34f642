import { chmodSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import {
  agentsFolder,
  agentsWithKeys,
  identitiesMax,
  newAgentKeys,
  readAgentKeys,
  revokeAgentKeys,
  storeAgentKeys,
} from '../../../src/config/agent-keys.js';
import {
  isNatsIdentity,
  readIdentity,
  writeIdentity,
  type CurveIdentity,
  type NatsIdentity,
} from '../../../src/config/identity.js';
import { KeyRing } from '../../../src/config/key-ring.js';
import {
  ensureRoleSecrets,
  ensureServerKeys,
  keysFolder,
  readRoleSecret,
  provenRoles,
  readNameKey,
  readSecret,
  readServerKeys,
  rotateRoleSecret,
  serverKeysFor,
} from '../../../src/config/keys.js';
import { newNkey } from '../../../src/config/nkey.js';
import { newCurveKeyPair } from '../../../src/transport/curve.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
beforeEach(() => {
  folder = temporaryFolder();
  home = folder.path;
});
afterEach(() => folder.remove());

const coded = (code: string): Error => expect.objectContaining({ code }) as Error;
const modeOf = (file: string): number => statSync(file).mode & 0o777;

function add(agent: string, role = 'tester', replace = false): { publicKey: string } {
  const { publicKey } = newCurveKeyPair();
  const keys = newAgentKeys({ agent, role, nowMs: 0 }, { curve_public: publicKey });
  storeAgentKeys(home, keys, { replace });
  return { publicKey };
}

describe('secrets of roles', () => {
  test('are made once, for their owner alone', () => {
    ensureRoleSecrets(home);
    const made = readRoleSecret(home, 'operator');
    expect(made).toHaveLength(32);
    ensureRoleSecrets(home);
    expect(readRoleSecret(home, 'operator')).toEqual(made);
    expect(readSecret(home, 'manager')).toEqual(readRoleSecret(home, 'manager'));
    expect(readSecret(home, 'executor')).toBeUndefined();
    expect(modeOf(path.join(keysFolder(home), 'operator.key'))).toBe(0o600);
    expect(modeOf(keysFolder(home))).toBe(0o700);
  });

  test('prove whoever decides for others, and nobody else', () => {
    ensureRoleSecrets(home);
    const ring = new KeyRing(home, systemClock);
    const proofOf = (role: string) => ring.proofFor({ agent: 'some', role, isRemote: false });
    for (const role of provenRoles) expect(proofOf(role)).toEqual(readRoleSecret(home, role));
    const proofs = provenRoles.map((role) => String(proofOf(role)));
    expect(new Set(proofs).size).toBe(5);
    expect(proofOf('executor')).toBe('none');
  });

  test('make a key of each name, the same for every process of the home', () => {
    expect(readNameKey(home, 'executor')).toBeUndefined();
    ensureRoleSecrets(home);
    const key = readNameKey(home, 'executor')!;
    expect(key).toHaveLength(32);
    expect(new KeyRing(home, systemClock).keyOfName('executor')).toEqual(key);
    expect(readNameKey(home, 'executor-2')).not.toEqual(key);
  });

  test('that are rotated replace the old ones for a running broker too', () => {
    ensureRoleSecrets(home);
    const ring = new KeyRing(home, systemClock);
    const claim = { agent: 'boss', role: 'operator', isRemote: false };
    const old = ring.proofFor(claim);
    rotateRoleSecret(home, 'operator');
    expect(ring.proofFor(claim)).toEqual(readRoleSecret(home, 'operator'));
    expect(ring.proofFor(claim)).not.toEqual(old);
  });

  test('that are damaged or open to others are errors with a code, not weak keys', () => {
    const file = path.join(keysFolder(home), 'manager.key');
    mkdirSync(keysFolder(home), { recursive: true });
    writeFileSync(file, '00', { mode: 0o600 });
    expect(() => ensureRoleSecrets(home)).toThrow(coded('KEY_FILE_INVALID'));
    writeFileSync(file, '00'.repeat(32));
    chmodSync(file, 0o644);
    expect(() => ensureRoleSecrets(home)).toThrow(coded('KEY_FILE_INVALID'));
  });
});

describe('the key pair of the broker', () => {
  test('is made once and kept, for its owner alone', () => {
    const made = ensureServerKeys(home, newCurveKeyPair, 0);
    const again = ensureServerKeys(home, newCurveKeyPair, 0);
    expect([made.isNew, again]).toEqual([true, { ...made, isNew: false }]);
    expect(readServerKeys(home)?.secretKey).toBe(made.secretKey);
    expect(modeOf(path.join(keysFolder(home), 'server.curve'))).toBe(0o600);
  });

  test('that is missing is named with the address that needs it', () => {
    expect(() => serverKeysFor(home, 'tcp://0.0.0.0:7447')).toThrow(coded('KEYS_MISSING'));
  });
});

describe('keys of an agent', () => {
  test('are kept for their owner alone, without the half that only the agent has', () => {
    const { publicKey } = add('worker-1', 'pgc');
    const file = path.join(agentsFolder(home), 'worker-1.json');
    expect(readAgentKeys(home, 'worker-1')).toMatchObject({
      role: 'pgc',
      curve_public: publicKey,
      created: '1970-01-01T00:00:00.000Z',
    });
    expect([modeOf(file), modeOf(agentsFolder(home))]).toEqual([0o600, 0o700]);
    expect(readFileSync(file, 'utf8')).not.toContain('curve_secret');
  });

  test('are replaced only when that is asked for', () => {
    const first = add('worker-1');
    expect(() => add('worker-1')).toThrow(coded('IDENTITY_EXISTS'));
    expect(readAgentKeys(home, 'worker-1')).toMatchObject({ curve_public: first.publicKey });
    const second = add('worker-1', 'tester', true);
    expect(readAgentKeys(home, 'worker-1')).toMatchObject({ curve_public: second.publicKey });
  });

  test.each(['../operator', '..', 'a/b', '.hidden', 'A', '', 'x\0', '-x', 'a.json'])(
    'cannot be those of %j, which is no name',
    (agent) => {
      expect(() => add(agent)).toThrow(coded('INVALID_NAME'));
      expect(() => readAgentKeys(home, agent)).toThrow(coded('INVALID_NAME'));
      expect(() => revokeAgentKeys(home, agent)).toThrow(coded('INVALID_NAME'));
    },
  );

  test('that nobody has cannot be revoked', () => {
    expect(() => revokeAgentKeys(home, 'nobody')).toThrow(coded('UNKNOWN_IDENTITY'));
  });

  test('under another name than their file are refused', () => {
    add('worker-1');
    const text = readFileSync(path.join(agentsFolder(home), 'worker-1.json'), 'utf8');
    writeFileSync(path.join(agentsFolder(home), 'worker-2.json'), text, { mode: 0o600 });
    expect(() => readAgentKeys(home, 'worker-2')).toThrow(coded('KEY_FILE_INVALID'));
  });

  test('of one agent more than a broker reads are refused', () => {
    mkdirSync(agentsFolder(home), { recursive: true });
    for (let at = 0; at < identitiesMax; at += 1)
      writeFileSync(path.join(agentsFolder(home), `agent-${at}.json`), '');
    expect(agentsWithKeys(home)).toHaveLength(identitiesMax);
    expect(() => add('one-more')).toThrow(coded('IDENTITIES_FULL'));
  });
});

describe('a running broker', () => {
  test('asks nothing of ordinary roles on its own machine', () => {
    add('worker-1', 'tester');
    const ring = new KeyRing(home, systemClock);
    expect(ring.proofFor({ agent: 'worker-1', role: 'tester', isRemote: false })).toBe('none');
  });

  test('has names of foreign agents proven by the gateway, and no other by it', () => {
    const ring = new KeyRing(home, systemClock);
    const proof = (agent: string, role: string): unknown =>
      ring.proofFor({ agent, role, isRemote: true });
    add('gateway', 'tester');
    expect(proof('foreign-a', 'foreign')).toBe('refused');
    add('gateway', 'gateway', true);
    const secret = Buffer.from(readAgentKeys(home, 'gateway').secret, 'hex');
    expect(proof('foreign-a', 'foreign')).toEqual(secret);
    for (const [agent, role] of [
      ...[
        ['foreign-a', 'tester'],
        ['foreign-a', 'gateway'],
        ['foreign', 'foreign'],
      ],
      ...[
        ['a', 'foreign'],
        ['gateway', 'foreign'],
      ],
    ] as [string, string][])
      expect(proof(agent, role)).toBe('refused');
    expect(() => add('foreign-a', 'foreign')).toThrow(coded('UNAUTHORISED'));
  });

  test('has an agent on NATS prove its role, too, and lets its key in nowhere over tcp', () => {
    const { publicKey } = newNkey();
    const half = { nats_public: publicKey, nats_bus: 'main' };
    const keys = newAgentKeys({ agent: 'worker-1', role: 'pgc', nowMs: 0 }, half);
    storeAgentKeys(home, keys, { replace: false });
    expect(readAgentKeys(home, 'worker-1')).toEqual(keys);
    const ring = new KeyRing(home, systemClock);
    const claim = { agent: 'worker-1', role: 'pgc', isRemote: true };
    expect(ring.proofFor(claim)).toEqual(Buffer.from(keys.secret, 'hex'));
    expect(ring.proofFor({ ...claim, role: 'operator' })).toBe('refused');
    expect(ring.isAllowed(publicKey)).toBe(false);
  });

  test('refuses a role of its own machine whose secret is gone', () => {
    const ring = new KeyRing(home, systemClock);
    expect(ring.proofFor({ agent: 'boss', role: 'operator', isRemote: false })).toBe('refused');
  });

  test.each([
    ['worker-1', 'tester', 'its secret'],
    ['worker-1', 'operator', 'refused'],
    ['worker-2', 'tester', 'refused'],
    ['../worker-1', 'tester', 'refused'],
  ])('has %s over tcp prove the role %s by: %s', (agent, role, expected) => {
    ensureRoleSecrets(home);
    add('worker-1', 'tester');
    const proof = new KeyRing(home, systemClock).proofFor({ agent, role, isRemote: true });
    const secret = Buffer.from(readAgentKeys(home, 'worker-1').secret, 'hex');
    expect(proof).toEqual(expected === 'refused' ? 'refused' : secret);
  });

  test('sees at once whom somebody adds, replaces and revokes', () => {
    const ring = new KeyRing(home, systemClock);
    const first = newCurveKeyPair().publicKey;
    expect(ring.isAllowed(first)).toBe(false);
    for (let round = 0; round < 20; round += 1) {
      const added = add('worker-1').publicKey;
      expect(ring.isAllowed(added)).toBe(true);
      const replaced = add('worker-1', 'tester', true).publicKey;
      expect([ring.isAllowed(added), ring.isAllowed(replaced)]).toEqual([false, true]);
      revokeAgentKeys(home, 'worker-1');
      expect(ring.isAllowed(replaced)).toBe(false);
    }
  });

  test('sees two changes in one tick of the file system', () => {
    const tick = new Date();
    add('worker-1');
    utimesSync(agentsFolder(home), tick, tick);
    const ring = new KeyRing(home, systemClock);
    expect(ring.isAllowed('nobody')).toBe(false);
    const { publicKey } = add('worker-2');
    utimesSync(agentsFolder(home), tick, tick);
    expect(ring.isAllowed(publicKey)).toBe(true);
  });

  test('reads the keys again only after a change', () => {
    const { publicKey } = add('worker-1');
    // Long after the change that it has read, so that no later one can carry the same time.
    const ring = new KeyRing(home, { ...systemClock, nowMs: () => Date.now() + 60_000 });
    expect(ring.isAllowed(publicKey)).toBe(true);
    const file = path.join(agentsFolder(home), 'worker-1.json');
    writeFileSync(file, 'damaged, in place');
    expect(ring.isAllowed(publicKey)).toBe(true);
    add('worker-2');
    expect(ring.isAllowed(publicKey)).toBe(false);
  });

  test('leaves out a damaged file, and nobody else', () => {
    const { publicKey } = add('worker-1');
    writeFileSync(path.join(agentsFolder(home), 'worker-2.json'), '{"agent"', { mode: 0o600 });
    const told: unknown[] = [];
    const ring = new KeyRing(home, systemClock, (_level, _what, fields) =>
      told.push(fields?.agent),
    );
    expect(ring.isAllowed(publicKey)).toBe(true);
    expect(ring.proofFor({ agent: 'worker-2', role: 'tester', isRemote: true })).toBe('refused');
    expect(new Set(told)).toEqual(new Set(['worker-2']));
  });
});

describe('an identity file', () => {
  const key = newCurveKeyPair();
  const identity: CurveIdentity = {
    agent: 'worker-1',
    role: 'pgc',
    curve_public: key.publicKey,
    curve_secret: key.secretKey,
    server_public: newCurveKeyPair().publicKey,
    secret: 'ab'.repeat(32),
    bus: '',
  };
  const nats: NatsIdentity = {
    agent: 'worker-1',
    role: 'pgc',
    nats_seed: newNkey().seed,
    secret: 'ab'.repeat(32),
    bus: 'tls://nats-1.example:4222',
  };
  const damaged = nats.nats_seed.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
  const file = (): string => path.join(home, 'worker-1.json');

  test('is read as it was written, for its owner alone', () => {
    expect(writeIdentity(file(), identity, { replace: false })).toBe(true);
    expect(readIdentity(file())).toEqual(identity);
    expect(modeOf(file())).toBe(0o600);
  });

  test('for NATS is told from one for tcp by what it holds', () => {
    writeIdentity(file(), nats, { replace: false });
    const read = readIdentity(file());
    expect(read).toEqual(nats);
    expect([isNatsIdentity(read), isNatsIdentity(identity)]).toEqual([true, false]);
  });

  test('is found by its agent in a folder of them', () => {
    writeIdentity(file(), identity, { replace: false });
    expect(readIdentity(home, 'worker-1')).toEqual(identity);
    expect(() => readIdentity(home, 'worker-2')).toThrow(coded('KEY_FILE_INVALID'));
    expect(() => readIdentity(home, '../worker-1')).toThrow(coded('KEY_FILE_INVALID'));
  });

  test('does not replace another unless that is asked for', () => {
    writeIdentity(file(), identity, { replace: false });
    const other = { ...identity, role: 'client' };
    expect(writeIdentity(file(), other, { replace: false })).toBe(false);
    expect(readIdentity(file()).role).toBe('pgc');
    expect(writeIdentity(file(), other, { replace: true })).toBe(true);
    expect(readIdentity(file()).role).toBe('client');
  });

  test.each([0o640, 0o604, 0o644, 0o660])('of mode %o is refused', (mode) => {
    writeIdentity(file(), identity, { replace: false });
    chmodSync(file(), mode);
    expect(() => readIdentity(file())).toThrow(coded('KEY_FILE_INVALID'));
  });

  test.each([
    ['no JSON', 'nonsense'],
    ['no object', '[]'],
    ['without a secret', JSON.stringify({ ...identity, secret: undefined })],
    ['with a short key', JSON.stringify({ ...identity, curve_secret: 'short' })],
    ['with a name that is none', JSON.stringify({ ...identity, agent: '../x' })],
    ['with more than it should have', JSON.stringify({ ...identity, extra: 1 })],
    ['for both', JSON.stringify({ ...identity, ...nats })],
    ['for NATS without servers', JSON.stringify({ ...nats, bus: '' })],
    ['for NATS with a seed that is damaged', JSON.stringify({ ...nats, nats_seed: damaged })],
    ['for NATS with a public key', JSON.stringify({ ...nats, nats_seed: newNkey().publicKey })],
    ['for NATS with a CA that is none', JSON.stringify({ ...nats, ca: '/etc/ca.pem' })],
  ])('that is %s is refused, and what it holds is not repeated', (_what, text) => {
    writeFileSync(file(), text, { mode: 0o600 });
    try {
      readIdentity(file());
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({ code: 'KEY_FILE_INVALID' });
      for (const secret of [identity.secret, identity.curve_secret, nats.nats_seed])
        expect((error as Error).message).not.toContain(secret);
    }
  });
});
