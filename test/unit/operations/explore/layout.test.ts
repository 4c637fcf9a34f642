import { expect, test } from 'vitest';
import { laidOut } from '../../../../src/operations/explore/layout.js';
import { draftOf, type Draft } from '../../../../src/operations/explore/pieces.js';

/** 100 characters with its number. */
const lineOf = (line: number) => ({ line, text: 'x'.repeat(93), decides: false });

/** A definition of so many lines, of which two decide. */
function draft(lines: number): Draft {
  const whole = Array.from({ length: lines }, (_, at) => lineOf(at + 1));
  const definition = {
    ...{ symbol: 'f', kind: 'function', file_path: 'a.c', line: 1, line_end: lines, doc: '' },
    ...{ signature: '', exported: true, agent: 'a', declaration: false, container: '' },
  };
  return {
    ...draftOf({ definition, lines: whole, cut: false, hidden: 0 }),
    excerpt: whole.slice(0, 2),
  };
}

const shown = (drafts: Draft[], chars: number): number[] =>
  laidOut(drafts, chars).map(({ lines }) => lines.length);

test('with room for all, all are whole', () => {
  expect(shown([draft(10), draft(20)], 100_000)).toEqual([10, 20]);
});

test('a long one is shown by what decides, and leaves room to the others', () => {
  expect(shown([draft(290), draft(20)], 30_000)).toEqual([2, 20]);
});

test('behind the first for which there is no room, places are only named', () => {
  expect(shown([draft(10), draft(12), draft(3), draft(1)], 2_400)).toEqual([10, 12, 0, 0]);
});

test('of a definition that was asked for by its name, as much is shown as fits', () => {
  const { piece, whole, hidden } = draft(290);
  const asked = { piece, whole, excerpt: whole, hidden };
  expect(shown([asked, draft(1)], 3_000)).toEqual([30, 0]);
  expect(shown([draft(25), asked], 3_000)).toEqual([2, 28]);
});
