import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { trace } from '../../../src/lattice/trace/trace.js';
import type { TraceAnswer } from '../../../src/pgc/shapes.js';
import { renderTrace } from '../../../src/render/answer.js';
import { indexedTree, type IndexedTree } from '../../support/indexed-tree.js';

const files = {
  'app/go.mod': 'module example.com/app\n',
  'app/run.go': `package app
type Doer interface { Do() }
type One struct{}
func (One) Do() { last() }
func start(d Doer) { d.Do() }
func last() {}
`,
  'lib/main.py': `from lib.store import Store
def begin(thing):
    middle(thing)
def middle(thing):
    thing.keep()
def alone():
    pass
`,
  'lib/store.py': `class Store:
    def keep(self):
        return self.write()
    def write(self):
        pass
`,
  'lib/test_store.py': `from lib.store import Store
def test_keep():
    Store().keep()
`,
  'web/package.json': '{"name": "web"}',
  'web/pick.js': `const handlers = { first() {}, second() { goal(); } };
export function pick(name) { handlers[name](); longer(); }
export function only(name) { handlers[name](); }
function longer() { between(); }
function between() { goal(); }
function goal() {}
`,
};

let tree: IndexedTree;
let lattice: Lattice;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'lib', 'web']);
  const cards = await Promise.all(tree.shards.map((shard) => shard.card()));
  lattice = new Lattice(tree.shards, cards);
});
afterAll(() => tree[Symbol.asyncDispose]());

const traced = (from: string, to: string, roles?: string[]): Promise<TraceAnswer> =>
  trace(lattice, from, to, { clock: systemClock, roles });
const steps = ({ path }: TraceAnswer): string[] =>
  path.map(({ symbol, certainty }) => `${symbol} ${certainty}`.trim());

test('a step through an interface is marked', async () => {
  const found = await traced('start', 'last');
  expect(steps(found)).toEqual(['start', 'Do dispatch', 'last exact']);
  expect(renderTrace(found)).toContain('called at app/run.go:5, through an interface');
});

test('where nothing is proven, one call may be one of which only the name fits', async () => {
  const found = await traced('begin', 'write');
  expect(steps(found)).toEqual(['begin', 'middle exact', 'keep possible', 'write exact']);
  expect(renderTrace(found)).toContain('called at lib/main.py:5, possible');
});

test('a longer way that is proven comes before one that is not', async () => {
  expect(steps(await traced('pick', 'goal'))).toEqual([
    'pick',
    ...['longer', 'between', 'goal'].map((name) => `${name} exact`),
  ]);
  expect(steps(await traced('only', 'goal'))).toEqual(['only', 'second possible', 'goal exact']);
});

test('a way that nothing may go is none', async () => {
  expect((await traced('alone', 'write')).found).toBe(false);
  expect((await traced('write', 'begin')).found).toBe(false);
});

test('a search that was cut is no answer that nothing leads there', async () => {
  const limits = { clock: systemClock, doubtfulNodesMax: 1 };
  const cut = await trace(lattice, 'begin', 'write', limits);
  expect([cut.found, cut.errors.map(({ code }) => code)]).toEqual([false, ['SEARCH_CUT']]);
  expect(renderTrace(cut)).toContain('stopped after 1 functions: there may be one');
  const none = await traced('alone', 'write');
  expect(none.errors).toEqual([]);
});

test('roles choose what a chain may go through', async () => {
  expect((await traced('test_keep', 'write', ['source'])).found).toBe(true);
  expect((await traced('begin', 'write', ['test'])).found).toBe(false);
});
