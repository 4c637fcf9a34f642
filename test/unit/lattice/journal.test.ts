import { createHash } from 'node:crypto';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { Findings } from '../../../src/lattice/query/findings.js';
import { Journals } from '../../../src/lattice/query/journal.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { query } from '../../../src/lattice/query/query.js';
import type { Answer, LatticeQuery, ShardPort } from '../../../src/pgc/shapes.js';
import { hex64, queryKey, queryPrefix } from '../../../src/store/keys.js';
import { managerLayout } from '../../../src/store/layouts.js';
import type { Store } from '../../../src/store/port.js';
import type { LevelStore } from '../../../src/store/level-store.js';
import { chainTree } from '../../support/chain-tree.js';
import { eventually } from '../../support/eventually.js';
import { openTestStore } from '../../support/store.js';
import { temporaryFolder } from '../../support/temporary.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const request: LatticeQuery = {
  question: 'How does the nic driver allocate its ring?',
  ...{ from: '', max_hops: 6, top_k: 5 },
};
const soon = (): number => systemClock.nowMs() + 60_000;

let tree: Awaited<ReturnType<typeof chainTree>>;
const folder = temporaryFolder();
beforeAll(async () => {
  tree = await chainTree();
});
afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  folder.remove();
});

let stores = 0;
const openStore = (): Promise<LevelStore> =>
  openTestStore(path.join(folder.path, `store${(stores += 1)}`), managerLayout);

/** The lattice of the tree; counts who was entered, and one agent may stay silent. */
async function lattice(entered: string[] = [], silent = ''): Promise<Lattice> {
  const ports = tree.shards.map((shard): ShardPort =>
    Object.assign(Object.create(shard) as ShardPort, {
      hop: (hop: Parameters<ShardPort['hop']>[0]) => {
        entered.push(shard.agent);
        return shard.agent === silent ? new Promise(() => undefined) : shard.hop(hop);
      },
    }),
  );
  return new Lattice(ports, await Promise.all(tree.shards.map((shard) => shard.card())));
}

const timeless = ({ hops, metadata, ...answer }: Answer): object => ({
  ...answer,
  metadata: { ...metadata, elapsed_ms: 0 },
  hops: hops.map((hop) => ({ ...hop, elapsed_ms: 0 })),
});

async function steps(store: LevelStore): Promise<number> {
  let count = 0;
  for await (const key of store.keys({ prefix: queryPrefix })) count += Number(key !== '');
  return count;
}

test('a query that its process did not end is gone on with: nobody who has answered is asked again', async () => {
  const limits = { clock: systemClock, deadlineMs: 30_000 };
  const whole = await query(await lattice(), request, limits);
  const store = await openStore();
  {
    // The first process gets as far as `mm`, which does not answer, and is gone.
    const journals = await Journals.open(store, systemClock);
    const entered: string[] = [];
    const stuck = await lattice(entered, 'mm');
    const of = { key: 'who and what', versions: stuck.versions, untilMs: soon() };
    void journals.run(of, (journal) => query(stuck, request, { ...limits, journal }));
    await eventually(() => expect(entered).toContain('mm'));
  }
  const entered: string[] = [];
  const healthy = await lattice(entered);
  const journals = await Journals.open(store, systemClock);
  const answer = await journals.run(
    { key: 'who and what', versions: healthy.versions, untilMs: soon() },
    (journal) => query(healthy, request, { ...limits, journal }),
  );
  expect(timeless(answer)).toEqual(timeless(whole));
  expect(new Set(entered)).toEqual(new Set(['mm']));
  expect(await steps(store)).toBe(0);
  await store[Symbol.asyncDispose]();
});

test('steps in the format of an earlier version are not resumed', async () => {
  const store = await openStore();
  const of = { key: 'k', versions: 'v', untilMs: soon() };
  const id = createHash('sha256').update(of.key).digest('hex');
  const event = { type: 'shards.ranked', agents: ['mm'] };
  const step = { event, answered: null, links: [], errors: [], asked: [] };
  const put = (at: number, value: object) => ({
    ...{ type: 'put' as const, key: queryKey(id, at), value: Buffer.from(JSON.stringify(value)) },
  });
  await store.write([put(0, { versions: of.versions, untilMs: of.untilMs }), put(1, step)]);
  const journals = await Journals.open(store, systemClock);
  expect(journals.left).toBe(1);
  expect(await journals.run(of, ({ past }) => Promise.resolve(past))).toEqual([]);
  expect(await steps(store)).toBe(0);
  await store[Symbol.asyncDispose]();
});

test.each<[string, { key?: string; versions?: string }]>([
  ['another question', { key: 'other' }],
  ['other indexes', { versions: 'other' }],
])('%s begins from the start', async (_, change) => {
  const store = await openStore();
  const whole = await lattice();
  const of = { key: 'k', versions: whole.versions, untilMs: soon() };
  const first = await Journals.open(store, systemClock);
  void first.run(of, async (journal) => {
    const event = { type: 'shards.ranked' as const, agents: ['mm'] };
    await journal.add({ event, answered: null, links: [], errors: [], asked: [] });
    return new Promise(() => undefined);
  });
  await eventually(async () => expect(await steps(store)).toBe(2));
  const later = await Journals.open(store, systemClock);
  const seen = await later.run({ ...of, ...change }, (journal) =>
    Promise.resolve(journal.past.length),
  );
  expect(seen).toBe(0);
  expect(
    await (
      await Journals.open(store, systemClock)
    ).run(of, ({ past }) => Promise.resolve(past.length)),
  ).toBe(change.key === undefined ? 0 : 1);
  await store[Symbol.asyncDispose]();
});

test('what nobody waits for any more is deleted when a process starts', async () => {
  const store = await openStore();
  const clock = new VirtualClock();
  const first = await Journals.open(store, clock);
  const of = { key: 'k', versions: 'v', untilMs: clock.nowMs() + 1_000 };
  void first.run(of, () => new Promise(() => undefined));
  await eventually(async () => expect(await steps(store)).toBe(1));
  await clock.advance(2_000);
  await Journals.open(store, clock);
  expect(await steps(store)).toBe(0);
  await store[Symbol.asyncDispose]();
});

test('what an earlier process left goes when its time is over, also when nobody asks', async () => {
  const store = await openStore();
  const clock = new VirtualClock();
  const first = await Journals.open(store, clock);
  for (const [key, ms] of [
    ['short', 1_000],
    ['long', 60_000],
    ['wrong clock', 1e12],
  ] as const)
    void first.run({ key, versions: 'v', untilMs: clock.nowMs() + ms }, () => new Promise(() => 1));
  await eventually(async () => expect(await steps(store)).toBe(3));
  using later = await Journals.open(store, clock);
  expect(later.left).toBe(3);
  await clock.advance(1_000);
  await eventually(async () => expect([later.left, await steps(store)]).toEqual([2, 2]));
  await clock.advance(60_000);
  await eventually(async () => expect([later.left, await steps(store)]).toEqual([1, 1]));
  await clock.advance(15 * 60_000);
  await eventually(async () => expect([later.left, await steps(store)]).toEqual([0, 0]));
  expect(clock.waiting).toBe(0);
  await store[Symbol.asyncDispose]();
});

test('journals that are closed while they delete do not come back', async () => {
  const store = await openStore();
  const clock = new VirtualClock();
  const first = await Journals.open(store, clock);
  for (const [key, ms] of [
    ['short', 1_000],
    ['long', 60_000],
  ] as const)
    void first.run({ key, versions: 'v', untilMs: clock.nowMs() + ms }, () => new Promise(() => 1));
  await eventually(async () => expect(await steps(store)).toBe(2));
  const later = await Journals.open(store, clock);
  clock.after(1_000, () => later[Symbol.dispose]());
  await clock.advance(1_000);
  await eventually(async () => expect(await steps(store)).toBe(1));
  await clock.turn();
  expect(clock.waiting).toBe(0);
  await store[Symbol.asyncDispose]();
});

test('a damaged step is deleted with its query, and the others are gone on with', async () => {
  const store = await openStore();
  const first = await Journals.open(store, systemClock);
  const event = { type: 'shards.ranked' as const, agents: ['mm'] };
  const step = { event, answered: null, links: [], errors: [], asked: [] };
  for (const key of ['damaged', 'whole'])
    void first.run({ key, versions: 'v', untilMs: soon() }, async (journal) => {
      await journal.add(step);
      return new Promise(() => undefined);
    });
  await eventually(async () => expect(await steps(store)).toBe(4));
  const id = createHash('sha256').update('damaged').digest('hex');
  const torn = Buffer.from('{"event":');
  await store.write([{ type: 'put', key: queryKey(id, 1), value: torn }]);
  const later = await Journals.open(store, systemClock);
  const past = ({ past }: { past: readonly unknown[] }) => Promise.resolve(past.length);
  const seen = (key: string) => later.run({ key, versions: 'v', untilMs: soon() }, past);
  expect([await seen('damaged'), await seen('whole')]).toEqual([0, 1]);
  expect(await steps(store)).toBe(0);
  await store[Symbol.asyncDispose]();
});

test.each([0, 1])('nothing is kept behind a step that could not be: step %i', async (lost) => {
  const store = await openStore();
  const failing: Pick<Store, 'entries' | 'getMany' | 'keys' | 'write'> = {
    entries: (range) => store.entries(range),
    getMany: (keys) => store.getMany(keys),
    keys: (range) => store.keys(range),
    write: async (batch) => {
      if (batch.some(({ type, key }) => type === 'put' && key.endsWith(`/${hex64(lost)}`)))
        throw new BusError('STORE_UNAVAILABLE', { path: 'store', detail: 'full' });
      return store.write(batch);
    },
  };
  const first = await Journals.open(failing as Store, systemClock);
  const event = { type: 'shards.ranked' as const, agents: ['mm'] };
  let isWritten = false;
  void first.run({ key: 'k', versions: 'v', untilMs: soon() }, async (journal) => {
    for (let n = 0; n < 3; n += 1)
      await journal.add({ event, answered: null, links: [], errors: [], asked: [] });
    isWritten = true;
    return new Promise(() => undefined);
  });
  await eventually(() => expect(isWritten).toBe(true));
  expect(await steps(store)).toBe(lost);
  await store[Symbol.asyncDispose]();
});

const event = { type: 'shards.ranked' as const, agents: ['mm'] };
const step = { event, answered: null, links: [], errors: [], asked: [] };

test('of the same question twice at once one has the journal, and ends it for itself alone', async () => {
  const store = await openStore();
  const journals = await Journals.open(store, systemClock);
  const of = { key: 'k', versions: 'v', untilMs: soon() };
  let isAdded = false;
  void journals.run(of, async (journal) => {
    await journal.add(step);
    isAdded = true;
    return new Promise(() => undefined);
  });
  await eventually(() => expect(isAdded).toBe(true));
  const past = await journals.run(of, async (journal) => {
    await journal.add(step);
    return journal.past.length;
  });
  expect([past, await steps(store)]).toEqual([0, 2]);
  await store[Symbol.asyncDispose]();
});

test('what is gone on with keeps its steps, and those that follow come behind them', async () => {
  const store = await openStore();
  const of = { key: 'k', versions: 'v', untilMs: soon() };
  for (const had of [0, 2, 4]) {
    const journals = await Journals.open(store, systemClock);
    let past: number | undefined;
    void journals.run(of, async (journal) => {
      for (let n = 0; n < 2; n += 1) await journal.add(step);
      past = journal.past.length;
      return new Promise(() => undefined);
    });
    await eventually(() => expect(past).toBe(had));
  }
  await store[Symbol.asyncDispose]();
});

test('a step that is too large is not kept, nor what follows it', async () => {
  const store = await openStore();
  const journals = await Journals.open(store, systemClock);
  let isAdded = false;
  void journals.run({ key: 'k', versions: 'v', untilMs: soon() }, async (journal) => {
    await journal.add(step);
    await journal.add({ ...step, asked: ['a'.repeat(4 * 1024 * 1024)] });
    await journal.add(step);
    isAdded = true;
    return new Promise(() => undefined);
  });
  await eventually(() => expect(isAdded).toBe(true));
  expect(await steps(store)).toBe(2);
  await store[Symbol.asyncDispose]();
});

test('what an earlier process had learned is not told again as news', () => {
  const findings = new Findings([]);
  const error = { code: 'AGENT_OFFLINE', text: '', retryable: true, agent: 'mm' };
  findings.take({ ...step, errors: [error], asked: ['mm'] });
  findings.asked.add('net');
  expect(findings.stepOf(event)).toMatchObject({ errors: [], asked: ['net'] });
});
