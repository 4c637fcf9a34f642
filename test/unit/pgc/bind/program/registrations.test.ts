import { afterAll, beforeAll, expect, test } from 'vitest';
import { indexedTree, usesIn, type IndexedTree } from '../../../../support/indexed-tree.js';

/** How frameworks are told what to call: routers, containers, decorators, events, tables. */
const files = {
  'go/go.mod': 'module example.com/go\n',
  'go/main.go': `package main
import ( "net/http"; "example.com/fx" )
type Handlers map[string]func()
type Bus struct{ all map[string][]func() }
func (b *Bus) On(name string, does func()) { b.all[name] = append(b.all[name], does) }
var table = Handlers{ "saved": onTable }
func init() {
	http.HandleFunc("/home", home)
	fx.Provide(newStore, fx.Annotate(newCache))
	http.Handle("/x", http.HandlerFunc(wrapped))
	(&Bus{}).On("saved", onSaved)
	table["late"] = onLate
	run := server{}
	http.HandleFunc("/m", run.serve)
}
type server struct{}
func (server) serve(w http.ResponseWriter, r *http.Request) {}
func home(w http.ResponseWriter, r *http.Request) {}
func wrapped(w http.ResponseWriter, r *http.Request) {}
func newStore() int { return 1 }
func newCache() int { return 1 }
func onTable() {}
func onSaved() {}
func onLate() {}
`,
  'ts/app.ts': `import express from 'express';
import { EventEmitter } from 'node:events';
import { Injectable, Module } from '@nestjs/common';
import { audited } from './audited';
const app = express();
const bus = new EventEmitter();
export function list() {}
export function saved() {}
export function late() {}
export const named = () => {};
app.get('/list', list);
bus.on('saved', saved);
bus.emit('saved');
bus.once('named', named);
@Injectable()
export class Store {
  @audited save() {}
  constructor() { bus.on('late', this.changed); }
  changed() {}
}
@Module({ providers: [Store, { provide: 'x', useFactory: late }] })
export class Main {}
`,
  'ts/audited.ts': 'export function audited(target: object, key: string) {}\n',
  'rust/Cargo.toml': '[package]\nname = "rust"\n',
  'rust/src/main.rs': `use axum::{routing::get, Router};
struct Bus { all: Vec<fn()> }
impl Bus { fn on(&mut self, name: &str, does: fn()) { self.all.push(does); } }
static TABLE: [fn(); 1] = [in_table];
fn in_table() {}
fn saved() {}
async fn home() {}
fn mapped(a: i32) -> i32 { a }
struct Api;
impl Api { fn show() {} }
fn main() {
    let app = Router::new().route("/", get(home));
    let mut bus = Bus { all: vec![] };
    bus.on("saved", saved);
    bus.on("show", Api::show);
    let all: Vec<i32> = vec![1].into_iter().map(mapped).collect();
}
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['go', 'ts', 'rust']);
});
afterAll(() => tree[Symbol.asyncDispose]());

test.each([
  ['go/main.go#home', 'go/main.go:8 value exact'],
  ['go/main.go#newStore', 'go/main.go:9 value exact'],
  ['go/main.go#newCache', 'go/main.go:9 value exact'],
  ['go/main.go#wrapped', 'go/main.go:10 value exact'],
  ['go/main.go#onTable', 'go/main.go:6 value exact'],
  ['go/main.go#onSaved', 'go/main.go:11 value exact'],
  ['go/main.go#onLate', 'go/main.go:12 value exact'],
  ['go/main.go#server.serve', 'go/main.go:14 value exact'],
  ['ts/app.ts#list', 'ts/app.ts:11 value exact'],
  ['ts/app.ts#saved', 'ts/app.ts:12 value exact'],
  ['ts/app.ts#named', 'ts/app.ts:14 value exact'],
  ['ts/app.ts#Store', 'ts/app.ts:21 value exact'],
  ['ts/app.ts#late', 'ts/app.ts:21 value exact'],
  ['ts/app.ts#Store.changed', 'ts/app.ts:18 value exact'],
  ['ts/audited.ts#audited', 'ts/app.ts:17 value exact'],
  ['rust/src/main.rs#in_table', 'rust/src/main.rs:4 value exact'],
  ['rust/src/main.rs#home', 'rust/src/main.rs:12 value exact'],
  ['rust/src/main.rs#saved', 'rust/src/main.rs:14 value exact'],
  ['rust/src/main.rs#Api.show', 'rust/src/main.rs:15 value exact'],
  ['rust/src/main.rs#mapped', 'rust/src/main.rs:16 value exact'],
])('%s is registered there', (symbol, expected) => {
  expect(usesIn(tree, symbol)).toContain(expected);
});
