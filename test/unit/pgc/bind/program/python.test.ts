import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

/** A package below a folder of sources, and a program in another shard that imports it. */
const files: Record<string, string> = {
  'core/pyproject.toml': '[project]\nname = "shop"\n',
  'core/src/shop/__init__.py': 'from .store import *\nfrom .items import Item as Thing\n',
  'core/src/shop/items.py': `from __future__ import annotations
import enum
from typing import Generic, List, Optional, TypeVar

T = TypeVar("T")

class Item:
    def __init__(self, name="x"):
        self.name = name
        self.parent = None

    def touch(self): ...

    def child(self) -> "Optional[Item]":
        child = Item()
        self.parent = child
        self.parent.touch()
        return child

    def __enter__(self):
        return self

class Book(Item):
    def touch(self):
        super().touch()

class Kind(enum.Enum):
    BIG = 1

    def label(self): ...

class Box(Generic[T]):
    def first(self) -> T: ...

    @property
    def top(self) -> T: ...
`,
  'core/src/shop/store.py': `from contextlib import contextmanager
from . import items
from .items import Box, Item, Kind

class Mixin:
    def both(self):
        self.hook()

class Store(Mixin):
    kind = Kind.BIG
    box: Box[Item]

    def __init__(self):
        self.all = [Item(), items.Item()]
        self.by_key = {"a": Item()}

    @property
    def best(self):
        return self.all[0]

    @classmethod
    def open(cls):
        return cls()

    @staticmethod
    def pair():
        return 1, Item()

    @contextmanager
    def lock(self):
        yield self.best

    async def load(self):
        return Item()

    def hook(self): ...

    def __iter__(self):
        for item in self.all:
            yield item

def make(kind=None):
    def later():
        return inner()
    def inner():
        return Store()
    return later()
`,
  'app/main.py': `import logging
import shop.items
from shop import Store, Thing, make

log = logging.getLogger()

def run(given, typed: Store):
    given.touch()
    log.touch()
    typed.best.touch()
    store = make()
    for item in store:
        item.touch()
    with store.lock() as locked:
        locked.touch()
    with Thing() as entered:
        entered.touch()
    _, second = Store.pair()
    second.touch()
    [each.touch() for each in sorted(store.all)]
    for name, value in store.by_key.items():
        value.touch()
    store.kind.label()
    store.box.first().touch()
    store.box.top.touch()

async def main():
    loaded = await Store.open().load()
    loaded.touch()
    loaded.child().touch()

def narrowed(value):
    if isinstance(value, shop.items.Book):
        value.touch()
    elif not isinstance(value, Thing):
        return
    else:
        value.touch()
    value = Store() if value else None
    value.hook()

def shadowed(make):
    make()

def imported():
    from other import Store
    Store().hook()
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'core']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

describe('a method is called where the type of the receiver has it', () => {
  test('through what is annotated, assigned, returned, yielded, unpacked, awaited and gone through', () => {
    const dispatched = callers('core/src/shop/items.py#Item.touch').map((each) =>
      each.replace('core/src/shop/', ''),
    );
    expect(dispatched).toEqual([
      'app/main.py:8 possible',
      'app/main.py:10 exact',
      'app/main.py:13 exact',
      'app/main.py:15 exact',
      'app/main.py:17 exact',
      'app/main.py:19 exact',
      'app/main.py:20 exact',
      'app/main.py:22 exact',
      'app/main.py:24 exact',
      'app/main.py:25 exact',
      'app/main.py:29 exact',
      'app/main.py:30 exact',
      'app/main.py:38 exact',
      'items.py:17 exact',
      'items.py:25 exact',
    ]);
  });

  test('a base may mean what replaces its method; what is asked by its class, or narrowed, does not', () => {
    expect(callers('core/src/shop/items.py#Book.touch')).toContain(
      'app/main.py:13 dispatch Item.touch',
    );
    expect(callers('core/src/shop/items.py#Book.touch')).toContain('app/main.py:34 exact');
    expect(callers('core/src/shop/items.py#Book.touch')).not.toContain(
      'core/src/shop/items.py:25 dispatch Item.touch',
    );
  });

  test('constants of an enumeration are values of it', () => {
    expect(callers('core/src/shop/items.py#Kind.label')).toEqual(['app/main.py:23 exact']);
  });

  test('a mixin does not say what has its other methods', () => {
    expect(callers('core/src/shop/store.py#Store.hook')).toEqual([
      'app/main.py:40 exact',
      'app/main.py:47 possible',
      'core/src/shop/store.py:7 possible',
    ]);
  });
});

test('a class is called to make a value, also as what a class method is asked of', () => {
  expect(callers('core/src/shop/store.py#Store.__init__')).toEqual([
    'app/main.py:39 exact',
    'core/src/shop/store.py:46 exact',
    'core/src/shop/store.py:23 exact',
  ]);
});

test('functions inside functions, parameters and imports there have names of their own', () => {
  expect(callers('core/src/shop/store.py#make.inner')).toEqual(['core/src/shop/store.py:44 exact']);
  expect(callers('core/src/shop/store.py#make')).toEqual([
    'app/main.py:11 exact',
    'app/main.py:43 possible',
  ]);
});
