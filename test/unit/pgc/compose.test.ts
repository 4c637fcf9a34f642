import { expect, test } from 'vitest';
import { firstSentence } from '../../../src/pgc/compose.js';

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
