import { expect, test } from 'vitest';
import { callersIn, indexedTree } from '../../../../support/indexed-tree.js';

/** So many types, each built on the next ones, the last on the first. */
const count = 60;
const each = (text: (at: number, next: number, other: number) => string): string =>
  Array.from({ length: count }, (_, at) => text(at, (at + 1) % count, (at + 2) % count)).join('\n');

/** Circles of inheritance, and more functions of one name than anyone can choose from. */
const files = {
  'lib/c.go': `package c\n${each((at, next, other) => `type A${at} struct { A${next}; *A${other} }\nfunc (a A${at}) M${at}() { a.none() }\ntype I${at} interface { I${next}; I${other} }\ntype X${at} X${next}`)}\nfunc u(a A0, x X0) { a.M5(); a.none(); x.none() }\n`,
  'lib/c.ts': `${each((at, next, other) => `export class A${at} extends A${next} { m${at}() { return this.none(); } }\nexport interface I${at} extends I${next}, I${other} {}\ntype X${at} = X${next};`)}\nexport function u(x: X0) { new A0().m5(); x.none(); }\n`,
  'lib/c.py': `${each((at, next, other) => `class A${at}(A${next}, A${other}):\n    def p${at}(self):\n        return self.none()`)}\ndef u():\n    A0().p5()\n`,
  'lib/C.java': `${each((at, next) => `class A${at} extends A${next} { void j${at}() { none(); } }`)}\nclass U { void u(A0 a) { a.j5(); a.none(); } }\n`,
  'lib/c.rs': `${each((at, next, other) => `pub trait T${at}: T${next} + T${other} { fn r${at}(&self); }\ntype X${at} = X${next};`)}\nfn u(a: &dyn T0, x: X0) { a.r5(); x.none(); }\n`,
  'lib/c.c': `${each((at, next) => `#define M${at}(x) M${next}(x)\ntypedef X${next} X${at};\nstruct s${at} { struct s${next} *n; int (*op)(void); };`)}\nint u(struct s0 *s, X0 x) { return s->n->n->op() + M0(1); }\n`,
  'lib/Over.java': `class Over {\n${each((at) => `  void over(T${at} a) {}`)}\n  void use() { over(unknown()); }\n}\n`,
};

test('circles of types are bound in time, and members beyond them found', async () => {
  await using tree = await indexedTree(files, ['lib']);
  const first = (symbol: string): string[] => callersIn(tree, symbol).slice(0, 1);
  expect(first('lib/c.go#A5.M5')).toEqual([expect.stringMatching(/^lib\/c\.go:\d+ /)]);
  expect(first('lib/c.ts#A5.m5')).toEqual([expect.stringMatching(/^lib\/c\.ts:\d+ exact/)]);
  expect(first('lib/c.py#A5.p5')).toEqual([expect.stringMatching(/^lib\/c\.py:\d+ /)]);
  expect(first('lib/C.java#A5.j5')).toEqual([expect.stringMatching(/^lib\/C\.java:\d+ /)]);
  expect(first('lib/c.rs#T5.r5')).toEqual([expect.stringMatching(/^lib\/c\.rs:\d+ /)]);
  expect(callersIn(tree, 'none')).toEqual(
    callersIn(tree, 'none').filter((site) => site.includes(' possible')),
  );
}, 60_000);
