import { afterAll, beforeAll, expect, test } from 'vitest';
import { Lattice } from '../../../src/lattice/lattice.js';
import { calleesOf, callersOf, implementationsOf } from '../../../src/lattice/trace/call-sites.js';
import { implementationsText, sitesText, whereOf } from '../../../src/render/sites.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

const files = {
  'app/go.mod': 'module example.com/app\n',
  'app/a.go': `package app
type Runner interface { Run() }
type One struct{}
func (One) Run() {}
type Two struct{}
func (Two) Run() {}
func both(r Runner) { r.Run(); One{}.Run() }
func register(does func()) {}
func init() { register(only) }
func only() {}
func unused() {}
func count() int { return 1 }
func drop() { count(); quiet() }
func quiet() {}
const limit = 1
var top = limit
`,
  'app/b.h': 'namespace n { class Kept {}; }\n',
  'app/a_test.go': 'package app\nfunc TestOne() { One{}.Run() }\n',
};

let tree: IndexedTree;
let lattice: Lattice;
beforeAll(async () => {
  tree = await indexedTree(files, ['app']);
  lattice = new Lattice(tree.shards, await Promise.all(tree.shards.map((shard) => shard.card())));
});
afterAll(() => tree[Symbol.asyncDispose]());

async function callers(symbol: string, roles: string[] = []): Promise<string> {
  const answer = await callersOf(lattice, symbol, { roles });
  return sitesText(answer, answer.callers.length, whereOf(roles));
}

async function uses(symbol: string): Promise<string> {
  const { callers: references, ...its } = await callersOf(lattice, symbol, { withUses: true });
  return sitesText({ ...its, references }, references.length, '');
}

test('an ambiguous name is answered with the choice', async () => {
  const text = await callers('Run');
  expect(text).toContain(
    'the name has 3 meanings, and the callers of all of them follow; ask for one as path#name, such as app/a.go#One.Run',
  );
  expect(await callers('app/a.go#One.Run')).not.toContain('meanings');
});

test('one meaning is told from the others, and what goes through an interface is said', async () => {
  expect((await callers('Two.Run')).split('\n')).toEqual([
    'Two.Run (method) is defined at app/a.go:6 [app]',
    'Run is called at 1 place, 1 of them through an interface',
    '  app/a.go:7  both  (through Runner.Run)',
  ]);
});

test('a result is ignored where there is one', async () => {
  expect(await callers('count')).toContain('  app/a.go:13  drop  (its result is ignored)');
  expect((await callers('quiet')).split('\n').at(-1)).toBe('  app/a.go:13  drop');
});

test('a function that is named is registered or passed on', async () => {
  expect(await uses('only')).toContain('  app/a.go:9  init  (registered or passed on)');
  expect(await uses('limit')).toContain('  app/a.go:16  (file level)  (used)');
  expect(await callers('only')).toContain('which `references` lists');
});

test('none is said where nothing is possible, and of what was looked for', async () => {
  expect(await callers('unused')).toContain('nothing calls unused');
  expect(await uses('unused')).toContain('nothing uses unused');
  expect(await callers('One.Run', ['test'])).toContain(
    'Run is called at 1 place in files of role test',
  );
});

test('of a header of C++ it is not said that nothing uses what it has', async () => {
  const text = await uses('Kept');
  expect(text).toContain('nothing certainly uses Kept');
  expect(text).toContain('uses without a call are not known in cpp');
});

test('calls are counted by lines, and nothing stands for a function', async () => {
  const answer = await calleesOf(lattice, 'both');
  expect(sitesText(answer, answer.callees.length, '')).toContain('both calls, in 1 line:');
  const none = await implementationsOf(lattice, 'only');
  expect(implementationsText(none, '')).toContain('nothing implements a function');
});

test.each(['Three.Run', 'app::Three::Run', 'b.go#Run'])(
  'where %s is nothing, what bears the name is said',
  async (symbol) => {
    const { errors } = await callersOf(lattice, symbol);
    expect(errors.map(({ code, text }) => `${code} ${text}`)).toEqual([
      `NO_SUCH_SYMBOL no symbol ${symbol} is defined here; Run is app/a.go#One.Run, app/a.go#Two.Run, app/a.go#Runner.Run`,
    ]);
  },
);

test.each([
  ['int', true],
  ['void *', true],
  ['Promise<void>', true],
  ['void | string', true],
  ['void', false],
  ['void __init', false],
  ['None', false],
  ['()', false],
])('a function that returns %s has a result: %s', (returns, isThere) => {
  const place = { file_path: 'a', line: 1, agent: 'a', container: '' };
  const definition = {
    ...{ ...place, symbol: 'f', kind: 'function', line_end: 1, exported: true, declaration: false },
    ...{ signature: `function:f | params:0 | returns:${returns}`, doc: '' },
  };
  const site = {
    ...{ ...place, symbol: 'g', kind: 'direct', definition: '', lookup: null, ignored: true },
    ...{ certainty: 'exact' as const, via: '' },
  };
  const answer = {
    ...{ symbol: 'f', definitions: [definition], callers: [site], errors: [], citations: [] },
    ...{ possible: [], possible_total: 0, uses_total: 0 },
  };
  expect(sitesText(answer, 1, '').includes('its result is ignored')).toBe(isThere);
});
