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
  test('dump', () => {
    const rows = tree.shards.flatMap(({ index }) =>
      [...index.calls()].map((call) => {
        const targets = index.bound?.targetsOf(call.id).map((at) => {
          const its = index.bound?.target(at);
          return `${its?.container}.${its?.name}:${its?.line}`;
        });
        return `${index.file(call.file).path.slice(-8)}:${call.line} ${call.callee} [${index.expressionOf(call.id)}] ${index.bound?.bindingOf(call.id)} ${targets?.join(' ')}`;
      }),
    );
    console.log(rows.join('\n'));
    expect(callersIn(tree, 'x')).toEqual([]);
  });
});
