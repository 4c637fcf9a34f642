import { expect, test } from 'vitest';
import { alternativesOf } from '../../../../../src/pgc/search/question/lexicon.js';

test('words that mean much the same find one another in any form', () => {
  expect(alternativesOf('verifies')).toContain('validate');
  expect(alternativesOf('stopped')).toContain('shutdown');
  expect(alternativesOf('died')).toContain('gone');
  expect(alternativesOf('lost')).toContain('dead');
});

test('a word of two groups stands for both, and they stay apart', () => {
  expect(alternativesOf('checksum')).toEqual(expect.arrayContaining(['csum', 'corrupt']));
  expect(alternativesOf('csum')).toEqual(['checksum']);
});

test('a word is no alternative to itself in another form', () => {
  expect(alternativesOf('allocates')).not.toContain('allocation');
});
