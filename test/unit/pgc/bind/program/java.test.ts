import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

/** A program over two shards, with what makes the name of a method alone worthless. */
const files: Record<string, string> = {
  'disk/Disk.java': `package org.disk;

import java.io.Closeable;

public class Disk extends Device<Item> implements Closeable {
  private final Sector sector = new Sector(1);

  public Disk(String path) { super(); }
  public Disk(String path, int size) { this(path); }

  public Item get(String key) { return null; }
  public Item get(int at) { return sector.read(); }
  public Item get(Item like) { return get(like.key); }
  public void get(Object any, String... rest) {}

  @Override public void close() {}

  static class Sector {
    Sector(int at) {}
    Item read() { return Disk.find("x").item; }
    void close() {}
  }

  static Found find(String key) { return new Found(); }

  static class Found { Item item; int close; }
}
`,
  'disk/Device.java': `package org.disk;

public abstract class Device<T extends Touched> {
  protected T last;
  public T last() { return last; }
  public void touchLast() { last.touch(); }
  public abstract void close();
}
`,
  'disk/Item.java': `package org.disk;

public record Item(String key, Item next) implements Touched {
  public void touch() {}
  public void touch(int times) {}
}
`,
  'disk/Touched.java': `package org.disk;

public interface Touched {
  void touch();
  default void twice() { touch(); touch(); }
}
`,
  'srv/Server.java': `package org.srv;

import java.util.List;
import java.util.Map;
import org.disk.*;
import static org.disk.Names.nameOf;

class Server {
  private final Disk disk = new Disk("a", 1);
  private List<Item> items;
  private Map<String, Item> byKey;

  void run(Touched any, Object other) {
    disk.last().touch();
    for (var item : items) item.touch(2);
    items.stream().filter(it -> it.key() != null).forEach(it -> it.touch());
    byKey.get("a").next().touch();
    if (other instanceof Item item) item.touch();
    any.touch();
    nameOf(disk);
    org.disk.Names.nameOf(items.get(0));
    other.toString();
  }

  void overloads() {
    disk.get("a");
    disk.get(1);
    disk.get(disk.get("b"));
    disk.get("a", "b", "c");
    disk.get(unknown());
  }

  class Inner {
    void close() {}
    Touched make() {
      return new Touched() {
        int times;
        public void touch() { times++; close(); overloads(); }
      };
    }
  }

  enum Mode {
    ON(1) { void apply() {} }, OFF(2) { void apply() {} };
    Mode(int at) {}
    abstract void apply();
  }

  static void all() {
    Mode.ON.apply();
    for (Mode each : Mode.values()) each.apply();
  }
}
`,
  'srv/Names.java': `package org.disk;

public class Names {
  public static String nameOf(Disk disk) { return disk.last().key(); }
  public static <T extends Item> T nameOf(T item) { return item; }
  static void infer(Item item) { nameOf(item).touch(3); }
}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['disk', 'srv']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

describe('a method is called where the type of the receiver has it', () => {
  test('type arguments of a base, elements, lambdas, records, patterns', () => {
    expect(callers('disk/Item.java#Item.touch:4')).toEqual([
      'disk/Device.java:6 dispatch Touched.touch',
      'disk/Touched.java:5 dispatch Touched.touch',
      'disk/Touched.java:5 dispatch Touched.touch',
      'srv/Server.java:14 exact',
      'srv/Server.java:16 exact',
      'srv/Server.java:17 exact',
      'srv/Server.java:18 exact',
      'srv/Server.java:19 dispatch Touched.touch',
    ]);
  });

  test('types in types have names of their own, fields are none of methods', () => {
    expect(callers('disk/Disk.java#Sector.read')).toEqual(['disk/Disk.java:12 exact']);
    expect(callers('disk/Disk.java#Sector.Sector')).toEqual(['disk/Disk.java:6 exact']);
    expect(callers('disk/Disk.java#Sector.close')).toEqual([]);
  });

  test('a class without a name sees what is around it, and runs in place of what it is based on', () => {
    expect(callers('srv/Server.java#Inner.close')).toEqual(['srv/Server.java:38 exact']);
    expect(callers('srv/Server.java#Server.overloads')).toEqual(['srv/Server.java:38 exact']);
    expect(callers('srv/Server.java#make.touch')).toContain(
      'srv/Server.java:19 dispatch Touched.touch',
    );
    expect(callers('srv/Server.java#Mode.apply:44')).toContain(
      'srv/Server.java:50 dispatch Mode.apply',
    );
  });
});

describe('of several methods of a name the arguments tell which is meant', () => {
  test('by their number and types, over shards, in chains', () => {
    const asked = [11, 12, 13, 14].map((line) => callers(`disk/Disk.java#Disk.get:${line}`));
    const doubtful = 'srv/Server.java:30 possible';
    expect(asked).toEqual([
      ['disk/Disk.java:13 exact', 'srv/Server.java:26 exact', 'srv/Server.java:28 exact', doubtful],
      ['srv/Server.java:27 exact', doubtful],
      ['srv/Server.java:28 exact', doubtful],
      ['srv/Server.java:29 exact', doubtful],
    ]);
  });

  test('constructors, also of each other, of enumerations and of a base', () => {
    expect(callers('disk/Disk.java#Disk.Disk:8')).toEqual(['disk/Disk.java:9 exact']);
    expect(callers('disk/Disk.java#Disk.Disk:9')).toEqual(['srv/Server.java:9 exact']);
    expect(callers('srv/Server.java#Mode.Mode')).toEqual([
      'srv/Server.java:44 exact',
      'srv/Server.java:44 exact',
    ]);
  });

  test('static imports, names of packages, type parameters that an argument tells', () => {
    expect(callers('srv/Names.java#Names.nameOf:4')).toEqual(['srv/Server.java:20 exact']);
    expect(callers('srv/Names.java#Names.nameOf:5')).toEqual([
      'srv/Names.java:6 exact',
      'srv/Server.java:21 exact',
    ]);
    expect(callers('disk/Item.java#Item.touch:5')).toEqual([
      'srv/Names.java:6 exact',
      'srv/Server.java:15 exact',
    ]);
  });
});

test('what the language has is no edge and no doubt', () => {
  expect(callers('disk/Disk.java#Found.toString')).toEqual([]);
});
