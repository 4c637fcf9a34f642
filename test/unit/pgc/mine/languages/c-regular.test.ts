import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alternativeCharsMax } from '../../../../../src/pgc/mine/languages/c/c-conditionals.js';
import { regular } from '../../../../../src/pgc/mine/languages/c/c-regular.js';
import { callsOf, mined, symbolOf } from '../../../../support/miners/mined.js';

const pieces = fc.constantFrom(
  '#if A\n',
  '#ifdef B /* b */\n',
  '#else\n',
  '#endif\n',
  '#define M(a) \\\n',
  '/* c */',
  '/*',
  '// d\n',
  '\n}\n',
  '\n{',
  'for_each(x)\n',
  'if (a) ',
  'struct s {',
  'do {',
  '} while_each(x);',
  'else for_each(y) {',
  '\n\tRESERVED\n',
  'static M(z)\n',
  'x = {',
  '(',
  ')',
  '"s\\"',
  "'",
  ';',
  ',',
  ' y ',
  '\r\n',
  '漢',
);

describe('C text that is made regular', () => {
  test('keeps its length, whatever it holds', () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 60 }), (parts) => {
        const text = parts.join('');
        expect(regular(text).text).toHaveLength(text.length);
      }),
    );
  });

  test('is the same text where there is nothing to mend', () => {
    const plain = `#include <a.h>
#ifdef A
static int f(int a)
{
	int b[] = { 1, 2 };
	if (a)
		go(a);
	else
		for (;;)
			stop(b);
	return do_it(a) ? a : (int)other(b);
}
#endif
int
g(struct x y)
{
	do { f(1); } while (0);
}
`;
    expect(regular(plain)).toEqual({ text: plain, dropped: [], macros: [], defines: [] });
  });
});

describe('macros that stand as statements', () => {
  test('are ended, so that what follows them calls too', async () => {
    const facts = await mined(
      'c',
      `static void unregister(struct list_head *list, struct ops *ops)
{
	for_each_net(net)
		list_add_tail(&net->exit_list, &net_exit_list);
	for_each_online_node(node)
		for_each_zone(zone) {
			sum += zone->pages;
			drain(zone);
		}
	if (ops)
		for_each_cpu(cpu)
			return stop(cpu);
}
`,
    );
    expect(callsOf(facts).filter((each) => !each.endsWith('(slot)'))).toEqual([
      'unregister → for_each_net (direct)',
      'unregister → list_add_tail (direct)',
      'unregister → for_each_online_node (direct)',
      'unregister → for_each_zone (direct)',
      'unregister → drain (direct)',
      'unregister → for_each_cpu (direct)',
      'unregister → stop (direct)',
    ]);
    expect(facts.error_bytes).toBe(0);
  });

  test('stay one statement with their body, and leave `else` to its `if`', async () => {
    const facts = await mined(
      'c',
      `static void pick(struct domain *d)
{
	if (d->per_cpu)
		for_each_cpu(cpu, &d->mask)
			set_cpu(cpu);
	else
		set_any(&d->mask);
	do {
		migrate(task);
	} while_each_thread(leader, task);
}
void next(void) { }
`,
    );
    expect(callsOf(facts).filter((each) => !each.endsWith('(slot)'))).toEqual([
      'pick → for_each_cpu (direct)',
      'pick → set_cpu (direct)',
      'pick → set_any (direct)',
      'pick → migrate (direct)',
      'pick → while_each_thread (direct)',
    ]);
    expect(facts.error_bytes).toBe(0);
  });

  test('without brackets do not disturb the fields and statements around them', async () => {
    const facts = await mined(
      'c',
      `struct flock {
	short type;
#ifdef FLOCK_EXTRA
	FLOCK_EXTRA
#endif
	RESERVED_FIELDS
	long start;
};
enum mode { A,
	LAST
};
`,
    );
    expect(facts.symbols.map((each) => each.signature)).toEqual([
      'struct:flock | fields:2',
      'enum:mode | constants:2',
      'constant:A | enum:mode',
      'constant:LAST | enum:mode',
    ]);
    expect(facts.error_bytes).toBe(0);
  });

  test('in a row on one line do not swallow the function they stand in', async () => {
    const facts = await mined(
      'c',
      `const char *name_of(enum cmd cmd)
{
#define N(val) case CMD_##val: return #val;
	switch (cmd) {
	N(UP) N(DOWN)
	N(REBOOT)
	}
#undef N
	return unknown();
}
`,
    );
    expect(symbolOf(facts, 'name_of')).toMatchObject({ line_start: 1, line_end: 10 });
    expect(callsOf(facts)).toContain('name_of → unknown (direct)');
    expect(facts.error_bytes).toBe(0);
  });

  test('between functions leave the next function its head', async () => {
    const facts = await mined(
      'c',
      `DEFINE_SHOW_ATTRIBUTE(status)
static int first(void) { return 0; }
EXPORT_SYMBOL(first)
#ifdef A
EXPORT_SYMBOL(second)
#endif
int second(void) { return 1; }
`,
    );
    const functions = facts.symbols.filter((each) => each.kind === 'function');
    expect(functions.map((each) => each.name)).toEqual(['first', 'second']);
    expect(symbolOf(facts, 'first').signature).toBe(
      'function:first | params:0 | returns:int | static:true | (void)',
    );
  });
});

describe('macros over several lines', () => {
  test('go on behind a comment, and the function after them is found', async () => {
    const facts = await mined(
      'c',
      `#define USE_COUNT(S) ((S) >> MAX_PWR)
#define NEEDED USE_COUNT(MAX_DATA) /* skb->date */ + \\
	MAX_FRAGS * USE_COUNT(PAGE) + 1 /* for context */ \\
	+ 1 /* one more
	       for the sentinel */

static netdev_tx_t
xmit_frame(struct sk_buff *skb, struct net_device *netdev)
{
	return netdev_priv(netdev);
}
`,
    );
    expect(symbolOf(facts, 'xmit_frame')).toMatchObject({
      line_start: 7,
      line_end: 11,
      declaration: false,
    });
    expect(symbolOf(facts, 'NEEDED')).toMatchObject({ line_start: 2 });
    expect(callsOf(facts).filter((each) => !each.endsWith('(slot)'))).toEqual([
      'NEEDED → USE_COUNT (direct)',
      'NEEDED → USE_COUNT (direct)',
      'xmit_frame → netdev_priv (direct)',
    ]);
  });

  test('with comments inside a function do not end it', async () => {
    const facts = await mined(
      'c',
      `static int convert(struct prog *prog)
{
	switch (prog->code) {
#define EMIT_JMP						\\
	do {							\\
		if (target < 0)					\\
			goto err;				\\
		/* Adjust the offset of the 2nd insn. */	\\
		off -= insn - first;				\\
	} while (0)

	case JMP:
		EMIT_JMP;
		break;
	}
	return 0;
err:
	kfree(prog);
	return -EINVAL;
}
`,
    );
    expect(symbolOf(facts, 'convert')).toMatchObject({ line_start: 1, line_end: 20 });
    expect(callsOf(facts).filter((each) => !each.endsWith('(slot)'))).toEqual([
      'convert → kfree (direct)',
    ]);
  });
});

describe('conditionals that cut statements', () => {
  test('give their function its whole extent and the calls of every branch', async () => {
    const facts = await mined(
      'c',
      `static int first(int x)
{
#ifdef CONFIG_A
	if (one(x)) {
#else
	if (two(x)) {
#endif
		three();
	}
#ifdef CONFIG_B
	if (x) {
		four();
	} else
#endif
		five();
	six(x,
#ifdef CONFIG_C
	    seven(x),
#endif
	    8);
	return 0;
}
`,
    );
    expect(symbolOf(facts, 'first')).toMatchObject({ line_start: 1, line_end: 22 });
    expect(callsOf(facts)).toEqual(
      ['one', 'two', 'three', 'four', 'five', 'six', 'seven'].map((c) => `first → ${c} (direct)`),
    );
    expect(facts.error_bytes).toBe(0);
  });

  test('around the head of a function leave one head and its body', async () => {
    const facts = await mined(
      'c',
      `#ifdef CONFIG_DCB
void set_drop(struct adapter *adapter)
#else
static void set_drop(struct adapter *adapter)
#endif
{
	enable(adapter);
}
`,
    );
    expect(symbolOf(facts, 'set_drop')).toMatchObject({ line_start: 2, line_end: 8 });
    expect(callsOf(facts).filter((each) => !each.endsWith('(slot)'))).toEqual([
      'set_drop → enable (direct)',
    ]);
  });

  test('for C++ hide neither prototypes nor functions', async () => {
    const facts = await mined(
      'c',
      `#ifdef __cplusplus
extern "C" {
#endif
int open_ring(void);
static inline int ring(void) { return open_ring(); }
#ifdef __cplusplus
}
#endif
`,
    );
    expect(facts.symbols.map((each) => each.name)).toEqual(['open_ring', 'ring']);
    expect(facts.error_bytes).toBe(0);
  });

  test('stay where a branch is too long to be left out', () => {
    const long = 'f(1);\n'.repeat(alternativeCharsMax);
    const text = `void g(void)\n{\n#if A\n\tif (a) {\n#else\n${long}#endif\n`;
    expect(regular(text)).toEqual({ text, dropped: [], macros: [], defines: [] });
  });
});
