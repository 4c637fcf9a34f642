import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'core/Waiting.java': `package org.core;

import java.util.concurrent.Callable;
import java.util.function.Supplier;

public class Waiting {
  public void until(Callable<Boolean> asked) { until(new Called()); }
  private <T> T until(Condition<T> condition) { return condition.await(); }

  public void run(Runnable task) {}
  public <T> T run(Supplier<T> task) { return task.get(); }

  public void each(Walk walk) {}
  public void each(IndexedWalk walk) {}
  public void each(String name) {}

  public void either(Walk walk) {}
  public void either(Look look) {}

  public void take(int size) {}
  public void take(Object any) {}
  public void take(Waiting other) {}
}
`,
  'core/Condition.java': `package org.core;

public interface Condition<T> { T await(); default void reset() {} }
class Called implements Condition<Boolean> { public Boolean await() { return true; } }
interface Walk { void at(Object node); }
interface IndexedWalk { void at(Object node, int index); }
interface Look { boolean at(Object node); }
interface Resetting extends Condition<String> {
  default void reset() { Condition.super.reset(); }
}
`,
  'core/Graph.java': `package org.core;

import java.util.List;

interface Graph<T> { void set(List<T> nodes, int state); void set(T node, int state); }
class Nodes<T> implements Graph<T> {
  public void set(List<T> nodes, int state) { }
  public void set(T node, int state) { }
  static <T> void all(Graph<T> graph, List<T> nodes) { graph.set(nodes, 1); }
}
class Base extends Condition.Missing { Base(String name) {} Base(Object other) {} }
class Derived extends Base {
  Derived(String name) { super(unknown(name)); }
  Derived() { this("a"); }
}
`,
  'core/Kinds.java': `package org.core;

import javax.lang.model.type.WildcardType;

class Kinds {
  static void of(WildcardType type) { of(type); }
  static void of(java.lang.reflect.WildcardType type) { of(type); }
}
`,
  'app/Main.java': `package org.app;

import static org.core.Names.*;
import static org.core.Tools.*;
import org.core.*;

class Main {
  void main(Waiting waiting) {
    waiting.until(() -> true);
    waiting.run(() -> { System.gc(); });
    waiting.run(() -> { return 1; });
    waiting.run(() -> 1);
    waiting.each(node -> {});
    waiting.each((node, index) -> System.gc());
    waiting.either(node -> node == null);
    waiting.either(node -> node.notify());
    waiting.take(null);
    toolOf();
    waiting.run(() -> { ${'f(1); '.repeat(1_000)} if (a()) { return 1; } else { throw b(); } });
  }
}
`,
  'app/Tools.java': `package org.core;

public class Tools { public static void toolOf() {} }
class Names extends org.elsewhere.Known {}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['core', 'app']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);
const waiting = (name: string, line: number): string[] =>
  callers(`core/Waiting.java#Waiting.${name}:${line}`);

describe('what a function takes and gives tells which interface it is given as', () => {
  test('by whether it gives something', () => {
    // Of a long one it is not known.
    const long = 'app/Main.java:19 possible';
    expect(waiting('run', 10)).toEqual(['app/Main.java:10 exact', long]);
    expect(waiting('run', 11)).toEqual(['app/Main.java:11 exact', 'app/Main.java:12 exact', long]);
  });

  test('by how many it takes', () => {
    expect(waiting('each', 13)).toEqual(['app/Main.java:13 exact']);
    expect(waiting('each', 14)).toEqual(['app/Main.java:14 exact']);
    expect(waiting('each', 15)).toEqual([]);
  });

  test('a call may be given as either', () => {
    expect(waiting('either', 17)).toEqual(['app/Main.java:16 possible']);
    expect(waiting('either', 18)).toEqual(['app/Main.java:15 exact', 'app/Main.java:16 possible']);
  });
});

test('libraries have types of the same name', () => {
  expect(callers('core/Kinds.java#Kinds.of:6')).toEqual(['core/Kinds.java:6 exact']);
  expect(callers('core/Kinds.java#Kinds.of:7')).toEqual(['core/Kinds.java:7 exact']);
});

test('what another text keeps to itself is not meant', () => {
  expect(waiting('until', 7)).toEqual(['app/Main.java:9 exact']);
  expect(waiting('until', 8)).toEqual(['core/Waiting.java:7 exact']);
});

test('nothing is given as the nearest type, and never as a number', () => {
  expect(waiting('take', 20)).toEqual([]);
  expect(waiting('take', 21)).toEqual([]);
  expect(waiting('take', 22)).toEqual(['app/Main.java:17 exact']);
});

test('the method of an interface that is based on: nothing runs in its place', () => {
  expect(callers('core/Condition.java#Condition.reset')).toEqual(['core/Condition.java:9 exact']);
  expect(callers('core/Condition.java#Resetting.reset')).toEqual([]);
});

test('a method with the same parameters leaves no room for one that takes what they are', () => {
  expect(callers('core/Graph.java#Nodes.set:7')).toEqual(['core/Graph.java:9 dispatch Graph.set']);
  expect(callers('core/Graph.java#Nodes.set:8')).toEqual([]);
});

test('a constructor that calls one that is not known is possible by its name', () => {
  expect(callers('core/Graph.java#Base.Base:11')).toEqual(['core/Graph.java:13 possible']);
  expect(callers('core/Graph.java#Derived.Derived:13')).toEqual(['core/Graph.java:14 exact']);
});

test('of several types whose names are imported, one may be based on a library', () => {
  expect(callers('app/Tools.java#Tools.toolOf')).toEqual(['app/Main.java:18 exact']);
});
