import { createContext, Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LinearPattern, stepsMax } from '../../../src/base/pattern/linear-pattern.js';
import { runs } from '../../support/runs.js';

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

/** Undefined: it would have too many steps. */
function withinBounds(pattern: string): LinearPattern | undefined {
  try {
    return new LinearPattern(pattern);
  } catch (error) {
    if (error instanceof SyntaxError && error.message.startsWith('it repeats too much'))
      return undefined;
    throw error;
  }
}

const context = createContext({ pattern: '', text: '' });
const oracle = new Script('new RegExp(pattern).test(text)');

/** What a regular expression says; undefined: it tries too many ways, as some patterns have it do. */
function foundBacktracking(pattern: string, text: string): boolean | undefined {
  Object.assign(context, { pattern, text });
  try {
    return oracle.runInContext(context, { timeout: 200 }) as boolean;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

describe('a pattern of somebody else', () => {
  test('finds what a regular expression finds', () => {
    fc.assert(
      fc.property(patterns.pattern, texts, (pattern, text) => {
        fc.pre(pattern.length <= 400);
        const linear = withinBounds(pattern);
        fc.pre(linear !== undefined);
        const expected = foundBacktracking(pattern, text);
        fc.pre(expected !== undefined);
        expect(linear.test(text)).toBe(expected);
      }),
      { numRuns: runs(1_000) },
    );
  });

  test('takes steps in proportion to the text, whatever it was made for', () => {
    const slow: [string, string, boolean][] = [
      ['(a+)+$', `${'a'.repeat(400)}b`, false],
      ['(a|a)*b', 'a'.repeat(400), false],
      [`${'a?'.repeat(100)}${'a'.repeat(100)}b`, 'a'.repeat(400), false],
      [`${'.*'.repeat(100)}b`, 'a'.repeat(400), false],
      ['c((a{0,15}){0,15})$', `c${'a'.repeat(225)}`, true],
    ];
    for (const [source, text, isFound] of slow) {
      const pattern = new LinearPattern(source);
      expect(pattern.test(text), source).toBe(isFound);
      expect(pattern.stepsTaken, source).toBeGreaterThan(text.length);
      expect(pattern.stepsTaken, source).toBeLessThanOrEqual(stepsMax * (text.length + 1));
      // A second test begins anew.
      const { stepsTaken } = pattern;
      pattern.test(text);
      expect(pattern.stepsTaken).toBe(stepsTaken);
    }
  });

  test('knows every character as a regular expression does', () => {
    const classes = [
      '\\d',
      '\\D',
      '\\w',
      '\\W',
      '\\s',
      '\\S',
      '.',
      '[^a-z\\s]',
      '[é-\u2100x]',
      '[]',
      '[^]',
    ];
    for (const source of classes) {
      const [pattern, expected] = [new LinearPattern(source), new RegExp(source)];
      const different: number[] = [];
      for (let unit = 0; unit <= 0xffff; unit += 1) {
        const sign = String.fromCharCode(unit);
        if (pattern.test(sign) !== expected.test(sign)) different.push(unit);
      }
      expect(different, source).toEqual([]);
    }
  });

  test('counts as it is told to', () => {
    const twelve = new LinearPattern('^a{00012}$');
    expect(twelve.test('a'.repeat(12))).toBe(true);
    expect(twelve.test('a')).toBe(false);
    expect(new LinearPattern('^a{002,}$').test('aa')).toBe(true);
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
      '((a{100}){100}){100}': 'it repeats too much: more than 500 steps',
      ['a'.repeat(401)]: 'it is longer than 400 characters',
    };
    for (const [pattern, message] of Object.entries(wrong))
      expect(() => new LinearPattern(pattern), pattern).toThrow(new SyntaxError(message));
    const nothing = `${'('.repeat(60)}${'){99}'.repeat(60)}`;
    expect(new LinearPattern(nothing).test('')).toBe(true);
  });
});
