import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate, shownMax } from '../../../../../src/pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../../../../../src/pgc/analyse/algebra/expression.js';
import type { OpenedTree } from '../../../../../src/pgc/search/open-index.js';
import { openSampleTree, type SampleTree } from './sample-tree.js';
import { runs } from '../../../../support/runs.js';

let sample: SampleTree;
let tree: OpenedTree;

beforeAll(async () => {
  sample = await openSampleTree();
  ({ tree } = sample);
});
afterAll(() => sample[Symbol.asyncDispose]());

async function setOf(text: string): Promise<string[]> {
  const { count, anchors } = await evaluate(parseExpression(text), tree, { limit: shownMax });
  expect(anchors).toHaveLength(count);
  return anchors.map(({ file_path, symbol, kind, line }) =>
    // What no symbol bears is where its first item is.
    /^(?:file|text)$/.test(kind) ? `${file_path}#${symbol}` : `${file_path}:${line}#${symbol}`,
  );
}

const filters: Record<string, string[]> = {
  O1: ['', '[function]', '[kind!=function]', '[exported=true]', '[path=tools]', '[name~"^ring"]'],
  O2: [
    '',
    '[severity=high]',
    '[severity!=info]',
    '[cwe=120]',
    '[rule~"^surface"]',
    '[path=**/*.c]',
  ],
  // What only may be called is in no set nor in its complement: here are those of which all is known.
  O3: [
    '',
    '[calls]',
    '[called, path=tools]',
    '[slot]',
    '[calls, used=true]',
    '[calls, subject=strcpy]',
  ],
  O4: ['', '[doc]', '[overview]', '[path=README.md]', '[kind=function]', '[text~"day"]'],
  O5: ['', '[rule=target]', '[rule~"^module"]', '[kind=text]', '[path=tools]'],
  O6: ['', '[assertion]', '[bound]', '[text~"RING_MAX", path=drivers]'],
  O7: ['', '[undocumented]', '[rule!=undocumented]', '[subject=ring_reset]', '[kind=file]'],
};
const operand = fc.constantFrom(
  ...Object.entries(filters).flatMap(([overlay, all]) => all.map((each) => overlay + each)),
);
const expression = fc.letrec<{ any: string }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    operand,
    operand,
    fc
      .tuple(tie('any'), fc.constantFrom('+', '∪', '&', 'AND', '-', '−'), tie('any'))
      .map(([left, sign, right]) => `(${left} ${sign} ${right})`),
    tie('any').map((inner) => `!${inner}`),
  ),
})).any;
const none = '(O1 - O1)';

/** Both sides hold the same anchors, in the same order, whatever A, B and C are. */
const laws: readonly (readonly [name: string, left: string, right: string])[] = [
  ['union commutes', 'A + B', 'B + A'],
  ['intersection commutes', 'A & B', 'B & A'],
  ['union associates', '(A + B) + C', 'A + (B + C)'],
  ['intersection associates', '(A & B) & C', 'A & (B & C)'],
  ['intersection distributes over union', 'A & (B + C)', '(A & B) + (A & C)'],
  ['union distributes over intersection', 'A + (B & C)', '(A + B) & (A + C)'],
  ['De Morgan, of a union', '!(A + B)', '!A & !B'],
  ['De Morgan, of an intersection', '!(A & B)', '!A + !B'],
  ['De Morgan, of differences from a union', 'C - (A + B)', '(C - A) & (C - B)'],
  ['De Morgan, of differences from an intersection', 'C - (A & B)', '(C - A) + (C - B)'],
  ['union is idempotent', 'A + A', 'A'],
  ['intersection is idempotent', 'A & A', 'A'],
  ['union absorbs', 'A + (A & B)', 'A'],
  ['intersection absorbs', 'A & (A + B)', 'A'],
  ['a complement is within O1', '!A', '!A & O1'],
  ['a complement of a complement is what lies within O1', '!!A', 'A & O1'],
  ['three complements are one', '!!!A', '!A'],
  ['nothing is in a set and its complement', 'A & !A', none],
  ['every symbol is in a set or its complement', '(A & O1) + !A', 'O1'],
  ['a complement is the difference from O1', '!A', 'O1 - A'],
  ['within O1 a difference is what meets the complement', '(A & O1) - B', '(A & O1) & !B'],
  ['outside of it a difference keeps what no symbol bears', 'A - B', '(A & !B) + (A - O1 - B)'],
  ['a difference takes one after the other', 'A - B - C', 'A - (B + C)'],
  ['nothing is left without itself', 'A - A', none],
  ['the empty set adds nothing', `A + ${none}`, 'A'],
  ['the empty set meets nothing', `A & ${none}`, none],
  ['without the empty set everything is left', `A - ${none}`, 'A'],
  ['the complement of the empty set is O1', `!${none}`, 'O1'],
  ['the complement of O1 is empty', '!O1', none],
];

describe('a law of sets over real overlays', () => {
  test.each(laws)('%s: %s = %s', async (_, left, right) => {
    await fc.assert(
      fc.asyncProperty(expression, expression, expression, async (A, B, C) => {
        const given: Record<string, string> = { A, B, C };
        const filled = (side: string): string =>
          side.replace(/\b[ABC]\b/g, (name) => `(${given[name] ?? ''})`);
        expect(await setOf(filled(left))).toEqual(await setOf(filled(right)));
      }),
      { numRuns: runs(8) },
    );
  });

  test('each operation is that of sets', async () => {
    await fc.assert(
      fc.asyncProperty(expression, expression, async (A, B) => {
        const [a, b, all] = [await setOf(A), await setOf(B), await setOf('O1')];
        expect(new Set(await setOf(`${A} + ${B}`))).toEqual(new Set([...a, ...b]));
        expect(await setOf(`${A} & ${B}`)).toEqual(a.filter((each) => b.includes(each)));
        expect(await setOf(`${A} - ${B}`)).toEqual(a.filter((each) => !b.includes(each)));
        expect(await setOf(`!${A}`)).toEqual(all.filter((each) => !a.includes(each)));
      }),
      { numRuns: runs(25) },
    );
  });

  test('whatever is in a set was put there by something', async () => {
    await fc.assert(
      fc.asyncProperty(expression, async (A) => {
        const { anchors } = await evaluate(parseExpression(A), tree, { limit: shownMax });
        expect(anchors.filter(({ items, line }) => items.length === 0 || line < 1)).toEqual([]);
      }),
      { numRuns: runs(25) },
    );
  });

  test('a filter narrows, and two conditions narrow more than each', async () => {
    for (const [overlay, all] of Object.entries(filters)) {
      for (const filter of all.slice(1)) {
        expect(await setOf(`${overlay}${filter} - ${overlay}`)).toEqual([]);
        const both = `${overlay}${filter.replace(']', ', path=drivers]')}`;
        expect(await setOf(`${both} - (${overlay}${filter} & ${overlay}[path=drivers])`)).toEqual(
          [],
        );
      }
    }
  });

  test('the sets are not empty, nor all the same', async () => {
    const sizes = await Promise.all(
      Object.entries(filters).flatMap(([overlay, all]) =>
        all.map(async (filter) => [overlay + filter, (await setOf(overlay + filter)).length]),
      ),
    );
    expect(sizes.filter(([, size]) => size === 0)).toEqual([]);
    for (const overlay of Object.keys(filters).slice(1)) {
      expect(await setOf(`O1 & ${overlay}`)).not.toEqual([]);
      expect(await setOf(`O1 - ${overlay}`)).not.toEqual([]);
    }
  });
});
