import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  WordVectors,
  writeWordVectors,
} from '../../../../../src/pgc/format/vectors/word-vectors.js';

let folder = '';
let file = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'word-vectors-'));
  file = path.join(folder, 'words.bin');
  await writeWordVectors(file, {
    words: ['retry', 'backoff', 'colour'],
    dims: 2,
    vectors: Float32Array.of(1, 0, 0.9, 0.1, 0, 2),
    inText: Float32Array.of(1, 1, 0.5),
    inFunction: Float32Array.of(1, 3, 1),
  });
});
afterEach(() => rm(folder, { recursive: true }));

describe('vectors of words', () => {
  it('are near where the words were learned to mean the same', () => {
    const vectors = WordVectors.read(file);
    const text = vectors.ofText(['retry']);
    expect(dot(text, ofFunction(vectors, { backoff: 1 }))).toBeGreaterThan(0.95);
    expect(dot(text, ofFunction(vectors, { colour: 1 }))).toBeCloseTo(0);
  });

  it('have length 1 for any text with a known word, else none', () => {
    const vectors = WordVectors.read(file);
    const known = vectors.ofText(['retry', 'colour', 'unheard']);
    expect(dot(known, known)).toBeCloseTo(1);
    expect([...vectors.ofText(['unheard'])]).toEqual([0, 0]);
  });

  it('count a word once in a text, and as it was learned in each place', () => {
    const vectors = WordVectors.read(file);
    expect(vectors.ofText(['retry', 'retry', 'colour'])).toEqual(
      vectors.ofText(['retry', 'colour']),
    );
    // In a text `colour` counts half of its length 2: as much as `retry`.
    const [across = 0, up = 0] = vectors.ofText(['retry', 'colour']);
    expect(across).toBeCloseTo(up);
    const once = ofFunction(vectors, { retry: 1, colour: 1 });
    const often = ofFunction(vectors, { retry: 9, colour: 1 });
    expect(often[0]).toBeGreaterThan(once[0] ?? 1);
  });

  it('of a damaged file are refused', async () => {
    const bytes = await readFile(file);
    // The last section, behind which the file is filled up.
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 8) ^ 1, bytes.length - 8);
    await writeFile(file, bytes);
    expect(() => WordVectors.read(file).ofText(['retry'])).toThrow(
      expect.objectContaining({ code: 'INDEX_CORRUPT' }),
    );
  });
});

function ofFunction(vectors: WordVectors, counts: Record<string, number>): Float32Array {
  const numbers = Object.keys(counts).map((word) => vectors.numberOf(word) ?? -1);
  return vectors.ofFunction(numbers, Object.values(counts));
}

function dot(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, each, at) => sum + each * (other[at] ?? 0), 0);
}
