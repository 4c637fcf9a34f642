import { afterAll, beforeAll, expect, test } from 'vitest';
import type { OverlayWorks } from '../../src/executor/overlay-works.js';
import { PgcOnBus } from '../../src/executor/pgc-on-bus.js';
import type { Client } from '../../src/client/client.js';
import { latticeMessages, latticeService, shardMessages } from '../../src/pgc/serve/messages.js';
import { recordOf, testBus, type TestBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

let bus: TestBus;
let client: Client;
const told: { name: string; deadlineMs: number; request: unknown }[] = [];

beforeAll(async () => {
  bus = testBus(memoryHarness());
  await bus.start();
  const manager = await bus.client('manager-1', { role: 'manager' });
  const { ask, patterns, algebra } = latticeMessages;
  for (const [name, { type, request, answer }] of Object.entries({ ask, patterns, algebra }))
    manager.serve({
      [type]: ({ body, deadlineMs }) => {
        told.push({ name, deadlineMs, request: request.decode(body) });
        return answer.encode({} as never);
      },
    });
  await manager.offer([latticeService]);
  client = await bus.client('worker-1');
});
afterAll(() => bus.close());

/** A worker whose task has so much time left. */
const pgcWith = (leftMs: number, works?: Pick<OverlayWorks, 'make'>): PgcOnBus =>
  new PgcOnBus({
    ...{ client, agent: '', works: works as OverlayWorks, signal: new AbortController().signal },
    leftMs: () => leftMs,
  });

test.each([
  { leftMs: 600_000, analysisMs: 120_000 },
  { leftMs: 100_000, analysisMs: 50_000 },
])(
  'of $leftMs ms an analysis gets $analysisMs at most, and a question its own time',
  async ({ leftMs, analysisMs }) => {
    told.length = 0;
    const pgc = pgcWith(leftMs);
    await pgc.patterns(7, 'mm/slab.c');
    await pgc.algebra('O1 - O2', 1);
    await pgc.ask('How?', []);
    expect(told.map(({ name }) => name)).toEqual(['patterns', 'algebra', 'ask']);
    const request = { filter: 'dependencies', limit: 7, target: 'mm/slab.c' };
    expect(told[0]?.request).toMatchObject(request);
    const limits = [analysisMs, analysisMs, 30_000];
    for (const [at, { deadlineMs }] of told.entries()) {
      expect(deadlineMs).toBeLessThanOrEqual(limits[at]!);
      // As it was given, but for the way.
      expect(deadlineMs).toBeGreaterThan(limits[at]! / 2);
    }
  },
);

test('overlays are made in the trees of those that lack them, for half of the time that is left', async () => {
  for (const name of ['one', 'other']) {
    const shard = await bus.client(name, { role: 'pgc' });
    shard.serve({
      [shardMessages.card.type]: () =>
        shardMessages.card.answer.encode({ root: `/${name}` } as never),
    });
    await shard.register({ ...recordOf(name), project: name });
  }
  const made: unknown[] = [];
  const pgc = pgcWith(60_000, {
    make: ({ roots, overlays, forMs }) => {
      made.push([...roots].sort(), overlays, forMs);
      return Promise.resolve([]);
    },
  });
  const isThere = (): Promise<boolean> => Promise.resolve(true);
  await pgc.generate({ overlays: ['O4'], agents: ['other'] }, isThere);
  expect(made.splice(0)).toEqual([['/other'], ['O4'], 30_000]);
  // Whom nobody knows: in all of them.
  await pgc.generate({ overlays: ['O4'], agents: ['gone'] }, isThere);
  expect(made[0]).toEqual(['/one', '/other']);
});
