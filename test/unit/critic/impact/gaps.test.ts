import { expect, test } from 'vitest';
import { codeViewOf } from '../../../../src/critic/impact/code-view.js';
import { gapsIn } from '../../../../src/critic/impact/gaps.js';

/** Rule and line of each; `!`: a remark says why. */
const gaps = (path: string, text: string): string[] => {
  const view = codeViewOf(path, text);
  if (view === undefined) throw new Error(path);
  return gapsIn(view).map(
    ({ rule, line_start, isExplained }) => `${rule}:${line_start}${isExplained ? '!' : ''}`,
  );
};
const broad = 'a();\nb();\nc();\nd();\n';

test.each([
  ['an empty handler', 'try {\n  a();\n} catch {}\n', ['ERROR_SWALLOWED:3']],
  ['with a remark', 'try {\n  a();\n} catch {\n  // gone already\n}\n', ['ERROR_SWALLOWED:3!']],
  ['of what only tidies up', 'try {\n  a.close();\n} catch {}\n', []],
  ['a rejection that nobody hears', 'a().catch(() => undefined);\n', ['ERROR_SWALLOWED:1']],
  ['of what only ends', 'a.cancel().catch(() => {});\n', []],
  ['of what is awaited elsewhere', 'void read().catch(() => {});\nawait read();\n', []],
  ['many lines for one case', `try {\n${broad}} catch {\n  return 0;\n}\n`, ['ERROR_CATCH_ALL:6']],
  ['that looks at it', `try {\n${broad}} catch (e) {\n  return of(e);\n}\n`, []],
  ['that tells somebody', `try {\n${broad}} catch {\n  report();\n}\n`, []],
  ['few lines', 'try {\n  a();\n} catch {\n  return 0;\n}\n', []],
  [
    'which the remark above foretells',
    `/** Zero when it is damaged. */\nfunction f() {\ntry {\n${broad}} catch {\n  return 0;\n}\n}\n`,
    ['ERROR_CATCH_ALL:8!'],
  ],
  ['a loop without an end', 'for (;;) {\n  a();\n}\n', ['LOOP_WITHOUT_END:1']],
  ['that somebody leaves', 'while (true) {\n  if (a()) break;\n}\n', []],
  [
    'a word in a string leaves nothing',
    'while (true) {\n  a("break");\n}\n',
    ['LOOP_WITHOUT_END:1'],
  ],
  ['a wait without an end', 'await fetch(a);\n', ['WAIT_WITHOUT_END:1']],
  ['with a signal', 'await fetch(a, { signal });\n', []],
  ['with options that nobody sees', 'await fetch(a, options);\n', []],
])('es: %s', (_, text, expected) => {
  expect(gaps('a.ts', text)).toEqual(expected);
});

const inC = (body: string): string => `int f(void)\n{\n${body}\n}\n`;

test.each([
  ['used at once', '\tp = malloc(8);\n\tp->a = 1;', ['MEMORY_UNCHECKED:3']],
  ['compared', '\tp = malloc(8);\n\tif (!p)\n\t\treturn -1;', []],
  ['compared where it stands', '\tif (!(p = malloc(8)))\n\t\treturn -1;', []],
  ['handed on', '\tp = malloc(8);\n\treturn p;', []],
  ['another is compared', '\tp = malloc(8);\n\tif (!pq)\n\t\treturn -1;', ['MEMORY_UNCHECKED:3']],
  ['that cannot fail', '\tp = kmalloc(8, GFP_KERNEL | __GFP_NOFAIL);\n\tp->a = 1;', []],
])('c: memory %s', (_, body, expected) => {
  expect(gaps('a.c', inC(body))).toEqual(expected);
});

test('what the next function compares is not compared in this one', () => {
  const text = `${inC('\tp = malloc(8);\n\tp->a = 1;')}${inC('\tif (!p)\n\t\treturn 1;')}`;
  expect(gaps('a.c', text)).toEqual(['MEMORY_UNCHECKED:3']);
});

test.each([
  ['try:\n  a()\nexcept Exception:\n  pass\n', ['ERROR_SWALLOWED:3']],
  ['try:\n  a()\nexcept KeyError:\n  pass\n', []],
  ['while True:\n  a()\nb()\n', ['LOOP_WITHOUT_END:1']],
  ['while True:\n  a()\n  break\n', []],
  ['requests.get(a)\n', ['WAIT_WITHOUT_END:1']],
  ['requests.get(a, timeout=3)\n', []],
  ['requests.get(a, **b)\n', []],
])('python: %j', (text, expected) => {
  expect(gaps('a.py', text)).toEqual(expected);
});

test('go and rust have loops of their own', () => {
  expect(gaps('a.go', 'func f() {\n\tfor {\n\t\ta()\n\t}\n}\n')).toEqual(['LOOP_WITHOUT_END:2']);
  expect(gaps('a.rs', 'fn f() {\n  loop {\n    a();\n  }\n}\n')).toEqual(['LOOP_WITHOUT_END:2']);
});

test('of one rule at most forty', () => {
  expect(gaps('a.ts', 'try {\n  a();\n} catch {}\n'.repeat(50))).toHaveLength(40);
});
