import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Permissions } from '../../../src/broker/session/permissions.js';
import { loadConfig, type Config } from '../../../src/config/config.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => (folder = temporaryFolder()));
afterEach(() => folder.remove());

function load(settings: object, env: Record<string, string> = {}): Config {
  writeFileSync(path.join(folder.path, 'config.json'), JSON.stringify(settings));
  return loadConfig({ SIGMA_HOME: folder.path, ...env });
}

const invalid = expect.objectContaining({ code: 'CONFIG_INVALID' }) as Error;

test('metrics are off, the audit log holds metadata, and nobody’s permissions are changed', () => {
  expect(load({})).toMatchObject({
    http: 'off',
    audit: 'metadata',
    auditBytesMax: 64 * 1024 * 1024,
    auditFilesMax: 8,
    permissions: {},
  });
});

test.each(['127.0.0.1:9464', 'localhost:9464', '[::1]:9464', 'off'])('http may be %s', (http) => {
  expect(load({ http }).http).toBe(http);
  expect(load({}, { SIGMA_HTTP: http }).http).toBe(http);
});

test.each([
  '0.0.0.0:9464',
  '192.168.1.2:9464',
  '127.0.0.1.example.com:9464',
  'example.com:9464',
  '[::]:9464',
  ':9464',
  '127.0.0.1',
  '127.0.0.1:0',
  '127.0.0.1:70000',
  '',
])('http may not be "%s"', (http) => {
  expect(() => load({ http })).toThrow(invalid);
});

test('a rule of the configuration reaches the permissions as it was written', () => {
  const { permissions } = load({
    permissions: { scout: { send: [{ to: 'service:pgc.*', types: ['*'] }], framesPerS: 50 } },
  });
  const rights = new Permissions(permissions).of('scout');
  expect(rights.framesPerS).toBe(50);
  expect(rights.maySend({ kind: 'service', name: 'pgc.x' }, 'a')).toBe(true);
  expect(rights.maySend({ kind: 'agent', name: 'mm' }, 'a')).toBe(false);
});

test.each([
  [{ permissions: { scout: { sned: [] } } }],
  [{ permissions: { Scout: {} } }],
  [{ permissions: { scout: { offer: ['a*b'] } } }],
  [{ permissions: { scout: { offer: [''] } } }],
  [{ permissions: { scout: { send: [{ to: 'everyone', types: ['*'] }] } } }],
  [{ permissions: { scout: { send: [{ to: 'agent:mm' }] } } }],
  [{ permissions: { scout: { framesPerS: 0 } } }],
  [{ audit: 'all' }],
  [{ auditFilesMax: 0 }],
])('%j is refused', (settings) => {
  expect(() => load(settings)).toThrow(invalid);
});
