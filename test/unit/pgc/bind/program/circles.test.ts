import { expect, test } from 'vitest';
import { callersIn, indexedTree } from '../../../../support/indexed-tree.js';

/** Functions of which each returns what all the others return, or a thing in the end. */
function circle(count: number): string {
  const names = Array.from({ length: count }, (_, at) => `f${at}`);
  const bodies = names.map(
    (name) =>
      `export function ${name}(n) { ${names.map((other) => `if (n > 1) return ${other}(n - 1).next();`).join(' ')} return new Thing(); }`,
  );
  return `export class Thing { next() { return this; } last() {} }\n${bodies.join('\n')}\n`;
}

test('functions that return what each other return are bound in time, and to what one of them makes', async () => {
  await using tree = await indexedTree(
    {
      'lib/pair.ts': `${circle(2)}export function used() { f0(3).last(); }\n`,
      'lib/many.js': `${circle(24)}export function used() { f0(3).last(); }\n`,
      'lib/many.py': [
        'class Thing:\n    def last(self):\n        pass\n',
        ...Array.from(
          { length: 24 },
          (_, at) =>
            `def f${at}(n):\n${Array.from({ length: 24 }, (__, other) => `    if n == ${other}:\n        return f${other}(n)\n`).join('')}    return Thing()\n`,
        ),
        'def used(n):\n    f0(n).last()\n',
      ].join('\n'),
    },
    ['lib'],
  );
  expect(callersIn(tree, 'pair.ts#Thing.last')).toEqual([
    'lib/many.js:26 possible',
    'lib/many.py:1230 possible',
    'lib/pair.ts:4 exact',
  ]);
}, 60_000);
