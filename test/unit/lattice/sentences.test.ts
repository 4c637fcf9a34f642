import { expect, test } from 'vitest';
import { sentenceEnd } from '../../../src/lattice/ask.js';

test('an answer is cut behind the sources of its sentences, and nowhere else', () => {
  const sentences = [
    'Nothing here clearly answers the question; this is nearest.',
    '`a.md:1` (section): See [the guide]. `npm test` builds all sites. `npm start` starts it [1].',
    '`open` is called by `main` (a.c:7) [2], at 3 further sites.',
    '`shut` (function, a.c:9): Shuts it [3].',
  ];
  expect(sentences.join(' ').split(sentenceEnd)).toEqual(sentences);
});
