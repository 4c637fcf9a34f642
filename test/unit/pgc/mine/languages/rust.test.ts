import { expect, test } from 'vitest';
import { usesOf } from '../../../../../src/pgc/mine/languages/rust/rust-imports.js';
import { callsOf, mined, symbolOf } from '../../../../support/miners/mined.js';

const source = `//! The store.
use std::collections::{HashMap, hash_map::Entry as E};
use crate::wire::*;
mod inner;

/// The bound.
pub const MAX: usize = 10;
static mut COUNT: u32 = 0;

/// Keeps items.
#[derive(Debug)]
pub struct Store<K> {
    items: HashMap<K, u32>,
    pub size: usize,
}

pub enum Color {
    Red,
    Green(u8),
}

pub trait Reader: Send {
    type Item;
    /// Reads one.
    fn read(&self, key: &str) -> Option<u32>;
    fn all(&self) -> Vec<u32> { self.rest() }
}

impl<K: Hash> Store<K> {
    /// Makes one.
    #[inline]
    pub async unsafe fn new(size: usize) -> Self {
        let it = Self { items: HashMap::new(), size };
        println!("made {}", describe(&it).len());
        it
    }
    fn grow(&mut self, by: usize) { self.items.insert(by as _, 1).unwrap_or_default(); Some(1); }
}

impl Reader for Store<u8> {
    fn read(&self, key: &str) -> Option<u32> { helper::<u8>(key)?; None }
}

#[macro_export]
macro_rules! twice { ($e:expr) => { $e; $e } }

mod tests {
    fn works() { super::run(); fn local() {} }
}
`;

test('items are symbols with their visibility, kind and documentation', async () => {
  const facts = await mined('rust', source);
  expect(
    facts.symbols.map((each) => [each.signature, each.container, each.exported, each.doc]),
  ).toEqual([
    ['module:inner', '', false, ''],
    ['constant:MAX | type:usize', '', true, 'The bound.'],
    ['variable:COUNT | type:u32 | static:true', '', false, ''],
    ['struct:Store | fields:2', '', true, 'Keeps items.'],
    ['enum:Color | constants:2', '', true, ''],
    ['constant:Red | enum:Color', 'Color', true, ''],
    ['constant:Green | enum:Color', 'Color', true, ''],
    ['interface:Reader | extends:Send', '', true, ''],
    ['type:Item', 'Reader', true, ''],
    [
      'method:read | params:1 | returns:Option<u32> | (&self, key: &str)',
      'Reader',
      true,
      'Reads one.',
    ],
    ['method:all | params:0 | returns:Vec<u32> | (&self)', 'Reader', true, ''],
    [
      'method:new | params:1 | returns:Self | async:true | unsafe:true | (size: usize)',
      'Store',
      true,
      'Makes one.',
    ],
    ['method:grow | params:1 | (&mut self, by: usize)', 'Store', false, ''],
    ['method:read | params:1 | returns:Option<u32> | (&self, key: &str)', 'Store', true, ''],
    ['macro:twice', '', true, ''],
    ['module:tests', '', false, ''],
    ['function:works | params:0', 'tests', false, ''],
    ['function:local | params:0', 'works', false, ''],
  ]);
  expect(symbolOf(facts, 'Store')).toMatchObject({ line_start: 11, line_end: 15 });
});

test('calls know their function and receiver, also those inside of macros', async () => {
  expect(callsOf(await mined('rust', source))).toEqual([
    'all → self.rest (member)',
    'new → Self (construct)',
    'new → HashMap.new (member)',
    'new → println (direct)',
    'new → describe (direct)',
    'new → describe(&it).len (member)',
    'grow → self.items.insert (member)',
    'grow → self.items.insert(by as _, 1).unwrap_or_default (member)',
    'grow → Some (construct)',
    'read → helper (direct)',
    'works → super.run (member)',
  ]);
});

test('what a use brings along is taken apart', async () => {
  expect(usesOf('a::{b, c::{d as e, f}, self, g::*}')).toEqual([
    { target: 'a', name: 'b' },
    { target: 'a::c', name: 'd:e' },
    { target: 'a::c', name: 'f' },
    { target: '', name: 'a' },
    { target: 'a::g', name: '*' },
  ]);
  const { imports } = await mined('rust', source);
  expect(imports.map(({ target, names }) => `${target} ${names.join()}`)).toEqual([
    'std::collections HashMap',
    'std::collections::hash_map Entry:E',
    'crate::wire *',
    'self::inner *:inner',
  ]);
});

test('what is compiled for tests alone is marked, wherever it stands', async () => {
  const { symbols } = await mined(
    'rust',
    `pub fn decode() {}
#[cfg(test)]
impl Frame { fn sample() -> Self { Frame } }
#[cfg(not(test))]
fn shipped() {}
#[cfg(feature = "test")]
fn featured() {}
#[cfg(all(unix, test))]
mod tests {
    fn helper() {}
    mod deep { #[derive(Debug)] struct Fake; }
}
#[tokio::test(flavor = "current_thread")]
async fn reads() { fn inner() {} }
#[bench]
fn fast() {}
#[inline] // #[cfg(test)] is left out
/// Like a #[test] function.
fn told() {}
fn last() {}
`,
  );
  const named = (is: boolean): string[] =>
    symbols.filter(({ test: each }) => (each ?? false) === is).map(({ name }) => name);
  expect(named(true)).toEqual([
    'sample',
    'tests',
    'helper',
    'deep',
    'Fake',
    'reads',
    'inner',
    'fast',
  ]);
  expect(named(false)).toEqual(['decode', 'shipped', 'featured', 'told', 'last']);
});
