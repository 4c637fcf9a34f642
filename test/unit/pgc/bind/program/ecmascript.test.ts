import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersOf, sortedOut } from '../../../../../src/pgc/bind/call-sites.js';
import {
  callersIn,
  indexedTree,
  usesIn,
  type IndexedTree,
} from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'lib/store.js': `/** @typedef {object} Options */
class Store {
  /** @param {import('./log')} log */
  constructor (log) {
    this.log = log
    /** @type {Array<import('./shape').Shape>} */
    this.shapes = []
  }
  write () { this.log.print() }
  sum () { this.shapes.forEach((each) => each.area()) }
  run (name) { return this[name]() }
  close () {}
  [kOpen] () { return this[kOpen]() }
}
const kOpen = Symbol('open')
module.exports = Store
`,
  'lib/log.js': `module.exports = class Log {
  print () {}
}
`,
  'lib/shape.js': `class Shape {
  area () {}
}
/**
 * @param {Shape | null} shape
 * @returns {Promise<Shape>}
 */
async function grown (shape) { shape.area(); return shape }
module.exports = { Shape, grown }
`,
  'lib/use.js': `const { grown } = require('./shape')
const { make } = require('./make')
const Store = require('./store')
let store
function setUp () { store = new Store() }
function used () { store.close() }
async function later () { (await grown()).area() }
const { open, shut: end } = make()
open()
end()
make().shut()
const handlers = { first () {}, second }
function second () {}
handlers[process.argv[2]]()
handlers['first']()
`,
  'lib/make.js': `exports.make = function () {
  const open = () => {}
  function shut () {}
  return { open, shut }
}
`,
  'app/schema.ts': `class Schema {
  copy() { const next = this; return next; }
  same() { let schema = this; schema = schema.copy(); return schema; }
  rule() { return { check(value) { return this.same(value); } }; }
}
class Text extends Schema { trim() {} needed() { return super.missing(); } }
interface Text { needed(): Text }
new Text().needed().trim();
function bare(this: Text) { this.trim(); }
new Text().same().trim();
`,
  'app/shop.d.ts': `declare namespace shop {
  class Shelf { first(): Box; }
  class Box { open(): void; }
  let shelf: Shelf;
}
export = shop;
`,
  'app/inner.ts': `import shop from './shop';
shop.shelf.first().open();
function fresh(): typeof import('./parts') { return load(); }
fresh().draw();
`,
  'lib/body.js': `const { Readable } = require('node:stream');
class Body extends Readable { constructor() { super(); } }
module.exports = { Readable: Body };
`,
  'lib/read.js': `const { Readable } = require('./body');
new Readable();
const { keep } = require('./taken');
keep();
`,
  'lib/taken.js': `function take (given) {
  const { print } = given;
  print();
}
class Kept { static keep () {} }
const { keep } = Kept;
module.exports = { keep };
`,
  'lib/helpers.js': `const helpers = exports;
helpers.assist = function () {};
`,
  'lib/helped.js': `const help = require('./helpers');
help.assist();
`,
  'app/forms.tsx': `import * as parts from './parts';
const one = <parts.Panel title="x"><parts.Line /></parts.Panel>;
(parts.draw)();
parts.draw!();
(parts.draw as () => void)();
const again = parts.draw as typeof parts.draw;
`,
  'app/parts.tsx': `export function Panel() { return null; }
export function Line() { return null; }
export function draw() {}
`,
  'app/types.ts': `export class Scene { draw() {} }
export class App { scene = new Scene(); list: Scene[] = []; }
export type Parts = { scene: App["scene"]; first: App["list"][number]; make: typeof build };
export function build() { return new Scene(); }
export async function load(): Promise<App> { return new App(); }
export function paint(parts: Parts, made: ReturnType<typeof build>, one: InstanceType<typeof App>) {
  parts.scene.draw();
  parts.first.draw();
  parts.make().draw();
  made.draw();
  one.scene.draw();
}
export function wait(app: Awaited<ReturnType<typeof load>>) {
  app.scene.draw();
}
function inner() {}
export { inner as outer };
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['lib', 'app']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const lineOf = (path: string, text: string): number =>
  files[path]!.split('\n').findIndex((line) => line.includes(text)) + 1;
const at = (path: string, text: string): string => `${path}:${lineOf(path, text)}`;
const callers = (symbol: string): string[] =>
  callersIn(tree, symbol).sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));

describe('types in comments of scripts', () => {
  test('of a parameter, a field and a result; of other modules', () => {
    expect(callers('lib/log.js#Log.print')).toEqual([
      `${at('lib/store.js', 'print()')} exact`,
      // It may have been taken out of its object.
      'lib/taken.js:3 possible',
    ]);
    expect(callers('lib/shape.js#Shape.area')).toEqual([
      `${at('lib/shape.js', 'shape.area()')} exact`,
      `${at('lib/store.js', 'each.area()')} exact`,
      `${at('lib/use.js', 'await grown()')} exact`,
    ]);
  });
});

describe('types of values', () => {
  test('of members, of elements, of what a function gives, a class makes and a promise comes to', () => {
    const lines = [
      'parts.scene',
      'parts.first',
      'parts.make',
      'made.draw',
      'one.scene',
      '  app.scene',
    ];
    expect(callers('app/types.ts#Scene.draw')).toEqual(
      lines.map((each) => `${at('app/types.ts', each)} exact`),
    );
  });
});

test('what a method gives of its own type is of the type that was asked; objects in it are others', () => {
  expect(callers('app/schema.ts#Text.trim')).toEqual(
    ['needed().trim', 'this.trim', 'same().trim'].map(
      (each) => `${at('app/schema.ts', each)} exact`,
    ),
  );
  expect(callers('app/schema.ts#Schema.same')).toEqual([
    `${at('app/schema.ts', 'return this.same')} possible`,
    `${at('app/schema.ts', 'same().trim')} exact`,
  ]);
});

test('what stands beside a class in a module is meant in it', () => {
  expect(callers('app/shop.d.ts#Box.open')).toEqual([`${at('app/inner.ts', '.open()')} exact`]);
});

test('what is passed on under the name of an import is what it says', () => {
  expect(callers('lib/body.js#Body.constructor')).toEqual(['lib/read.js:2 exact']);
});

test('a method that is taken out of its class is passed on', () => {
  expect(callers('lib/taken.js#Kept.keep')).toEqual(['lib/read.js:4 exact']);
});

test('what is given to another name of the exports is passed on', () => {
  expect(callers('lib/helpers.js#helpers.assist')).toEqual(['lib/helped.js:2 exact']);
});

test('a call in brackets is one, and so is an element of a module', () => {
  expect(callers('app/parts.tsx#draw')).toEqual([
    ...[3, 4, 5].map((line) => `app/forms.tsx:${line} exact`),
    `${at('app/inner.ts', '.draw()')} exact`,
  ]);
  expect(callers('app/parts.tsx#Panel')).toEqual(['app/forms.tsx:2 exact']);
  expect(callers('app/parts.tsx#Line')).toEqual(['app/forms.tsx:2 exact']);
});

test('what is assigned first is what a name at the top holds', () => {
  expect(callers('lib/use.js#setUp')).toEqual([]);
  expect(callers('lib/store.js#Store.close')).toContain(
    `${at('lib/use.js', 'store.close()')} exact`,
  );
});

test('functions in an object that a function gives, also under other names', () => {
  expect(callers(`lib/make.js:${lineOf('lib/make.js', 'const open')}`)).toEqual([
    `${at('lib/use.js', 'open()')} exact`,
  ]);
  expect(callers(`lib/make.js:${lineOf('lib/make.js', 'function shut')}`)).toEqual([
    `${at('lib/use.js', 'end()')} exact`,
    `${at('lib/use.js', 'make().shut()')} exact`,
  ]);
});

describe('a member that an expression names', () => {
  test('may be each function of the type, also those that it holds by another name', () => {
    const site = at('lib/use.js', 'handlers[process');
    expect(callers('lib/use.js#second')).toEqual([`${site} possible`]);
    expect(callers('lib/use.js#handlers.first')).toEqual([
      `${site} possible`,
      `${at('lib/use.js', "handlers['first']")} exact`,
    ]);
    expect(callers('lib/store.js#Store.run')).toEqual([
      `${at('lib/store.js', 'this[name]()')} possible`,
    ]);
  });

  test('is none of them if it is a symbol', () => {
    expect(callers('lib/store.js#Store.write')).not.toContain(
      `${at('lib/store.js', 'this[kOpen]()')} possible`,
    );
  });
});

test('what is handed on may be called from there, where nothing calls it by its name', () => {
  expect(usesIn(tree, 'app/types.ts#inner')).toEqual([
    `${at('app/types.ts', 'inner as outer')} value exact`,
  ]);
  const sites = tree.shards.flatMap(({ index }) =>
    callersOf(index, ['app/types.ts#inner'], { withUses: true }),
  );
  expect(sortedOut(sites)).toMatchObject({
    ...{ callers: [], uses_total: 1 },
    possible: [{ kind: 'value', certainty: 'possible' }],
  });
});
