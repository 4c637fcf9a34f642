import { expect, test } from 'vitest';
import { hasRow, plainLetters, tokenSigns } from '../../../src/secrets/letters.js';
import { neededRow } from '../../../src/secrets/needed-row.js';

test.each([
  ['(?i)\\b(pat[a-z0-9]{14}\\.[a-f0-9]{64})\\b', 64, 64],
  ['\\b(lip_[A-Za-z0-9_]{16,})', 0, 16],
  ['(?:a[0-9]{20}|b[0-9]{12,30})c', 12, 12],
  ['((?:[0-9A-Z+/]{57}){3}=?)', 0, 57],
  ['x(?:[a-z]{30})?[0-9]{8}', 8, 8],
  ['x(?:[a-z]{30}){0,2}', 0, 0],
  ['[a-z]{30}|', 0, 0],
  ['[^a-z]{40}[[:alpha:]]{40}[\\s\\S]{40}.{40}', 0, 0],
  ['[]a-z]{40}\\[a-z]{40}', 0, 0],
  ['([a-z]{30}', 0, 0],
])('what %s finds has rows of %i letters and %i signs', (pattern, letters, signs) => {
  expect(neededRow(pattern)).toEqual({ letters, signs });
});

test('a row is found wherever it stands', () => {
  const text = `${'ab cd '.repeat(5)}key_0123456789`;
  expect(hasRow(text, plainLetters, 10)).toBe(true);
  expect(hasRow(text.slice(0, -1), plainLetters, 10)).toBe(false);
  expect(hasRow(text, plainLetters, 11)).toBe(false);
  expect(hasRow(text, tokenSigns, 14)).toBe(true);
  expect(hasRow(text, tokenSigns, 15)).toBe(false);
  // Where case does not matter, it is an s.
  expect(hasRow(`; ſ0123456789;`, plainLetters, 11)).toBe(true);
});
