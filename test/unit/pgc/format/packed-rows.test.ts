import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Section } from '../../../../src/pgc/format/container/section.js';
import { PackedRows, packRows } from '../../../../src/pgc/format/packed-rows.js';

/** Columns of zeros, of few bits, and of whole words. */
const widths = fc.constantFrom(0, 1, 5, 17, 31, 32);

test('a table comes back number by number, whatever the widths of its columns', () => {
  const table = fc
    .tuple(fc.array(widths, { minLength: 1, maxLength: 9 }), fc.nat(40))
    .chain(([columns, rows]) =>
      fc.tuple(
        ...columns.map((width) =>
          fc.array(fc.integer({ min: 0, max: 2 ** width - 1 }), {
            minLength: rows,
            maxLength: rows,
          }),
        ),
      ),
    );
  fc.assert(
    fc.property(table, (columns) => {
      const packed = new PackedRows(Section.of(packRows(columns)), columns.length);
      expect(packed.length).toBe(columns[0]!.length);
      for (const [at, column] of columns.entries())
        expect(column.map((_, row) => packed.at(row, at))).toEqual(column);
    }),
    { numRuns: 300 },
  );
});

test('a column takes the bits of its largest number, and nothing stands beyond the last row', () => {
  const column = Array.from({ length: 1_000 }, (_, at) => at);
  const bytes = packRows([column, column.map(() => 7)]);
  // Number of rows and widths, then 10 and 3 bits a row.
  expect(bytes.length).toBe(8 + 4 * Math.ceil((1_000 * 13) / 32));
  const packed = new PackedRows(Section.of(bytes), 2);
  expect([packed.at(999), packed.at(999, 1), packed.at(1_000), packed.at(1_000, 1)]).toEqual([
    999, 7, 0, 0,
  ]);
});

test('a table without rows or of zeros takes next to nothing', () => {
  expect(packRows([[]]).length).toBe(8);
  const zeros = new PackedRows(Section.of(packRows([new Uint32Array(5_000)])), 1);
  expect([zeros.length, zeros.at(4_999)]).toEqual([5_000, 0]);
});
