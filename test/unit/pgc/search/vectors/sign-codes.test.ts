import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  codeBytes,
  prepareQuery,
  scanCodes,
  writeCode,
} from '../../../../../src/pgc/search/vectors/sign-codes.js';

const vectorOf = (dims: number): fc.Arbitrary<Float32Array> =>
  fc
    .array(fc.float({ min: -1, max: 1, noNaN: true }), { minLength: dims, maxLength: dims })
    .map((numbers) => Float32Array.from(numbers));

function codesOf(vectors: readonly Float32Array[], dims: number): Uint8Array {
  const codes = new Uint8Array(vectors.length * codeBytes(dims));
  for (const [row, vector] of vectors.entries()) writeCode(vector, codes, row * codeBytes(dims));
  return codes;
}

function plainScore(query: Float32Array, vector: Float32Array): number {
  return vector.reduce((sum, each, at) => sum + (each >= 0 ? 1 : -1) * query[at]!, 0);
}

test.each([8, 13, 26])('%i dimensions: each row is scored by its signs', (dims) => {
  fc.assert(
    fc.property(vectorOf(dims), fc.array(vectorOf(dims), { maxLength: 40 }), (query, vectors) => {
      const hits = scanCodes(codesOf(vectors, dims), prepareQuery(query), vectors.length);
      if (query.every((each) => each === 0)) return;
      expect(hits.length).toBe(vectors.length);
      const length = Math.hypot(...query) * Math.sqrt(dims);
      for (const { row, score } of hits)
        expect(Math.abs(score - plainScore(query, vectors[row]!) / length)).toBeLessThan(0.01);
      expect(hits.map(({ score }) => score)).toEqual(
        hits.map(({ score }) => score).sort((one, other) => other - one),
      );
    }),
  );
});

test('the best of many are the best of all', () => {
  const dims = 16;
  const vectors = Array.from({ length: 3_000 }, (_, row) =>
    Float32Array.from({ length: dims }, (_, at) => ((row * 2_654_435_761) >>> at) % 2 || -1),
  );
  const query = Float32Array.from({ length: dims }, (_, at) => 1 / (1 + at));
  const hits = scanCodes(codesOf(vectors, dims), prepareQuery(query), 20);
  const all = vectors.map((vector) => plainScore(query, vector)).sort((a, b) => b - a);
  const norm = Math.hypot(...query) * Math.sqrt(dims);
  expect(hits.length).toBe(20);
  for (const [at, { score }] of hits.entries()) expect(score).toBeCloseTo(all[at]! / norm, 2);
});

test('of equals, those that come first are kept', () => {
  const vectors = Array.from({ length: 500 }, () => Float32Array.from([1, 1, 1, 1, 1, 1, 1, 1]));
  const query = Float32Array.from([1, 0, 0, 0, 0, 0, 0, 0]);
  const hits = scanCodes(codesOf(vectors, 8), prepareQuery(query), 3);
  expect(hits.map(({ row }) => row)).toEqual([0, 1, 2]);
});

test('nothing is found in nothing, and nothing is wanted of it', () => {
  const query = prepareQuery(new Float32Array(8).fill(1));
  expect(scanCodes(new Uint8Array(), query, 5)).toEqual([]);
  expect(scanCodes(new Uint8Array(3), query, 0)).toEqual([]);
});
