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
