import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dot } from '../../../src/model/embedder.js';
import { distil, TokenTable } from '../../../src/model/token-table.js';
import { WordPiece } from '../../../src/model/word-piece.js';
import { tinyTable, tinyVocabulary } from '../../support/tiny-table.js';

const table = new TokenTable(new WordPiece(tinyVocabulary), tinyTable(), 'tiny');

test('words of one meaning are nearer than words of another', () => {
  const [release, free, packet] = ['release', 'free', 'packet'].map((each) => table.embedOne(each));
  expect(dot(release!, free!)).toBeGreaterThan(0.9);
  expect(dot(release!, packet!)).toBeLessThan(0.1);
});

test('vectors have length 1 whatever the text, and the order of the words is nothing to them', () => {
  const words = fc.array(fc.constantFrom(...tinyVocabulary.slice(4)), { minLength: 1 });
  fc.assert(
    fc.property(words, (some) => {
      const vector = table.embedOne(some.join(' '));
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
      const turned = table.embedOne(some.toReversed().join(' '));
      expect(dot(vector, turned)).toBeCloseTo(1, 5);
    }),
  );
});

test('a text without a known word is zeros', () => {
  expect([...table.embedOne('nonsense')].every((each) => each === 0)).toBe(true);
  expect([...table.embedOne('')].every((each) => each === 0)).toBe(true);
});

test('texts are embedded in their order', async () => {
  const vectors = await table.embed(['free', 'packet']);
  expect(vectors).toEqual([table.embedOne('free'), table.embedOne('packet')]);
});

/** Numbers that look like chance and are the same in each run. */
function someVectors(count: number, dims: number): Float32Array {
  let state = 7;
  return Float32Array.from({ length: count * dims }, () => {
    state = (state * 1_103_515_245 + 12_345) & 0x7fffffff;
    return state / 0x7fffffff - 0.5;
  });
}

test('the first pieces of a vocabulary, which stand everywhere, weigh least', () => {
  const dims = 32;
  const { rows, scales } = distil(someVectors(2_000, dims), dims);
  const lengthOf = (id: number): number =>
    Math.hypot(...rows.subarray(id * dims, (id + 1) * dims)) * scales[id]!;
  const mean = (from: number, to: number): number => {
    let sum = 0;
    for (let id = from; id < to; id += 1) sum += lengthOf(id);
    return sum / (to - from);
  };
  expect(mean(0, 50)).toBeLessThan(0.2 * mean(1_000, 1_050));
  expect(mean(1_000, 1_050)).toBeLessThan(mean(1_900, 1_950));
});

test('what all rows share is taken out', () => {
  const dims = 32;
  const vectors = someVectors(2_000, dims);
  // A strong direction of its own in every row, now to this side, now to that.
  for (let id = 0; id < 2_000; id += 1) vectors[id * dims] = (id % 2 === 0 ? 1 : -1) * 20;
  const { rows } = distil(vectors, dims);
  let along = 0;
  let all = 0;
  for (const [at, each] of rows.entries()) {
    if (at % dims === 0) along += each * each;
    all += each * each;
  }
  expect(along / all).toBeLessThan(0.01);
});

test('rows of zeros stay zeros', () => {
  const { rows, scales } = distil(new Float32Array(64 * 16), 16);
  expect(rows.every((each) => each === 0)).toBe(true);
  expect(scales.every((each) => each === 0)).toBe(true);
});
