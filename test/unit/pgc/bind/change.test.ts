import { expect, test } from 'vitest';
import { BoundUnits, type Texts } from '../../../support/bound-units.js';

const go = (folder: string, ...lines: string[]): string =>
  [`package ${folder}`, 'import "q/a/x"', ...lines, ''].join('\n');

const goTexts: Texts = {
  'a/x/a.go': go(
    'x',
    'type S struct{}',
    'func (s *S) Get() int { return 1 }',
    'func Make() *S { return nil }',
  ),
  'b/b.go': go('b', 'func use() { x.Make().Get() }'),
  'c/c.go': go('c', 'func other() { helper() }', 'func helper() {}'),
};

test('a change of a body is seen in its own unit alone', async () => {
  const units = await BoundUnits.of(goTexts);
  const text = goTexts['a/x/a.go']?.replace('return 1', 'x.Make(); return 2') ?? '';
  expect(await units.change({ 'a/x/a.go': text })).toEqual({ wrong: [], written: [0] });
});

test('a result that is another one changes what is called on it elsewhere', async () => {
  const units = await BoundUnits.of(goTexts);
  const text = goTexts['a/x/a.go']?.replace('Make() *S', 'Make() *T') ?? '';
  const other = go('x', 'type T struct{}', 'func (t *T) Get() int { return 2 }');
  expect(await units.change({ 'a/x/a.go': text, 'a/x/t.go': other })).toEqual({
    wrong: [],
    written: [0, 1],
  });
  expect(units.callsTo('Get')).toEqual(['b/b.go:3 exact a/x/t.go']);
});

test('a text that is new or gone binds no more than what mentions it', async () => {
  const units = await BoundUnits.of({
    ...goTexts,
    'b/y.go': 'package b\nimport "q/a/y"\nfunc far() { y.New(); other() }\nfunc other() {}\n',
    'c/d.go': go('c', ...Array.from({ length: 20 }, (_, at) => `func f${at}() { helper() }`)),
  });
  const added = go('y', 'func New() { own() }', 'func own() {}');
  expect((await units.change({ 'a/y/y.go': added })).wrong).toEqual([]);
  expect(units.callsTo('New')).toEqual(['b/y.go:3 exact a/y/y.go']);
  expect(units.sites).toBeLessThan(10);
  expect((await units.change({ 'a/y/y.go': undefined })).wrong).toEqual([]);
  expect(units.sites).toBeLessThan(10);
  expect((await units.change({ 'a/x/a.go': go('z', 'func Make() {}') })).wrong).toEqual([]);
});

test('what a type implements may be changed by a method of it', async () => {
  const texts = {
    ...goTexts,
    'b/b.go': go('b', 'type I interface { Get() int; Put() }', 'func use(i I) { i.Get() }'),
  };
  const units = await BoundUnits.of(texts);
  const text = `${goTexts['a/x/a.go'] ?? ''}func (s *S) Put() {}\n`;
  expect((await units.change({ 'a/x/a.go': text })).wrong).toEqual([]);
  expect((await units.change({ 'a/x/a.go': undefined })).wrong).toEqual([]);
});

const java = (name: string, body: string): string =>
  `package p;\npublic class ${name} {\n${body}\n}\n`;

test('a target that is told apart by its line is written anew where it moves', async () => {
  const overloads = 'static void f(int a) {}\nstatic void f(String a) {}\nstatic void g() {}';
  const units = await BoundUnits.of({
    'a/A.java': java('A', overloads),
    'b/B.java': java('B', 'void use() { A.f("x"); }'),
    'c/C.java': java('C', 'void use() { A.g(); }'),
  });
  expect(units.callsTo('f')).toEqual(['b/B.java:3 exact a/A.java:4']);
  const moved = java('A', `/* Far above. */\n${overloads}`);
  expect(await units.change({ 'a/A.java': moved })).toEqual({ wrong: [], written: [0, 1] });
  expect(units.callsTo('f')).toEqual(['b/B.java:3 exact a/A.java:5']);
});

test('a base that is another one changes what is inherited', async () => {
  const units = await BoundUnits.of({
    'a/a.py': 'class One:\n    def run(self): pass\nclass Two:\n    def run(self): pass\n',
    'b/b.py': 'from a.a import One, Two\nclass Job(One):\n    pass\n',
    'c/c.py': 'from b.b import Job\ndef use():\n    Job().run()\n',
  });
  expect(units.callsTo('run')).toEqual(['c/c.py:3 exact a/a.py']);
  const job = 'from a.a import One, Two\nclass Job(Two):\n    pass\n';
  const { wrong, written } = await units.change({ 'b/b.py': job });
  expect(wrong).toEqual([]);
  expect(written).toContain(2);
});

test('a module that is new or gone changes what imports of others mean', async () => {
  const units = await BoundUnits.of({
    'a/index.ts': 'export function run() {}\n',
    'b/main.ts':
      "import { run } from '../a/tool';\nimport start from '../c/start';\nrun();\nstart();\n",
    'c/start.ts': 'export default function () {}\n',
  });
  expect((await units.change({ 'a/tool.ts': "export { run } from './index';\n" })).wrong).toEqual(
    [],
  );
  expect(units.callsTo('run')).toEqual(['b/main.ts:3 exact a/index.ts']);
  expect((await units.change({ 'a/tool.ts': undefined })).wrong).toEqual([]);
  expect((await units.change({ 'c/start.ts': 'export default class {}\n' })).wrong).toEqual([]);
});

test('a header that is included anew tells which of two definitions is meant', async () => {
  const units = await BoundUnits.of({
    'a/a.hpp': 'namespace n {\nclass A { public: void run() {} };\nA make();\n}\n',
    'b/b.hpp': 'namespace n {\nclass B { public: void run() {} };\nB make();\n}\n',
    'c/c.cpp': '#include "../a/a.hpp"\nvoid use() { n::make().run(); }\n',
  });
  const text = '#include "../b/b.hpp"\nvoid use() { n::make().run(); }\n';
  expect((await units.change({ 'c/c.cpp': text })).wrong).toEqual([]);
  const both =
    '#include "../a/a.hpp"\nnamespace n {\nclass B { public: void run() {} };\nB make();\n}\n';
  expect((await units.change({ 'b/b.hpp': both })).wrong).toEqual([]);
});

const run = 'def run():\n    pass\n';

test.each<[string, Texts, Record<string, string | undefined>]>([
  [
    'a module that passes on all of another one',
    {
      'a/index.ts': "export * from './b';\n",
      'a/b.ts': "export * from '../c/c';\n",
      'c/c.ts': 'export function run() {}\n',
      'd/main.ts': "import { run } from '../a/index';\nrun();\n",
    },
    { 'a/b.ts': undefined },
  ],
  [
    'what a folder passes on that was no package',
    { 'a/pkg/c.py': run, 'd/main.py': 'from a.pkg import run\nrun()\n' },
    { 'a/pkg/__init__.py': 'from .c import *\n' },
  ],
  [
    'a method that now replaces that of a far base',
    {
      'a/base.ts': 'export class Base { run() {} }\n',
      'a/mid.ts': "import { Base } from './base';\nexport class Mid extends Base {}\n",
      'b/b.ts': "import { Mid } from '../a/mid';\nexport class B { run() {} }\n",
      'c/c.ts': "import { Base } from '../a/base';\nexport function use(b: Base) { b.run(); }\n",
    },
    {
      'b/b.ts': "import { Mid } from '../a/mid';\nexport class B extends Mid { run() {} }\n",
    },
  ],
  [
    'members whose names are signs',
    {
      'a/p.ts': 'export class Page { other() {} }\n',
      'b/m.ts': "import { Page } from '../a/p';\nexport function f(p: Page) { p.$('x'); }\n",
    },
    { 'a/p.ts': 'export class Page { $(x: string) {} }\n' },
  ],
  [
    'a name of C that is called in brackets, too',
    { 'b/x.c': 'static int f(int x) { return x; }\nint g(int x) { return f(x); }\n' },
    { 'b/x.c': 'static int f(int x) { return x; }\nint g(int x) { return f(x) + (*f)(x); }\n' },
  ],
])('%s is bound as in a binding of everything', async (_, texts, change) => {
  const units = await BoundUnits.of(texts);
  expect((await units.change(change)).wrong).toEqual([]);
});
