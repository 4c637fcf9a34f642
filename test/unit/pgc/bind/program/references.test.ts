import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callersOf, sortedOut } from '../../../../../src/pgc/bind/call-sites.js';
import { resolveSymbol } from '../../../../../src/pgc/bind/definitions.js';
import { indexedTree, usesIn, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'srv/go.mod': 'module example.com/app\n',
  'srv/limits.go': `package app

const sizeMax = 10

var sizes = map[int]string{sizeMax: "all"}

type Handler interface{ Serve() }

type Server struct{ sizeMax int }

func (s *Server) Serve() {}

func start(handler func()) { handler() }

func use() {
	s := &Server{sizeMax: 3}
	start(s.Serve)
	start(stop)
	sizeMax := sizeMax + 1
	_ = sizeMax
	stop()
}

func stop() {}
`,
  'srv/web/web.go': `package web

import "example.com/app"

type wrapper struct{ app.Handler }

func Wrap(h app.Handler) app.Handler { return wrapper{h} }
`,
  'srv/web/stop.go': `package web

func stop() {}
`,
};

const scripts: Record<string, string> = {
  'lib/limits.ts': `export const sizeMax = 10;
export enum Mode { Fast, Slow }
export interface Options { mode: Mode; sizeMax: number }
export function onStop(options: Options): void {}
export class Server {
  sizeMax = 1;
  handle(): void {}
  start(listen: (handler: () => void) => void): void {
    listen(this.handle);
    listen(onStop.bind(undefined));
  }
}
`,
  'app/main.ts': `import { Mode, onStop, Server, sizeMax as most, type Options } from '../lib/limits.js';
const options: Options = { mode: Mode.Fast, sizeMax: most };
export const handlers = { onStop, other: [onStop] };
function run(sizeMax: number): number {
  const onStop = () => sizeMax;
  handlers.other.push(onStop);
  return most + sizeMax;
}
export default { run, Server, options };
`,
};

const crates: Record<string, string> = {
  'core/Cargo.toml': '[package]\nname = "core"\n',
  'core/src/lib.rs': `pub const SIZE: usize = 3;
pub enum Mode { Fast, Slow }
impl Mode { pub fn is(&self) -> bool { true } }
pub fn stop() {}
`,
  'app/Cargo.toml': '[package]\nname = "app"\n\n[dependencies]\ncore = { path = "../core" }\n',
  'app/src/main.rs': `use core::{Mode, SIZE, stop};

fn start(handler: fn()) { handler() }

fn pick(mode: Mode) -> usize {
    let sizes = [0; SIZE];
    start(stop);
    match mode { Mode::Fast => 0, _ => sizes.len() };
    let stop = Mode::Fast; if stop.is() { core::SIZE } else { 1 }
}
`,
};

const classes: Record<string, string> = {
  'core/Limits.java': `package org.core;

public class Limits<T extends Mode.Kind> {
  public static final int SIZE = 3;
  protected T kind;
  int size() { return SIZE + this.size; }
  int size = SIZE;
}
`,
  'core/Mode.java': `package org.core;

public enum Mode {
  FAST, SLOW;
  public interface Kind {}
  static Mode of(boolean fast) { return fast ? FAST : SLOW; }
}
`,
  'app/Main.java': `package org.app;

import static org.core.Limits.SIZE;

import org.core.*;

@Marked
class Main extends Limits<Mode.Kind> {
  int run(Mode mode, int size) {
    switch (mode) {
      case FAST: return size;
      default: return new Limits<Mode.Kind>().size();
    }
  }
  Object kindOf(Mode.Kind of) {
    int SIZE = 1;
    Runnable later = () -> { Object it = Main.this.kind; };
    if (SIZE > Limits.SIZE) return kind;
    return new Object() { Object SLOW = kind; Object get() { return SLOW; } };
  }
  int all = SIZE;
  org.core.Mode.Kind its; int most = org.core.Limits.SIZE;
}

@interface Marked {}
`,
};

let javaTree: IndexedTree;
let rustTree: IndexedTree;
let scriptTree: IndexedTree;
let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['srv']);
  scriptTree = await indexedTree(scripts, ['app', 'lib']);
  javaTree = await indexedTree(classes, ['app', 'core']);
  rustTree = await indexedTree(crates, ['app', 'core']);
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await javaTree[Symbol.asyncDispose]();
  await rustTree[Symbol.asyncDispose]();
  await scriptTree[Symbol.asyncDispose]();
});

const uses = (symbol: string): string[] => usesIn(tree, symbol);

describe('Go: what is used without being called', () => {
  test('a constant, but no field and no variable of its name', () => {
    expect(uses('srv/limits.go#sizeMax')).toEqual([
      'srv/limits.go:5 value exact',
      'srv/limits.go:19 value exact',
    ]);
  });

  test('a function and a method that are passed on; a call is no use', () => {
    expect(uses('srv/limits.go#stop')).toEqual(['srv/limits.go:18 value exact']);
    expect(uses('srv/limits.go#Server.Serve')).toEqual(['srv/limits.go:17 value exact']);
    expect(uses('srv/web/stop.go#stop')).toEqual([]);
  });

  test('a type, also of another package; not by the receivers of its methods', () => {
    expect(uses('srv/limits.go#Handler')).toEqual([
      'srv/web/web.go:5 type exact',
      'srv/web/web.go:7 type exact',
      'srv/web/web.go:7 type exact',
    ]);
    expect(uses('srv/limits.go#Server')).toEqual([]);
  });
});

describe('TypeScript: what is used without being called', () => {
  const used = (symbol: string): string[] => usesIn(scriptTree, symbol);

  test('a constant under the name of its import, but no parameter, property or key of its name', () => {
    expect(used('lib/limits.ts#sizeMax')).toEqual([
      'app/main.ts:2 value exact',
      'app/main.ts:7 value exact',
    ]);
  });

  test('a function that is passed on, and not the local one of its name', () => {
    expect(used('lib/limits.ts#onStop')).toEqual([
      'app/main.ts:3 value exact',
      'app/main.ts:3 value exact',
      'lib/limits.ts:10 value exact',
    ]);
    expect(used('lib/limits.ts#Server.handle')).toEqual(['lib/limits.ts:9 value exact']);
    expect(used('app/main.ts#run')).toEqual(['app/main.ts:9 value exact']);
  });

  test('a type, a class and an enumeration', () => {
    expect(used('lib/limits.ts#Options')).toEqual([
      'app/main.ts:2 type exact',
      'lib/limits.ts:4 type exact',
    ]);
    expect(used('lib/limits.ts#Server')).toEqual(['app/main.ts:9 value exact']);
    expect(used('lib/limits.ts#Mode')).toEqual([
      'app/main.ts:2 value exact',
      'lib/limits.ts:3 type exact',
    ]);
  });
});

describe('Rust: what is used without being called', () => {
  const used = (symbol: string): string[] => usesIn(rustTree, symbol);

  test('a constant and a static, by name and by path', () => {
    expect(used('core/src/lib.rs#SIZE')).toEqual([
      'app/src/main.rs:6 value exact',
      'app/src/main.rs:9 value exact',
    ]);
    expect(used('core/src/lib.rs#Mode.Fast')).toEqual([
      'app/src/main.rs:8 value exact',
      'app/src/main.rs:9 value exact',
    ]);
  });

  test('a function that is passed on, and a type; not by what it implements', () => {
    expect(used('core/src/lib.rs#stop')).toEqual(['app/src/main.rs:7 value exact']);
    expect(used('core/src/lib.rs#Mode')).toEqual([
      'app/src/main.rs:5 type exact',
      'app/src/main.rs:8 value exact',
      'app/src/main.rs:9 value exact',
    ]);
  });
});

describe('Java: what is used without being called', () => {
  const used = (symbol: string): string[] => usesIn(javaTree, symbol);

  test('a constant by its import, by its type and inside of it, but no variable of its name', () => {
    expect(used('core/Limits.java#Limits.SIZE')).toEqual([
      'app/Main.java:18 value exact',
      'app/Main.java:21 value exact',
      'app/Main.java:22 value exact',
      'core/Limits.java:6 value exact',
      'core/Limits.java:7 value exact',
    ]);
  });

  test('a field, inherited or of the class around; a method of its name is another one', () => {
    expect(used('core/Limits.java#Limits.kind')).toEqual([
      'app/Main.java:17 value exact',
      'app/Main.java:18 value exact',
      'app/Main.java:19 value exact',
    ]);
    expect(used('core/Limits.java#Limits.size')).toEqual(['core/Limits.java:6 value exact']);
  });

  test('a constant of an enumeration, also where it is chosen by its name alone', () => {
    expect(used('core/Mode.java#Mode.FAST')).toEqual([
      'app/Main.java:11 value exact',
      'core/Mode.java:6 value exact',
    ]);
    expect(used('core/Mode.java#Mode.SLOW')).toEqual(['core/Mode.java:6 value exact']);
  });

  test('a type, one inside of it, an annotation; a parameter of a type is none', () => {
    expect(used('core/Mode.java#Mode.Kind')).toEqual([
      'app/Main.java:8 type exact',
      'app/Main.java:12 type exact',
      'app/Main.java:15 type exact',
      'app/Main.java:22 type exact',
      'core/Limits.java:3 type exact',
    ]);
    expect(used('core/Limits.java#Limits')).toEqual([
      'app/Main.java:8 type exact',
      'app/Main.java:18 value exact',
      'app/Main.java:22 value exact',
    ]);
    expect(used('app/Main.java#Marked')).toEqual(['app/Main.java:7 value exact']);
    expect(used('app/Main.java#Main')).toEqual(['app/Main.java:17 value exact']);
  });
});

test('what only is passed on has no caller by its name, and may be called from where it is passed on', () => {
  const sites = tree.shards.flatMap(({ index }) =>
    callersOf(index, ['srv/limits.go#Server.Serve'], { withUses: true }),
  );
  expect(sortedOut(sites)).toMatchObject({
    ...{ callers: [], uses_total: 1 },
    possible: [{ line: 17, certainty: 'possible' }],
  });
});

test('a name may be said with its package, its folder or its file', () => {
  const { index } = tree.shards[0]!;
  const named = (text: string): number[] => resolveSymbol(index, text);
  expect(named('web.stop')).toEqual(named('srv/web/stop.go#stop'));
  expect(named('srv.web.Wrap')).toEqual(named('Wrap'));
  expect(named('srv.Server.Serve')).toEqual(named('srv/limits.go#Server.Serve'));
  expect(named('web::wrapper')).toEqual(named('wrapper'));
  expect(named('eb.stop')).toEqual([]);
  expect(named('web.use')).toEqual([]);
});
