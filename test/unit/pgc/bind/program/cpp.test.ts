import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

/** A program over two shards, with what makes the name of a method alone worthless. */
const files: Record<string, string> = {
  'disk/include/disk.h': `#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>
namespace org { namespace disk {

struct Item {
  explicit Item(int at, const char* name = nullptr);
  void touch();
  void touch(int times);
  const Item& next() const { return *next_; }
  Item& next() { return *next_; }
  Item* next_;
};

class Device {
 public:
  virtual ~Device();
  virtual void close() = 0;
  virtual int size() const { return 1; }
};

template <typename T>
class Shelf {
 public:
  T& at(int i);
  T* find(const std::string& key) const;
  std::vector<T> all;
};

class Disk : public Device {
 public:
  Disk(int size);
  void close() override;
  int size() const override;
  Item* get(const std::string& key);
  Item* get(int at);
  static std::unique_ptr<Disk> open();
  std::map<int, Item> byKey;
  Shelf<Item> shelf;
 private:
  std::vector<Item*> items_;
};

int helper(int a);
}  // namespace disk
using disk::Item;
}  // namespace org
`,
  'disk/src/disk.cc': `#include "disk.h"
namespace org {
namespace disk {
namespace {
int helper2() { return helper(1); }
class Local { public: void run() {} };
}
static void only() {}

Item::Item(int at, const char* name) : next_(nullptr) { only(); }
void Item::touch() { touch(1); }
void Item::touch(int times) { helper2(); }
int helper(int a) { Local l; l.run(); return a; }
Disk::Disk(int size) : Device() { close(); }
void Disk::close() { Device::size(); }
int Disk::size() const { return 2; }
template <typename T>
T& Shelf<T>::at(int i) { return all[i]; }
Item* Disk::get(const std::string& key) { return get(1); }
Item* Disk::get(int at) {
  for (auto* item : items_) item->touch();
  for (auto& [key, value] : byKey) value.touch(2);
  byKey.find(1)->second.touch();
  shelf.at(1).touch();
  shelf.find("a")->next().touch();
  auto add = [this](Item& it) { it.touch(); close(); };
  return items_[0];
}
std::unique_ptr<Disk> Disk::open() { return std::make_unique<Disk>(1); }
}
}
`,
  'srv/signs.h': `#pragma once
#define API_BEGIN_NAMESPACE namespace api { inline namespace v1 {
#define API_END_NAMESPACE } }
API_BEGIN_NAMESPACE
struct Sum { Sum& operator+=(int by); int all; };
inline bool operator==(const Sum& a, const Sum& b) { return true; }
inline Sum made() { return Sum(); }
API_END_NAMESPACE
`,
  'srv/signs.cc': `#include "signs.h"

bool same(api::Sum& sum) {
  if (sum == api::made()) return true;
  sum += 1;
  return sum.all == 1;
}
`,
  'srv/boxes.cc': `#include <string>
namespace boxes {
template <typename T> struct Box { Box(int size); };
template <typename T, typename U> bool operator==(const Box<T>& a, const Box<U>& b) { return true; }
enum Kind { small, large };
struct Sized : std::integral_constant<decltype(sizeof(Kind)), 1> {};
struct Value {
  Value(double number);
  Value& operator=(const Value& other);
  Value& operator=(Value&& other);
};
BOX_INLINE Value::Value(double number) {}
Value& Value::operator=(const Value& other) { return *this; }
Value& Value::operator=(Value&& other) { return *this; }
BOX_EXPORT void put(const Value& to = {2.5});
struct Wide { Wide(Kind kind); };
bool operator!=(const Wide& a, const Wide& b) { return &a != &b; }
bool differ(Kind a, Kind b, Wide c) {
  if (a != b) return true;
  return c != b;
}
bool use(Kind kind, Box<int>& box, Value& value) {
  value = 1.5;
  if (kind == large) return false;
  return box == box;
}
}
`,
  'srv/main.cc': `#include "disk.h"
using namespace org;

static void only() {}

void run(disk::Device& any, std::string text) {
  auto disk = disk::Disk::open();
  disk->get("a")->touch();
  disk->close();
  any.close();
  Item item(1);
  Item* made = new Item(2, "x");
  made->next().next().touch(3);
  disk::helper(any.size());
  text.size();
  only();
  disk::Disk{3}.get(text);
  unknown(any)->touch();
}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['disk', 'srv']);
});
afterAll(() => tree[Symbol.asyncDispose]());

describe('C++', () => {
  test('a call leads to the definition that its arguments choose, wherever it is declared', () => {
    expect(callersIn(tree, 'disk.cc#Item.touch:11')).toEqual([
      'disk/src/disk.cc:21 exact',
      'disk/src/disk.cc:23 exact',
      'disk/src/disk.cc:24 exact',
      'disk/src/disk.cc:25 exact',
      'disk/src/disk.cc:26 exact',
      'srv/main.cc:8 exact',
      'srv/main.cc:18 possible',
    ]);
    expect(callersIn(tree, 'disk.cc#Item.touch:12')).toEqual([
      'disk/src/disk.cc:11 exact',
      'disk/src/disk.cc:22 exact',
      'srv/main.cc:13 exact',
      'srv/main.cc:18 possible',
    ]);
    expect(callersIn(tree, 'disk.cc#Disk.get:19')).toEqual([
      'srv/main.cc:8 exact',
      'srv/main.cc:17 exact',
    ]);
  });

  test('of two methods that differ in what they may change, the value decides', () => {
    expect(callersIn(tree, 'disk.h#Item.next:13')).toEqual([
      'disk/src/disk.cc:25 exact',
      'srv/main.cc:13 exact',
      'srv/main.cc:13 exact',
    ]);
    expect(callersIn(tree, 'disk.h#Item.next:12')).toEqual([]);
  });

  test('a virtual method leads to those that replace it, but not where it is named with its type', () => {
    expect(callersIn(tree, 'disk.cc#Disk.close')).toEqual([
      'disk/src/disk.cc:14 exact',
      'disk/src/disk.cc:26 exact',
      'srv/main.cc:9 exact',
      'srv/main.cc:10 dispatch Device.close',
    ]);
    expect(callersIn(tree, 'disk.h#Device.size')).toEqual([
      'disk/src/disk.cc:15 exact',
      'srv/main.cc:14 exact',
    ]);
    expect(callersIn(tree, 'disk.cc#Disk.size')).toEqual(['srv/main.cc:14 dispatch Device.size']);
  });

  test('what belongs to one text alone is called there alone', () => {
    expect(callersIn(tree, 'disk.cc#only')).toEqual(['disk/src/disk.cc:10 exact']);
    expect(callersIn(tree, 'main.cc#only')).toEqual(['srv/main.cc:16 exact']);
    expect(callersIn(tree, 'disk.cc#helper2')).toEqual(['disk/src/disk.cc:12 exact']);
    expect(callersIn(tree, 'disk.cc#Local.run')).toEqual(['disk/src/disk.cc:13 exact']);
  });

  test('constructors are called where a type is named, by what stands in brackets', () => {
    expect(callersIn(tree, 'disk.cc#Item.Item')).toEqual([
      'srv/main.cc:11 exact',
      'srv/main.cc:12 exact',
    ]);
    expect(callersIn(tree, 'disk.cc#Disk.Disk')).toEqual(['srv/main.cc:17 exact']);
  });

  test('functions of namespaces, static methods, and methods of templates', () => {
    expect(callersIn(tree, 'disk.cc#helper')).toEqual([
      'disk/src/disk.cc:5 exact',
      'srv/main.cc:14 exact',
    ]);
    expect(callersIn(tree, 'disk.cc#Disk.open')).toEqual(['srv/main.cc:7 exact']);
    expect(callersIn(tree, 'disk.cc#Shelf.at')).toEqual(['disk/src/disk.cc:24 exact']);
    expect(callersIn(tree, 'disk.h#Shelf.find')).toEqual(['disk/src/disk.cc:25 exact']);
  });

  test('a sign calls what stands for it; a macro may open a namespace', () => {
    expect(callersIn(tree, 'signs.h#operator==')).toEqual(['srv/signs.cc:4 exact']);
    expect(callersIn(tree, 'signs.h#Sum.operator+=')).toEqual(['srv/signs.cc:5 exact']);
    expect(callersIn(tree, 'signs.h#made')).toEqual(['srv/signs.cc:4 exact']);
  });

  test('nothing is made for a parameter whose type has to be found; what is made for a call is passed on', () => {
    expect(callersIn(tree, 'boxes.cc#operator==')).toEqual(['srv/boxes.cc:25 exact']);
    expect(callersIn(tree, 'boxes.cc#Value.operator=:14')).toEqual(['srv/boxes.cc:23 exact']);
    expect(callersIn(tree, 'boxes.cc#Value.operator=:13')).toEqual([]);
  });

  test('a sign between values of the language means what it means there', () => {
    expect(callersIn(tree, 'boxes.cc#operator!=')).toEqual(['srv/boxes.cc:20 exact']);
  });

  test('a constructor behind a mark is one; the value of a parameter may call it', () => {
    expect(callersIn(tree, 'boxes.cc#Value.Value')).toEqual(['srv/boxes.cc:15 exact']);
  });
});

test('calls of C are bound as C, also beside C++', async () => {
  await using mixed = await indexedTree(
    {
      'io/pump.c': 'static int prime(void) { return 1; }\nint pump(void) { return prime(); }\n',
      'io/main.cpp': 'extern "C" int pump();\nnamespace io { int run() { return pump(); } }\n',
    },
    ['io'],
  );
  expect(callersIn(mixed, 'io/pump.c#prime')).toEqual(['io/pump.c:2 exact']);
  expect(callersIn(mixed, 'io/pump.c#pump')).toEqual(['io/main.cpp:2 exact']);
});
