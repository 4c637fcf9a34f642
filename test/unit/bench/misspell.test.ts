import { expect, test } from 'vitest';

// The benches are plain JavaScript without types.
const bench = '../../bench/comprehension';
const { misspelt } = await import(`${bench}/misspell.mjs`);

const text =
  'Where does "no upstreams available" come from when the server.go of every backend answers?';

/** Words that differ, by their places. */
function changed(one: string, other: string): string[] {
  const words = other.split(' ');
  return one.split(' ').filter((word, at) => word !== words[at]);
}

test('as many words change as are wanted, the same ones each time', () => {
  expect(misspelt(text, 0, 1)).toBe(text);
  const slips = misspelt(text, 2, 1);
  expect(misspelt(text, 2, 1)).toBe(slips);
  expect(changed(text, slips).length).toBeLessThanOrEqual(2);
  expect(slips).not.toBe(text);
});

test('what is pasted, short words and file names stay', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const slips = misspelt(text, 9, seed);
    expect(slips).toContain('"no upstreams available" come from when the server.go of');
  }
});
