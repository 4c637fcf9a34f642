import { afterAll, beforeAll, expect, test } from 'vitest';
import { callersOf } from '../../../../src/pgc/bind/call-sites.js';
import type { BoundTarget } from '../../../../src/pgc/format/bound-calls.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const files = {
  'app/package.json': '{ "name": "@x/app", "exports": { ".": "./dist/main.js" } }\n',
  'app/tsconfig.json':
    '{\n  // Aliases.\n  "compilerOptions": { "paths": { "~/*": ["./src/*"] } },\n}\n',
  'app/src/main.ts': `export { Store as Shop } from './store.js';
export * from './shapes';
`,
  'app/src/shapes.ts': `export interface Shape { area(): number }
export class Square implements Shape { area() { return 1; } grown(): this { return this; } }
export class Cube extends Square { area() { return super.area(); } edges() { return 12; } }
`,
  'app/src/store.ts': `import type { Shape } from '~/shapes';
export class Store {
  readonly #shapes = new Map<string, Shape>();
  constructor(private readonly log: Log = new Log()) {}
  each(work: (shape: Shape, at: number) => void): void {
    for (const [, shape] of this.#shapes) work(shape, 0);
    this.log.write('each');
  }
  async find(name: string): Promise<Shape | undefined> { return this.#shapes.get(name); }
  get first() { return new Log(); }
}
export class Log { write(text: string): void { text.trim(); } }
export function open(): Store;
export function open(log?: Log): Store { return new Store(log); }
`,
  'lib/use.ts': `import lib, { helper } from 'somewhere';
import * as all from '@x/app';
import { Cube } from '@x/app';
import { open } from '../app/src/store';
async function asked(unknown) {
  const shop = new all.Shop();
  (await shop.find('a'))?.area();
  shop.each((shape) => shape.area());
  new Cube().grown().edges();
  shop.first.write('x');
  open().each(() => {});
  lib.write('x');
  helper(shop).write('x');
  unknown.write('x');
}
function outer() {
  function local() {}
  return () => local();
}
function other() {
  const local = () => {};
  [new Cube()].filter(Boolean).forEach((each) => each.edges());
  local();
}
`,
  'lib/server.js': `const internals = {};
module.exports = function () { return new internals.Server(); };
internals.Server = class {
  constructor() { this.table = new Table(); }
  start() { this.table.fill(); }
};
function Table() {}
Table.prototype.fill = function () { return this.empty(); };
Table.prototype.empty = function () {};
`,
  'lib/run.js': `const serve = require('./server');
const tools = require('./tools');
const { close } = require('./tools');
serve().start();
tools.stop();
close();
`,
  'lib/tools.js': `module.exports = { stop() { this.shut(); }, shut, close: shut };
function shut() {}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'lib']);
});
afterAll(() => tree[Symbol.asyncDispose]());

/** `binding target …` of each call on a line, in order of the text. */
function boundOn(path: string, line: number): string[] {
  const { index } = tree.shards.find((each) => each.index.fileAt(path) !== undefined)!;
  return [...index.calls()]
    .filter((call) => index.file(call.file).path === path && call.line === line)
    .map(({ id, callee }) => {
      const targets = index.bound!.targetsOf(id).map((each) => named(index.bound!.target(each)));
      return [callee, index.bound!.bindingOf(id), ...targets].join(' ');
    });
}

function named({ path, container, name }: BoundTarget): string {
  return `${path}#${container}.${name}`;
}

const lineOf = (path: keyof typeof files, text: string): number =>
  files[path].split('\n').findIndex((line) => line.includes(text)) + 1;

const use = (text: string): string[] => boundOn('lib/use.ts', lineOf('lib/use.ts', text));

test('a package is found by its name, its source by what is built of it, a name by what passes it on', () => {
  expect(use('new all.Shop')).toEqual([
    'Shop exact app/src/store.ts#.Store app/src/store.ts#Store.constructor',
  ]);
});

test('what a promise comes to has the method of its interface', () => {
  expect(use("await shop.find('a')")).toEqual([
    'find exact app/src/store.ts#Store.find',
    'area dispatch app/src/shapes.ts#Shape.area',
  ]);
});

test('a function that is handed over takes what the parameter says', () => {
  expect(use('shop.each((shape)')).toEqual([
    'each exact app/src/store.ts#Store.each',
    'area dispatch app/src/shapes.ts#Shape.area',
  ]);
});

test('a method that gives its own type gives the one that was asked', () => {
  expect(use('grown().edges()').at(-1)).toBe('edges exact app/src/shapes.ts#Cube.edges');
});

test('a method that is read like a field is one', () => {
  expect(use('shop.first.write')).toEqual(['write exact app/src/store.ts#Log.write']);
});

test('of overloads, the one with a body is meant', () => {
  const { index } = tree.shards[1]!;
  const [call] = [...index.calls()].filter(({ callee }) => callee === 'open');
  expect(index.bound!.targetsOf(call!.id)).toHaveLength(1);
  expect(use('open().each')[1]).toBe('each exact app/src/store.ts#Store.each');
});

test('a library is outside, what it gives back and what nothing is known of is possible', () => {
  expect(use("lib.write('x')")).toEqual(['write outside']);
  expect(use('helper(shop).write')).toEqual(['helper outside', 'write possible']);
  expect(use("unknown.write('x')")).toEqual(['write possible']);
});

test('functions inside functions are told apart by where they are', () => {
  const sites = callersOf(tree.shards[1]!.index, [
    `lib/use.ts:${lineOf('lib/use.ts', 'function local')}`,
  ]);
  expect(sites.map(({ line }) => line)).toEqual([lineOf('lib/use.ts', '=> local()')]);
});

test('elements of a list are handed to what runs over it', () => {
  expect(use('filter(Boolean)').at(-1)).toBe('edges exact app/src/shapes.ts#Cube.edges');
});

test('a method that others replace may run them, but not the one of the base itself', () => {
  expect(boundOn('app/src/shapes.ts', 3)).toEqual(['area exact app/src/shapes.ts#Square.area']);
});

test('classes and functions that a script assigns are types', () => {
  const server = (text: string) => boundOn('lib/server.js', lineOf('lib/server.js', text));
  expect(server('this.table.fill()')).toEqual(['fill exact lib/server.js#Table.fill']);
  expect(server('return this.empty()')).toEqual(['empty exact lib/server.js#Table.empty']);
});

test('what a script passes on is found by its names, by other names, and as a whole', () => {
  expect(boundOn('lib/run.js', 4)).toEqual([
    'serve exact lib/server.js#.default',
    'start exact lib/server.js#Server.start',
  ]);
  expect(boundOn('lib/run.js', 5)).toEqual(['stop exact lib/tools.js#.stop']);
  expect(boundOn('lib/run.js', 6)).toEqual(['close exact lib/tools.js#.shut']);
  expect(boundOn('lib/tools.js', 1)).toEqual(['shut exact lib/tools.js#.shut']);
});
