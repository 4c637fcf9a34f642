import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { calleesOf, callersOf } from '../../../src/lattice/trace/call-sites.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { query, type QueryLimits } from '../../../src/lattice/query/query.js';
import { suggestQuestions } from '../../../src/lattice/suggestions.js';
import { trace } from '../../../src/lattice/trace/trace.js';
import type { LatticeQuery, ShardPort } from '../../../src/pgc/shapes.js';
import { verify } from '../../../src/pgc/answer/verify.js';
import { chainTree, type ChainTree } from '../../support/chain-tree.js';

const question = 'How does the nic driver allocate its DMA ring?';
const limits: QueryLimits = { clock: systemClock, deadlineMs: 5_000 };
const asked = (more: Partial<LatticeQuery> = {}): LatticeQuery => ({
  question,
  from: '',
  max_hops: 6,
  top_k: 5,
  ...more,
});

let tree: ChainTree;
let lattice: Lattice;

beforeAll(async () => {
  tree = await chainTree();
  lattice = await latticeOf(tree.shards);
});
afterAll(async () => tree[Symbol.asyncDispose]());

async function latticeOf(ports: ShardPort[]): Promise<Lattice> {
  return new Lattice(ports, await Promise.all(tree.shards.map((shard) => shard.card())));
}

/** The same shards, one of which answers nothing but with this promise. */
async function withShard(agent: string, answer: () => Promise<never>): Promise<Lattice> {
  const ports = tree.shards.map((shard): ShardPort =>
    shard.agent === agent
      ? {
          agent,
          card: () => shard.card(),
          ask: answer,
          weigh: answer,
          seek: answer,
          hop: answer,
          definitions: answer,
          callers: answer,
          citeCalls: answer,
          implementations: answer,
          references: answer,
          expand: answer,
          sources: answer,
        }
      : shard,
  );
  return latticeOf(ports);
}

test('a question follows the calls from shard to shard, past the stand-in of the header, to the allocator', async () => {
  const answer = await query(lattice, asked(), limits);
  // What only search leads to comes behind the way.
  expect(answer.query_path.slice(0, 3)).toEqual(['drivers', 'kernel', 'mm']);
  expect(answer.hops.slice(3).map((hop) => hop.via)).toEqual(answer.hops.slice(3).map(() => null));
  expect(
    answer.hops.slice(0, 3).map((hop) => hop.via && [hop.via.symbol, hop.via.from, hop.via.to]),
  ).toEqual([
    null,
    ['dma_alloc_mapped', 'include/linux/dma.h:8', 'kernel/dma/mapping.c:10'],
    ['alloc_pages_near', 'kernel/dma/mapping.c:6', 'mm/pages.c:3'],
  ]);
  expect(answer).toMatchObject({ partial: false, errors: [], metadata: { agents_asked: 4 } });
  const { query_path: visited_agents } = answer;
  const actual_hops = visited_agents.length;
  expect(answer.safety).toEqual({ max_hops: 6, actual_hops, visited_agents });
  // The inline function of the header is on the way, and needs no visit.
  expect(
    answer.hops[1]?.via?.chain.map(({ symbol, agent, call_site }) => [symbol, agent, call_site]),
  ).toEqual([
    ['nic_setup_rx_ring', 'drivers', ''],
    ['dma_alloc_ring', 'include', 'drivers/nic/nic_main.c:13'],
  ]);
});

test('every citation of an answer is true in the tree', async () => {
  const { evidence } = await query(lattice, asked(), limits);
  expect(evidence.length).toBeGreaterThan(6);
  for (const citation of evidence)
    expect(await verify(citation, tree.root)).toMatchObject({ status: 'valid' });
});

test('evidence is numbered through over all hops, and each belongs to the hop that found it', async () => {
  const { evidence, hops, clauses } = await query(lattice, asked(), limits);
  const numbers = evidence.map((_, at) => at + 1);
  expect(evidence.map(({ id }) => id)).toEqual(numbers);
  expect(hops.flatMap((hop) => hop.evidence)).toEqual(numbers);
  expect(clauses).toMatchObject([{ evidence: numbers }]);
  for (const hop of hops)
    for (const { agent } of evidence.filter(({ id }) => hop.evidence.includes(id)))
      expect(agent).toBe(hop.agent);
});

test('the flow holds every call of the way once, each with its evidence', async () => {
  const { flow, evidence } = await query(lattice, asked(), limits);
  const edges = flow.map(({ from, to, site }) => `${from} ${to} ${site}`);
  expect(edges).toEqual([...new Set(edges)]);
  expect(edges).toContain('nic_setup_rx_ring dma_alloc_ring drivers/nic/nic_main.c:13');
  // Both ends of a link were checked.
  expect(flow.find(({ to }) => to === 'alloc_pages_near')).toMatchObject({
    ...{ from: 'dma_pool_get', site: 'kernel/dma/mapping.c:6', agent: 'kernel' },
    ...{ certainty: 'exact', definition: 'mm/pages.c:3' },
  });
  for (const edge of flow.filter(({ evidence: id }) => id > 0)) {
    const shown = evidence.find(({ id }) => id === edge.evidence);
    expect([`${shown?.file_path}:${shown?.line_start}`, shown?.name]).toEqual([edge.site, edge.to]);
  }
});

test('the budget counts agents visited', async () => {
  const answer = await query(lattice, asked({ max_hops: 2 }), limits);
  expect(answer.query_path).toEqual(['drivers', 'kernel']);
  expect(answer.partial).toBe(false);
});

test('a named entry is entered, an unknown one is refused', async () => {
  expect((await query(lattice, asked({ from: 'include' }), limits)).query_path).toEqual([
    'include',
    'kernel',
    'mm',
  ]);
  await expect(query(lattice, asked({ from: 'sound' }), limits)).rejects.toMatchObject({
    code: 'UNKNOWN_AGENT',
  });
});

test('a question about nothing here says so and guesses nothing', async () => {
  const answer = await query(
    lattice,
    asked({ question: 'How does the flux capacitor brew coffee?' }),
    limits,
  );
  expect(answer).toMatchObject({ hops: [], query_path: [], confidence: 'low', partial: false });
  expect(answer.errors.map((each) => each.code)).toEqual(['NOT_FOUND']);
  await expect(query(lattice, asked({ question: ' ?' }), limits)).rejects.toMatchObject({
    code: 'EMPTY_QUESTION',
  });
});

test('an agent that fails makes the answer partial and is named', async () => {
  const broken = await withShard('kernel', () => Promise.reject(new Error('disk on fire')));
  const answer = await query(broken, asked(), limits);
  expect(answer.query_path).toEqual(['drivers', 'include']);
  expect(answer.partial).toBe(true);
  expect(answer.errors).toContainEqual(
    expect.objectContaining({ code: 'AGENT_FAILED', agent: 'kernel' }),
  );
});

test('a header that cannot be looked through is named, for what lies behind it is missing', async () => {
  const ports = tree.shards.map((shard): ShardPort =>
    shard.agent === 'include'
      ? Object.assign(Object.create(shard) as ShardPort, {
          hop: () => Promise.reject(new BusError('RESPONDER_LOST', { agent: 'include' })),
        })
      : shard,
  );
  // Nobody but the entry is visited: the header is only looked through.
  const request = asked({ from: 'drivers', max_hops: 1 });
  const answer = await query(await latticeOf(ports), request, limits);
  expect(answer.partial).toBe(true);
  expect(answer.errors).toContainEqual(
    expect.objectContaining({ code: 'RESPONDER_LOST', agent: 'include' }),
  );
});

test('an agent that never answers is cut by the one deadline, and what is known is the answer', async () => {
  const stuck = await withShard('include', () => new Promise(() => undefined));
  const answer = await query(stuck, asked({ from: 'drivers' }), { ...limits, deadlineMs: 60 });
  expect(answer.partial).toBe(true);
  expect(answer.errors.map((each) => each.code)).toContain('DEADLINE_EXCEEDED');
  expect(answer.metadata.elapsed_ms).toBeLessThan(1_000);
});

test('a query that is cancelled ends with CANCELLED', async () => {
  const stuck = await withShard('drivers', () => new Promise(() => undefined));
  const controller = new AbortController();
  const running = query(stuck, asked(), { ...limits, signal: controller.signal });
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: 'CANCELLED' });
});

test('without shards there is nobody to ask', async () => {
  await expect(query(new Lattice([], []), asked(), limits)).rejects.toMatchObject({
    code: 'NO_SHARDS',
  });
});

test('a trace to a name leads to its real definition, not to the stand-in of the header', async () => {
  const answer = await trace(lattice, 'nic_open', 'dma_alloc_mapped', limits);
  expect(answer.path.at(-1)).toMatchObject({ agent: 'kernel', file_path: 'kernel/dma/mapping.c' });
});

test('a question that names a symbol enters at its real definition', async () => {
  const answer = await query(
    lattice,
    asked({ question: 'How does dma_alloc_mapped get its pages?' }),
    limits,
  );
  expect(answer.evidence[0]).toMatchObject({ file_path: 'kernel/dma/mapping.c' });
});

test('a trace finds the shortest path over shards, with the call site of every edge', async () => {
  const answer = await trace(lattice, 'nic_open', 'alloc_pages_near', limits);
  expect(answer.found).toBe(true);
  expect(answer.path.map((each) => [each.agent, each.symbol, each.call_site])).toEqual([
    ['drivers', 'nic_open', ''],
    ['drivers', 'nic_setup_rx_ring', 'drivers/nic/nic_main.c:21'],
    ['include', 'dma_alloc_ring', 'drivers/nic/nic_main.c:13'],
    ['kernel', 'dma_alloc_mapped', 'include/linux/dma.h:8'],
    ['kernel', 'dma_pool_get', 'kernel/dma/mapping.c:12'],
    ['mm', 'alloc_pages_near', 'kernel/dma/mapping.c:6'],
  ]);
});

test('a trace never goes to a static function of another file, nor against the direction of calls', async () => {
  const stranger = await trace(lattice, 'nic_open', 'mm/other.c#dma_pool_get', limits);
  const backwards = await trace(lattice, 'alloc_pages_near', 'nic_open', limits);
  expect([stranger.found, backwards.found]).toEqual([false, false]);
  expect([...stranger.errors, ...backwards.errors]).toEqual([]);
});

test('a trace from or to an unknown symbol names it', async () => {
  const answer = await trace(lattice, 'nic_open', 'no_such_thing', limits);
  expect(answer.found).toBe(false);
  expect(answer.errors).toEqual([
    expect.objectContaining({
      code: 'NO_SUCH_SYMBOL',
      text: expect.stringContaining('no_such_thing'),
    }),
  ]);
});

test('a trace that looks at too much says that it gave up', async () => {
  const answer = await trace(lattice, 'nic_open', 'alloc_pages_near', { ...limits, nodesMax: 1 });
  expect([answer.found, answer.errors.map(({ code }) => code)]).toEqual([false, ['SEARCH_CUT']]);
});

test('a trace names a shard that fails once, and does not take what it may define for unknown', async () => {
  const gone = new BusError('AGENT_OFFLINE', { agent: 'mm' });
  const without = await withShard('mm', () => Promise.reject(gone));
  const answer = await trace(without, 'nic_open', 'alloc_pages_near', limits);
  expect(answer.found).toBe(false);
  expect(answer.errors.map(({ agent, code }) => [agent, code])).toEqual([['mm', 'AGENT_OFFLINE']]);
});

test('callers come from all shards, sorted; a call through a pointer of that name is not lost', async () => {
  const answer = await callersOf(lattice, 'nic_log');
  expect(answer.definitions.map((each) => `${each.file_path}:${each.line}`)).toEqual([
    'drivers/nic/nic_log.c:3',
  ]);
  expect(answer.callers.map((each) => [each.symbol, each.line])).toEqual([
    ['nic_setup_rx_ring', 12],
    ['nic_open', 20],
    ['nic_reset', 26],
  ]);
});

test('callees know the definition in another shard, the real one before the stand-in', async () => {
  const [ring, mapped] = await Promise.all([
    calleesOf(lattice, 'nic_setup_rx_ring'),
    calleesOf(lattice, 'dma_alloc_ring'),
  ]);
  expect(ring.callees.map((each) => [each.symbol, each.definition])).toEqual([
    ['nic_log', 'drivers/nic/nic_log.c:3'],
    ['dma_alloc_ring', 'include/linux/dma.h:6'],
  ]);
  expect(mapped.callees.map((each) => each.definition)).toEqual(['kernel/dma/mapping.c:10']);
});

test('a symbol that nobody defines or calls is NO_SUCH_SYMBOL; one that is only called has callers', async () => {
  expect((await callersOf(lattice, 'no_such_thing')).errors.map((each) => each.code)).toEqual([
    'NO_SUCH_SYMBOL',
  ]);
  const outside = await callersOf(lattice, 'print_line');
  expect(outside).toMatchObject({ definitions: [], errors: [] });
  expect(outside.callers).toHaveLength(1);
});

test('questions worth asking come from an edge that is sure and from what several files call', () => {
  const indexes = tree.shards.map((shard) => shard.index);
  expect(suggestQuestions(indexes)).toEqual(['Why does drivers call dma_alloc_ring of include?']);
});
