import { expect, test } from 'vitest';
import { beginsWith } from '../../../src/secrets/anchored.js';

test.each([
  [String.raw`\b(ion_[A-Za-z0-9]{42,})`, 'ion_', true],
  [String.raw`(?i)\b(?P<token>sk_[a-z]{1,}_[A-Z0-9|]{40,})`, 'sk_', true],
  [String.raw`\b(?:key_(?:a|b)[0-9]{8})\b`, 'key_', true],
  // Something may stand before it, or instead of it.
  ['ion_[A-Za-z0-9]{42}', 'ion_', false],
  [String.raw`\bion_[0-9]{8}|x`, 'ion_', false],
  [String.raw`\b(ion_[0-9]{8}|[a-z]{3})`, 'ion_', false],
  [String.raw`\b(?:ion_)?[0-9]{8}`, 'ion_', false],
  [String.raw`\bmy_ion_[0-9]{8}`, 'ion_', false],
  [String.raw`\b://[a-z]{8}`, '://', false],
])('%s with %s: %s', (pattern, word, expected) => {
  expect(beginsWith(pattern, word)).toBe(expected);
});
