import { describe, expect, test } from 'vitest';
import { callsOf, mined, symbolOf, wordsIn } from '../../../../support/miners/mined.js';

describe('symbols of C', () => {
  test('a function has its signature, linkage, lines and documentation', async () => {
    const facts = await mined(
      'c',
      `#include <linux/pci.h>

/**
 * e1000_probe - Device Initialization Routine
 * @pdev: PCI device information struct
 *
 * Returns 0 on success. The OS initialization is done here.
 **/
static int e1000_probe(struct pci_dev *pdev, const struct pci_device_id *ent)
{
	return 0;
}
`,
    );
    expect(symbolOf(facts, 'e1000_probe')).toEqual({
      name: 'e1000_probe',
      kind: 'function',
      line_start: 9,
      line_end: 12,
      signature:
        'function:e1000_probe | params:2 | returns:int | static:true | (struct pci_dev *pdev, const struct pci_device_id *ent)',
      container: '',
      exported: false,
      doc: 'Device Initialization Routine. Returns 0 on success. The OS initialization is done here.',
      declaration: false,
    });
  });

  test('attribute macros do not hide the name of a function', async () => {
    const facts = await mined(
      'c',
      `#define __init __section(".init.text")
static int __init start(void) { return 0; }
static noinline __printf(2, 3) void report(int level, const char *format, ...) { }
asmlinkage __visible void __sched notrace schedule(void) { }
__attribute__((noreturn)) void stop(void) { for (;;); }
`,
    );
    expect(facts.symbols.map((each) => `${each.kind} ${each.name}`)).toEqual([
      'macro __init',
      'function start',
      'function report',
      'function schedule',
      'function stop',
    ]);
    expect(facts.error_bytes).toBe(0);
    expect(symbolOf(facts, 'report').signature).toContain('params:2 | returns:void');
  });

  test('an attribute between the type and the name of a function is not its name', async () => {
    const facts = await mined(
      'c',
      `static void printflike(1, 0)
log_write(const char *msg, va_list ap)
{
	put(msg);
}
static void *seq_start(void) locked(mutex)
{
	return lock();
}
int old(a, b) int a; int (*b)(int);
{
	return b(a);
}
`,
    );
    const functions = facts.symbols.filter(({ kind }) => kind === 'function');
    expect(functions.map(({ name }) => name)).toEqual(expect.arrayContaining(['log_write']));
    expect(functions.map(({ name }) => name)).not.toContain('printflike');
    expect(functions.map(({ name }) => name)).not.toContain('locked');
  });

  test('an attribute before the name in a prototype hides nothing behind it', async () => {
    const facts = await mined(
      'c',
      `void printflike(1, 2) log_write(const char *, ...);
char	*printflike(2, 3) joined(int, const char *, ...);
void log_open(void);
#define log_first(text) log_write(text, 1)
`,
    );
    expect(facts.error_bytes).toBe(0);
    expect(facts.symbols.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...['function log_write', 'function joined', 'function log_open', 'macro log_first'],
    ]);
  });

  test('a macro between a star and the name of a function hides it not', async () => {
    const facts = await mined(
      'c',
      `char * cdecl
print(char *to)
{
	return put(to);
}
char * const fixed(void) { return keep(); }
`,
    );
    const functions = facts.symbols.filter(({ kind }) => kind === 'function');
    expect(functions.map(({ name }) => name)).toEqual(['print', 'fixed']);
    expect(facts.calls.map(({ callee }) => callee)).toEqual(['put', 'keep']);
  });

  test('a #define within a list hides neither itself nor what stands behind it', async () => {
    const facts = await mined(
      'c',
      `enum {
	IPPROTO_IP = 0,		/* Dummy protocol for TCP */
#define IPPROTO_IP		IPPROTO_IP
	IPPROTO_ICMP = 1,
#define IPPROTO_ICMP		BIT(IPPROTO_ICMP) /* of
						   * old */
	IPPROTO_MAX
};

static const int sizes[] = {
	1,
#define SIZE_BIG 2
	SIZE_BIG,
#undef SIZE_BIG
	rounded(3),
};
static int after;
`,
    );
    expect(
      facts.symbols.map((each) => `${each.kind} ${each.name} ${each.line_start}-${each.line_end}`),
    ).toEqual([
      'constant IPPROTO_IP 2-2',
      'macro IPPROTO_IP 3-3',
      'constant IPPROTO_ICMP 4-4',
      'macro IPPROTO_ICMP 5-5',
      'constant IPPROTO_MAX 7-7',
      'constant sizes 10-16',
      'macro SIZE_BIG 12-12',
      'variable after 17-17',
    ]);
    expect(callsOf(facts)).toEqual(['IPPROTO_ICMP → BIT (direct)', '- → rounded (direct)']);
    expect(symbolOf(facts, 'SIZE_BIG').signature).toBe('macro:SIZE_BIG | value:2');
    expect(facts.error_bytes).toBe(0);
  });

  test('what a macro makes within an enum is not called by its arguments', async () => {
    const facts = await mined(
      'c',
      `enum { PINS_BEGIN,
	F1(SCIFA0_RTS), F5(SIM0_DET),
	F1(SCIFA0_CTS), PINS_END = F3(4) };
`,
    );
    expect(facts.symbols.map((each) => each.name)).toEqual(['PINS_BEGIN', 'PINS_END']);
    expect(facts.calls.map((each) => `${each.callee}:${each.line}`)).toEqual([
      'F1:2',
      'F5:2',
      'F1:3',
      'F3:3',
    ]);
  });

  test('fields that a macro makes without a semicolon hide nothing', async () => {
    const facts = await mined(
      'c',
      `struct exception_stacks {
	ESTACKS_MEMBERS(0, 0)
};
struct p_format {
	__BITFIELD_FIELD(unsigned int opcode : 6,
	__BITFIELD_FIELD(unsigned int rs : 5,
	;))
};
struct mixed {
	int a;
	MORE_FIELDS(uint8_t)
	u32 (*read)(struct mixed *m);
	DECLARE_BITMAP(bits, 8);
	irqreturn_t (*handler)
		(int irq);
};
static int after(void) { return &get(1)->page; }
`,
    );
    expect(facts.symbols.map((each) => `${each.kind} ${each.name}`)).toEqual([
      'struct exception_stacks',
      'struct p_format',
      'struct mixed',
      'method read',
      'method handler',
      'function after',
    ]);
    expect(facts.calls.map((each) => `${each.callee}:${each.line}`)).toEqual([
      'ESTACKS_MEMBERS:2',
      '__BITFIELD_FIELD:5',
      'MORE_FIELDS:11',
      'get:17',
    ]);
    expect(symbolOf(facts, 'mixed').signature).toBe('struct:mixed | fields:4');
  });

  test('a macro without a value does not take the next line for it', async () => {
    const facts = await mined(
      'c',
      `#define GUARD_H  /* once
                    only */
#define A_none(v)	/**/
#define A_zero(v)	= 0
#define B_none(v)/**/
#define B_zero(v) // nothing
#define C_none \t
#define C_one 1
static int z(void) { return A_zero(2); }
`,
    );
    expect(facts.symbols.map((each) => `${each.name}:${each.line_start}-${each.line_end}`)).toEqual(
      [
        'GUARD_H:1-1',
        'A_none:3-3',
        'A_zero:4-4',
        'B_none:5-5',
        'B_zero:6-6',
        'C_none:7-7',
        'C_one:8-8',
        'z:9-9',
      ],
    );
    expect(callsOf(facts)).toEqual(['z → A_zero (direct)']);
  });

  test('an attribute before a pointer to a function, or before the name of a union, hides neither', async () => {
    const facts = await mined(
      'c',
      `typedef void __noreturn (* noret_func_t)(void);
union __ec_align_offset1 ec_response { int a; };
typedef struct { int v; } __bpf_percpu_val_align value_t;
`,
    );
    expect(facts.symbols.map((each) => `${each.kind} ${each.name}`)).toEqual([
      'type noret_func_t',
      'union ec_response',
      'type value_t',
    ]);
  });

  test('system calls and BPF helpers are found under the names they are called by', async () => {
    const facts = await mined(
      'c',
      `SYSCALL_DEFINE3(mincore, unsigned long, start, size_t, len,
		unsigned char __user *, vec)
{
	return do_mincore(start);
}
SYSCALL_DEFINE0(getpid) { return task_tgid_vnr(current); }
COMPAT_SYSCALL_DEFINE1(brk, compat_ulong_t, brk) { return 0; }
BPF_CALL_2(bpf_map_lookup_elem, struct bpf_map *, map, void *, key) { return 0; }
`,
    );
    expect(facts.symbols.map((each) => each.signature)).toEqual([
      'function:sys_mincore | params:3 | returns:long | (unsigned long start, size_t len, unsigned char * vec)',
      'function:sys_getpid | params:0 | returns:long',
      'function:compat_sys_brk | params:1 | returns:long | (compat_ulong_t brk)',
      'function:bpf_map_lookup_elem | params:2 | returns:u64 | (struct bpf_map * map, void * key)',
    ]);
    expect(callsOf(facts)).toEqual([
      'sys_mincore → do_mincore (direct)',
      'sys_getpid → task_tgid_vnr (direct)',
      'sys_getpid → task_tgid_vnr().current (slot)',
    ]);
    expect(symbolOf(facts, 'sys_mincore')).toMatchObject({
      line_start: 1,
      line_end: 5,
      exported: true,
    });
  });

  test('types, constants, variables and prototypes are told apart', async () => {
    const facts = await mined(
      'c',
      `struct ring { int head; struct slot { void *page; } *slots; void (*done)(int); } __packed;
union both { int a; long b; };
enum color { RED, GREEN = 2 };
typedef int (*handler_t)(int, void *);
extern int __must_check submit(int nr, char *), drain(void);
static const char *const names[] = { "a" };
int counter, *cursor = NULL;
extern int elsewhere;
static DEFINE_MUTEX(lock);
#define MAX_RINGS 8
#define for_each_ring(r, n) for ((r) = first(n); (r); (r)++)
`,
    );
    expect(
      facts.symbols.map((each) => [each.kind, each.container, each.signature].join(' · ')),
    ).toEqual([
      'struct ·  · struct:ring | fields:3',
      'struct ·  · struct:slot | fields:1',
      'method · ring · method:done | params:1 | (int)',
      'union ·  · union:both | fields:2',
      'enum ·  · enum:color | constants:2',
      'constant · color · constant:RED | enum:color',
      'constant · color · constant:GREEN | enum:color | value:2',
      'type ·  · type:handler_t | typedef int (*handler_t)(int, void *)',
      'function ·  · function:submit | params:2 | returns:int | (int nr, char *)',
      'function ·  · function:drain | params:0 | returns:int | (void)',
      'constant ·  · constant:names | type:char * | static:true',
      'variable ·  · variable:counter | type:int',
      'variable ·  · variable:cursor | type:int *',
      'variable ·  · variable:elsewhere | type:int',
      'variable ·  · variable:lock | type:DEFINE_MUTEX | static:true',
      'macro ·  · macro:MAX_RINGS | value:8',
      'macro ·  · macro:for_each_ring | params:2 | (r, n)',
    ]);
    const declared = facts.symbols.filter((each) => each.declaration).map((each) => each.name);
    expect(declared).toEqual(['done', 'submit', 'drain', 'elsewhere']);
  });

  test('a function after unbalanced conditional code is still found', async () => {
    const facts = await mined(
      'c',
      `static int first(int x)
{
#ifdef CONFIG_A
	if (x) {
#else
	if (!x) {
#endif
		one();
	}
	return 0;
}

int second(void)
{
	return two();
}
`,
    );
    expect(symbolOf(facts, 'second')).toMatchObject({ line_start: 13, line_end: 16 });
    expect(callsOf(facts)).toContain('second → two (direct)');
  });

  test('a comment that follows other code does not document the next line', async () => {
    const facts = await mined(
      'c',
      'int a; /* about a */\nint b;\n\n/* apart */\n\nint c;\n// about d\nint d;\n',
    );
    expect(facts.symbols.map((each) => each.doc)).toEqual(['', '', '', 'about d']);
  });
});

describe('calls in C', () => {
  test('each call names its function, and what is handed on is no call', async () => {
    const facts = await mined(
      'c',
      `static int work(struct foo *p, filler_t fill, int (*cmp)(int, int))
{
	static const struct ops o = { .open = hello_open };
	char *local(int);
	queue(p, callback);
	fill(1);
	cmp(1, 2);
	(*p->done)(3);
	(plain)(4);
	p->ops->table[2].open(sizeof(int));
	return (long)(p) + container_of(p, struct foo, member)->n + min_t(unsigned int, f(1), 2);
}
module_init(work);
`,
    );
    expect(callsOf(facts)).toEqual([
      'work → ops.open.hello_open (slot)',
      'work → queue (direct)',
      'work → queue().callback (slot)',
      'work → fill (member)',
      'work → cmp (member)',
      'work → p.done (member)',
      'work → plain (direct)',
      'work → p->ops->table[2].open (member)',
      'work → container_of (direct)',
      'work → min_t (direct)',
      'work → f (direct)',
      '- → module_init (direct)',
      '- → module_init().work (slot)',
    ]);
    expect(facts.calls[1]?.line).toBe(5);
  });

  test('loops by macro hide neither their own call nor the statement they repeat', async () => {
    const facts = await mined(
      'c',
      `void drop(struct x *x)
{
	int n;
	for_each_node(n)
		kfree(x->node[n]);
	list_for_each_entry(a, b, struct x, c) {
		unlink(a);
	}
}
`,
    );
    expect(callsOf(facts)).toEqual([
      'drop → for_each_node (direct)',
      'drop → kfree (direct)',
      'drop → list_for_each_entry (direct)',
      'drop → unlink (direct)',
      'drop → unlink().a (slot)',
    ]);
  });

  test('the body of a macro calls, its strings, comments, keywords and parameters do not', async () => {
    const facts = await mined(
      'c',
      `#define RUN(x, fn) do { foo(x); ops->open(x); fn(x); x##_y(1); "no(1)"; /* no(2) */ \\
	if (x) bar((T)sizeof(x)); } while (0)
#define ALIAS other
`,
    );
    expect(callsOf(facts)).toEqual([
      'RUN → foo (direct)',
      'RUN → ops.open (member)',
      'RUN → bar (direct)',
    ]);
    expect(symbolOf(facts, 'RUN')).toMatchObject({ line_start: 1, line_end: 2 });
  });
});

describe('the rest of a C file', () => {
  test('includes are imports without names', async () => {
    const facts = await mined('c', '#include <linux/mm.h>\n#include "e1000.h"\n');
    expect(facts.imports).toEqual([
      { target: 'linux/mm.h', names: [], line: 1 },
      { target: 'e1000.h', names: [], line: 2 },
    ]);
  });

  test('a word counts for the innermost symbol around it, and else for the file', async () => {
    const facts = await mined(
      'c',
      `/* Orphaned prose. */

struct outer {
	struct inner { int kernel; } nested;
};

/* Scrubs pages. */
void scrub(void)
{
	page_clear("zeroed");
	page_clear(0x1000);
}
`,
    );
    expect(wordsIn(facts, 'scrub')).toEqual({
      scrub: 2,
      page: 3,
      page_clear: 2,
      clear: 2,
      zero: 1,
    });
    expect(wordsIn(facts, 'inner')).toEqual({ inner: 1, kernel: 1 });
    expect(wordsIn(facts, 'outer')).toEqual({ outer: 1, nest: 1 });
    expect(wordsIn(facts, undefined)).toEqual({ orphan: 1, prose: 1 });
  });

  test('a count is never more than a byte', async () => {
    const facts = await mined('c', `void f(void)\n{\n${'\tspin();\n'.repeat(300)}}\n`);
    expect(wordsIn(facts, 'f')).toEqual({ spin: 255 });
  });

  test('a header of registers is read by line, every name of it', async () => {
    const lines = Array.from(
      { length: 2_500 },
      (_, i) => `#define mmREG_${i} 0x${i.toString(16)} // base`,
    );
    const facts = await mined('c', `#ifndef R_H\n${lines.join('\n')}\n#endif\n`);
    expect([facts.symbols.length, facts.scanned_names.length]).toEqual([0, 2_500]);
    const at = facts.scanned_names.indexOf('mmREG_17');
    expect([at, facts.scanned_lines[at]]).toEqual([17, 19]);
    expect(facts.words).toEqual([]);
  });
});
