import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  beginningOf,
  charsIn,
  charsOf,
  clipped,
  fitted,
  listsOf,
  type Drafted,
} from '../../../src/operations/bounds.js';

interface Rows {
  answer: string;
  rows: string[];
  notes: string[];
}

const cut = listsOf<Rows>('rows', 'notes');
const draft = (value: Rows, isCut: boolean): Drafted => ({
  structured: { ...value, isCut },
  text: [value.answer, ...value.rows].join('\n'),
});

test('whatever is answered fits, and says whether something is missing', () => {
  const texts = fc.string({ unit: 'binary', maxLength: 3_000 });
  const whole = fc.record({ answer: texts, rows: fc.array(texts), notes: fc.array(texts) });
  fc.assert(
    fc.property(whole, fc.integer({ min: 2_000, max: 20_000 }), (value, charsMax) => {
      const { structured, text } = fitted(value, cut, charsMax, draft);
      expect(charsOf({ structured, text })).toBeLessThanOrEqual(charsMax);
      const { isCut, ...kept } = structured;
      expect(isCut).toBe(JSON.stringify(kept) !== JSON.stringify(value));
    }),
    { numRuns: 200 },
  );
});

test('as many rows as fit are kept, in order, and no fewer', () => {
  const rows = Array.from({ length: 10_000 }, (_, at) => `row ${at}`);
  const { structured } = fitted({ answer: 'x', rows, notes: [] }, cut, 4_000, draft);
  const kept = structured.rows as string[];
  expect(kept).toEqual(rows.slice(0, kept.length));
  const oneMore = draft({ answer: 'x', rows: rows.slice(0, kept.length + 1), notes: [] }, true);
  expect(charsOf(oneMore)).toBeGreaterThan(4_000);
});

test('a row of long strings is shortened before it is left out', () => {
  const rows = ['a'.repeat(100_000), 'b'.repeat(100_000)];
  const { structured } = fitted({ answer: '', rows, notes: [] }, cut, 2_000, draft);
  expect((structured.rows as string[])[0]).toMatch(/^a+…$/);
});

test('strings are cut wherever they are, and what is short stays the same object', () => {
  const small = { a: ['x', { b: 'y' }], c: null, d: 1 };
  expect(clipped(small, 10)).toEqual({ value: small, isCut: false });
  expect(clipped(small, 10).value).toBe(small);
  expect(clipped({ a: [{ b: 'long text' }], c: true }, 8)).toEqual({
    value: { a: [{ b: 'long…' }], c: true },
    isCut: true,
  });
});

test('what is no ASCII counts as the tokens that it is', () => {
  expect(charsIn('code')).toBe(4);
  expect(charsIn('説明')).toBe(8);
  const rows = Array.from({ length: 100 }, () => '説明'.repeat(20));
  const { structured } = fitted({ answer: '', rows, notes: [] }, cut, 4_000, draft);
  // Each stands in the structure and in the text, and counts for 160 in both.
  expect((structured.rows as string[]).length).toBeLessThanOrEqual(12);
});

test('a text is cut where it counts for as much as it may, and never through a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(170), (text, charsMax) => {
      const beginning = beginningOf(text, charsMax);
      expect(text.startsWith(beginning)).toBe(true);
      expect(charsIn(beginning)).toBeLessThanOrEqual(charsMax);
      expect(Buffer.from(beginning).toString()).toBe(beginning);
      const [next] = Array.from(text.slice(beginning.length));
      if (next !== undefined) expect(charsIn(beginning + next)).toBeGreaterThan(charsMax);
    }),
    { numRuns: 500 },
  );
});
