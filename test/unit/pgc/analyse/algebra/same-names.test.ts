import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../../../../../src/pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../../../../../src/pgc/analyse/algebra/expression.js';
import { indexFolder } from '../../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../../src/pgc/search/open-index.js';
import { TemporaryTree } from '../../../../support/git-tree.js';

/** Several symbols of one name in one file, and calls of which not everything is known. */
const files: Record<string, string> = {
  'go/go.mod': 'module example.com/pick\n',
  'go/pick.go': [
    'package pick',
    '',
    'type Picker interface{ Select() int }',
    '',
    'type Random struct{}',
    'type Hashed struct{}',
    'type Unlike struct{}',
    '',
    'func (Random) Select() int { return 4 }',
    'func (Hashed) Select() int { return byHash() }',
    'func (Unlike) Select(at int) int { return at }',
    'func byHash() int { return 1 }',
    'func Use(by Picker) int { return by.Select() }',
    '',
  ].join('\n'),
  'java/Store.java': [
    'class Store {',
    '  int put(int value) { return keep(); }',
    '  int put(String text) { return 2; }',
    '  int keep() { return put(3); }',
    '}',
    '',
  ].join('\n'),
  'web/run.ts': [
    'export class Task { run(): number { return 1; } }',
    'export class Other { run(): string { return process.cwd(); } }',
    'export function begin(): number { return new Task().run(); }',
    'export function handed(): void {}',
    'export function anything(given: any): void { given.stop(); }',
    'export class Held { stop(): void {} }',
    'setTimeout(handed);',
    '',
  ].join('\n'),
  'web/again.ts':
    "import { begin as start } from './run.js';\nexport const again = () => start();\n",
  'py/two.py': [
    'class One:',
    '    def check(self, values):',
    '        return values',
    '',
    'class Two:',
    '    def check(self, values):',
    '        """Looks at values."""',
    '        assert len(values) > 0',
    '        return values',
    '',
  ].join('\n'),
  'web/told.ts': [
    'export class Told {',
    '  say(to: string): string { return to; }',
    '}',
    'export class Wrong {',
    '  /**',
    '   * Says it to somebody else.',
    '   * @param from who says it',
    '   */',
    '  say(to: string): string { return to; }',
    '}',
    '',
  ].join('\n'),
  'c/box.c': [
    'static int fill(int to);',
    'int twice(int to) { return fill(to) + fill(to); }',
    'static int fill(int to) { return to; }',
    'static void quiet(void) { }',
    'static void (*routine)(void);',
    'void set(void) { routine = quiet; }',
    'void run(void) { routine(); }',
    'struct ops { void (*go)(void); };',
    'static void held(void) { }',
    'struct ops table = { .go = held };',
    '#ifdef BIG',
    'int size(void) { return 2; }',
    '#else',
    'int size(void) { return 1; }',
    '#endif',
    'int both(void) { return size(); }',
    '',
  ].join('\n'),
};

let at: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  at = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = [
    { alias: 'go', paths: ['go'] },
    { alias: 'again', paths: ['web/again.ts'] },
    { alias: 'rest', paths: ['.'] },
  ];
  await indexFolder({ root: at.root, home: home.root, jobs: 0, shards: { shards } });
  tree = await openIndex(at.root, home.root);
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function ask(text: string): Promise<{ places: string[]; warnings: string[] }> {
  const { count, anchors, warnings } = await evaluate(parseExpression(text), tree);
  expect(anchors).toHaveLength(count);
  const places = anchors.map(({ file_path, line, symbol }) => `${file_path}:${line} ${symbol}`);
  return { places, warnings };
}

describe('symbols of one name in one file', () => {
  test.each<[what: string, text: string, expected: string[]]>([
    ['are several', 'O1[name=Select, kind=method, path=go]', ['3', '9', '10', '11'].map(select)],
    ['call each for itself', 'O3[calls, subject=byHash]', [select('10')]],
    [
      'do not call each for itself',
      'O1[name=Select, path=go] - O3[calls]',
      ['3', '9', '11'].map(select),
    ],
    [
      'are called through an interface where they fit',
      'O3[called, subject=Use] & O1[kind=method]',
      ['3', '9', '10'].map(select),
    ],
    ['are told apart by arguments', 'O3[called, name=put]', ['java/Store.java:2 put']],
    ['of these the other one', 'O1[name=put] - O3[called]', ['java/Store.java:3 put']],
    ['are told apart by their types', 'O3[called, name=run]', ['web/run.ts:1 run']],
    ['assert each for itself', 'O6[assertion]', ['py/two.py:6 check']],
    ['are documented each for itself', 'O1[name=check] & O4[doc]', ['py/two.py:6 check']],
    [
      'have documentation that is wrong each for itself',
      'O7[parameter, name=say]',
      ['web/told.ts:9 say'],
    ],
    ['have a complement each for itself', 'O1[name=check] & !O6', ['py/two.py:2 check']],
    ['are called through a variable', 'O3[called, subject=run]', ['c/box.c:4 quiet']],
    [
      'are not called nor uncalled where a table holds them',
      'O3[slot, name=held]',
      ['c/box.c:9 held'],
    ],
    ['are where their items are', 'O3[calls, subject=cwd]', ['web/run.ts:2 run']],
    ['are one as a declaration and its definition', 'O1[name=fill]', ['c/box.c:3 fill']],
  ])('%s: %s', async (_what, text, expected) => {
    expect(await ask(text)).toEqual({ places: expected, warnings: [] });
  });
});

function select(line: string): string {
  return `go/pick.go:${line} Select`;
}

describe('a call', () => {
  test('under another name is one of what it means, over shards', async () => {
    expect((await ask('O3[calls, subject=begin]')).places).toEqual(['web/again.ts:2 again']);
    expect((await ask('O3[called, subject=again]')).places).toEqual(['web/run.ts:3 begin']);
  });

  test('that may mean a symbol makes it neither called nor not called', async () => {
    const note = [expect.stringMatching(/^1 more symbol may be of this set/)];
    for (const text of [
      'O3[called, name=stop]',
      'O1[name=stop] - O3[called]',
      'O1[name=stop] & !O3[called]',
    ])
      expect(await ask(text)).toEqual({ places: [], warnings: note });
    for (const name of ['handed', 'held'])
      expect(await ask(`O1[name=${name}] - O3[called]`)).toEqual({ places: [], warnings: note });
    const { places, warnings } = await ask('O1[name=size] - O3[called]');
    expect([places, warnings]).toEqual([[], [expect.stringMatching(/^2 more symbols may be/)]]);
    expect((await ask('O1[name=stop] - (O1 - O3[called])')).places).toEqual([]);
  });

  test('is found the same way among few symbols and among all', async () => {
    const [few, all] = [
      await ask('O1[kind!=struct] & O3[called]'),
      await ask('O3[called] + O3[called]'),
    ];
    expect(few).toEqual(all);
  });
});
