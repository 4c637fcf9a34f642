import { expect, test } from 'vitest';
import { dedented } from '../../../services/console/page/parts/dedent.js';

const texts = (...lines: string[]): string[] =>
  dedented(lines.map((text) => ({ text }))).map(({ text }) => text);

test('what all lines have is left out, and no more', () => {
  expect(texts('    def f():', '', '        return 1')).toEqual(['def f():', '', '    return 1']);
  expect(texts('a', '  b')).toEqual(['a', '  b']);
  expect(texts('\t\tx', '\t  y')).toEqual(['\tx', '  y']);
  expect(texts()).toEqual([]);
});
