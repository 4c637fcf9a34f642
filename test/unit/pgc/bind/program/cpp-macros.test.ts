import { afterAll, beforeAll, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'kit/kit.h': `#pragma once
namespace kit {
struct Case { void note(int at); };
struct Step { Step* often(int n); Step* named(const char* name); };
Step* record(const char* name);
}
#define KIT_CASE_IN(Base, name, list)        \\
  class Base##name : public Base {           \\
   public:                                   \\
    void run();                              \\
  };                                         \\
  static bool added##name = list.add(#name); \\
  void Base##name::run()
#define KIT_STEP(f) static ::kit::Step* step_##f = (::kit::record(#f))
#define KIT_TWICE(f) KIT_STEP(f)->often(2)
`,
  'app/keep.h': `namespace kit {
template <class T> void keep(T& value) {}
template <class T> void keep(const T& value) {}
template <class T> void keep(T&& value) {}
int& place(int at);
int copyOf(int at);
}
`,
  'app/app.cc': `#include "keep.h"
#include "kit.h"
#define APP_CASE(Base, name) \\
  KIT_CASE_IN(Base, name, cases)

struct Fixture : kit::Case {
  void check(int a);
};
void check(const char* text);
void Fixture::check(int a) { note(a); }
void check(const char* text) {}
APP_CASE(Fixture, First) {
  check(1);
  note(2);
}
TEST_F(Fixture, Second) {
  check(3);
}
KIT_STEP(first)->often(3);
KIT_TWICE(second)->named("x");
void values() {
  int a = 1;
  const int b = 2;
  auto c = b;
  const auto& d = a;
  kit::keep(a);
  kit::keep(b);
  kit::keep(c);
  kit::keep(d);
  kit::keep(3);
  kit::keep(kit::place(1));
  kit::keep(kit::copyOf(1));
}
`,
  'data/value.cc': `namespace data {
typedef unsigned int Index;
struct Cursor {
  Cursor();
  Cursor(int at);
  Cursor(const char* at);
};
struct Value {
  typedef data::Index Index;
  typedef Cursor cursor;
  static Value none();
  Value& operator[](Index at);
  Value& operator[](const char* key);
  cursor first();
};
Cursor::Cursor() {}
Cursor::Cursor(int at) {}
Cursor::Cursor(const char* at) {}
Value Value::none() { return {}; }
Value& Value::operator[](Index at) { return *this; }
Value& Value::operator[](const char* key) { return *this; }
Value::cursor Value::first() { return cursor(unknown()); }
void use(Value v) {
  v["a"];
  Value::none();
}
}
`,
  'one/box.h': 'struct Box { void open(); };\n',
  'one/box.cc': '#include "one/box.h"\nvoid Box::open() {}\n',
  'two/box.h': 'struct Box { void open(); };\n',
  'two/box.cc': '#include "two/box.h"\nvoid Box::open() {}\n',
  'use/use.cc': '#include <generated.h>\nvoid both(Box& box) { box.open(); }\n',
  'use/two.cc': '#include "two/box.h"\nvoid second(Box& box) { box.open(); }\n',
};

let tree: IndexedTree;
beforeAll(async () => {
  const folders = Object.keys(files).map((each) => each.split('/')[0] ?? '');
  tree = await indexedTree(files, [...new Set(folders)]);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

test('a macro opens a method of a class that is based on what it is given', () => {
  expect(callers('Fixture.check')).toEqual(['app/app.cc:13 exact', 'app/app.cc:17 exact']);
  expect(callers('Case.note')).toEqual(['app/app.cc:10 exact', 'app/app.cc:14 exact']);
});

test('a macro is worth what stands behind its sign of assignment', () => {
  expect(callers('Step.often')).toContain('app/app.cc:19 exact');
  expect(callers('Step.named')).toEqual(['app/app.cc:20 exact']);
});

test('what stays, what must not be changed and what passes are taken by functions of their own', () => {
  const lines = (line: number): string[] => callers(`app/keep.h:${line}`);
  expect(lines(2)).toEqual(['app/app.cc:26 exact', 'app/app.cc:28 exact', 'app/app.cc:31 exact']);
  expect(lines(3)).toEqual(['app/app.cc:27 exact', 'app/app.cc:29 exact']);
  expect(lines(4)).toEqual(['app/app.cc:30 exact', 'app/app.cc:32 exact']);
});

test('another name for a type is no scope, in which it would stand for itself', () => {
  expect(callers('data/value.cc:21')).toEqual(['data/value.cc:24 exact']);
});

test('a method that gives its own type is defined, not declared', () => {
  expect(callers('data/value.cc:19')).toEqual(['data/value.cc:25 exact']);
});

test('what is constructed under another name may be each constructor', () => {
  expect(callers('data/value.cc:17')).toEqual(['data/value.cc:22 possible']);
});

test('of several types that a text does not include, none is proven', () => {
  expect(callers('one/box.cc#Box.open')).toEqual(['use/use.cc:2 possible']);
  expect(callers('two/box.cc#Box.open')).toEqual(['use/two.cc:2 exact', 'use/use.cc:2 possible']);
});
