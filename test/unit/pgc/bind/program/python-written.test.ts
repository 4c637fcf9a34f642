import { afterAll, beforeAll, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'app/types.py': `from typing import Dict, Generator, Type, TypeVar

S = TypeVar("S", bound="Base")

class Base:
    def __enter__(self: S) -> S: ...

    @classmethod
    def make(cls: Type[S]) -> S: ...

    def run(self): ...

class Derived(Base):
    def run(self): ...

class Request:
    def send(self): ...

class Store:
    def __init__(self):
        self.all = {}  # type: Dict[str, Request]
        self.last = None  # type: ignore

    @property
    def factory(self) -> type:
        return dict

    def each(self):
        for request in self.all.values():
            request.send()
        return self.factory()

def flow() -> Generator[int, Request, None]:
    request = yield 1
    request.send()

def given(kind: Type[S]) -> S:
    return kind()

class Plain(dict):
    def __enter__(self: S) -> S: ...

P = TypeVar("P", bound=Plain)

def plain(kind: Type[P]) -> P:
    return kind()

class Rich(Plain):
    def stop(self): ...

given(Derived).run()
plain(Rich).stop()

with Derived() as entered:
    entered.run()
Derived.make().run()
`,
};

/** Of types that are based on those of libraries. */
const open: Record<string, string> = {
  'app/open.py': `from unittest import TestCase

class Checked(TestCase):
    def test(self):
        self.given()
        self.wanted()
        self.assertTrue(1)

class Inner(Checked):
    def given(self): ...

class Outer(Inner):
    wanted = None

class Record(dict):
    def __getattr__(self, name): ...

def fill(): ...
def wanted(): ...
def assertTrue(): ...
Record().fill()
`,
};

/** What stands in a class says what it is to a value of that class. */
const read: Record<string, string> = {
  'app/options.py': `from typing import Generic, TypeVar, overload

T = TypeVar("T")

class Option(Generic[T]):
    @overload
    def __get__(self, obj: "Config", type=None) -> T: ...
    @overload
    def __get__(self, obj, type=None) -> "Option": ...
    def __get__(self, obj, type=None):
        if obj is None:
            return self
        return obj[self.name]

    def reset(self): ...

class Required(Generic[T], Option[T]):
    pass

class Plugins:
    def load(self): ...

class PluginOption(Required[Plugins]):
    pass

class Config:
    plugins = PluginOption(default=[])

def main(config: Config):
    config.plugins.load()
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, `app/types.py#${symbol}`);

test('a type behind an assignment, and what a generator is sent', () => {
  expect(callers('Request.send')).toEqual(['app/types.py:30 exact', 'app/types.py:35 exact']);
});

test('a method that gives what it is asked of', () => {
  expect(callers('Derived.run')).toEqual([
    'app/types.py:51 dispatch Base.run',
    'app/types.py:55 exact',
    'app/types.py:56 exact',
  ]);
});

test('a method that is read like a field runs where what it gives is called', () => {
  expect(callers('Store.factory')).toEqual(['app/types.py:31 exact']);
});

test('what a type variable stands for may be based on what it says, and have more', () => {
  expect(callers('Base.run')).toEqual(['app/types.py:51 exact']);
  expect(callers('Rich.stop')).toEqual(['app/types.py:52 possible']);
});

test('a type of a library has no member of which one that is based on it, or __getattr__, may be asked', async () => {
  await using other = await indexedTree(open, ['app']);
  const called = (symbol: string): string[] => callersIn(other, `app/open.py#${symbol}`);
  expect(called('Inner.given')).toEqual(['app/open.py:5 possible']);
  expect(called('wanted')).toEqual(['app/open.py:6 possible']);
  expect(called('fill')).toEqual(['app/open.py:21 possible']);
  expect(called('assertTrue')).toEqual([]);
});

test('of the ways in which what stands in a class is read, that of a value of the class', async () => {
  await using other = await indexedTree(read, ['app']);
  expect(callersIn(other, 'app/options.py#Plugins.load')).toEqual(['app/options.py:30 exact']);
});
