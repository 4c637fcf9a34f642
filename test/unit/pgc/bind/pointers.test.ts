import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calleesOf, callersOf, implementationsOf } from '../../../../src/pgc/bind/call-sites.js';
import { placeOfSymbol } from '../../../../src/pgc/bind/definitions.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'include/ops.h': `#ifndef OPS_H
#define OPS_H
struct file;
typedef int (*notify_fn)(struct file *file, int what);
struct file_ops {
	const char *name;
	int (*open)(struct file *file);
	notify_fn notify;
	struct { void (*stop)(void); } power;
};
struct file {
	const struct file_ops *ops;
	struct file_ops own;
	int (*read)(struct file *file);
};
typedef struct { int (*open)(int nr); } Other;
struct command { const char *name; int (*run)(int argc); };
int register_notify(struct file *file, notify_fn fn);
struct file *file_of(int nr);
extern int (*hook)(int nr);
#define file_entry(p) container_of(p, struct file, own)
#endif
`,
  'core/core.c': `#include "ops.h"
int (*hook)(int nr);
struct file *file_of(int nr) { return 0; }
int vfs_open(struct file *file)
{
	int (*fn)(struct file *) = file->ops->open;
	file->own.open(file);
	file_of(1)->ops->open(file);
	container_of(file, struct file, own)->ops->open(file);
	(*((struct file *)file)->ops->open)(file);
	file->ops->power.stop();
	return fn(file);
}
int register_notify(struct file *file, notify_fn fn)
{
	file->own.notify = fn;
	return 0;
}
static int each(int (*visit)(int), int nr) { return visit(nr); }
static int wrapped(int (*visit)(int), int nr) { return each(visit, nr); }
static int seen(int nr) { return hook(nr); }
int start(Other *o) { wrapped(seen, 1); hook = seen; return o->open(2); }
int ring(struct file *file) { return file->own.notify(file, 1); }
int unknown_one(void *p) { return LOOKUP(p)->open(p); }
`,
  'drv/drv.c': `#include "ops.h"
static int drv_open(struct file *file) { return 0; }
static int drv_read(struct file *file) { return 0; }
static int drv_event(struct file *file, int what) { return 0; }
static void drv_stop(void) {}
static int other_open(int nr) { return nr; }
static int cmd_add(int argc) { return 0; }
static int cmd_list(int argc) { return 0; }
static int lonely(int argc) { return 0; }
static const struct file_ops drv_ops = {
	.name = "drv", .open = drv_open, .power = { .stop = __exit_p(drv_stop) },
};
static Other other = { other_open };
static const struct command commands[] = { { "add", cmd_add }, [3] = { "list", .run = cmd_list } };
int drv_init(struct file *file)
{
	file->read = file ? drv_read : 0;
	register_notify(file, drv_event);
	return qsort_like(lonely);
}
int main_of(int nr) { return commands[nr].run(nr); }
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['include', 'core', 'drv']);
});
afterAll(() => tree[Symbol.asyncDispose]());

function callers(symbol: string): string[] {
  return tree.shards
    .flatMap(({ index }) => callersOf(index, [symbol]))
    .map(
      ({ kind, file_path, line, certainty, via }) =>
        `${file_path}:${line} ${kind === 'slot' ? kind : certainty}${via === '' ? '' : ` ${via}`}`,
    )
    .sort();
}

function implementing(symbol: string): string[] {
  return tree.shards
    .flatMap(({ index }) =>
      implementationsOf(index, [symbol]).map(
        (id) => `${index.symbol(id).name} ${placeOfSymbol(index, id)}`,
      ),
    )
    .sort();
}

describe('a member that points to a function', () => {
  test('is called where a value of its structure is the receiver, whatever else is called so', () => {
    expect(callers('file_ops.open')).toEqual([
      'core/core.c:10 exact',
      'core/core.c:12 exact',
      'core/core.c:24 possible',
      'core/core.c:7 exact',
      'core/core.c:8 exact',
      'core/core.c:9 exact',
    ]);
    expect(callers('Other.open')).toEqual(['core/core.c:22 exact', 'core/core.c:24 possible']);
  });

  test('leads to the functions that are put into it', () => {
    expect(implementing('file_ops.open')).toEqual(['drv_open drv/drv.c:2']);
    expect(implementing('Other.open')).toEqual(['other_open drv/drv.c:6']);
    expect(implementing('file_ops.power.stop')).toEqual(['drv_stop drv/drv.c:5']);
    expect(implementing('command.run')).toEqual(['cmd_add drv/drv.c:7', 'cmd_list drv/drv.c:8']);
    expect(implementing('file.read')).toEqual(['drv_read drv/drv.c:3']);
  });
});

describe('a function that is put somewhere', () => {
  test('is called through the member', () => {
    expect(callers('drv_open')).toEqual([
      'core/core.c:10 dispatch file_ops.open',
      'core/core.c:12 dispatch file_ops.open',
      'core/core.c:7 dispatch file_ops.open',
      'core/core.c:8 dispatch file_ops.open',
      'core/core.c:9 dispatch file_ops.open',
      'drv/drv.c:11 slot',
    ]);
    expect(callers('cmd_list')).toEqual(['drv/drv.c:14 slot', 'drv/drv.c:21 dispatch command.run']);
    expect(callers('drv_stop')).toEqual([
      'core/core.c:11 dispatch file_ops.power.stop',
      'drv/drv.c:11 slot',
    ]);
  });

  test('is called through what a parameter is put into', () => {
    expect(callers('drv_event')).toEqual([
      'core/core.c:23 dispatch file_ops.notify',
      'drv/drv.c:18 slot',
    ]);
  });

  test('is called through parameters and variables', () => {
    expect(callers('seen')).toEqual([
      'core/core.c:19 dispatch each.visit',
      'core/core.c:21 dispatch hook',
      'core/core.c:22 slot',
      'core/core.c:22 slot',
    ]);
  });

  test('has a place where nothing that is known calls it', () => {
    expect(callers('lonely')).toEqual(['drv/drv.c:19 slot']);
  });
});

test('a call through a member leads to the member and to what it may hold', () => {
  const index = tree.shards
    .map((each) => each.index)
    .find((each) => each.fileAt('drv/drv.c') !== undefined);
  const [answer] = calleesOf(index!, ['main_of']);
  expect(answer?.calls.map(({ symbol, certainty }) => `${symbol} ${certainty}`)).toContain(
    'cmd_add dispatch',
  );
});
