import { expect, test } from 'vitest';
import type { ScipDocument } from '../../../../src/pgc/scip/read-index.js';
import { namedPlaces } from '../../../../src/pgc/scip/text-ranges.js';

function document(ranges: number[][], its: Partial<ScipDocument> = {}): ScipDocument {
  return {
    ...{ relative_path: 'a.ts', symbols: [], language: '', text: '', position_encoding: 0 },
    occurrences: ranges.map((range) => ({
      ...{ range, symbol: 's . p . f().', symbol_roles: 0, enclosing_range: [] },
    })),
    ...its,
  };
}

function names(ranges: number[][], text: string, its: Partial<ScipDocument> = {}): unknown {
  const places = namedPlaces(document(ranges, its), text);
  return typeof places === 'string' ? places : places.map(({ line, name }) => [line, name]);
}

test('a range names what stands there; what is no name has none', () => {
  const text = "import { f } from './a';\nf(+1);\r\n";
  const ranges = [
    [0, 9, 10],
    [0, 18, 23],
    [1, 0, 1, 1],
    [1, 2, 3],
    [0, 0, 0],
    [0, 0, 1, 2],
  ];
  expect(names(ranges, text)).toEqual([
    [1, 'f'],
    [1, ''],
    [2, 'f'],
    [2, ''],
  ]);
});

test.each([
  ['cuts a word', [0, 1, 3]],
  ['ends behind the line', [0, 0, 9]],
  ['is on a line that is not there', [5, 0, 1]],
  ['ends before it begins', [0, 3, 1]],
])('a text is another one where a range %s', (_, range) => {
  expect(names([range], 'call()')).toBe('changed');
});

test('a text that the index holds is compared', () => {
  expect(names([[0, 0, 1]], 'f()', { text: 'f(1)' })).toBe('changed');
  expect(names([[0, 0, 1]], 'f()', { text: 'f()' })).toEqual([[1, 'f']]);
});

test.each([
  ['bytes', 1, [0, 7, 9]],
  ['units', 2, [0, 5, 7]],
  ['code points', 3, [0, 4, 6]],
])('characters may be %s', (_, position_encoding, range) => {
  expect(names([range], '"💡" go()', { position_encoding })).toEqual([[1, 'go']]);
});

test('where it is not said what a character is, a range that does not fit is left out alone', () => {
  expect(
    names(
      [
        [0, 7, 9],
        [1, 0, 1],
      ],
      '"💡" go\nf()',
    ),
  ).toEqual([[2, 'f']]);
});

test('ranges in a form that is not known are counted as such', () => {
  expect(names([[], [1]], 'f()')).toBe('no ranges');
});
