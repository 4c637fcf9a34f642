import { expect, test } from 'vitest';
import { hedged } from '../../../../src/pgc/answer/ask.js';
import type { Citation } from '../../../../src/pgc/shapes.js';

const source = (similarity: number): Citation => ({ similarity }) as Citation;
const hedge = 'Nothing here clearly answers the question; this is nearest. ';

test('what is rather wrong than right is told as merely near', () => {
  expect(hedged('It is so [1].', [source(0.1), source(0.49)])).toBe(`${hedge}It is so [1].`);
  expect(hedged('It is so [1].', [source(0.1), source(0.5)])).toBe('It is so [1].');
});
