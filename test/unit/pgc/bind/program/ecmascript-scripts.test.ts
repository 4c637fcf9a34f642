import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersOf, sortedOut } from '../../../../../src/pgc/bind/call-sites.js';
import {
  callersIn,
  indexedTree,
  usesIn,
  type IndexedTree,
} from '../../../../support/indexed-tree.js';

/** More names than fit on a few lines. */
const many = Array.from({ length: 60 }, (_, at) => `name${at}: other${at}`).join(',\n  ');

const files: Record<string, string> = {
  'lib/parts.js': `exports.last = function () { this.first() }
exports.first = function () {}
exports.setTimeout = function () { setTimeout(() => {}) }
exports.util = { parse () {} }
exports.Shelf = require('./shelf')
`,
  'lib/util.js': `exports.split = () => {}
`,
  'lib/shelf.js': `module.exports = class Shelf { put () {} }
`,
  'lib/use.js': `const {
  ${many},
  last
} = require('./parts')
const util = require('./util')
last()
require('./parts').first()
new (require('./shelf'))().put()
new (require('./parts').Shelf)().put()
util.split()
exports.util = { split () {} }
`,
  'lib/promised.js': `const fs = require('fs')
class Config { load () {} }
class Reader { finish () {} }
fs.promises.readFile('a').then(() => new Config()).then(config => config.load())
fs.createReadStream('a').pipe(new Reader()).finish()
`,
  'lib/keys.js': `const { kAgent, kClose } = require('./symbols')
class Agent { dispatch () {} }
class Client {
  constructor () { this[kAgent] = new Agent() }
  run () { this[kAgent].dispatch() }
  [kClose] () {}
  end () { this[kClose]() }
  close () {}
}
module.exports = { Client }
`,
  'lib/symbols.js': `exports.kAgent = Symbol('agent')
exports.kClose = Symbol('close')
`,
  'lib/given.js': `const fs = require('node:fs')
class Worker {
  callback () {}
  resolve () {}
  close () {}
  toBe () {}
  start () { setTimeout(this.run.bind(this), 5) }
  run () {}
  pick (found) { return found ? this.left : this.right }
  left () {}
  right () {}
}
function later (callback) { callback() }
new Promise((resolve) => resolve())
fs.createReadStream('x').close()
assertThat.toBe()
function quiet () {}
function noisy (given) { const done = given || quiet; done() }
module.exports = { Worker, later, noisy }
`,
  'lib/above.js': `function first () { return made() }
const { made } = make()
function make () { return { made: inner } }
function inner () {}
function outer () {
  const one = () => two()
  const two = () => {}
  return one
}
module.exports = { first, outer }
`,
  'app/application.js': `var Router = require('./router')
var app = exports = module.exports = {}
app.init = function init () { this.use() }
app.use = function use () { this.router = new Router(); this.router.handle() }
;['get', 'put'].forEach(function (name) {
  app[name] = function () { this.init() }
})
`,
  'app/router.js': `var proto = module.exports = function () {
  function router () { router.handle() }
  Object.setPrototypeOf(router, proto)
  return router
}
proto.handle = function handle () { this.next() }
proto.next = function next () {}
`,
  'app/request.js': `var http = require('http')
var req = Object.create(http.IncomingMessage.prototype)
module.exports = req
req.get = req.header = function header () {}
req.accepts = function () { return this.get() }
function Base () {}
Base.prototype.open = function () {}
function Derived () {}
require('util').inherits(Derived, Base)
Object.setPrototypeOf(Derived.prototype, Base.prototype)
new Derived().open()
`,
  'app/main.js': `var app = require('./application')
app.init()
require('./router')().handle()
`,
  'app/page.tsx': `import type { Handler } from './types';
export function link() {}
export const page = () => <link href="x" />;
export function make(): Handler { return (context) => { context.end(); }; }
`,
  'app/types.ts': `export class Context { end() {} }
export type Handler = (context: Context) => void;
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['lib', 'app']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const at = (path: string, text: string): string =>
  `${path}:${files[path]!.split('\n').findIndex((line) => line.includes(text)) + 1}`;
const callers = (symbol: string): string[] => callersIn(tree, symbol);

describe('what a script requires', () => {
  test('is known by many names, and where it is used at once', () => {
    expect(callers('lib/parts.js#last')).toEqual([`${at('lib/use.js', 'last()')} exact`]);
    expect(callers('lib/parts.js#first')).toEqual([
      `${at('lib/parts.js', 'this.first')} exact`,
      `${at('lib/use.js', '.first()')} exact`,
    ]);
    expect(callers('lib/shelf.js#Shelf.put')).toEqual([
      `${at('lib/use.js', "require('./shelf'))().put")} exact`,
      `${at('lib/use.js', '.Shelf)().put')} exact`,
    ]);
  });

  test('is not what the file passes on under the same name', () => {
    expect(callers('lib/parts.js#setTimeout')).toEqual([]);
    expect(callers('lib/util.js#split')).toEqual([`${at('lib/use.js', 'util.split')} exact`]);
    expect(callers('lib/use.js#util.split')).toEqual([]);
  });
});

test('a member whose key a name holds is found by that name', () => {
  expect(callers('lib/keys.js#Agent.dispatch')).toEqual([
    `${at('lib/keys.js', 'dispatch()')} exact`,
  ]);
  expect(callers('lib/keys.js#Client.close')).toEqual([]);
});

describe('no doubt is', () => {
  test('what a parameter holds, what the runtime gives, and what nothing defines', () => {
    for (const name of ['callback', 'resolve', 'close', 'toBe'])
      expect(callers(`lib/given.js#Worker.${name}`)).toEqual([]);
  });

  test('but a name beside something unknown is one', () => {
    expect(callers('lib/given.js#quiet')).toEqual([]);
    expect(usesIn(tree, 'lib/given.js#quiet')).toEqual([
      `${at('lib/given.js', 'given || quiet')} value exact`,
    ]);
  });
});

test('a method that is bound to its object or chosen is handed on', () => {
  for (const [name, text] of [
    ['run', 'bind(this)'],
    ['left', 'this.left'],
    ['right', 'this.right'],
  ] as const) {
    const sites = tree.shards.flatMap(({ index }) =>
      callersOf(index, [`lib/given.js#Worker.${name}`], { withUses: true }),
    );
    const [file_path, line] = at('lib/given.js', text).split(':');
    expect(sortedOut(sites).possible).toMatchObject([{ file_path, line: Number(line) }]);
  }
});

test('variables are used above their declaration', () => {
  expect(callers('lib/above.js#inner')).toEqual([`${at('lib/above.js', 'made()')} exact`]);
  expect(callers('lib/above.js#two')).toEqual([`${at('lib/above.js', 'two()')} exact`]);
});

describe('members that a script gives to objects and functions', () => {
  test('are those of the object, in its methods too', () => {
    expect(callers('app/application.js#app.init')).toEqual([
      `${at('app/application.js', 'this.init()')} exact`,
      `${at('app/main.js', 'app.init')} exact`,
    ]);
    expect(callers('app/application.js#app.use')).toEqual([
      `${at('app/application.js', 'this.use()')} exact`,
    ]);
  });

  test('are those of its prototype', () => {
    expect(callers('app/router.js#proto.handle')).toEqual(
      [
        `${at('app/application.js', 'this.router.handle()')} exact`,
        `${at('app/main.js', '.handle()')} exact`,
        `${at('app/router.js', 'router.handle()')} exact`,
      ].sort(),
    );
    expect(callers('app/router.js#proto.next')).toEqual([
      `${at('app/router.js', 'this.next()')} exact`,
    ]);
    expect(callers('app/request.js#req.header')).toEqual([
      `${at('app/request.js', 'this.get()')} exact`,
    ]);
    expect(callers('app/request.js#Base.open')).toEqual([
      `${at('app/request.js', '.open()')} exact`,
    ]);
  });
});

test('an element of the page is no call of a function of its name', () => {
  expect(callers('app/page.tsx#link')).toEqual([]);
});

test('a function that another one gives takes what the result says', () => {
  expect(callers('app/types.ts#Context.end')).toEqual([`${at('app/page.tsx', 'end()')} exact`]);
});

test('what a promise, a function or a stream hands on may be of the program', () => {
  expect(callersIn(tree, 'lib/promised.js#Config.load')).toEqual(['lib/promised.js:4 possible']);
  expect(callersIn(tree, 'lib/promised.js#Reader.finish')).toEqual(['lib/promised.js:5 possible']);
});
