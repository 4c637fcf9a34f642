import { afterAll, beforeAll, expect, test } from 'vitest';
import { callersOf } from '../../../../src/pgc/bind/call-sites.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

const files: Record<string, string> = {
  'include/work.h': `struct work { void (*func)(struct work *work); };
struct delayed { struct work work; };
#define INIT_WORK(_work, _func) __INIT_WORK((_work), (_func), 0)
#define __INIT_WORK(_work, _func, _flag)	\\
	do {					\\
		(_work)->func = (_func);	\\
	} while (0)
#define INIT_DELAYED(_work, _func) INIT_WORK(&(_work)->work, (_func))
#define container_of(ptr, type, member) ((type *)((char *)(ptr) - offsetof(type, member)))
#define entry_of(ptr, type, member) container_of(ptr, type, member)
#define TIMER_FIELDS \\
	int (*expired)(int nr); \\
	int nr;
struct timer {
	int flags;
	TIMER_FIELDS
};
typedef struct { int (*poll)(int nr); } Device;
struct io { int (*send)(int nr); };
extern struct io the_io;
#define default_send the_io.send
struct port { int (*send)(int nr); };
`,
  'include/handle.h': `#ifdef _WIN32
# include "win.h"
#else
# include "unix.h"
#endif
struct handle {
	HANDLE_FIELDS
};
`,
  'include/unix.h': `#define HANDLE_FIELDS \\
	int (*woken)(int nr); \\
	union { \\
		void *heap[3]; \\
		int queue; \\
	} node; \\
	int fd;
`,
  'include/win.h': `#define HANDLE_FIELDS \\
	int (*done)(int nr); \\
	int event;
`,
  'core/handle.c': `#include "handle.h"
static int wake(int nr) { return nr; }
static int overlap(int nr) { return nr; }
void prepare(struct handle *h) { h->woken = wake; h->done = overlap; }
int run(struct handle *h) { return h->woken(1) + h->done(2); }
`,
  'core/core.c': `#include "work.h"
struct io the_io;
struct adapter { struct work work; struct delayed later; };
static void reset(struct work *work) {}
static void again(struct work *work) {}
static int fast(int nr) { return nr; }
static int on_expiry(int nr) { return nr; }
static int polled(int nr) { return nr; }
static int given(int nr) { return nr; }
void setup(struct adapter *a, struct timer *t, Device *d, struct port *p)
{
	INIT_WORK(&a->work, reset);
	INIT_DELAYED(&a->later, again);
	the_io.send = fast;
	p->send = default_send;
	t->expired = on_expiry;
	d->poll = polled;
}
void process(struct work *work) { work->func(work); }
int transmit(struct port *p) { return p->send(1); }
int tick(struct timer *t) { return t->expired(t->nr); }
int poll_all(void *list) { return entry_of(list, Device, node)->poll(1); }
void *giver(void) { return given; }
`,
};

let tree: IndexedTree;
beforeAll(async () => {
  tree = await indexedTree(files, ['include', 'core']);
});
afterAll(() => tree[Symbol.asyncDispose]());

function callers(symbol: string): string[] {
  return tree.shards
    .flatMap(({ index }) => callersOf(index, [symbol]))
    .filter(({ kind }) => kind !== 'slot')
    .map(({ symbol: name, certainty, via }) => `${name} ${certainty} ${via}`);
}

test('what a macro is given it puts where its body says, also through another macro', () => {
  expect(callers('reset')).toEqual(['process dispatch work.func']);
  expect(callers('again')).toEqual(['process dispatch work.func']);
});

test('a macro that takes a type gives a value of it', () => {
  expect(callers('polled')).toEqual(['poll_all dispatch Device.poll']);
});

test('a macro may be another name of a member', () => {
  expect(callers('fast')).toEqual(['transmit dispatch port.send']);
});

test('a macro may stand for members, which are those of the structure', () => {
  expect(callers('on_expiry')).toEqual(['tick dispatch timer.expired']);
});

test('members that a macro stands for differ from condition to condition', () => {
  expect(callers('wake')).toEqual(['run dispatch handle.woken']);
  expect(callers('overlap')).toEqual(['run dispatch handle.done']);
});

test('a function that another one gives has its place there', () => {
  const sites = tree.shards.flatMap(({ index }) => callersOf(index, ['given']));
  expect(sites.map(({ kind, line }) => `${kind} ${line}`)).toEqual(['slot 23']);
});
