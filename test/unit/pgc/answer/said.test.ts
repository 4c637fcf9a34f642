import { expect, test } from 'vitest';
import { documented, firstSentence, short } from '../../../../src/pgc/answer/said.js';

test.each([
  ['Opens the gate. Shuts it.', 'Opens the gate'],
  ['gate_open() - opens the gate', 'opens the gate'],
  [
    'Return the time, or -1 if none is set (i.e. the key stays, e.g. for ever). Other.',
    'Return the time, or -1 if none is set (i.e. the key stays, e.g. for ever)',
  ],
])('of %j the first sentence is told', (doc, said) => {
  expect(firstSentence(doc, 'gate_open')).toBe(said);
});

test('documentation is told as far as the cited text holds it', () => {
  const doc = 'gate_open - opens the\n * [0] gate. Shuts it.';
  expect(documented(doc, 'gate_open', '/* Opens the [0] gate. */ int gate_open()')).toBe(
    'opens the * [0] gate',
  );
  expect(documented(doc, 'gate_open', 'int gate_open()')).toBe('');
  expect(documented('', 'gate_open', 'int gate_open()')).toBe('');
});

test.each([0, 100, 195, 210, 230, 400, 430, 860, 1_740])(
  'a credential %i characters into a text is told in no part',
  (at) => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const text = `${'so '.repeat(100).slice(0, at)} ${secret} is what opens it`;
    expect(short(text)).not.toContain('ghp_');
    expect(firstSentence(text, 'open')).not.toContain('ghp_');
  },
);

test('no part of what is said shows a credential', () => {
  expect(short('Open it with --token abcd1234efgh5678')).toBe('Open it with --token [redacted]');
  expect(short('password=ab[12]cd34ef99')).not.toContain('cd34ef99');
  expect(short('see [2] of it')).toBe('see [2] of it');
  expect(short('`open` uses password=ab12cd34ef99.')).toBe('`open` uses password=[redacted]');
  // What is taken out makes room for what stands far behind it.
  for (let pairs = 200; pairs < 1_000; pairs += 5) {
    const bearer = `authorization: Bearer ${'0a'.repeat(pairs)} so`;
    const shown = short(`${bearer} ghp_0123456789abcdefghijABCDEFGHIJ012345`);
    expect(shown).not.toMatch(/ghp_\w/);
  }
});
