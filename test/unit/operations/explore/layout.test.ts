import { expect, test } from 'vitest';
import { laidOut } from '../../../../src/operations/explore/layout.js';
import { draftOf, type Draft } from '../../../../src/operations/explore/pieces.js';

const lineOf = (line: number) => ({ line, text: 'x'.repeat(93), decides: false });

/** A definition of so many lines, of which two decide. */
function draft(lines: number): Draft {
  const whole = Array.from({ length: lines }, (_, at) => lineOf(at + 1));
  const definition = {
    ...{ symbol: 'f', kind: 'function', file_path: 'a.c', line: 1, line_end: lines, doc: '' },
    ...{ signature: '', exported: true, agent: 'a', declaration: false, container: '' },
  };
  return { ...draftOf({ definition, lines: whole, cut: false }), excerpt: whole.slice(0, 2) };
}

const shown = (drafts: Draft[], chars: number): number[] =>
  laidOut(drafts, chars).map(({ lines }) => lines.length);

test('with room for all, all are whole', () => {
  expect(shown([draft(10), draft(20)], 100_000)).toEqual([10, 20]);
});

test('the best six are shown before any of them is whole, then the best are', () => {
  const six = Array.from({ length: 6 }, () => draft(20));
  expect(shown(six, 6 * 500)).toEqual([2, 2, 2, 2, 2, 2]);
  expect(shown(six, 6 * 500 + 3_600)).toEqual([20, 20, 2, 2, 2, 2]);
});

test('a long one is shown by what decides, and leaves room to the others', () => {
  expect(shown([draft(290), draft(20)], 30_000)).toEqual([2, 20]);
});

test('beyond the room only places are named', () => {
  const many = Array.from({ length: 9 }, () => draft(20));
  expect(shown(many, 7 * 500)).toEqual([2, 2, 2, 2, 2, 2, 2, 0, 0]);
});
