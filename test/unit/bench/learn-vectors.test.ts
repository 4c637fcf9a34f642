import { describe, expect, it } from 'vitest';

// The benches are plain JavaScript without types.
const bench = '../../bench/vectors';
const { learnVectors } = await import(`${bench}/learn.mjs`);

const dims = 16;
const count = 40;
/** Text `i` says word `i` and a word that five others say; function `i` holds word `count + i` and another shared one. */
const functions = Array.from({ length: count }, (_, i) => {
  const bag = {
    words: Uint32Array.of(count + i, 2 * count + 1 + (i % 8)),
    counts: Uint16Array.of(1, 1),
  };
  return { told: bag, untold: bag };
});
const texts = Array.from({ length: count }, (_, i) => ({
  words: [i, 2 * count],
  about: [{ function: i, share: 1 }],
  isComment: false,
}));
const rarity = new Float32Array(2 * count + 9).fill(3);

function learned(seed: number, steps: number): Float32Array {
  const { vectors } = learnVectors([{ functions, texts }], rarity, {
    dims,
    steps,
    seed,
    report: () => {},
  }) as { vectors: Float32Array };
  return vectors;
}

/** The sum of the vectors of these words, of length 1. */
function unit(vectors: Float32Array, words: Iterable<number>): number[] {
  const sum = Array.from({ length: dims }, () => 0);
  for (const word of words)
    sum.forEach((_, k) => (sum[k] = (sum[k] ?? 0) + (vectors[word * dims + k] ?? 0)));
  const length = Math.hypot(...sum);
  return sum.map((each) => each / length);
}

const cosine = (one: number[], other: number[]): number =>
  one.reduce((sum, each, k) => sum + each * (other[k] ?? 0), 0);

describe('learning vectors of words', () => {
  it('brings a text near the function that it is about, without a common word', () => {
    const vectors = learned(1, 300);
    const targets = functions.map(({ told }) => unit(vectors, told.words));
    const found = texts.filter(({ words }, i) => {
      const scores = targets.map((each) => cosine(unit(vectors, words), each));
      return scores.indexOf(Math.max(...scores)) === i;
    });
    expect(found.length).toBeGreaterThan(0.9 * count);
  });

  it('is the same for the same seed', () => {
    const one = learned(7, 20);
    expect(learned(7, 20)).toEqual(one);
    expect(learned(8, 20)).not.toEqual(one);
  });
});
