import { expect, test } from 'vitest';

// The benches are plain JavaScript without types.
const bench = '../../bench/public';
const { filesOf, fused, ndcgOf } = await import(`${bench}/ndcg.mjs`);

const second = 1 / Math.log2(3);

test('a target counts where it is first covered, whichever of the two paths is longer', () => {
  const places = [
    { path: 'src/b.c', lines: [1, 9] },
    { path: 'src/a.c', lines: [1, 9] },
  ];
  expect(ndcgOf(places, [{ path: 'a.c' }])).toBeCloseTo(second);
  expect(ndcgOf(places, [{ path: 'lib/src/a.c' }])).toBeCloseTo(second);
  expect(ndcgOf(places, [{ path: 'xa.c' }])).toBe(0);
});

test('lines are compared only where the target and the place have them', () => {
  const target = { path: 'a.c', start_line: 10, end_line: 20 };
  const before = { path: 'a.c', lines: [1, 9] };
  const touching = { path: 'a.c', lines: [20, 30] };
  expect(ndcgOf([before, touching], [target])).toBeCloseTo(second);
  expect(ndcgOf(filesOf([before, touching]), [target])).toBe(1);
});

test('two targets at one rank count once, while the best that could be has both', () => {
  const targets = [
    { path: 'a.c', start_line: 1, end_line: 2 },
    { path: 'a.c', start_line: 5, end_line: 6 },
  ];
  expect(ndcgOf([{ path: 'a.c', lines: [1, 9] }], targets)).toBeCloseTo(1 / (1 + second));
});

test('an eleventh place counts no more', () => {
  const places = Array.from({ length: 11 }, (_, at) => ({ path: `${at}.c` }));
  expect(ndcgOf(places, [{ path: '9.c' }])).toBeGreaterThan(0);
  expect(ndcgOf(places, [{ path: '10.c' }])).toBe(0);
});

test('of lists that are fused, what both have comes first', () => {
  const named = (...names: string[]) => names.map((path) => ({ path }));
  expect(fused(named('a', 'a', 'b'), named('c', 'b'))).toEqual(named('b', 'a', 'c'));
});
