import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Section } from '../../../../src/pgc/format/container/section.js';
import { packSorted, SortedNames, sortByBytes } from '../../../../src/pgc/format/sorted-names.js';

const opened = (names: readonly string[]): SortedNames => {
  const { blocks, bytes } = packSorted(names);
  return new SortedNames(blocks, Section.of(bytes));
};

test('names that share their beginnings are found where they stand, all of them and no other', () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[ab_é\uffee\u{1f600}]{0,6}$/u), { maxLength: 300 }),
      (unsorted) => {
        const names = sortByBytes([...unsorted]);
        const table = opened(names);
        expect([...table.all()]).toEqual(names);
        expect(table.size).toBe(names.length);
        expect(names.map((_, at) => table.at(at))).toEqual(names);
        expect(table.at(names.length)).toBe('');
        for (const name of [...names, 'a', 'zz', '', '\u{1f601}']) {
          const wanted = names.flatMap((each, at) => (each === name ? [at] : []));
          expect(table.find(name)).toEqual(wanted);
          expect(table.position(name)).toBe(wanted[0]);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('a name is found at once, however long it and those before it are', () => {
  const lengths = [1, 14, 15, 16, 142, 143, 255, 256, 257, 300, 5_000, 70_000];
  const names = sortByBytes(
    lengths.flatMap((length) => ['g'.repeat(length), `${'g'.repeat(length)}é`]),
  );
  for (const [at, name] of names.entries()) {
    expect(opened(names).position(name)).toBe(at);
    expect(opened(names).find(name)).toEqual([at]);
    expect(opened(names).at(at)).toBe(name);
    expect(opened(names).position(`${name}!`)).toBe(undefined);
  }
});

test('a list of registers takes a fifth of its letters', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `mmDCORE0_TPC0_EML_CFG_REG_${at}`).sort();
  const { blocks, bytes } = packSorted(names);
  const letters = names.reduce((sum, { length }) => sum + length, 0);
  expect(blocks.byteLength + bytes.length).toBeLessThan(letters / 5);
});
