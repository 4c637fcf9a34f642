import { expect, test } from 'vitest';
import { reportOf } from '../../../src/critic/review/report.js';
import { secretsOutOf, withoutSecrets } from '../../../src/critic/artifact/secrets.js';
import { findingOf } from '../../support/critiques.js';

const token = `ghp_${'a1B2'.repeat(9)}`;
const body = 'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ';
const key = ['-----BEGIN PRIVATE KEY-----', body, body, 'Qw==', '-----END PRIVATE KEY-----'];

test('a text loses its credentials, and no line', () => {
  const text = ['# Keys', `The token is ${token}.`, ...key, 'password = "hunter22"', 'end'];
  const without = withoutSecrets(text.join('\n'));
  expect(without.split('\n')).toEqual([
    ...['# Keys', 'The token is [redacted].', key[0], '[redacted]', '[redacted]', '[redacted]'],
    ...[key[4], 'password = [redacted]', 'end'],
  ]);
  const plain = 'The word token: a -----BEGIN PRIVATE KEY----- mark, and words behind it.\n\n';
  expect(withoutSecrets(plain)).toBe(plain);
});

test('a private key is hidden as code, settings and comments write it', () => {
  const [head, end] = ['-----BEGIN RSA PRIVATE KEY-----', '-----END RSA PRIVATE KEY-----'];
  const written = [
    `KEY="${head}\\n${body}\\n${body}\\nQw==\\n${end}\\n"`,
    `k = "${head}\\n" +\n  "${body}\\n" +\n  "${body}\\n" +\n  "${end}"`,
    ` * ${head}\n * ${body}\n * ${body}\n * ${end}`,
    `${head}\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,AB12\n\n${body}\nQw==\n${end}`,
  ];
  for (const text of written) {
    const without = withoutSecrets(text);
    expect(without).not.toMatch(/MIIE|Qw==/);
    expect(without).toContain(end);
    expect(without.split('\n')).toHaveLength(text.split('\n').length);
  }
});

test('a long line is looked at whole, in pieces, in no more time than it has characters', () => {
  for (const before of ['word ', 'x'])
    for (const at of [3_900, 3_950, 3_980, 7_990, 100_000]) {
      const text = `${before.repeat(Math.ceil(at / before.length))} ${token} ${before.repeat(3_000)}`;
      const without = withoutSecrets(text);
      expect(without).not.toContain(token.slice(4));
      expect(without.replace('[redacted]', token)).toBe(text);
    }
  const many = 'token='.repeat(40_000);
  expect(withoutSecrets(many)).toHaveLength(many.length);
});

test('every text in a value, and whatever a mode quotes', () => {
  const value = { a: [token, 1, null, true], b: { c: `x ${token}` } };
  expect(secretsOutOf(value)).toEqual({
    a: ['[redacted]', 1, null, true],
    b: { c: 'x [redacted]' },
  });
  const evidence = { file_path: 'a.ts', line_start: 1, line_end: 1, blob: '', symbol: '' };
  const finding = findingOf('f', {
    ...{ text: `says ${token}`, remedy: token },
    evidence: [{ ...evidence, content: `const key = '${token}';` }],
  });
  const found = {
    ...{ findings: [finding], unable: [`to read ${token}`] },
    sections: [{ title: 'Quotes', text: `> ${token}` }],
  };
  const report = reportOf('steelman', found, { status: 'complete', reason: '', elapsedMs: 1 });
  expect(JSON.stringify(report)).not.toContain(token);
  expect(report.findings[0]).toMatchObject({ id: 'f', text: 'says [redacted]' });
});
