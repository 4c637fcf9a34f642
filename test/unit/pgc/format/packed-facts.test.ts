import fc from 'fast-check';
import { expect, test } from 'vitest';
import { typeRoles, type FileFacts } from '../../../../src/pgc/format/facts.js';
import {
  decodeFacts,
  encodeFacts,
  packFacts,
  unpackFacts,
} from '../../../../src/pgc/format/packed-facts.js';
import { Miner } from '../../../../src/pgc/mine/mine.js';

const number = fc.nat(2 ** 29);
const text = fc.string({ unit: 'binary', maxLength: 200 });
/** Few, so that they come again. */
const name = fc.constantFrom('', 'probe', 'naïve_名', 'struct.field', 'a'.repeat(60));
const many = <Each>(each: fc.Arbitrary<Each>): fc.Arbitrary<Each[]> =>
  fc.array(each, { maxLength: 5 });
const lines = { line_start: number, line_end: number };

const call = fc.record({
  ...{ callee: name, line: number, caller: number, kind: name, receiver: name },
  expression: name,
  unused: fc.boolean(),
});

const facts: fc.Arbitrary<FileFacts> = fc
  .record({
    ...{ language: name, lines: number, bytes: number, error_bytes: number },
    generated: fc.boolean(),
    symbols: many(
      fc.record({
        ...{ name, kind: name, container: name, doc: text, ...lines },
        signature: fc.oneof(
          text,
          fc.tuple(text, name, text).map((all) => all.join('')),
        ),
        ...{ exported: fc.boolean(), declaration: fc.boolean() },
      }),
    ),
    calls: many(call),
    uses: many(call),
    types: many(
      fc.record({ owner: number, role: fc.constantFrom(...typeRoles), name, type: name }),
    ),
    imports: many(fc.record({ target: name, names: many(name), line: number })),
    words: many(text),
    documents: many(
      fc
        .uniqueArray(fc.tuple(fc.nat(100_000), fc.integer({ min: 0, max: 255 })), {
          selector: ([word]) => word,
          maxLength: 60,
        })
        // As they come back: ascending.
        .map((all) => all.sort(([one], [other]) => one - other))
        .map((all) => ({ word: all.map(([word]) => word), count: all.map(([, count]) => count) })),
    ),
    items: many(
      fc.record({
        ...{ overlay: fc.nat(7), rule: name, ...lines, text, subject: name },
        ...{ severity: name, cwe: name },
      }),
    ),
    scanned: many(fc.tuple(text, number)),
  })
  .map(({ scanned, ...others }) => ({
    ...others,
    scanned_names: scanned.map(([each]) => each),
    scanned_lines: scanned.map(([, line]) => line),
  }));

test('facts come back as they were packed', () => {
  fc.assert(
    fc.property(facts, (its) => {
      // Half a character, where a text was cut, is none.
      const whole = JSON.parse(JSON.stringify(its), (_, each: unknown) =>
        typeof each === 'string' ? Buffer.from(each).toString() : each,
      ) as FileFacts;
      expect(unpackFacts(packFacts(its))).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});

test('of a source all comes back, the words of each document in their order', async () => {
  await using miner = new Miner();
  const source =
    '#include <linux/slab.h>\n/* Grows it. */\nstatic int grow(struct pool *p)\n{\n\treturn fill(p) + fill(p->next);\n}\nint twice(struct pool *p) { return grow(p) * grow(p); }\n';
  const mined = await miner.mine('c', Buffer.from(source));
  const found = decodeFacts(encodeFacts(mined));
  expect({ ...found, documents: [] }).toEqual({ ...mined, documents: [] });
  const pairs = ({ documents }: FileFacts): string[][] =>
    documents.map(({ word, count }) => word.map((each, at) => `${each} ${count[at]}`));
  expect(pairs(found).map((each) => each.sort())).toEqual(pairs(mined).map((each) => each.sort()));
  for (const { word } of found.documents) expect(word).toEqual([...word].sort((a, b) => a - b));
});

test('facts that are cut short are refused, not made up', () => {
  fc.assert(
    fc.property(facts, (its) => {
      const whole = packFacts(its);
      for (let length = 0; length < whole.length; length += 1)
        expect(() => unpackFacts(whole.subarray(0, length))).toThrow(RangeError);
    }),
    { numRuns: 50 },
  );
});

test('facts of the largest numbers and of long texts come back', () => {
  const line = 2 ** 31 - 1;
  const place = { line_start: line, line_end: 1 };
  // Lengths of one, two and more bytes of UTF-8, and just around what each takes.
  const texts = [42, 43, 127, 128, 5_461, 5_462, 16_383, 16_384, 70_000].flatMap((length) => [
    'x'.repeat(length),
    '名'.repeat(length),
  ]);
  const symbol = { kind: 'macro', container: '', exported: true, doc: '', declaration: false };
  const untyped = { receiver: '', expression: '' };
  const its: FileFacts = {
    ...{ language: 'c', lines: 2 ** 32 - 1, bytes: 2 ** 31, error_bytes: 2 ** 24 },
    generated: true,
    symbols: texts.map((name, at) => ({
      ...{ ...symbol, name, signature: `macro:${name}`, ...place },
      ...(at % 2 === 0 ? {} : { line_start: 1, line_end: line }),
    })),
    calls: [{ callee: '', line, caller: line, kind: '', ...untyped, unused: true }],
    uses: [{ callee: 'x', line, caller: line, kind: 'value', ...untyped, unused: false }],
    types: [{ owner: line, role: 'value', name: '', type: 'x'.repeat(300) }],
    imports: [{ target: '', names: [''], line: 2 ** 32 - 1 }],
    words: texts,
    documents: [
      { word: [], count: [] },
      { word: [0, 2 ** 24, 2 ** 31 - 2], count: [255, 1, 2 ** 20 - 1] },
    ],
    items: texts.map((text) => ({
      ...{ overlay: 7, rule: '', ...place, text, subject: text, severity: '', cwe: '' },
    })),
    ...{ scanned_names: texts, scanned_lines: texts.map((_, at) => (at % 2 === 0 ? line : 1)) },
  };
  expect(decodeFacts(encodeFacts(its))).toEqual(its);
});
