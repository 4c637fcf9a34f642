import { expect, test } from 'vitest';
import { codeViewOf, familyOf } from '../../../../src/critic/impact/code-view.js';

const codeOf = (path: string, text: string): string => {
  const view = codeViewOf(path, text);
  expect(view?.code).toHaveLength(text.length);
  return view?.code.replace(/ +/g, ' ') ?? '';
};

test.each([
  ['a.ts', 'a(); // b()\nc("d()", \'e()\', `f()`);', 'a(); \nc( , , );'],
  ['a.ts', 'const a = /b()/; c / d / e();', 'const a = ; c / d / e();'],
  ['a.ts', 'x = `a ${b("}")} c`; d();', 'x = ; d();'],
  ['a.c', 'f(\'(\', "\\"("); /* g(\n) */ h();', 'f( , ); \n h();'],
  ['a.rs', "fn f<'a>(b: &'a str) { g('x') }", "fn f<'a>(b: &'a str) { g( ) }"],
  ['a.py', 'def f():\n  """g()"""\n  h("#") # i()\n', 'def f():\n \n h( ) \n'],
  ['a.go', 'a := `b()\n`; c()', 'a := \n ; c()'],
])('%s: what runs of %j', (path, text, code) => {
  expect(codeOf(path, text)).toBe(code);
});

test('remarks have their lines; those of `//` below each other are one, behind code they are not', () => {
  const text = '// a\n// b\nc(); // d\n/** e\n * f\n */\n';
  expect(codeViewOf('a.ts', text)?.comments).toEqual([
    { line_start: 1, line_end: 2, text: 'a b' },
    { line_start: 3, line_end: 3, text: 'd' },
    { line_start: 4, line_end: 6, text: 'e f' },
  ]);
});

test('lines, offsets and braces; a brace in a string closes nothing', () => {
  const text = 'f() {\n  g("}");\n}\n';
  const view = codeViewOf('a.ts', text);
  expect([0, 5, 6, text.length - 2].map((at) => view?.lineOf(at))).toEqual([1, 1, 2, 3]);
  expect(view?.offsetOf(2)).toBe(6);
  expect(view?.offsetOf(99)).toBe(text.length);
  expect(view?.closeOf(4)).toBe(text.lastIndexOf('}'));
  expect(view?.closeOf(0)).toBe(text.length);
});

test('what is no source that is read here', () => {
  expect(codeViewOf('a.md', '# a')).toBeUndefined();
  expect(['a.tsx', 'a.cc', 'a.h', 'a.rst'].map(familyOf)).toEqual(['es', 'c', 'c', undefined]);
});
