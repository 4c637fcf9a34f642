import { describe, expect, test } from 'vitest';
import { conditionsMax } from '../../../../../src/pgc/analyse/algebra/condition.js';
import {
  expressionCharsMax,
  nestingMax,
  operandsMax,
  parseExpression,
  type Expression,
} from '../../../../../src/pgc/analyse/algebra/expression.js';

/** With brackets around everything, so that the reading is seen. */
function shape(expression: Expression): string {
  switch (expression.kind) {
    case 'overlay': {
      const conditions = expression.conditions.map(
        ({ field, operator, value }) => `${field}${operator}${value}`,
      );
      return `${expression.overlay}${conditions.length === 0 ? '' : `[${conditions.join(';')}]`}`;
    }
    case 'complement':
      return `!${shape(expression.of)}`;
    case 'union':
      return `(${shape(expression.left)} + ${shape(expression.right)})`;
    case 'difference':
      return `(${shape(expression.left)} - ${shape(expression.right)})`;
    case 'intersection':
      return `(${shape(expression.left)} & ${shape(expression.right)})`;
  }
}

const read = (text: string): string => shape(parseExpression(text));

describe('an expression', () => {
  test.each([
    ['O1', 'O1'],
    [' O1&O4 ', '(O1 & O4)'],
    ['O1 ∩ O4', '(O1 & O4)'],
    ['O1 AND O4', '(O1 & O4)'],
    ['O1 and O4', '(O1 & O4)'],
    ['O1 | O2 + O3 ∪ O4 OR O5', '((((O1 + O2) + O3) + O4) + O5)'],
    ['O1 - O2 \\ O3 − O4 MINUS O5', '((((O1 - O2) - O3) - O4) - O5)'],
    ['O1 + O2 & O3 - O4', '(O1 + ((O2 & O3) - O4))'],
    ['O1 - O2 & O3 + O4', '((O1 - (O2 & O3)) + O4)'],
    ['(O1 + O2) & O3', '((O1 + O2) & O3)'],
    ['!O1 & ¬O2', '(!O1 & !O2)'],
    ['NOT O1 OR NOT (O2 - O3)', '(!O1 + !(O2 - O3))'],
    ['!!O2', '!!O2'],
  ])('%s is read as %s', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ['O2[severity=high]', 'O2[severity=high]'],
    ['O2[ severity != high , cwe = 120 ]', 'O2[severity!=high;cwe=120]'],
    ['O2[unbounded-copy]', 'O2[rule=unbounded-copy]'],
    ['O1[path=net/**/*.c]', 'O1[path=net/**/*.c]'],
    ['O1[name~"^a,[b]$"]', 'O1[name~^a,[b]$]'],
    ['O6[text="a \\"b\\""]', 'O6[text=a "b"]'],
    ['O3[calls,used=false] - O1', '(O3[rule=calls;used=false] - O1)'],
    ['O3[author=torvalds]', 'O3[author=torvalds]'],
    ['O1[text~\\bint\\b]', 'O1[text~\\bint\\b]'],
  ])('%s keeps its conditions', (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  const operand = 'an overlay (O1 to O7), "(" or "!"';
  const ofO1 = 'a field (rule, kind, path, name, exported, text, subject) or a rule';
  const ofO2 = 'a field (severity, cwe, rule, kind, path, name, exported, text, subject) or a rule';
  const patterns = 'expected a regular expression without references and look-around: ';
  test.each([
    ['', `column 1: expected ${operand}, found the end`],
    ['O9', `column 1: expected ${operand}, found "O9"`],
    ['O1 & o2', `column 6: expected ${operand}, found "o2"`],
    ['O12', `column 1: expected ${operand}, found "O12"`],
    ['O1 &', `column 5: expected ${operand}, found the end`],
    ['O1 & & O2', `column 6: expected ${operand}, found "&"`],
    ['O1 O2', 'column 4: expected an operator or the end, found "O2"'],
    ['O1 ~ O2', 'column 4: expected an operator or the end, found "~"'],
    ['O1 😀', 'column 4: expected an operator or the end, found "😀"'],
    ['O1 ORDER O2', 'column 4: expected an operator or the end, found "ORDER"'],
    ['(O1 + O2', 'column 9: expected an operator or ")", found the end'],
    ['O1)', 'column 3: expected an operator or the end, found ")"'],
    ['()', `column 2: expected ${operand}, found ")"`],
    ['!', `column 2: expected ${operand}, found the end`],
    ['O1[]', `column 4: expected ${ofO1}, found "]"`],
    ['O1[kind]', 'column 8: expected "=", "!=" or "~", found "]"'],
    ['O1[kind=]', 'column 9: expected a value, found "]"'],
    ['O1[kind=""]', 'column 9: expected a value, found """'],
    ['O1[kind="a]', 'column 9: expected a value, found """'],
    ['O1[kind=a', 'column 10: expected "," or "]", found the end'],
    ['O1[kind="a" b]', 'column 13: expected "," or "]", found "b"'],
    [`O6[text~'don''t']`, 'column 14: expected "," or "]", found "\'"'],
    ['O1[severity=high]', `column 4: expected ${ofO1}, found "severity"`],
    ['O2[colour=red]', `column 4: expected ${ofO2}, found "colour"`],
    ['O2[used=true]', `column 4: expected ${ofO2}, found "used"`],
    [
      'O2[severity=huge]',
      'column 13: expected severity as one of critical, high, medium, low, info, found "huge"',
    ],
    ['O1[exported=yes]', 'column 13: expected exported as one of true, false, found "yes"'],
    ['O2[critical]', 'column 4: expected a rule; critical is a severity, write severity=critical'],
    ['O1[name~"("]', `column 9: ${patterns}a bracket that nothing closes, at character 1`],
    ['O1[name~"(a)\\1"]', `column 9: ${patterns}\\1 is not known here, at character 4`],
    [
      'O1[name~"(?=a)"]',
      `column 9: ${patterns}look-around and names of brackets are not known here, at character 1`,
    ],
  ])('%s is refused', (text, detail) => {
    expect(() => parseExpression(text)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: detail }),
    );
  });

  test('a repeated group in which nothing varies is no danger', () => {
    expect(read('O1[name~"^(?:ab)+[(*]$"]')).toBe('O1[name~^(?:ab)+[(*]$]');
  });

  test('is bounded in its length, its depth and its operands', () => {
    const within = `${'('.repeat(nestingMax)}O1${')'.repeat(nestingMax)}`;
    expect(read(within)).toBe('O1');
    expect(() => parseExpression(`!${within}`)).toThrow(
      `column ${nestingMax + 1}: brackets and complements nest deeper than ${nestingMax}`,
    );
    const many = Array.from({ length: operandsMax }, () => 'O1').join('|');
    expect(() => parseExpression(many)).not.toThrow();
    expect(() => parseExpression(`${many}|O2`)).toThrow(
      `column ${many.length + 2}: more than ${operandsMax} overlays are named`,
    );
    const conditions = Array.from({ length: conditionsMax }, () => 'kind=a').join(',');
    expect(() => parseExpression(`O1[${conditions}]`)).not.toThrow();
    expect(() => parseExpression(`O1[${conditions},kind=a]`)).toThrow(
      `column ${conditions.length + 5}: one filter has at most ${conditionsMax} conditions`,
    );
    expect(() => parseExpression(`O1${' '.repeat(expressionCharsMax)}`)).toThrow(
      `the expression has ${expressionCharsMax + 2} characters, more than ${expressionCharsMax}`,
    );
  });
});
