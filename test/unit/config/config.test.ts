import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/config.js';
import { ensureSecrets, readSecret } from '../../../src/config/secrets.js';
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

test('role secrets are made once, for their owner alone', () => {
  const made = ensureSecrets(folder.path);
  expect([...made.keys()]).toEqual(['manager', 'operator']);
  expect(ensureSecrets(folder.path)).toEqual(made);
  expect(readSecret(folder.path, 'manager')).toEqual(made.get('manager'));
  expect(readSecret(folder.path, 'client')).toBeUndefined();
});

test('a damaged key file is an error with a code, not a weak key', () => {
  mkdirSync(path.join(folder.path, 'bus/keys'), { recursive: true });
  writeFileSync(path.join(folder.path, 'bus/keys/manager.key'), '00');
  expect(() => ensureSecrets(folder.path)).toThrow(
    expect.objectContaining({ code: 'STORE_UNAVAILABLE' }) as Error,
  );
});
