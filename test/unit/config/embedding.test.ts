import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadConfig, type Config } from '../../../src/config/config.js';
import { temporaryFolder } from '../../support/temporary.js';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

function embedding(ofFile?: unknown, env: Record<string, string> = {}): Config['embedding'] {
  if (ofFile !== undefined)
    writeFileSync(path.join(folder.path, 'config.json'), JSON.stringify({ embedding: ofFile }));
  return loadConfig({ SIGMA_HOME: folder.path, ...env }).embedding;
}

test('the bundled model is used unless somebody says otherwise', () => {
  expect(embedding()).toBe('auto');
  expect(embedding('off')).toBe('off');
  expect(embedding('off', { SIGMA_EMBEDDING: 'auto' })).toBe('auto');
});

test('an endpoint is named by the file, or by the environment', () => {
  const ofFile = { url: 'https://example.org/v1', model: 'small', keyEnv: 'KEY', symbolsMax: 9 };
  expect(embedding(ofFile)).toEqual(ofFile);
  expect(embedding(ofFile, { SIGMA_EMBEDDING_MODEL: 'large' })).toEqual({
    ...ofFile,
    model: 'large',
  });
  const env = { SIGMA_EMBEDDING_URL: 'http://localhost:11434/v1', SIGMA_EMBEDDING_MODEL: 'small' };
  expect(embedding('auto', env)).toEqual({ url: 'http://localhost:11434/v1', model: 'small' });
});

test.each([
  [{ url: 'http://example.org/v1', model: 'm' }, 'embedding.url: it must begin with https://'],
  [{ url: 'ftp://localhost/v1', model: 'm' }, 'embedding.url'],
  [{ url: 'https://me:secret@example.org/v1', model: 'm' }, 'embedding.url'],
  [{ url: 'https://example.org/v1?key=secret', model: 'm' }, 'embedding.url'],
  [{ url: 'nonsense', model: 'm' }, 'embedding.url'],
  [{ url: 'https://example.org/v1' }, 'embedding.model'],
  [{ url: 'https://example.org/v1', model: 'm', key: 'secret' }, 'Unrecognized key: "key"'],
  [{ url: 'https://example.org/v1', model: 'm', keyEnv: 'sk-secret' }, 'embedding.keyEnv'],
  [{ url: 'https://example.org/v1', model: 'm', symbolsMax: 0 }, 'embedding.symbolsMax'],
  ['on', 'expected one of "auto"|"off"'],
  [null, 'embedding'],
  [7, 'embedding'],
])('%j is refused', (value, detail) => {
  expect(() => embedding(value)).toThrow(
    expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(detail) as string,
    }) as Error,
  );
});
