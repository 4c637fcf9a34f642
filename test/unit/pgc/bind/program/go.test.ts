import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calleesOf, implementationsOf } from '../../../../../src/pgc/bind/call-sites.js';
import { placeOfSymbol } from '../../../../../src/pgc/bind/definitions.js';
import { callersIn, indexedTree, type IndexedTree } from '../../../../support/indexed-tree.js';

/** A program over two shards, with what makes the name of a method alone worthless. */
const files: Record<string, string> = {
  'srv/go.mod': 'module example.com/app\n\ngo 1.19\n',
  'disk/go.mod': 'module example.com/disk // of its own\n',
  'srv/store.go': `package app

import (
	"os"

	"example.com/disk"
)

type Store interface {
	Get(key string) (*disk.Item, error)
	Close() error
}

type Server struct {
	Base
	store Store
	items []*disk.Item
	byKey map[string]*disk.Item
	file  *os.File
}

type Base struct{ name string }

func (b *Base) Title() string { return b.name }

func NewServer(s Store) *Server { return &Server{store: s} }

func (s *Server) Run(keys ...string) error {
	for _, item := range s.items {
		item.Touch()
	}
	s.byKey["a"].Touch()
	item, err := s.store.Get("b")
	item.Touch()
	_ = s.Title()
	defer s.file.Close()
	if d, ok := s.store.(*disk.Disk); ok {
		d.Sync()
	}
	switch it := any(item).(type) {
	case *disk.Item:
		it.Touch()
	case disk.Other:
		it.Touch()
	}
	run := disk.Open
	run("x").Sync()
	err = s.store.Close()
	unknownValue(1).Touch()
	return err
}

func shadow(disk string, s *Server) {
	item := NewServer(nil)
	item.Run()
	func() {
		item := pick()
		item.Touch()
	}()
}

func pick() *disk.Item { return nil }
`,
  'disk/disk.go': `package disk

type Disk struct{ open bool }

type Item struct{ Key string }

type Other struct{}

type List[T any] struct{ all []T }

func (l *List[E]) First() E { return l.all[0] }

func Open(path string) *Disk { return &Disk{} }

func (d *Disk) Get(key string) (*Item, error) { return nil, nil }

func (d *Disk) Close() error { return nil }

func (d *Disk) Sync() { new(List[*Item]).First().Touch() }

func (i *Item) Touch() {}

func (o Other) Touch() {}

func (i *Item) Close() error { return nil }

type mode int

const (
	first mode = iota
	second
)

func (m mode) name() string { return "" }

func both() { first.name(); second.name(); made[*mode]().name() }

func made[T any]() mode { return first }

type ring struct{ next *ring; ring2 }

type ring2 struct{ *ring }

func (r *ring) walk() { r.next.missing(); r.ring2.ring.walk() }
`,
  'disk/disk_test.go': `package disk_test

func Open(path string) string { return path }

func helper() { Open("y") }
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['disk', 'srv']);
});
afterAll(() => tree[Symbol.asyncDispose]());

const callers = (symbol: string): string[] => callersIn(tree, symbol);

describe('a method is called where the type of the receiver has it', () => {
  test('elements, map values, results, type switches, shadowed names, type arguments', () => {
    expect(callers('disk/disk.go#Item.Touch')).toEqual([
      'disk/disk.go:19 exact',
      'srv/store.go:30 exact',
      'srv/store.go:32 exact',
      'srv/store.go:34 exact',
      'srv/store.go:42 exact',
      'srv/store.go:49 possible',
      'srv/store.go:58 exact',
    ]);
    expect(callers('disk/disk.go#Other.Touch')).toEqual([
      'srv/store.go:44 exact',
      'srv/store.go:49 possible',
    ]);
  });

  test('an embedded type passes its methods on, and a local variable may hold a function', () => {
    expect(callers('srv/store.go#Base.Title')).toEqual(['srv/store.go:35 exact']);
    expect(callers('disk/disk.go#Open')).toEqual(['srv/store.go:47 exact']);
    expect(callers('disk/disk.go#Disk.Sync')).toEqual([
      'srv/store.go:38 exact',
      'srv/store.go:47 exact',
    ]);
  });
});

test('through an interface the methods of the types are called that have all of it', () => {
  expect(callers('disk/disk.go#Disk.Close')).toEqual(['srv/store.go:48 dispatch Store.Close']);
  expect(callers('srv/store.go#Store.Close')).toEqual(['srv/store.go:48 exact']);
  // It has only one of the two methods; and the file that is closed is of a library.
  expect(callers('disk/disk.go#Item.Close')).toEqual([]);
});

test('a test package has names of its own', () => {
  expect(callers('disk/disk_test.go#Open')).toEqual(['disk/disk_test.go:5 exact']);
});

test('a bare name means each of its definitions', () => {
  expect(callers('Open')).toEqual(['disk/disk_test.go:5 exact', 'srv/store.go:47 exact']);
});

test('a function says what it calls, here and in the other shard', () => {
  const srv = tree.shards[1]!.index;
  const [run] = calleesOf(srv, ['srv/store.go#Server.Run']);
  const close = run?.calls.filter(({ line }) => line === 48);
  expect(
    close?.map(({ symbol, definition, certainty, lookup }) => ({
      ...{ symbol, definition, certainty, path: lookup?.path },
    })),
  ).toEqual([
    { symbol: 'Close', definition: 'srv/store.go:11', certainty: 'dispatch', path: undefined },
    { symbol: 'Close', definition: '', certainty: 'dispatch', path: 'disk/disk.go' },
  ]);
});

test('a constant repeats the type of the one before it', () => {
  expect(callers('disk/disk.go#mode.name')).toEqual([
    'disk/disk.go:36 exact',
    'disk/disk.go:36 exact',
    'disk/disk.go:36 exact',
  ]);
  expect(callers('disk/disk.go#made')).toEqual(['disk/disk.go:36 exact']);
});

test('what implements an interface, and one of its methods', () => {
  const found = (symbol: string): string[] =>
    tree.shards.flatMap(({ index }) =>
      implementationsOf(index, [symbol]).map((id) => placeOfSymbol(index, id)),
    );
  expect(found('srv/store.go#.Store')).toEqual(['disk/disk.go:3']);
  expect(found('srv/store.go#Store.Get')).toEqual(['disk/disk.go:15']);
  expect(found('disk/disk.go#.Disk')).toEqual([]);
});

test('types that embed each other end the search', () => {
  expect(callers('disk/disk.go#ring.walk')).toEqual(['disk/disk.go:44 exact']);
});
