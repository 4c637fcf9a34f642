import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calleesOf } from '../../../../../src/pgc/bind/call-sites.js';
import {
  callersIn,
  indexedTree,
  usesIn,
  type IndexedTree,
} from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'core/pyproject.toml': '[project]\nname = "shop"\n',
  'core/src/shop/__init__.py': '',
  'core/src/shop/limits.py': `import enum
import typing as t

SIZE = 10
sizes = {"all": SIZE}
count = 0

class Kind(enum.Enum):
    BIG = 1
    SMALL = 2

class Server:
    timeout = SIZE
    kind: t.Optional["Kind"] = None

    def __init__(self):
        self.timeout = 5
        start(self.stop, self.kind)

    def stop(self): ...

    @property
    def limit(self):
        return self.timeout

    def limits(self, SIZE):
        return SIZE + self.limit

class Slow(Server):
    kind = Kind.BIG

    def wait(self):
        return super().timeout

def start(handler, size=SIZE, kind: Kind = Kind.BIG):
    global count
    count = 1
    count += size
    handler()
`,
  'app/main.py': `import typing as t
from shop import limits
from shop.limits import SIZE as most, Kind, Server, start

handlers = {"start": start, "other": [start]}

def on_stop(function):
    return function

@on_stop
def run(server: "Server", given):
    timeout = limits.SIZE + most
    server.timeout = timeout
    print(given.timeout, sizes)
    return [SIZE for SIZE in handlers]

def pick(kind, text: t.Literal["Kind"] = "Kind", other: "t.Literal['Kind']" = ""):
    from shop.limits import start as begin
    match kind:
        case Kind.SMALL:
            begin(pick)
        case Kind():
            return isinstance(kind, (Kind, Server))
        case Server:
            return Server
`,
};

/** What is called is not what bears the name. */
const holding: Record<string, string> = {
  'app/held.py': `from functools import partial

later = partial(print)

class Shelf:
    make = dict
    item_class = partial

    @property
    def chosen(self):
        return read

    def fill(self):
        later()
        self.item_class()
        return self.make(), self.chosen()

def read(): ...

pick = read
pick()
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'core']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const uses = (symbol: string): string[] =>
  usesIn(tree, `core/src/shop/limits.py#${symbol}`).map((each) =>
    each.replace('core/src/shop/', ''),
  );

describe('Python: what is used without being called', () => {
  test('a constant, by its name, its module and its import; no variable of its name', () => {
    expect(uses('SIZE')).toEqual([
      'app/main.py:12 value exact',
      'app/main.py:12 value exact',
      'limits.py:5 value exact',
      'limits.py:13 value exact',
      'limits.py:35 value exact',
    ]);
  });

  test('a variable that a function sets; not where its module does', () => {
    expect(uses('count')).toEqual(['limits.py:37 value exact', 'limits.py:38 value exact']);
  });

  test('an attribute of a class, of itself and of what is based on it; of something unknown it is possible', () => {
    expect(uses('Server.timeout')).toEqual([
      'app/main.py:13 value exact',
      'app/main.py:14 value possible',
      'limits.py:17 value exact',
      'limits.py:24 value exact',
      'limits.py:33 value exact',
    ]);
    expect(uses('Kind.BIG')).toEqual(['limits.py:30 value exact', 'limits.py:35 value exact']);
    expect(uses('Kind.SMALL')).toEqual(['app/main.py:20 value exact']);
  });

  test('an attribute of a class may be that of one that is based on it', () => {
    expect(uses('Server.kind')).toEqual(['limits.py:18 value exact']);
    expect(uses('Slow.kind')).toEqual(['limits.py:18 value dispatch']);
  });

  test('a class, also in strings that are types; a new variable of its name is none', () => {
    expect(uses('Kind')).toEqual([
      'app/main.py:20 value exact',
      'app/main.py:22 value exact',
      'app/main.py:23 value exact',
      'limits.py:14 type exact',
      'limits.py:30 value exact',
      'limits.py:35 type exact',
      'limits.py:35 value exact',
    ]);
    expect(uses('Server')).toEqual([
      'app/main.py:11 type exact',
      'app/main.py:23 value exact',
      'app/main.py:25 value exact',
      'limits.py:29 value exact',
    ]);
  });

  test('a function that is handed on or decorates, a method, and one that is read like a field', () => {
    expect(uses('start')).toEqual(['app/main.py:5 value exact', 'app/main.py:5 value exact']);
    expect(usesIn(tree, 'app/main.py#on_stop')).toEqual(['app/main.py:10 value exact']);
    expect(usesIn(tree, 'app/main.py#pick')).toEqual(['app/main.py:21 value exact']);
    expect(uses('Server.stop')).toEqual(['limits.py:18 value exact']);
    expect(uses('Server.limit')).toEqual(['limits.py:27 value exact']);
  });

  test('a call is no use', () => {
    expect(callersIn(tree, 'core/src/shop/limits.py#start')).toEqual([
      'app/main.py:21 exact',
      'core/src/shop/limits.py:18 exact',
    ]);
  });
});

test('what holds what is called is used there, and is no callee', async () => {
  await using held = await indexedTree(holding, ['app']);
  const users = (symbol: string): string[] => callersIn(held, `app/held.py#${symbol}`);
  expect(users('later')).toEqual(['app/held.py:14 exact']);
  expect(users('Shelf.make')).toEqual(['app/held.py:16 exact']);
  expect(users('Shelf.item_class')).toEqual(['app/held.py:15 exact']);
  expect(users('Shelf.chosen')).toEqual(['app/held.py:16 exact']);
  expect(usesIn(held, 'app/held.py#pick')).toEqual(['app/held.py:21 value exact']);
  expect(users('read')).toEqual(['app/held.py:16 exact', 'app/held.py:21 exact']);
  const [fill] = held.shards.map(({ index }) => calleesOf(index, ['app/held.py#Shelf.fill']));
  const names = fill?.[0]?.calls.flatMap((each) => (each.definition === '' ? [] : [each.symbol]));
  expect(names).toEqual(['read', 'chosen']);
});
