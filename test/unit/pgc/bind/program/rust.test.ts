import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { implementationsOf } from '../../../../../src/pgc/bind/call-sites.js';
import { placeOfSymbol } from '../../../../../src/pgc/bind/definitions.js';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'core/Cargo.toml': '[package]\nname = "app-core"\nversion = "0.1.0"\n',
  'core/src/lib.rs': `pub mod store;
pub use store::{Disk, Store};

#[macro_export]
macro_rules! note { ($e:expr) => { $e }; }
`,
  'core/src/store.rs': `use std::sync::{Arc, Mutex};

pub trait Store {
    fn get(&self, key: &str) -> Option<Item>;
    fn both(&self) { self.get("a"); }
}

#[derive(Default)]
pub struct Disk { items: Vec<Item>, shared: Arc<Mutex<Item>> }

pub struct Item(pub u8);

pub enum Mode { Fast, Slow(u8) }

impl Mode { pub fn name(&self) -> &str { "" } }

impl Item { pub fn touch(&self) {} }

impl Store for Disk {
    fn get(&self, _key: &str) -> Option<Item> {
        self.shared.lock().unwrap().touch();
        for item in self.items.iter() { item.touch(); }
        if let Some(first) = self.items.first() { first.touch(); }
        None
    }
}
`,
  'app/Cargo.toml': '[package]\nname = "app"\n\n[dependencies]\napp-core = { path = "../core" }\n',
  'app/src/main.rs': `mod work;
use app_core::{note, Disk, Store};
use other::Thing;

fn main() {
    let disk = Disk::default();
    let item = disk.get("k").unwrap();
    assert_eq!(item.touch(), note!(work::run(&disk)));
    Thing::new().touch();
    unknown_thing().touch();
    app_core::store::Mode::Slow(1).name();
}

cfg_if! {
    fn hidden(store: &dyn Store) { store.get("x"); }
}

#[cfg(test)]
mod tests {
    use super::*;
    fn helper() -> Disk { Disk::default() }
    #[test]
    fn works() { helper().both(); main(); }
}
`,
  'app/src/work.rs': `use app_core::store::Store as Kept;

pub fn run<T: Kept>(store: &T) -> u8 {
    store.get("r").map(|each| each.0).unwrap_or(0)
}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['app', 'core']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

describe('a method is called where the type of the receiver has it', () => {
  test('behind locks, in collections, in patterns, in the arguments of macros; a library has its own', () => {
    expect(callers('core/src/store.rs#Item.touch')).toEqual([
      'app/src/main.rs:8 exact',
      'app/src/main.rs:10 possible',
      'core/src/store.rs:21 exact',
      'core/src/store.rs:22 exact',
      'core/src/store.rs:23 exact',
    ]);
  });

  test('a variant is a value of its enumeration', () => {
    expect(callers('core/src/store.rs#Mode.name')).toEqual(['app/src/main.rs:11 exact']);
  });
});

test('a trait leads to what implements it, also by another name and in items within a macro', () => {
  expect(callers('core/src/store.rs#Disk.get')).toEqual([
    'app/src/main.rs:7 exact',
    'app/src/main.rs:15 dispatch Store.get',
    'app/src/work.rs:4 dispatch Store.get',
    'core/src/store.rs:5 dispatch Store.get',
  ]);
  const implementing = tree.shards.flatMap(({ index }) =>
    implementationsOf(index, ['core/src/store.rs#.Store']).map((id) => placeOfSymbol(index, id)),
  );
  expect(implementing).toEqual(['core/src/store.rs:8']);
});

test('modules, crates, macros, and modules within a text', () => {
  expect(callers('app/src/work.rs#run')).toEqual(['app/src/main.rs:8 exact']);
  expect(callers('app/src/main.rs#tests.helper')).toEqual(['app/src/main.rs:23 exact']);
  expect(callers('app/src/main.rs#main')).toEqual(['app/src/main.rs:23 exact']);
  expect(callers('core/src/store.rs#Store.both')).toEqual(['app/src/main.rs:23 exact']);
  expect(callers('core/src/lib.rs#note')).toEqual(['app/src/main.rs:8 exact']);
});
