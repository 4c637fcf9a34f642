import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.js';
import { writeIdentity } from '../../../src/config/identity.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());

const invalid = expect.objectContaining({ code: 'CONFIG_INVALID' }) as Error;

test('flags win over the environment, it over the file, it over the defaults', () => {
  writeFileSync(
    path.join(folder.path, 'config.json'),
    JSON.stringify({ log: 'warn', bus: 'ipc:///file', heartbeatMs: 500 }),
  );
  expect(loadConfig({ SIGMA_HOME: folder.path })).toMatchObject({
    log: 'warn',
    bus: 'ipc:///file',
    heartbeatMs: 500,
    drainMs: 5_000,
  });
  expect(
    loadConfig(
      { SIGMA_HOME: folder.path, SIGMA_BUS: 'ipc:///env', SIGMA_LOG: '' },
      { log: 'debug' },
    ),
  ).toMatchObject({ log: 'debug', bus: 'ipc:///env' });
});

test('what is misspelt, malformed or out of range is refused, never ignored', () => {
  const write = (text: string): void => writeFileSync(path.join(folder.path, 'config.json'), text);
  for (const text of [
    '{"hartbeatMs": 5}',
    'not json',
    '[]',
    '{"heartbeatMs": 5}',
    '{"log": "loud"}',
  ]) {
    write(text);
    expect(() => loadConfig({ SIGMA_HOME: folder.path }), text).toThrow(invalid);
  }
  write('{}');
  expect(() => loadConfig({ SIGMA_HOME: folder.path, SIGMA_LOG: 'loud' })).toThrow(invalid);
});

test('the result cannot be changed', () => {
  expect(Object.isFrozen(loadConfig({ SIGMA_HOME: folder.path }))).toBe(true);
});

test('the default socket is a function of the home and always short enough', () => {
  const long = path.join('/', 'x'.repeat(200));
  const { bus } = loadConfig({ SIGMA_HOME: long });
  expect(bus).toBe(loadConfig({ SIGMA_HOME: long }).bus);
  expect(bus).not.toBe(loadConfig({ SIGMA_HOME: `${long}y` }).bus);
  expect(Buffer.byteLength(bus)).toBeLessThan('ipc://'.length + 100);
  expect(loadConfig({ SIGMA_HOME: '/srv/sigma' }).bus).toBe('ipc:///srv/sigma/run/bus.sock');
});

test('the identity of a client names the bus, unless somebody else does', () => {
  const file = path.join(folder.path, 'me.json');
  const key = 'a'.repeat(40);
  const identity = {
    agent: 'me',
    role: 'client',
    curve_public: key,
    curve_secret: key,
    server_public: key,
    secret: '00'.repeat(32),
    bus: 'tcp://bus.example:7447',
  };
  writeIdentity(file, identity, { replace: false });
  const env = { SIGMA_HOME: folder.path, SIGMA_IDENTITY: file };
  expect(loadConfig(env)).toMatchObject({ identity: file, bus: 'tcp://bus.example:7447' });
  expect(loadConfig({ ...env, SIGMA_BUS: 'ipc:///env' }).bus).toBe('ipc:///env');
  writeFileSync(path.join(folder.path, 'config.json'), '{"identity": "me.json"}');
  expect(loadConfig({ SIGMA_HOME: folder.path })).toMatchObject({
    identity: file,
    bus: 'tcp://bus.example:7447',
  });
});

test('a folder of identities names no bus', () => {
  const config = loadConfig({ SIGMA_HOME: folder.path, SIGMA_IDENTITY: folder.path });
  expect(config.bus).toBe(loadConfig({ SIGMA_HOME: folder.path }).bus);
});

test('a broker listens at its bus alone, unless more is named', () => {
  expect(loadConfig({ SIGMA_HOME: folder.path }).listen).toEqual([]);
  const write = (listen: unknown): void =>
    writeFileSync(path.join(folder.path, 'config.json'), JSON.stringify({ listen }));
  write(['tcp://0.0.0.0:7447']);
  expect(loadConfig({ SIGMA_HOME: folder.path }).listen).toEqual(['tcp://0.0.0.0:7447']);
  for (const listen of ['tcp://0.0.0.0:7447', [7447], [''], Array(10).fill('tcp://0.0.0.0:7447')]) {
    write(listen);
    expect(() => loadConfig({ SIGMA_HOME: folder.path })).toThrow(invalid);
  }
});

test('a language model is configured by the file or the environment, what an executor may do by the file', () => {
  const file = path.join(folder.path, 'config.json');
  writeFileSync(file, JSON.stringify({ executor: { root: '/srv', slots: 2 } }));
  const home = { SIGMA_HOME: folder.path };
  expect(loadConfig(home)).toMatchObject({ executor: { root: '/srv', slots: 2 } });
  expect(loadConfig(home).model).toBeUndefined();
  const named = { ...home, SIGMA_MODEL_BASE_URL: 'http://127.0.0.1:1/v1', SIGMA_MODEL: 'small' };
  expect(loadConfig(named).model).toEqual({
    url: 'http://127.0.0.1:1/v1',
    model: 'small',
    keyEnv: 'SIGMA_MODEL_KEY',
  });
  for (const wrong of [{ SIGMA_MODEL: 'small' }, { SIGMA_MODEL_BASE_URL: 'http://example.org/v1' }])
    expect(() => loadConfig({ ...home, ...wrong })).toThrow(invalid);
  writeFileSync(file, JSON.stringify({ executor: { environment: ['A', 'SIGMA_MODEL_KEY'] } }));
  expect(() => loadConfig(named)).toThrow(/SIGMA_MODEL_KEY holds the key/);
  writeFileSync(file, JSON.stringify({ executor: { runners: ['shell'] } }));
  expect(() => loadConfig(home)).toThrow(invalid);
});

test('what is taken without a check is what the check would give', () => {
  const home = '/srv/sigma';
  const plain = loadConfig({ SIGMA_LOG: 'warn' }, { home, bus: 'ipc:///run/bus.sock' });
  // The default itself, but a setting that is checked.
  const checked = loadConfig({ SIGMA_LOG: 'warn', SIGMA_HTTP: 'off' }, { home, bus: plain.bus });

  expect(plain).toEqual(checked);
  expect(Object.isFrozen(plain)).toBe(true);
});

test.each([
  ['a level that there is not', { SIGMA_LOG: 'loud' }, {}],
  ['an empty address', {}, { bus: '' }],
])('%s is refused, where nothing else is set', (_, env, flags) => {
  expect(() => loadConfig(env, { home: '/srv/sigma', ...flags })).toThrow(invalid);
});
