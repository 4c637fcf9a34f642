import { createHash, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { KeywordIndex } from '../../../src/secrets/keywords.js';
import { secretsIn, withoutIssued } from '../../../src/secrets/secrets.js';

// Made here: what looks like a secret in a source is found by every scanner. The same in each run: a few letters may be drawn like a word.
let drawings = 0;
const drawn = (count: number, letters: string): string =>
  [
    ...createHash('shake256', { outputLength: count })
      .update(`${(drawings += 1)}`)
      .digest(),
  ]
    .map((byte) => letters[byte % letters.length])
    .join('');
const some = (count: number): string =>
  `q7Zk2Xw9${drawn(count - 8, 'bcdfghjkmnpqrstvwxzBCDFGHJKMNPQRSTVWXZ23456789')}`;
const pem = generateKeyPairSync('rsa', {
  ...{ modulusLength: 1024, publicKeyEncoding: { type: 'spki', format: 'pem' } },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const);

test.each([
  ['a private key', pem.privateKey],
  ['a private key whose end is cut off', pem.privateKey.slice(0, 200)],
  ['a key of a cloud', `AKIA${drawn(16, 'ABCDEFGHJKMNPQRSTVWXYZ234567')}`],
  ['a token', `token: ghp_${some(36)}`],
  ['a token without a name', `The app sends sk-live-${some(32)} with each call.`],
  ['a password in quotes', `password = "${some(12)}!"`],
  ['a password with signs', 'password: `hunter2-Sigma!9`'],
  ['a password in settings', `  DB_PASSWORD=${some(10)}`],
  ['a password in an address', `see https://root:${some(12)}@db.internal/x`],
  ['a password in an element', `<password>${some(14)}</password>`],
  ['a password of four kinds of letters', 'password: "Admin-Password!9"'],
  ['a password of a connection', `Server=db;Uid=sa;Pwd=${some(12)};Timeout=3`],
  ['a password that is a default', `url: "\${DB_PASSWORD:-${some(12)}}"`],
  ['a password in an option', `mysql --user root --password ${some(12)}`],
  ['a password that a database is told', `CREATE USER app IDENTIFIED BY '${some(12)}';`],
  ['a password beside its name', `- name: DB_PASSWORD\n  value: ${some(12)}`],
  ['a password that is compared with', `if (password !== "${some(12)}") fail();`],
  ['a token that names its user', `git clone https://${some(40)}@github.com/a/b`],
  ['a token behind an escape', `"first\\nghp_${some(36)}"`],
  ['a token that is longer than its rule says', `ghp_${some(60)}`],
  ['a token of an issuer without a rule', `use qzx_${some(40)}`],
  ['a token in base64', `data: ${Buffer.from(`ghp_${some(36)}`).toString('base64')}`],
  ['a name and a password in base64', `- ${Buffer.from(`root:${some(16)}`).toString('base64')}`],
  ['JSON in a text of JSON', `"{\\"password\\":\\"${some(14)}\\"}"`],
])('%s is found, and nothing but it', (_, text) => {
  const found = secretsIn(`# Notes\n\n${text}\n\nend of it\n`);
  expect(found).toHaveLength(1);
  const [{ at, end } = { at: 0, end: 0 }] = found;
  expect(text).toContain(`# Notes\n\n${text}\n`.slice(at, end));
});

test.each([
  ['the public half of a key', pem.publicKey],
  ['the mark of a key without one', '-----BEGIN PRIVATE KEY-----\n'],
  ['an example of an issuer', 'AKIAIOSFODNN7EXAMPLE'],
  ['a stand-in', 'password: "<your password>", token = "changeme", secret: "${SECRET}"'],
  ['names in code', 'const tokenOf = password.toString();\nkey = "user.session.lastKey"'],
  ['digits', 'password = "1234567890"'],
  ['words in base64', `password = "${Buffer.from('user:password').toString('base64')}"`],
  ['names without a list', 'token = "v4-unsigned-body", secret: "principalName"'],
  ['a name with a type', 'func of(secret *core9.Secret!, token *map)'],
  ['base64 of anything', `data = "${Buffer.from('some words of a text').toString('base64')}"`],
  ['words', 'The password is "what you know", and a token: "the one you have".'],
  ['an address', 'https://user@example.com:8080/a and http://localhost:3000'],
])('%s is none', (_, text) => {
  expect(secretsIn(text)).toEqual([]);
});

test('what issuers have marked is taken out of a text, what only has a name stays', () => {
  const token = `ghp_${some(36)}`;
  const text = `use ${token}, password = "${some(12)}"`;
  expect(withoutIssued(text, '[redacted]')).toBe(text.replace(token, '[redacted]'));
});

test('a secret behind any number of words that announce one is found', () => {
  const before = 'The password is asked for.\n'.repeat(1_500);
  const text = `${before}password = "${some(12)}"\n`;
  expect(secretsIn(text).map(({ at }) => at >= before.length)).toEqual([true]);
});

test('keywords are found in any case, wherever they stand, also within each other', () => {
  const index = new KeywordIndex([
    { word: 'secret', value: 'a' },
    { word: 'secretkey', value: 'b' },
    { word: 'key', value: 'a' },
  ]);
  expect(index.placesIn('x SecretKEY key')).toEqual(
    new Map([
      ['a', [2, 8, 12]],
      ['b', [2]],
    ]),
  );
  expect(() => new KeywordIndex([{ word: 'ab', value: 1 }])).toThrow(/too short/);
});

test('a text that is made to be slow takes no longer than another one', () => {
  const began = performance.now();
  for (const text of [
    'password '.repeat(20_000),
    `token = ${'a'.repeat(200_000)}`,
    '=>'.repeat(90_000),
  ])
    secretsIn(text);
  expect(performance.now() - began).toBeLessThan(15_000);
});
