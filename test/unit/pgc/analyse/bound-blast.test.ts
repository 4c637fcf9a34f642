import { afterAll, beforeAll, expect, test } from 'vitest';
import { blastRadius, type BlastNode } from '../../../../src/pgc/analyse/blast-radius.js';
import { securityBlastRadius } from '../../../../src/pgc/analyse/security-blast-radius.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { openIndex, type OpenedTree } from '../../../../src/pgc/search/open-index.js';
import { renderBlast } from '../../../../src/render/analysis.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const lines = (...text: string[]): string => `${text.join('\n')}\n`;

const files = {
  'web/go.mod': 'module example.com/web\n',
  'web/shape.go': lines(
    'package web',
    'type Chooser interface { Choose() int }',
    'type Loop struct{ c Chooser }',
    'func (l Loop) Run() int { return l.c.Choose() }',
  ),
  'web/first.go': lines(
    'package web',
    'type First struct{}',
    'func (First) Choose() int { return pick() }',
    'func pick() int { return 1 }',
  ),
  'web/routes.go': lines(
    'package web',
    'func handle(name string, does func()) {}',
    'func init() { handle("home", home) }',
    'func home() {}',
  ),
  'web/first_test.go': lines(
    'package web',
    'import "testing"',
    'func TestFirst(t *testing.T) { First{}.Choose() }',
  ),
  'app/router.ts': lines(
    'export class Router {',
    '  get(path: string, handler: () => void): void { handler(); }',
    '}',
    'export function decorated(target: unknown): void {}',
  ),
  'app/pages.ts': lines(
    "import { Router, decorated } from './router.js';",
    'export function about(): void {}',
    'export function mount(router: Router): void {',
    "  router.get('/about', about);",
    '}',
    '@decorated',
    'export class Page {}',
  ),
  'app/named.ts': lines(
    'export class Named {',
    '  start() {}',
    '  run(name: string) { return this[name](); }',
    '}',
  ),
  'rust/Cargo.toml': '[package]\nname = "rust"\n',
  'rust/src/lib.rs': lines(
    'pub struct Table { run: fn() }',
    'fn work() {}',
    'pub fn table() -> Table { Table { run: work } }',
  ),
};

let source: TemporaryTree;
let home: TemporaryTree;
let tree: OpenedTree;
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const shards = { shards: ['app', 'rust', 'web'].map((alias) => ({ alias, paths: [alias] })) };
  await indexFolder({ root: source.root, home: home.root, jobs: 0, shards });
  tree = await openIndex(source.root, home.root);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const told = (nodes: BlastNode[]): string[] =>
  nodes.map(({ depth, type, id, certainty, via, call_site }) =>
    [depth, type, id, certainty, via, call_site].filter((each) => each !== '').join(' '),
  );

test('a change goes through an interface, and into tests, which are told apart', async () => {
  const found = await blastRadius(tree, 'pick', { direction: 'up', maxDepth: 2 });
  expect(told(found.consumers)).toEqual([
    '1 calls web/first.go#First.Choose exact web/first.go:3',
    '2 calls web/first_test.go#TestFirst exact web/first_test.go:3',
    '2 calls web/shape.go#Loop.Run dispatch Chooser.Choose web/shape.go:4',
  ]);
  expect(found.metrics).toMatchObject({ totalImpacted: 3, test_consumers: 1 });
  const text = renderBlast(found, Infinity);
  expect(text).toContain('calls through Chooser.Choose');
  expect(text.indexOf('Used by tests')).toBeGreaterThan(text.indexOf('Loop.Run'));
});

test('what implements an interface is changed with it', async () => {
  const { consumers } = await blastRadius(tree, 'Chooser', { direction: 'up', maxDepth: 1 });
  expect(told(consumers)).toEqual(
    expect.arrayContaining([
      '1 implements web/first.go#First exact web/first.go:2',
      '1 implements web/first.go#First.Choose exact web/first.go:3',
      '1 calls web/shape.go#Loop.Run exact web/shape.go:4',
    ]),
  );
});

test.each([
  ['web/routes.go#home', '1 value web/routes.go#init exact web/routes.go:3'],
  ['app/pages.ts#about', '1 value app/pages.ts#mount exact app/pages.ts:4'],
  ['rust/src/lib.rs#work', '1 value rust/src/lib.rs#table exact rust/src/lib.rs:3'],
])('where %s is registered uses it', async (symbol, expected) => {
  const { consumers } = await blastRadius(tree, symbol, { direction: 'up', maxDepth: 1 });
  expect(told(consumers)).toContain(expected);
});

test('dependencies hold what is passed on and mentioned', async () => {
  const { dependencies } = await blastRadius(tree, 'mount', { direction: 'down', maxDepth: 1 });
  expect(told(dependencies)).toEqual(
    expect.arrayContaining([
      '1 value app/pages.ts#about exact app/pages.ts:4',
      '1 type app/router.ts#Router exact app/pages.ts:3',
    ]),
  );
});

test('a member that an expression names may be each of them', async () => {
  const { consumers } = await blastRadius(tree, 'app/named.ts#Named.start', { direction: 'up' });
  expect(told(consumers)).toContain('1 calls app/named.ts#Named.run possible app/named.ts:3');
  const { dependencies } = await blastRadius(tree, 'Named.run', { direction: 'down' });
  expect(told(dependencies)).toEqual(
    expect.arrayContaining(['1 calls app/named.ts#Named.start possible app/named.ts:3']),
  );
});

test('roles choose the rows', async () => {
  const found = await blastRadius(tree, 'pick', { direction: 'up', roles: ['test'] });
  expect(told(found.consumers)).toEqual([
    '2 calls web/first_test.go#TestFirst exact web/first_test.go:3',
  ]);
  const { blast_radius: blast } = await securityBlastRadius(tree, 'pick', { roles: ['source'] });
  expect(blast.consumers.map(({ id }) => id)).toEqual([
    'web/first.go#First.Choose',
    'web/shape.go#Loop.Run',
  ]);
});

test('a name with several meanings is answered with the choice', async () => {
  const found = await blastRadius(tree, 'Choose', { direction: 'up', maxDepth: 1 });
  expect(renderBlast(found, Infinity)).toContain('ask for one as path#name, such as');
});
