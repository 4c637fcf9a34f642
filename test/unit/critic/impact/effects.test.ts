import { expect, test } from 'vitest';
import { codeViewOf, type CodeView } from '../../../../src/critic/impact/code-view.js';
import { aboutEffect, effectKinds, effectsIn } from '../../../../src/critic/impact/effects.js';
import { refusalsIn, toldRefusals } from '../../../../src/critic/impact/refusals.js';

const viewOf = (path: string, text: string): CodeView => {
  const view = codeViewOf(path, text);
  if (view === undefined) throw new Error(path);
  return view;
};
const effects = (path: string, text: string): string[] =>
  effectsIn(viewOf(path, text)).map(({ kind, call, line }) => `${kind} ${call} ${line}`);
const refusals = (path: string, text: string): string[] =>
  refusalsIn(viewOf(path, text)).map(({ code, line }) => `${code} ${line}`);

test.each([
  [
    'a.ts',
    "import { readFile as r } from 'node:fs/promises';\nr(a);\nreadFile(b);\n",
    ['file r 2'],
  ],
  ['a.ts', "import * as cp from 'node:child_process';\ncp.spawn(a);\n", ['process cp.spawn 2']],
  ['a.ts', "import { readFile } from './mine.js';\nreadFile(a);\n", []],
  ['a.ts', 'a.fetch(b);\n// fetch(c)\nJSON.parse(d);\n', ['parse JSON.parse 3']],
  [
    'a.c',
    'mutex_lock(&a);\nops->open(b);\ncopy_from_user(c, d, 1);\n',
    ['lock mutex_lock 1', 'user-memory copy_from_user 3'],
  ],
  [
    'a.py',
    'open(a)\nself.open(b)\nsubprocess.run(c)\n',
    ['file open 1', 'process subprocess.run 3'],
  ],
])('%s: effects of %j', (path, text, expected) => {
  expect(effects(path, text)).toEqual(expected);
});

test('of one kind at most fifty, and each kind says how it fails', () => {
  expect(effects('a.ts', 'fetch(a);\n'.repeat(60))).toHaveLength(50);
  for (const kind of effectKinds) expect(aboutEffect[kind].fails).not.toBe('');
});

test.each([
  [
    'a.ts',
    "throw new BusError('INBOX_FULL', { a });\nreturn new BusError('GONE_NOW');\n",
    ['INBOX_FULL 1', 'GONE_NOW 2'],
  ],
  [
    'a.ts',
    "throw new TypeError('a word');\n// throw new RangeError()\n'throw new Error()';\n",
    ['TypeError 1'],
  ],
  [
    'a.js',
    'throw new FST_ERR_SENT(a);\nonError(new FST_ERR_LATE());\nnew Map();\n',
    ['FST_ERR_SENT 1', 'FST_ERR_LATE 2'],
  ],
  [
    'a.c',
    'return -EINVAL;\nerr = -ENOMEM;\nif (err == -EAGAIN)\nreturn ERR_PTR(-EPERM);\n',
    ['EINVAL 1', 'ENOMEM 2', 'EPERM 4'],
  ],
  ['a.py', '  raise errors.Late()\nraised = 1\n', ['Late 1']],
  ['a.go', 'return -EINVAL\n', []],
])('%s: refusals of %j', (path, text, expected) => {
  expect(refusals(path, text)).toEqual(expected);
});

test('each code is told once, with its first line', () => {
  const found = [
    { code: 'A', line: 3 },
    { code: 'B', line: 4 },
    { code: 'A', line: 5 },
  ];
  expect(toldRefusals(found, 2)).toBe('`A` (line 3), `B` (line 4)');
  expect(toldRefusals(found, 1)).toBe('`A` (line 3) and 1 more');
});
