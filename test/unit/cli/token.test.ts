import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { carries, ensureToken, tokenFile } from '../../../services/token.js';
import { temporaryFolder } from '../../support/temporary.js';

test('the token is made once, for its owner alone', () => {
  const home = temporaryFolder();
  try {
    const token = ensureToken(home.path, 'mcp');
    expect(token).toMatch(/^[0-9a-f]{64}$/);
    expect(ensureToken(home.path, 'mcp')).toBe(token);
    expect(readFileSync(tokenFile(home.path, 'mcp'), 'utf8')).toBe(`${token}\n`);
    expect(statSync(tokenFile(home.path, 'mcp')).mode & 0o777).toBe(0o600);
    chmodSync(tokenFile(home.path, 'mcp'), 0o644);
    expect(() => ensureToken(home.path, 'mcp')).toThrow(/others may read it/);
    chmodSync(tokenFile(home.path, 'mcp'), 0o600);
    writeFileSync(tokenFile(home.path, 'mcp'), '\n');
    expect(() => ensureToken(home.path, 'mcp')).toThrow(/holds no token/);
  } finally {
    home.remove();
  }
});

test.each([
  ['Bearer abc', true],
  ['bearer  abc', true],
  [undefined, false],
  ['', false],
  ['Bearer ', false],
  ['Bearer ab', false],
  ['Bearer abcd', false],
  ['Bearer abc abc', false],
  ['Basic abc', false],
  ['abc', false],
])('the header %j carries the token abc: %s', (header, expected) => {
  expect(carries(header, 'abc')).toBe(expected);
});
