import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinearPattern } from '../../../../src/pgc/items/linear-pattern.js';

/** Patterns of the whole language, over few letters, so that texts often match. */
const patterns = fc.letrec<{ pattern: string; atom: string; part: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', ' ', '\\.', '.', '\\w', '\\W', '\\d', '\\s', '\\S', '\\n'),
    fc.constantFrom('[ab]', '[^a]', '[a-b1]', '[\\w.]', '[^\\s-]', '[]', '[^]', '[-a]', '[\\]b]'),
    tie('pattern').map((inside) => `(${inside})`),
    tie('pattern').map((inside) => `(?:${inside})`),
  ),
  part: fc.oneof(
    tie('atom'),
    fc.constantFrom('^', '$', '\\b', '\\B'),
    fc
      .tuple(tie('atom'), fc.constantFrom('*', '+', '?', '{2}', '{0}', '{1,}', '{0,2}', '*?', '+?'))
      .map(([atom, quantifier]) => atom + quantifier),
  ),
  pattern: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((choices) => choices.map((parts) => parts.join('')).join('|')),
}));
const texts = fc
  .array(fc.constantFrom('a', 'b', '1', ' ', '.', '-', ']', '\n'), { maxLength: 10 })
  .map((signs) => signs.join(''));

describe('a pattern of somebody else', () => {
  test('finds what a regular expression finds', () => {
    fc.assert(
      fc.property(patterns.pattern, texts, (pattern, text) => {
        fc.pre(pattern.length <= 400);
        expect(new LinearPattern(pattern).test(text)).toBe(new RegExp(pattern).test(text));
      }),
      { numRuns: 5_000 },
    );
  });

  test('takes no time, whatever it was made for', () => {
    const slow: [string, string, boolean][] = [
      ['(a+)+$', `${'a'.repeat(400)}b`, false],
      ['(a|a)*b', 'a'.repeat(400), false],
      [`${'a?'.repeat(100)}${'a'.repeat(100)}b`, 'a'.repeat(400), false],
      [`${'.*'.repeat(100)}b`, 'a'.repeat(400), false],
      ['c((a{0,30}){0,30})$', `c${'a'.repeat(400)}`, true],
    ];
    const startedMs = performance.now();
    for (const [pattern, text, isFound] of slow)
      expect(new LinearPattern(pattern).test(text), pattern).toBe(isFound);
    expect(performance.now() - startedMs).toBeLessThan(2_000);
  });

  test('is refused with what is wrong and where', () => {
    const wrong: Record<string, string> = {
      'a(b': 'a bracket that nothing closes, at character 2',
      'a)b': 'a bracket that nothing opens, at character 2',
      'a[b': 'a bracket that nothing closes, at character 2',
      '*a': 'nothing to repeat; a plain * is written \\*, at character 1',
      'a**': 'nothing to repeat, at character 3',
      'a{': 'nothing to repeat; a plain { is written \\{, at character 2',
      'a{3,2}': 'the numbers are in the wrong order, at character 2',
      'a{101}': 'at most 100 times can be asked for, at character 2',
      '^*': 'an edge cannot be repeated, at character 2',
      '(?=a)': 'look-around and names of brackets are not known here, at character 1',
      '(a)\\1': '\\1 is not known here, at character 4',
      'a\\': '\\ is not known here, at character 2',
      '[b-a]': 'the range is in the wrong order, at character 2',
      '[\\w-z]': 'a range of what is no character, at character 2',
      '((a{100}){100}){100}': 'it repeats too much: more than 2000 steps',
      ['a'.repeat(401)]: 'it is longer than 400 characters',
    };
    for (const [pattern, message] of Object.entries(wrong))
      expect(() => new LinearPattern(pattern), pattern).toThrow(new SyntaxError(message));
    const nothing = `${'('.repeat(60)}${'){99}'.repeat(60)}`;
    expect(new LinearPattern(nothing).test('')).toBe(true);
  });
});
