import { expect, test } from 'vitest';
import { changeFrom } from '../../../../src/critic/impact/change.js';
import { matchedLines } from '../../../../src/critic/impact/line-match.js';
import { lossesIn } from '../../../../src/critic/impact/lost.js';

/** Kinds of what is lost, with the lines of the artifact. */
async function lost(path: string, before: string, after: string): Promise<string[]> {
  const change = await changeFrom(path, before, after);
  if (change === undefined) throw new Error(`${path} is not parsed`);
  return lossesIn(change).map(({ kind, line }) => `${kind} ${line}`);
}

/** So that most of a text stays what it was. */
const others = Array.from({ length: 12 }, (_each, at) => `struct s${at} { int a${at}; };`);
const otherTypes = others.map((each) => each.replace('struct', 'interface').replace('int ', ''));

const c = (...body: string[]): string =>
  [
    'int work(struct box *b, int n)',
    '{',
    ...body.map((line) => `\t${line}`),
    '}',
    ...others,
    '',
  ].join('\n');
const ts = (...body: string[]): string =>
  [
    'export async function work(box: Box, n: number): Promise<number> {',
    ...body.map((line) => `  ${line}`),
    '}',
    ...otherTypes,
    '',
  ].join('\n');

const locked = [
  'mutex_lock(&b->lock);',
  'if (b->busy) {',
  '\tmutex_unlock(&b->lock);',
  '\treturn -EBUSY;',
  '}',
  'b->n = n;',
  'mutex_unlock(&b->lock);',
  'return 0;',
];
test.each<[string, string[], string[], string[]]>([
  [
    'an unlock on one way out',
    locked,
    locked.filter((_line, at) => ![2].includes(at)),
    ['release-lost 5'],
  ],
  [
    'a lock that is not taken any more',
    locked,
    locked.filter((line) => !line.includes('mutex')),
    ['lock-lost 3'],
  ],
  [
    'an unlock that became a jump to one',
    locked,
    [
      'mutex_lock(&b->lock);',
      'if (b->busy)',
      '\tgoto out;',
      'b->n = n;',
      'out:',
      'mutex_unlock(&b->lock);',
      'return 0;',
    ],
    [],
  ],
  [
    'what is freed behind a label now',
    [
      'p = get(b);',
      'if (!n) {',
      '\tkfree(p);',
      '\treturn -1;',
      '}',
      'use(p);',
      'kfree(p);',
      'return 0;',
    ],
    ['p = get(b);', 'if (!n)', '\tgoto out;', 'use(p);', 'out:', 'kfree(p);', 'return 0;'],
    [],
  ],
  [
    'what is not freed on one way out',
    [
      'p = get(b);',
      'if (!n) {',
      '\tkfree(p);',
      '\treturn -1;',
      '}',
      'use(p);',
      'kfree(p);',
      'return 0;',
    ],
    ['p = get(b);', 'if (!n)', '\treturn -1;', 'use(p);', 'kfree(p);', 'return 0;'],
    ['release-lost 4'],
  ],
  [
    'a result that nobody looks at',
    ['if (copy_from_user(b, src, n))', '\treturn -EFAULT;', 'return 0;'],
    ['copy_from_user(b, src, n);', 'return 0;'],
    ['result-unchecked 3'],
  ],
  [
    'what a call gave',
    [
      'b->p = kmalloc(n, GFP_KERNEL);',
      'if (!b->p)',
      '\treturn -ENOMEM;',
      'b->p->n = n;',
      'return 0;',
    ],
    ['b->p = kmalloc(n, GFP_KERNEL);', 'b->p->n = n;', 'return 0;'],
    ['check-lost 4'],
  ],
  [
    'a result that is looked at otherwise',
    ['err = take(b);', 'if (err)', '\treturn err;', 'return 0;'],
    ['err = take(b);', 'if (err < 0)', '\treturn err;', 'return 0;'],
    [],
  ],
  [
    'a border',
    ['if (n >= b->count)', '\treturn -EINVAL;', 'return b->at[n];'],
    ['if (n > b->count)', '\treturn -EINVAL;', 'return b->at[n];'],
    ['border-moved 3'],
  ],
  ['an assertion', ['BUG_ON(!b->lock);', 'return b->n;'], ['return b->n;'], ['assertion-lost 3']],
])('C: %s', async (_name, before, after, expected) => {
  expect((await lost('work.c', c(...before), c(...after))).sort()).toEqual(expected);
});

test.each<[string, string[], string[], string[]]>([
  [
    'an await',
    ['await box.close();', 'return n;'],
    ['box.close();', 'return n;'],
    ['await-lost 2'],
  ],
  ['an await that is handed on', ['return await box.close();'], ['return box.close();'], []],
  [
    'an await of all together',
    ['await box.a();', 'await box.b();', 'return n;'],
    ['await Promise.all([', '  box.a(),', '  box.b(),', ']);', 'return n;'],
    [],
  ],
  [
    'a reason to end',
    ['for (;;) {', '  if (box.done || n >= triesMax) return n;', '}'],
    ['for (;;) {', '  if (box.done) return n;', '}'],
    ['check-lost 3'],
  ],
  [
    'a check that refuses',
    ["if (n < 0) throw new RangeError('n');", 'return n;'],
    ['return n;'],
    ['check-lost 2'],
  ],
  [
    'a check with other words',
    ["if (n < 0) throw new RangeError('n');", 'return n;'],
    ["if (n < 1) throw new RangeError('n');", 'return n;'],
    [],
  ],
  [
    'a condition that became an operand',
    ['if (n === 0) await box.begin(n);', 'return n;'],
    ['const isWhole = n > 0 || (await box.begin(n));', 'return isWhole ? n : 0;'],
    [],
  ],
  [
    'a bound',
    ['return box.text.slice(0, charsMax).length;'],
    ['return box.text.length;'],
    ['bound-lost 2'],
  ],
  ['a listener', ["box.off('end', done);", 'return n;'], ['return n;'], ['release-lost 2']],
  [
    'the listener of errors',
    ["box.on('error', () => undefined);", 'return n;'],
    ['return n;'],
    ['error-lost 2'],
  ],
  [
    'an error that is handed on',
    ['box.run((error) => {', '  if (error) return reject(error);', '});', 'return n;'],
    ['box.run((error) => {', '  if (error) return;', '});', 'return n;'],
    ['error-lost 3'],
  ],
  ['arguments', ['return copy(box, n);'], ['return copy(n, box);'], ['arguments-swapped 2']],
  [
    'what is caught',
    ['try {', '  return box.load(n);', '} catch (error) {', '  box.told(n);', '  return 0;', '}'],
    ['return box.load(n);'],
    ['handler-lost 3'],
  ],
  [
    'a secret in a log',
    ["log.info('in');", 'return n;'],
    ["log.info('in', box.password);", 'return n;'],
    ['secret-logged 2'],
  ],
  [
    'a call in a template',
    ['return box.say(`${escapeHtml(box.name)}!`);'],
    ['return box.say(`${box.name}!`);'],
    ['check-lost 2'],
  ],
])('TypeScript: %s', async (_name, before, after, expected) => {
  expect((await lost('work.ts', ts(...before), ts(...after))).sort()).toEqual(expected);
});

const close = '  box.lock.release();';

test('what moved into another function of the file is not lost', async () => {
  const before = ts('box.lock.release();', 'return n;');
  const after = `${ts('end(box);', 'return n;')}function end(box: Box): void {\n${close}\n}\n`;
  expect(await lost('work.ts', before, after)).toEqual([]);
});

test('what something imported does now is not lost', async () => {
  const before = ts("if (n < 0) throw new RangeError('n');", 'return n;');
  const after = `import { checked } from './checked.js';\n${ts('return checked(n);')}`;
  expect(await lost('work.ts', before, after)).toEqual([]);
});

test('of a text that is another one nothing is lost', async () => {
  const before = ts("if (n < 0) throw new RangeError('n');", 'return n;');
  expect(await lost('work.ts', before, 'export const one = 1;\nexport const two = 2;\n')).toEqual(
    [],
  );
});

test('the shell that a change adds, not the one that was there', async () => {
  const before = ts("spawn('a', [], { shell: true });", 'return n;');
  const after = ts(
    "spawn('a', [], { shell: true });",
    "spawn('b', [], { shell: true });",
    'return n;',
  );
  expect(await lost('work.ts', before, before.replace('return n', 'return n + 1'))).toEqual([]);
  expect(await lost('work.ts', before, after)).toEqual(['weakness-new 3']);
});

test('a text that is nested without end is read as far as it is read', async () => {
  const before = c(`${'{'.repeat(500)}${'if (n)'.repeat(5_000)} b->n = n;${'}'.repeat(500)}`);
  expect(await lost('work.c', before, before.replace('= n;', '= 1;'))).toEqual([]);
});

test('lines are matched in order, what is moved once', () => {
  expect(matchedLines(['a', 'b', 'c'], ['a', 'x', 'c'])).toEqual([0, undefined, 2]);
  expect(matchedLines(['a', 'b'], ['b', 'a'])).toHaveLength(2);
  expect(matchedLines(['}', 'a', '}'], ['}', '}', 'a', '}'])).toEqual([0, 2, 3]);
  expect(matchedLines([], ['a'])).toEqual([]);
});
