import { describe, expect, test } from 'vitest';
import { isBound } from '../../../../../src/pgc/mine/items/bounds.js';
import type { FactsLanguage } from '../../../../../src/pgc/format/facts.js';
import { mined } from '../../../../support/miners/mined.js';

const found = async (language: FactsLanguage, source: string): Promise<unknown[]> =>
  (await mined(language, source)).items
    .filter(({ overlay }) => overlay === 6)
    .map(({ rule, line_start, text }) => [rule, line_start, text]);
const stated = async (...lines: string[]): Promise<unknown[]> =>
  found('c', `/*\n${lines.map((line) => ` * ${line}\n`).join('')} */\nint a;\n`);

describe('assertions', () => {
  test('say when they fail, or that a place must not be reached', async () => {
    const source = `void f(struct kunit *test)
{
	BUG_ON(!old);
	WARN_ON_ONCE(a > B);
	WARN_ONCE(1, "buffer is on stack\\n");
	BUG_ON(true);
	VM_BUG_ON_FOLIO(!pte, folio);
	static_assert(sizeof(a) == 8);
	assert(0);
	KUNIT_EXPECT_EQ(test, i, 5);
	KUNIT_ASSERT_NOT_NULL(test, p);
	KUNIT_EXPECT_FALSE(test, is_done(p));
	ASSERT_RTNL();
	might_sleep();
	sockopt_lock_sock(sk);
}
`;
    expect(await found('c', source)).toEqual([
      ['assertion', 3, 'stops the machine when !old'],
      ['assertion', 4, 'warns when a > B'],
      ['assertion', 5, 'warns when this is reached: "buffer is on stack\\n"'],
      ['assertion', 6, 'stops the machine when this is reached'],
      ['assertion', 7, 'stops the machine when !pte, folio'],
      ['assertion', 9, 'asserts that this is never reached'],
      ['assertion', 10, 'expects i == 5'],
      ['assertion', 11, 'expects p != NULL'],
      ['assertion', 12, 'expects !(is_done(p))'],
      ['locking-check', 13, 'ASSERT_RTNL()'],
      ['locking-check', 14, 'might_sleep()'],
      ['assertion', 8, 'does not compile unless sizeof(a) == 8'],
    ]);
  });

  test('of Java: neither the message nor the null is what is compared', async () => {
    const source = `class A { void f() {
	assertEquals("sum", 4, sum);
	assertEquals("a", name, "the name");
	assertEquals(4, sum);
	assertTrue("is it so", done);
	requireNonNull(y);
	checkNotNull(z, "z");
	/*
	assert that it is so
	*/
	assert x > 0 : "x";
} }
`;
    expect(await found('java', source)).toEqual([
      ['assertion', 2, 'asserts 4 == sum'],
      ['assertion', 3, 'asserts "a" == name'],
      ['assertion', 4, 'asserts 4 == sum'],
      ['assertion', 5, 'asserts done'],
      ['assertion', 6, 'asserts y is not null'],
      ['assertion', 7, 'asserts z is not null'],
      ['assertion', 11, 'asserts x > 0 : "x"'],
    ]);
  });

  test('of Python: statements, and no sentence of a string', async () => {
    const source = `def f(x):
    """Tells # it.

    assert that x is small
    """
    # it's so
    assert "'''" in x, "why"
    assert x
`;
    expect(await found('python', source)).toEqual([
      ['assertion', 7, `asserts "'''" in x, "why"`],
      ['assertion', 8, 'asserts x'],
    ]);
  });

  test('annotations of locks, where they are used', async () => {
    const source = `# define __acquires(x) __attribute__((context(x,0,1)))
/* __releases(a) is what it says */
void f(void)
	__releases(&rq->lock)
{
}
`;
    expect(await found('c', source)).toEqual([['lock-annotation', 4, '__releases(&rq->lock)']]);
  });
});

test('bounds by name and value; neither registers nor codes nor masks of one', () => {
  const bounds: [string, string][] = [
    ['QUEUE_MAX', ' 64'],
    ['MAX_FRAME_SIZE', '\t1518'],
    ['E1000_HI_MAX_MNG_DATA_LENGTH', ' 0x6F8'],
    ['VSEL_MAX', ' 0x7F'],
    ['ICE_FDIR_MAX_FLTRS', ' 16384'],
    ['NFTA_SOCKET_MAX', ' (__NFTA_SOCKET_MAX - 1)'],
    ['MAX_STACK_TRACE_ENTRIES', ' (1UL << BITS)'],
    ['O2NET_MAX_PAYLOAD_BYTES', ' (4096 - sizeof(struct a))'],
    ['RX_MSG_LEN_MIN', ' = 24'],
    ['DM_DIG_BACKOFF_MIN', ' -4 /* of all */'],
    ['maxItems', ' = 10'],
  ];
  const others: [string, string][] = [
    ['max_t', '(type, x, y) ((x) > (y) ? 1 : 0)'],
    ['REG_VTT_MAX', ' 0x86'],
    ['STB0899_OFFST_UW_MAX_PEAK', ' 0'],
    ['TMP007_TOBJ_HIGH_LIMIT', ' 0x06'],
    ['BNX2_RXP_FTQ_MAX_DEPTH', ' (0x3ffL<<12)'],
    ['mmDMA7_CORE_RD_MAX_SIZE', ' 0x5E0100'],
    ['QUERY_DEV_LIM_MAX_MPT_OFFSET', ' 0x1d'],
    ['SVGA3D_DEVCAP_MAX_CONTEXT_IDS', ' 11'],
    ['MAX8997_RTC_ALARM2_MIN', ' = 0x1f'],
    ['MIN_900_MV', ' 900000'],
    ['SYSCTL_LONG_MAX', ' ((void *)&values[2])'],
    ['ES_MAX_DEVICES_EXCEED', ' (0x20000000)'],
    ['MAXIMAL', ' 5'],
    ['NAME_MAX', ' OTHER_NAME'],
  ];
  expect(bounds.filter(([name, value]) => !isBound(name, value))).toEqual([]);
  expect(others.filter(([name, value]) => isBound(name, value))).toEqual([]);
});

describe('statements', () => {
  test('are sentences, without what stands before them', async () => {
    expect(
      await stated(
        'ice_free - frees a node',
        '@node: pointer to the node, protected by node_lock',
        '@cb: called then',
        '',
        'This frees a node from SW as well as HW, e.g. a queue. This function needs',
        'to be called with the sched_lock held.',
        '',
        'Context: Process context.',
        'Return: 0',
      ),
    ).toEqual([
      ['locking-rule', 3, '@node: pointer to the node, protected by node_lock'],
      ['locking-rule', 6, 'This function needs to be called with the sched_lock held.'],
      ['locking-rule', 9, 'Context: Process context.'],
    ]);
  });

  test('locking rules in the words that people use for them', async () => {
    const rules = [
      'Called with interrupts disabled and base->lock held.',
      'Caller holds tty lock.',
      'The caller must hold rnp->lock.',
      'The mrpc mutex must be held when accessing the flags.',
      'Serialized by client_mutex.',
      'This function requires the caller holds hdev->lock.',
      'Locking: dev->me_clients_rwsem',
      'It must not be called while the folio is locked.',
      'Call context: interrupt.',
      'The page must be locked.',
      'Called under rcu_read_lock() or with spin_lock_bh() held.',
      'This must be called with the siglock held.',
      'Caller must hold RTNL and no other locks.',
    ];
    const others = [
      'Called by the block layer when a clock is blocked.',
      '@context: PLDM firmware update structure.',
      'This function can be called with or without lock.',
      'Called with 2nd parm 0, no tx mgmt lock required.',
      'Protected by copyright and a checksum.',
      'Here we must take the lock again.',
      'Locking: a history of ideas.',
      'Traces should pull the data from the rcu_node structure.',
      'It should take the lock_class of it.',
    ];
    expect(await stated(...rules.flatMap((line) => [line, '']))).toEqual(
      rules.map((line, at) => ['locking-rule', 2 + 2 * at, line]),
    );
    expect(await stated(...others.flatMap((line) => [line, '']))).toEqual([]);
  });

  test('duties of callers, preconditions, postconditions, guarantees, invariants', async () => {
    expect(
      await stated(
        'Caller must ensure @cache is a RAID56 group.',
        'It is the responsibility of the caller to free it.',
        'This must only be called from hardirq context.',
        '@align: must be a power of two.',
        'On success, the queue is empty.',
        'The wq is guaranteed to have one thread.',
        'This invariant is kept by restoring A.',
        'Callbacks must always return 0.',
        'It takes O(log n).',
      ),
    ).toEqual([
      ['caller-duty', 2, 'Caller must ensure @cache is a RAID56 group.'],
      ['caller-duty', 3, 'It is the responsibility of the caller to free it.'],
      ['precondition', 4, 'This must only be called from hardirq context.'],
      ['precondition', 5, '@align: must be a power of two.'],
      ['postcondition', 6, 'On success, the queue is empty.'],
      ['guarantee', 7, 'The wq is guaranteed to have one thread.'],
      ['invariant', 8, 'This invariant is kept by restoring A.'],
      ['invariant', 9, 'Callbacks must always return 0.'],
      ['complexity', 10, 'It takes O(log n).'],
    ]);
  });

  test('words that state nothing', async () => {
    expect(
      await stated(
        'This test requires a bit more time.',
        'Note that this ensures that the compiler optimises.',
        'If it needs to be called from a header, use the other.',
        'Nothing can guarantee that it is there.',
        'Workqueue used to be guaranteed to be local.',
        'We want position invariant tiling.',
        '@always_wait: whether a request must always wait.',
        'This is not future proof.',
        'Ported by David Woodhouse, Axiom (Cambridge) Ltd.',
        'On success set last_updated.',
        'On error we go on.',
        'Must never happen',
      ),
    ).toEqual([]);
    expect(await found('rst', '.. GFDL-1.1-no-invariants-or-later\n')).toEqual([]);
  });

  test('the head of a file may state something beside its licence', async () => {
    expect(
      await stated(
        'Copyright (C) 2007 Nobody',
        '',
        'Finds a suitable CPU with O(1) complexity.',
        '',
        'The above copyright notice must always be kept.',
      ),
    ).toEqual([['complexity', 4, 'Finds a suitable CPU with O(1) complexity.']]);
  });

  test('of a long sentence what is stated is shown', async () => {
    const long = 'and so it goes on '.repeat(20);
    const [item] = await stated(`It is long ${long}but the lock must be held by the caller.`);
    expect(item).toEqual([
      'locking-rule',
      2,
      expect.stringMatching(/^… .*but the lock must be held by the caller\.$/),
    ]);
  });

  test('theorems and proofs of documents', async () => {
    const text =
      'Theorem 1: Lanes are in order.\n\nProof: By induction. See Lemma 2.\n\nA full proof is lengthy.\n';
    expect(await found('markdown', text)).toEqual([
      ['theorem', 1, 'Theorem 1: Lanes are in order.'],
      ['theorem', 3, 'Proof: By induction.'],
      ['theorem', 3, 'See Lemma 2.'],
    ]);
  });
});
