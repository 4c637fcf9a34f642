import { afterAll, beforeAll, expect, test } from 'vitest';
import { calleesOf } from '../../../../src/pgc/bind/call-sites.js';
import { importedModules, moduleOf } from '../../../../src/pgc/bind/modules.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(
    {
      'go/store/get.go':
        'package store\nimport (\n\t"fmt"\n\t"example.org/x/go/wire"\n)\nfunc Get() { open(); wire.Send(); fmt.Println(); missing() }\n',
      'go/store/open.go': 'package store\nfunc open() {}\n',
      'go/wire/wire.go': 'package wire\nfunc Send() {}\nfunc open() {}\n',
      'java/org/store/Get.java':
        'package org.store;\nimport org.wire.Frame;\nclass Get { void run() { new Frame(); new Near(); helper(); } void helper() {} }\n',
      'java/org/store/Near.java': 'package org.store;\nclass Near { Near() {} }\n',
      'java/org/wire/Frame.java': 'package org.wire;\npublic class Frame {}\n',
      'rust/src/main.rs':
        'mod wire;\nuse crate::wire::send;\nfn main() { send(); local(); }\nfn local() {}\n',
      'rust/src/wire/mod.rs': 'pub fn send() { super::local(); }\n',
    },
    ['go', 'java', 'rust'],
  );
});
afterAll(() => tree[Symbol.asyncDispose]());

const calls = (shard: number, symbol: string) =>
  calleesOf(tree.shards[shard]!.index, [symbol]).flatMap((each) =>
    each.calls.map((call) => `${call.symbol} ${call.definition}`),
  );

test('all files of a Go package see each other, others are imported', () => {
  expect(calls(0, 'Get')).toEqual([
    'open go/store/open.go:2',
    'Send go/wire/wire.go:2',
    'Println ',
    'missing ',
  ]);
});

test('classes of a Java package see each other, others are imported', () => {
  expect(calls(1, 'run')).toEqual([
    'Frame java/org/wire/Frame.java:2',
    // The class, and the constructor that runs.
    'Near java/org/store/Near.java:2',
    'Near java/org/store/Near.java:2',
    'helper java/org/store/Get.java:3',
  ]);
});

test('a use in Rust leads into its module', () => {
  expect(calls(2, 'main')).toEqual(['send rust/src/wire/mod.rs:1', 'local rust/src/main.rs:4']);
});

test.each([
  ['go/store/get.go', 'go/store'],
  ['main.go', ''],
  ['java/org/A.java', 'java/org'],
  ['src/net/mod.rs', 'src/net'],
  ['src/lib.rs', 'src'],
  ['src/net.rs', 'src/net'],
])('%s is the module %s', (file, module) => {
  expect(moduleOf(file)).toBe(module);
});

test.each([
  ['go', 'a/b.go', 'fmt', ['**/fmt']],
  ['go', 'a/b.go', 'github.com/x/level/v2', ['**/x/level']],
  ['java', 'a/B.java', 'org.wire.Frame', ['**/org/wire']],
  ['java', 'a/B.java', 'org.wire', ['**/org/wire']],
  ['rust', 'x/src/a/b.rs', 'crate::c::d', ['x/src/c/d']],
  ['rust', 'x/src/a/b.rs', 'super::d', ['x/src/a/d']],
  ['rust', 'x/src/a/mod.rs', 'self::d', ['x/src/a/d']],
  ['rust', 'x/src/a.rs', 'std::io', []],
  ['rust', 'x/src/a.rs', 'my_crate::io', ['**/my-crate/src/io']],
] as const)('%s: %s imports %s', (language, from, target, modules) => {
  expect(importedModules(from, target, language)).toEqual(modules);
});
