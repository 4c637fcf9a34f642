import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['srv']);
});
afterAll(() => tree[Symbol.asyncDispose]());

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
