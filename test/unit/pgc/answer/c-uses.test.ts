import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.js';
import { trace } from '../../../../src/lattice/trace/trace.js';
import { callersOf } from '../../../../src/lattice/trace/call-sites.js';
import { Lattice } from '../../../../src/lattice/lattice.js';
import { indexFolder } from '../../../../src/pgc/build/index-folder.js';
import { usesInC } from '../../../../src/pgc/answer/c-uses.js';
import { CText } from '../../../../src/pgc/answer/c-text-uses.js';
import { openShards } from '../../../../src/pgc/serve/open-shards.js';
import type { Shard } from '../../../../src/pgc/serve/shard.js';
import { TemporaryTree } from '../../../support/git-tree.js';

const longName = `LONG_${'NAME_'.repeat(20)}END`;
const files = {
  'core/node.h': `#ifndef NODE_H
#define NODE_H
#define NODES_MAX 16
#define NODES_ALL (NODES_MAX * 2)
enum color { RED_NODE, BLUE_NODE };
typedef struct node {
	struct node *next;
	enum color color;
	int count;
} node;
extern int node_count;
int visit(node *first, int (*each)(node *one));
#endif
`,
  'core/node.c': `#include "node.h"
int node_count = 0;
static int limit = NODES_MAX;
/* node_count is not used here */
int visit(node *first, int (*each)(node *one))
{
	const char *text = "node_count";
	node_count += limit;
	if (first->color == RED_NODE)
		return each(first);
	return first->node_count;
}
`,
  'net/net.c': `#include "../core/node.h"
static int limit = 3;
static int print(node *one) { return limit; }
int walk(struct node *first)
{
	int node_count = NODES_ALL;
	return visit(first, print) + node_count;
}
int again(int limit) { return limit; }
#ifdef NODES_MAX
int total(void) { return node_count; }
#endif
`,
  'core/gui.h': '#define GUI_MAX 3\nstruct pane { int width; };\nint shown(void);\n',
  'core/api.h': '#include "deep.h"\n',
  'core/inner/deep.h': '#define DEPTH 2\ntypedef unsigned deep_t;\n',
  'net/inner/deeper.h': '#define DEPTH 9\n',
  'core/x/near.c': '#include <api.h>\nint near_depth = DEPTH;\n',
  'net/far.c': '#include <api.h>\nint far_depth = DEPTH;\ndeep_t far_deep;\n',
  'net/blind.c': '#include <stdio.h>\nint blind_depth = DEPTH;\n',
  'core/state.h': '#include "named.h"\nstruct state { int depth; };\n',
  'core/named.h': 'typedef struct state state;\n',
  'core/state.c': '#include "named.h"\nint deep(state *one);\n',
  'core/lock.h': '#ifdef _WIN32\n# include "lock-win.h"\n#else\n# include "lock-unix.h"\n#endif\n',
  'core/lock-unix.h': 'typedef int lock_t;\n',
  'core/lock-win.h': 'typedef void *lock_t;\n',
  'core/lock.c': '#include "lock.h"\nlock_t first_lock;\n',
  'core/opaque.c': 'struct secret { int key; };\nstatic struct secret *first;\n',
  'core/opaque.h': 'struct secret;\nint open_secret(struct secret *one);\n',
  'net/opaque.c': 'int shut(struct secret *one);\n',
  'net/view.cc': `#include "../core/gui.h"
namespace view {
class Window { public: int size(); pane *first; };
int Window::size() { return GUI_MAX; } // not GUI_MAX
}
`,
  'net/other.cc': 'namespace other { const int GUI_MAX = 4; int most() { return GUI_MAX; } }\n',
  // Longer than any word that is indexed.
  'core/long.h': `#define ${longName} 1\n`,
  'net/long.c': `#include "../core/long.h"\nint first = ${longName};\n`,
};

let source: TemporaryTree;
let home: TemporaryTree;
let shards: Shard[];
let lattice: Lattice;
beforeAll(async () => {
  source = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const plan = ['core', 'net'].map((path) => ({ alias: path, paths: [path] }));
  await indexFolder({ root: source.root, home: home.root, jobs: 0, shards: { shards: plan } });
  const opened = await openShards(source.root, home.root);
  ({ shards } = opened);
  lattice = new Lattice(shards, opened.cards);
});
afterAll(async () => {
  await source[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

const uses = async (symbol: string): Promise<string[]> =>
  (await callersOf(lattice, symbol, { withUses: true })).callers.map(
    ({ file_path, line, symbol: holder }) => `${file_path}:${line} ${holder}`.trim(),
  );

test('a variable is used where it is no member, no local name, no word of a text', async () => {
  expect(await uses('core/node.c#node_count')).toEqual([
    'core/node.c:8 visit',
    'net/net.c:11 total',
  ]);
});

test('what is static is used in its own file', async () => {
  expect(await uses('core/node.c#limit')).toEqual(['core/node.c:8 visit']);
  expect(await uses('net/net.c#limit')).toEqual(['net/net.c:3 print']);
});

test('macros and constants are used in code, in conditions and in other macros', async () => {
  expect(await uses('core/node.h#NODES_MAX')).toEqual([
    'core/node.c:3',
    'core/node.h:4 NODES_ALL',
    'net/net.c:10',
  ]);
  expect(await uses('core/node.h#RED_NODE')).toEqual(['core/node.c:9 visit']);
});

test('a name that is too long for the index is looked for in all texts', async () => {
  expect(await uses(`core/long.h#${longName}`)).toEqual(['net/long.c:2']);
});

test('what is included by what is included is seen, in any folder and any shard', async () => {
  expect(await uses('core/inner/deep.h#DEPTH')).toEqual(['core/x/near.c:2', 'net/far.c:2']);
  expect(await uses('core/inner/deep.h#deep_t')).toEqual(['net/far.c:3']);
});

test('a structure is used by a typedef of another header', async () => {
  const lines = ['core/named.h:1', 'core/state.c:2'];
  expect((await uses('core/state.h#state')).map((each) => each.split(' ')[0])).toEqual(lines);
});

test('either of two definitions is used where conditions choose between them', async () => {
  expect(await uses('core/lock-unix.h#lock_t')).toEqual(['core/lock.c:2']);
  expect(await uses('core/lock-win.h#lock_t')).toEqual(['core/lock.c:2']);
});

test('a structure of a source file is used elsewhere by its tag', async () => {
  const { callers, possible } = await callersOf(lattice, 'core/opaque.c#secret', {
    withUses: true,
  });
  const places = (sites: typeof callers): string[] =>
    sites.map(({ file_path, line }) => `${file_path}:${line}`);
  expect(places(callers)).toEqual(['core/opaque.c:2', 'core/opaque.h:2']);
  expect(places(possible)).toEqual(['net/opaque.c:1']);
});

test('what a header of C defines may be used in C++', async () => {
  const may = async (symbol: string): Promise<string[]> =>
    (await callersOf(lattice, symbol, { withUses: true })).possible.map(
      ({ file_path, line }) => `${file_path}:${line}`,
    );
  expect(await uses('core/gui.h#GUI_MAX')).toEqual([]);
  expect(await may('core/gui.h#GUI_MAX')).toEqual(['net/view.cc:4']);
  expect(await may('core/gui.h#pane')).toEqual(['net/view.cc:3']);
});

test('what is not read any more may use the name', async () => {
  const [core] = shards;
  const sites = await usesInC(core!.index, core!.excerpts, ['core/node.h#NODES_MAX'], new Set(), 1);
  expect(sites.map(({ file_path, certainty }) => `${file_path} ${certainty}`)).toEqual([
    'core/node.c exact',
    'core/node.h possible',
  ]);
});

test('a comment hides all of its lines', () => {
  const lines = ['/* limit', ' * limit **', ' limit */ int a = limit;', '/* limit', 'limit'];
  expect(new CText(lines, []).occurrencesOf('limit').map(({ line }) => line)).toEqual([3]);
});

test('a local variable is found behind any number of others', () => {
  const others = Array.from({ length: 64 }, (_, at) => `a${at} = f(${at}, 1)`).join(', ');
  const place = { file: 0, container: '', exported: true, declaration: false };
  const symbols = [{ ...place, id: 7, name: 'use', kind: 'function', line_start: 1, line_end: 4 }];
  const found = (last: string): unknown[] =>
    new CText(
      ['int use(void) {', `  int ${others}${last};`, '  return limit;', '}'],
      symbols,
    ).occurrencesOf('limit');
  expect(found('')).toEqual([{ line: 3, isTag: false, holder: 7 }]);
  expect(found(', *limit = 0')).toEqual([]);
});

test('a structure is used by its tag and by its typedef', async () => {
  const lines = (await uses('core/node.h#node')).map((each) => each.split(' ')[0]);
  expect(lines).toEqual([
    ...['core/node.c:5', 'core/node.h:7', 'core/node.h:12', 'net/net.c:3', 'net/net.c:4'],
  ]);
});

test('a function that is passed on is used there, and called where it comes to', async () => {
  expect(await uses('net/net.c#print')).toEqual(['core/node.c:10 visit', 'net/net.c:7 walk']);
});

test('a way through a pointer is found by the stored cards, whichever end is cheaper', async () => {
  const { path } = await trace(lattice, 'walk', 'print', { clock: systemClock });
  expect(path.map(({ symbol }) => symbol)).toEqual(['walk', 'visit', 'print']);
  const far = await trace(lattice, 'visit', 'print', { clock: systemClock });
  expect(far.found).toBe(true);
  const core = lattice.cards.get('core');
  expect(core?.unresolved.map(({ term }) => term)).toContain('print');
});

test('a file that has changed since may use what its words said', async () => {
  const all = await callersOf(lattice, 'core/node.h#NODES_ALL', { withUses: true });
  expect(all.callers.map(({ line }) => line)).toEqual([6]);
  await source.write({ 'net/net.c': 'int nothing(void) { return 0; }\n' });
  const opened = await openShards(source.root, home.root);
  const { callers, possible } = await callersOf(
    new Lattice(opened.shards, opened.cards),
    'core/node.h#NODES_ALL',
    { withUses: true },
  );
  expect(callers).toEqual([]);
  expect(possible.map(({ file_path, line }) => `${file_path}:${line}`)).toEqual(['net/net.c:1']);
});
