import { expect, test } from 'vitest';
import { describeItem, firstSentence, sentence } from '../../../../src/pgc/answer/compose.js';
import type { OverlayItem } from '../../../../src/pgc/overlay/overlay-file.js';

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

test.each([0, 100, 195, 210, 230, 400, 430, 860, 1_740])(
  'a credential %i characters into a text is told in no part',
  (at) => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
    const text = `${'so '.repeat(100).slice(0, at)} ${secret} is what opens it`;
    const item = {
      rule: 'section',
      symbol: '',
      severity: '',
      cwe: '',
      file_path: 'a.md',
      text: '',
    };
    const told = describeItem({ ...item, line_start: 1 } as OverlayItem, text);
    expect(told).not.toContain('ghp_');
    expect(firstSentence(text, 'open')).not.toContain('ghp_');
  },
);

test('no part of a sentence shows a credential', () => {
  const item = { rule: 'command', symbol: '', severity: '', cwe: '', file_path: 'a.md' };
  const told = (more: Partial<OverlayItem>): string =>
    sentence(
      describeItem({ ...item, line_start: 1, text: '', ...more } as OverlayItem, undefined),
      1,
    );
  expect(told({ symbol: 'Open it with --token abcd1234efgh5678' })).toBe(
    '`a.md:1` (command under “Open it with --token [redacted]”) [1].',
  );
  // In round brackets it would look like a call.
  expect(told({ text: 'password=ab[12]cd34ef99' })).not.toContain('cd34ef99');
  expect(told({ text: 'see [2] of it' })).toContain('see (2) of it [1].');
  // What is taken out makes room for what stands far behind it.
  for (let pairs = 200; pairs < 1_000; pairs += 5) {
    const bearer = `authorization: Bearer ${'0a'.repeat(pairs)} so`;
    const shown = told({ text: `${bearer} ghp_0123456789abcdefghijABCDEFGHIJ012345` });
    expect(shown).not.toMatch(/ghp_\w/);
  }
  expect(sentence('`open` uses password=ab12cd34ef99.', 1)).toBe(
    '`open` uses password=[redacted] [1].',
  );
});
