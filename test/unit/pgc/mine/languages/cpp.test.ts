import { expect, test } from 'vitest';
import { isCpp } from '../../../../../src/pgc/source/language.js';
import { callsOf, mined, symbolOf } from '../../../../support/miners/mined.js';

const source = `#include <vector>
#include "store.h"
#define LIMIT(x) bound(x)

namespace db {

// Keeps items.
template <typename K>
class Store final : public Base<K>, private Lock {
public:
  explicit Store(int size) : size_(size) { grow(); }
  ~Store();
  virtual Item get(const K &key, int rest = 0) const = 0;
  bool operator==(const Store &other) const { return same(other); }
  operator bool() const;
  static int count;
private:
  void hidden();
  int size_;
  enum Color { Red, Green };
};

using Table = std::map<int, Item>;
typedef int (*handler_t)(void *);
constexpr int max_items = 3;
static int cache[10];
extern int shared;
int plain(int a);

} // namespace db

template <typename K>
Item db::Store<K>::take(K key) {
  auto *it = new db::Item(key);
  std::sort(items.begin(), this->end());
  make<int>(3);
  return it->copy(LIMIT(1));
}

namespace { void inner() {} }
static void helper() { inner(); }
`;

test('namespaces, classes, members, functions, types and macros are symbols', async () => {
  const facts = await mined('cpp', source);
  expect(
    facts.symbols.map((each) => [
      each.kind,
      each.container === '' ? each.name : `${each.container}::${each.name}`,
      each.exported,
      each.declaration,
    ]),
  ).toEqual([
    ['macro', 'LIMIT', true, false],
    ['module', 'db', true, false],
    ['class', 'db::Store', true, false],
    ['method', 'Store::Store', true, false],
    ['method', 'Store::~Store', true, true],
    ['method', 'Store::get', true, true],
    ['method', 'Store::operator==', true, false],
    ['method', 'Store::operator bool', true, true],
    ['variable', 'Store::count', true, false],
    ['method', 'Store::hidden', false, true],
    ['enum', 'Store::Color', false, false],
    ['constant', 'Color::Red', false, false],
    ['constant', 'Color::Green', false, false],
    ['type', 'db::Table', true, false],
    ['type', 'db::handler_t', true, false],
    ['constant', 'db::max_items', true, false],
    ['variable', 'db::cache', false, false],
    ['variable', 'db::shared', true, true],
    ['function', 'db::plain', true, true],
    ['method', 'Store::take', true, false],
    ['function', 'inner', false, false],
    ['function', 'helper', false, false],
  ]);
  expect(symbolOf(facts, 'take')).toMatchObject({ line_start: 32, line_end: 38 });
  expect(facts.symbols.find((each) => each.kind === 'class')).toMatchObject({
    signature: 'class:Store | extends:Base<K>, Lock',
    doc: 'Keeps items.',
    line_start: 8,
  });
});

test('calls know their function, receiver and whether they construct', async () => {
  expect(callsOf(await mined('cpp', source))).toEqual([
    'LIMIT → bound (direct)',
    'Store → size_ (construct)',
    'Store → grow (direct)',
    'operator== → same (direct)',
    'take → db.Item (construct)',
    'take → std.sort (member)',
    'take → items.begin (member)',
    'take → this.end (member)',
    'take → make (direct)',
    'take → it.copy (member)',
    'take → LIMIT (direct)',
    'helper → inner (direct)',
  ]);
});

test('a header is C++ when it holds what C does not know', () => {
  expect(isCpp('#ifdef __cplusplus\nextern "C" {\n#endif\nstruct a { int class; };\n')).toBe(false);
  expect(isCpp('int f(void);\n/* using this; is a comment */\n')).toBe(false);
  for (const line of ['namespace a {', 'template <class T>', 'class A : B {', 'using a::b;'])
    expect(isCpp(`#pragma once\n${line}\n`)).toBe(true);
});

test('macros that mark classes and functions hide neither', async () => {
  const facts = await mined(
    'cpp',
    `#if (__cplusplus >= 201103)
# define API_HAS_MOVE 1
#endif
namespace api {
class API_EXPORT Store : public Base {
public:
  API_DECL static std::size_t limit();
  API_DECL ~Store();
  API_CONSTEXPR Store(int size)
    : size_(size)
  {
    grow();
  }
  Store()
  {
    clear();
  }
  void* data() const API_NOEXCEPT
  {
    return data_;
  }
  void put(API_MOVE_ARG(Item) item, int at);
  STATIC_ASSERT(small);
  auto operator<=>(const Store& other) const = default;
};
API_DECL std::string name_of(const Store& store) API_NOEXCEPT;
template <typename T>
bool is_valid(T item, typename enable_if<is_item<T>::value>::type* = 0) { return check(item); }
}
`,
  );
  expect(facts.error_bytes).toBe(0);
  expect(
    facts.symbols.map((each) => [
      each.kind,
      each.name,
      each.line_start,
      each.line_end,
      each.declaration,
    ]),
  ).toEqual([
    ['macro', 'API_HAS_MOVE', 2, 2, false],
    ['module', 'api', 4, 29, false],
    ['class', 'Store', 5, 25, false],
    ['method', 'limit', 7, 7, true],
    ['method', '~Store', 8, 8, true],
    ['method', 'Store', 9, 13, false],
    ['method', 'Store', 14, 17, false],
    ['method', 'data', 18, 21, false],
    ['method', 'put', 22, 22, true],
    ['method', 'operator<=>', 24, 24, false],
    ['function', 'name_of', 26, 26, true],
    ['function', 'is_valid', 27, 28, false],
  ]);
  expect(callsOf(facts)).toEqual([
    '- → operator>= (member)',
    'Store → size_ (construct)',
    'Store → grow (direct)',
    'Store → clear (direct)',
    '- → STATIC_ASSERT (direct)',
    'is_valid → check (direct)',
  ]);
});

test('a class that is defined outside of the one that holds it goes by its own name', async () => {
  const facts = await mined(
    'cpp',
    `template <class Next, bool deflate>
class stream<Next, deflate>::read_op : public base<Next> {
  void run();
};
template <class T>
struct select <std::vector<T>, true> {};
`,
  );
  expect(facts.symbols.map((each) => [each.kind, each.container, each.name])).toEqual([
    ['class', 'stream', 'read_op'],
    ['method', 'read_op', 'run'],
    ['struct', '', 'select'],
  ]);
});

test('a type in a namespace may be told by a value in its arguments', async () => {
  const facts = await mined(
    'cpp',
    'int size();\nstd::vector<decltype(size())> all;\nstruct Row { ns::Box<decltype(size())> held; };\n',
  );
  expect(facts.symbols.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['size', 'all', 'Row']),
  );
});
