import { afterAll, beforeAll, expect, test } from 'vitest';
import { AnswerCache } from '../../../src/pgc/ask.js';
import type { Shard } from '../../../src/pgc/shard.js';
import type { AskAnswer } from '../../../src/pgc/shapes.js';
import { verify } from '../../../src/pgc/verify.js';
import { chainTree, type ChainTree } from '../../support/chain-tree.js';

let tree: ChainTree;
let drivers: Shard;

beforeAll(async () => {
  tree = await chainTree();
  drivers = tree.shards[0]!;
});
afterAll(async () => tree[Symbol.asyncDispose]());

const ask = (question: string, overlays: string[] = [], top_k = 5): Promise<AskAnswer> =>
  drivers.ask({ question, overlays, top_k });
const codes = (answer: AskAnswer): string[] => answer.errors.map((each) => each.code);

test('an answer says what the symbol is, what it calls, and where that stands', async () => {
  const answer = await ask('How is the ring for received frames allocated?');
  expect(answer.answer).toContain(
    '`nic_setup_rx_ring` (function, drivers/nic/nic_main.c:10): allocate the descriptor ring for received frames [1].',
  );
  expect(answer.answer).toMatch(/`nic_setup_rx_ring` calls `dma_alloc_ring` \[\d\]/);
  const edge = answer.sources.find((each) => each.overlay === 'O3');
  expect(edge).toMatchObject({
    text: 'nic_setup_rx_ring calls dma_alloc_ring',
    symbol: 'dma_alloc_ring',
    file_path: 'drivers/nic/nic_main.c',
    line_start: 13,
    content: '\tnic->ring = dma_alloc_ring(nic->dev, 4096);',
  });
  for (const source of answer.sources) {
    expect(await verify(source, tree.root)).toMatchObject({ status: 'valid' });
    expect(source.similarity).toBeGreaterThan(0);
    expect(source.similarity).toBeLessThan(1);
  }
});

test('a name in the question finds exactly that symbol first, with high similarity', async () => {
  const { sources } = await ask('What does nic_open do?');
  expect(sources[0]).toMatchObject({ symbol: 'nic_open', line_start: 18 });
  expect(sources[0]?.similarity).toBeGreaterThan(0.8);
});

test('a question about users lists the callers with their call sites', async () => {
  const { answer } = await ask('Who calls nic_log?', ['O3']);
  expect(answer).toContain('`nic_log` is called by');
  expect(answer).toContain('`nic_open` (drivers/nic/nic_main.c:20)');
});

test('only the wanted overlays are consulted', async () => {
  const overlaysOf = (answer: AskAnswer): string[] => [
    ...new Set(answer.sources.map((each) => each.overlay)),
  ];
  expect(overlaysOf(await ask('allocate the descriptor ring', ['O1']))).toEqual(['O1']);
  expect(overlaysOf(await ask('allocate the descriptor ring', ['O3']))).toEqual(['O3']);
});

test('an overlay that is not built is a warning and an error, one that does not exist an error', async () => {
  const partly = await ask('allocate the descriptor ring', ['O1', 'O4']);
  expect(codes(partly)).toEqual(['OVERLAY_MISSING']);
  expect(partly.overlay_warnings).toEqual([expect.stringContaining('O4')]);
  expect(partly.sources.length).toBeGreaterThan(0);
  const unknown = await ask('allocate the descriptor ring', ['O9']);
  expect(codes(unknown)).toEqual(['UNKNOWN_OVERLAY']);
  expect(unknown.sources).toEqual([]);
});

test('what nothing answers has no sources and says NOT_FOUND', async () => {
  const answer = await ask('Which bank pays the mortgage interest?');
  expect(answer.sources).toEqual([]);
  expect(codes(answer)).toEqual(['NOT_FOUND']);
  expect(answer.answer).toBe('Nothing in drivers answers the question.');
});

test('an empty question is an answer with its code, not an exception', async () => {
  expect(codes(await ask('   '))).toEqual(['EMPTY_QUESTION']);
});

test('top_k bounds the sources, ten at most', async () => {
  expect((await ask('nic ring log open reset', [], 2)).sources).toHaveLength(2);
  expect((await ask('nic ring log open reset', [], 500)).metadata.top_k).toBe(10);
});

test('the second answer comes from the cache with its sources, other overlays do not', async () => {
  const first = await ask('How does the interface come up?');
  const second = await ask('How does the interface come up?');
  const other = await ask('How does the interface come up?', ['O1']);
  expect([first, second, other].map((each) => each.metadata.cached)).toEqual([false, true, false]);
  expect(second.sources).toEqual(first.sources);
  expect(second.metadata.question_hash).toMatch(/^[0-9a-f]{64}$/);
});

test('the cache forgets the answer that was not used for longest', async () => {
  const cache = new AnswerCache(2);
  const answer = await ask('What does nic_open do?');
  cache.set('a', answer);
  cache.set('b', answer);
  cache.get('a');
  cache.set('c', answer);
  expect(['a', 'b', 'c'].filter((key) => cache.get(key) !== undefined)).toEqual(['a', 'c']);
});
