import { afterAll, beforeAll, expect, test } from 'vitest';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'core/Cargo.toml': '[package]\nname = "core-kit"\nversion = "0.1.0"\n',
  'core/src/lib.rs': `pub mod net;
pub mod kinds;

macro_rules! matches { ($e:expr) => { $e }; }

pub fn own(one: u8) { matches!(one); }
`,
  'core/src/net.rs': `pub mod http {
    pub async fn connect(at: u8) -> crate::kinds::Result<(Sender, u8)> { loop {} }

    pub struct Sender { at: u8 }
    impl Sender { pub fn send(&mut self) {} }
}
`,
  'core/src/kinds.rs': `use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub type Result<T, E = Error> = std::result::Result<T, E>;

pub struct Error;
impl Error { pub fn code(&self) -> u8 { 0 } }

#[derive(Debug)]
pub struct Item { at: u8 }
impl fmt::Display for Item { fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result { Ok(()) } }
impl Item {
    pub fn touch(&self) -> Option<&Item> { None }
    pub fn check(&self) -> Result<Item> { loop {} }
}
impl FromStr for Item {
    type Err = Error;
    fn from_str(text: &str) -> std::result::Result<Self, Error> { loop {} }
}

pub struct Walk;
impl Iterator for Walk {
    type Item = Item;
    fn next(&mut self) -> Option<Item> { None }
}

pub enum Shape { Round(Item), Flat }
type Thing = Item;

pub fn by_name() -> BTreeMap<Shape, Item> { BTreeMap::new() }
impl Shape { pub fn label(&self) {} }
`,
  'app/Cargo.toml': '[package]\nname = "app"\n\n[dependencies]\ncore-kit = { path = "../core" }\n',
  'app/src/main.rs': `use core_kit::kinds::{by_name, Item, Shape, Walk};
use core_kit::kinds::Shape::*;
use core_kit::net;
use std::collections::HashMap;
use std::sync::Arc;

fn looped() {
    for (kind, item) in by_name() {
        kind.label();
        item.touch();
    }
    for (at, item) in vec![Item::from_str("a").unwrap()].iter().enumerate() { item.touch(); }
    for item in Walk { item.touch(); }
}

fn held(item: Item) -> Result<(), core_kit::kinds::Error> {
    item.check()?.touch();
    item.check().map_err(|error| error.code()).unwrap().touch();
    item.touch().map(|each| each.touch());
    if let Err(error) = item.check() { error.code(); }
    if let Some(each) = item.touch() { each.touch(); }
    Arc::new(item).touch();
    item.touch().is_some();
    Ok(())
}

fn unknown() {
    let mut all = HashMap::new();
    for (key, _) in all.iter() { key.touch(); }
}

fn made(shape: Shape) {
    vec![Round(Item::from_str("b").unwrap())];
    if matches!(shape, Shape::Round(_)) {}
    let Round(item) = shape else { return };
}

mod deep {
    use core_kit::net;
    mod net {}
    pub struct Kept { inner: core_kit::kinds::Item }
    impl std::ops::Deref for Kept {
        type Target = core_kit::kinds::Item;
        fn deref(&self) -> &Self::Target { &self.inner }
    }
}

trait Longer { fn longer(&self) {} }
impl<T> Longer for Vec<T> {}

fn abroad(kept: deep::Kept, list: Vec<u8>, text: &str) {
    kept.touch();
    kept.other().touch();
    list.longer();
    text.longer();
    text.len();
}

async fn wire() {
    let (mut sender, _) = net::http::connect(1).await.unwrap();
    sender.send();
}

fn outer() {
    struct Inner(u8);
    impl Inner { fn run(&self) {} }
    fn helper() {}
    helper();
    Inner(1).run();
}

fn helper() {}

fn other() { helper(); }
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'core']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

const binding = (line: number, callee: string): string[] =>
  tree.shards.flatMap(({ index }) =>
    [...index.callsTo(callee)]
      .filter((call) => call.line === line && index.file(call.file).path === 'app/src/main.rs')
      .map(({ id }) => {
        const targets = (index.bound?.targetsOf(id) ?? []).map((each) => {
          const target = index.bound?.target(each);
          return `${target?.container}.${target?.name}`;
        });
        return [index.bound?.bindingOf(id), ...targets].join(' ');
      }),
  );
const lineOf = (text: string): number => {
  const before = files['app/src/main.rs']?.split(text)[0] ?? '';
  return before.split('\n').length;
};

test('what is held comes out: of maps, lists, options and results, and goes to closures', () => {
  for (const text of [
    'item.touch();\n    }\n    for (at',
    'item.touch(); }\n    for item in Walk',
    'item.touch(); }\n}',
    'item.check()?.touch()',
    'item.touch().map(|each| each.touch())',
    'Arc::new(item).touch()',
  ])
    expect([text, new Set(binding(lineOf(text), 'touch'))]).toEqual([
      text,
      new Set(['exact Item.touch']),
    ]);
  expect(callers('core/src/kinds.rs#Shape.label')).toEqual(['app/src/main.rs:9 exact']);
  expect(callers('core/src/kinds.rs#Error.code')).toEqual([
    'app/src/main.rs:18 exact',
    'app/src/main.rs:20 exact',
  ]);
  expect(binding(lineOf('item.touch().is_some()'), 'is_some')).toEqual(['outside']);
});

test('what a collection holds is not known where nothing says so', () => {
  expect(binding(lineOf('key.touch()'), 'touch')).toEqual(['possible']);
});

test('a macro is seen in its own crate alone; a pattern calls nothing', () => {
  expect(callers('core/src/lib.rs#matches')).toEqual(['core/src/lib.rs:6 exact']);
  expect(binding(lineOf('if matches!'), 'matches')).toEqual(['outside']);
  expect(callers('core/src/kinds.rs#Shape.Round')).toEqual([
    `app/src/main.rs:${lineOf('vec![Round(')} exact`,
  ]);
});

test('a method of a trait of a library that a type has by its name', () => {
  expect(binding(lineOf('vec![Round('), 'from_str')).toEqual(['exact Item.from_str']);
});

test('an alias has type parameters of its own, with what they are if nothing is given', () => {
  const line = lineOf('sender.send()');
  expect(callers('core/src/net.rs#Sender.send')).toEqual([`app/src/main.rs:${line} exact`]);
});

test('items of a function are seen in it alone', () => {
  const [inner, outer] = [lineOf('    helper();\n'), lineOf('fn other() { helper')];
  expect(binding(inner, 'helper')).toEqual(['exact outer.helper']);
  expect(binding(outer, 'helper')).toEqual(['exact .helper']);
  expect(binding(lineOf('Inner(1).run'), 'run')).toEqual(['exact Inner.run']);
  expect(binding(lineOf('Inner(1).run'), 'Inner')).toEqual(['exact outer.Inner']);
});

test('behind a type stands another one; traits of the program give methods to types of libraries', () => {
  expect(binding(lineOf('kept.touch()'), 'touch')).toEqual(['exact Item.touch']);
  expect(binding(lineOf('kept.other().touch()'), 'touch')).toEqual(['possible']);
  expect(binding(lineOf('list.longer()'), 'longer')).toEqual(['possible']);
  expect(binding(lineOf('text.len()'), 'len')).toEqual(['outside']);
});
