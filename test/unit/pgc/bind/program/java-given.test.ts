import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

/** Methods that differ in what they take alone, as those of libraries for tests do. */
const files: Record<string, string> = {
  'lib/Check.java': `package org.lib;

import java.util.List;
import java.util.concurrent.Callable;

public class Check extends Given {
  public static void same(Object one, Object other) {}
  public static void same(Object[] one, Object[] other) {}
  public static void same(int[] one, int[] other) {}
  public static void same(long one, long other) {}

  public static void number(int one) {}
  public static void number(long one) {}
  public static void number(double one) {}
  public static void number(Object one) {}

  public static void many(Object... all) {}
  public static void many(String... all) {}

  public static void of(boolean one) {}
  public static void of(int one) {}
  public static void of(Object one) {}

  public static void list(Iterable<?> all) {}
  public static void list(List<?> all) {}

  public static void run(Runnable task) {}
  public static <T> void run(Callable<T> task) {}

  public static void set(Setting setting) {}
  public static void set(Rule rule) {}
}
`,
  'lib/Given.java': `package org.lib;

public class Given {
  public static <T> T any() { return null; }
  public static <T> T that(Rule rule) { return null; }
  public static <T> T same(T it) { return it; }
}
`,
  'lib/Rule.java': `package org.lib;

public interface Rule { boolean fits(Object it); boolean equals(Object other); }
`,
  'lib/Setting.java': `package org.lib;

public interface Setting extends java.io.Serializable { Setting name(String it); Setting size(int it); }
`,
  'lib/Tree.java': `package org.lib;

public class Tree<T extends Tree<T>> implements Iterable<T> {
  public T next() { return null; }
  String tell() { return ""; }
  public java.util.Iterator<T> iterator() { return null; }
}
class Leaf extends Tree<Leaf> {
  String tell() {
    return new Object() { String all() { return Leaf.super.tell(); } }.all();
  }
  static void walk(Tree<?> any, Leaf leaf) {
    any.next().next();
    for (var each : leaf) each.walk(null, null);
  }
}
`,
  'lib/Box.java': `package org.lib;

interface Box<T> { void put(T it); void put(int it); }
class Words implements Box<String> {
  public void put(String it) {}
  public void put(int it) {}
  static void fill(Box<String> box) { box.put("a"); }
}
`,
  'lib/Copies.java': `package org.lib;

import java.util.*;
import java.util.function.*;

interface Step extends Function<String, String> {}
class Copies {
  static <T extends Consumer<?>> T[] copy(T... all) { return all; }
  static <T extends Function<?, ?>> T[] copy(T... all) { return all; }
  static void zip(Iterator<?>... all) {}
  static void zip(Iterable<?> all) {}
  static void of(Step[] steps, List<String> names) { copy(steps); zip(names.iterator()); zip(names.subList(0, 1)); }
}
`,
  'app/Main.java': `package org.app;

import static org.lib.Check.*;
import java.util.*;

class Main {
  private char sign;
  private Integer boxed;

  void main(List<String> names, ArrayList<String> others, String text, Object it) throws Exception {
    same(it, text);
    same(new String[0], text.split(","));
    same(new int[0], new int[1]);
    same(names.size(), 1);
    same(null, it);
    number(sign + 1);
    number(1 + 2L);
    number(Math.max(1, 2.0));
    number(boxed);
    number(names.get(0).length());
    many();
    many(1, "a");
    of(any());
    of(that(each -> each != null));
    of(names.isEmpty());
    list(others);
    list(Arrays.asList(it));
    run(() -> main(null, null, null, null));
    run(() -> names.size());
    run(() -> { throw new IllegalStateException(); });
    set(each -> true);
  }
}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['lib', 'app']);
});
afterAll(() => tree[Symbol.asyncDispose]());

/** Lines of the class that calls what is on a line. */
const called = (line: number): string[] => {
  const written = files['lib/Check.java']?.split('\n')[line - 1] ?? '';
  const name = /(\w+)\(/.exec(written)?.[1] ?? '';
  const found = callersIn(tree, `lib/Check.java#Check.${name}:${line}`);
  return found.map((each) => each.replace('app/Main.java:', ''));
};
const tellers = (symbol: string): string[] => callersIn(tree, `lib/Tree.java#${symbol}`);

describe('what is given is nearer to some types than to others', () => {
  test('an array to one of objects, an object never to an array', () => {
    expect([7, 8, 9, 10].map(called)).toEqual([
      ['11 exact', '15 exact'],
      ['12 exact'],
      ['13 exact'],
      ['14 exact'],
    ]);
  });

  test('operators make numbers; what fits as it is goes before what has to be made an object or a number', () => {
    expect([12, 13, 14, 15].map(called)).toEqual([
      ['16 exact', '20 exact'],
      ['17 exact'],
      ['18 exact'],
      ['19 exact'],
    ]);
  });

  test('of several that take nothing, the one that would take less', () => {
    expect([17, 18].map(called)).toEqual([['22 exact'], ['21 exact']]);
  });

  test('a type parameter of which nothing says what it is, is no plain value', () => {
    expect([20, 21, 22].map(called)).toEqual([['25 exact'], [], ['23 exact', '24 exact']]);
  });

  test('of types of the library that are based on each other the nearest', () => {
    expect([24, 25].map(called)).toEqual([[], ['26 exact', '27 exact']]);
  });
});

test('a function that calls what gives nothing gives nothing, any other one is rather asked for what it gives', () => {
  expect([27, 28].map(called)).toEqual([['28 exact'], ['29 exact', '30 exact']]);
});

test('a function is given as an interface with one method, beside those that every type has', () => {
  expect([30, 31].map(called)).toEqual([[], ['31 exact']]);
});

test('a class without a name is a type, and what is around it may be asked for what it is based on', () => {
  expect(tellers('tell.all')).toEqual(['lib/Tree.java:10 exact']);
  expect(tellers('Tree.tell')).toEqual(['lib/Tree.java:10 exact']);
});

test('a type argument that is not known satisfies its parameter, and a type that is gone through gives its elements', () => {
  expect(tellers('Tree.next')).toEqual(['lib/Tree.java:13 exact', 'lib/Tree.java:13 exact']);
  expect(tellers('Leaf.walk')).toEqual(['lib/Tree.java:14 exact']);
});

test('a method that replaces another one of its name does not run in place of what takes anything', () => {
  expect(callersIn(tree, 'lib/Box.java#Words.put:5')).toEqual(['lib/Box.java:7 dispatch Box.put']);
  expect(callersIn(tree, 'lib/Box.java#Words.put:6')).toEqual([]);
});

test('what type parameters must satisfy tells functions apart that call them the same', () => {
  const copies = (line: number, name = 'copy'): string[] =>
    callersIn(tree, `lib/Copies.java#Copies.${name}:${line}`);
  expect([8, 9].map((line) => copies(line))).toEqual([[], ['lib/Copies.java:12 exact']]);
  expect([10, 11].map((line) => copies(line, 'zip'))).toEqual([
    ['lib/Copies.java:12 exact'],
    ['lib/Copies.java:12 exact'],
  ]);
});
